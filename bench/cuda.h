/* The CUDA driver without Weft, for the programs of this folder: opened when they run, so that
 * building them takes no CUDA. */
#ifndef WEFT_BENCH_CUDA_H
#define WEFT_BENCH_CUDA_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long cuda_address;

/* What a node of a graph launches: CUDA_KERNEL_NODE_PARAMS_v2. */
typedef struct cuda_kernel {
    void *function;
    unsigned grid[3], block[3], shared;
    void **parameters, **extra;
    void *kernel, *context;
} cuda_kernel;

/* field, symbol, parameters; each returns 0 if all is well. */
#define CUDA_FUNCTIONS(X)                                                                          \
    X(push_context, "cuCtxPushCurrent_v2", (void *))                                               \
    X(wait_stream, "cuStreamSynchronize", (void *))                                                \
    X(launch, "cuLaunchKernel",                                                                    \
      (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,       \
       void **, void **))                                                                          \
    X(copy_up, "cuMemcpyHtoD_v2", (cuda_address, const void *, size_t))                            \
    X(copy_up_async, "cuMemcpyHtoDAsync_v2", (cuda_address, const void *, size_t, void *))         \
    X(instantiate, "cuGraphInstantiateWithFlags", (void **, void *, unsigned long long))           \
    X(launch_graph, "cuGraphLaunch", (void *, void *))                                             \
    X(graph_nodes, "cuGraphGetNodes", (void *, void **, size_t *))                                 \
    X(kernel_of_node, "cuGraphKernelNodeGetParams_v2", (void *, cuda_kernel *))

#define CUDA_FIELD(name, symbol, parameters) int(*name) parameters;
static struct cuda_functions {
    CUDA_FUNCTIONS(CUDA_FIELD)
} cuda;
#undef CUDA_FIELD

static inline void cuda_fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static inline void cuda_check(int code, const char *what)
{
    if (code == 0)
        return;
    fprintf(stderr, "%s: the driver says %d\n", what, code);
    exit(1);
}

/* False if there is no driver. */
static inline int cuda_open(void)
{
    const char *given = getenv("WEFT_CUDA");
    void *library = dlopen(given && *given ? given : "libcuda.so.1", RTLD_NOW), *found;
    if (!library)
        return 0;
#define CUDA_FIND(name, symbol, parameters)                                                        \
    if (!(found = dlsym(library, symbol)))                                                         \
        cuda_fail("the driver has no " symbol);                                                    \
    memcpy(&cuda.name, &found, sizeof found);
    CUDA_FUNCTIONS(CUDA_FIND)
#undef CUDA_FIND
    return 1;
}

#endif
