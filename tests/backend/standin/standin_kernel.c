/* The stand-in's compiler and launches: CUDA C is compiled as C by the compiler of the build, with
 * the words of CUDA defined, and loops over groups and items around it. */
#include "backend/standin/standin.h"
#include "backend/standin/standin_real.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char words[] =
    "#include <math.h>\n#include <stdbool.h>\n#include <stddef.h>\n#include <stdlib.h>\n"
    "#include <string.h>\n#include <ucontext.h>\n"
    "#define __global__\n#define __device__\n#define __forceinline__ inline\n"
    "#define __launch_bounds__(...)\n#define __shared__ static __thread\n"
    "#define __align__(n) __attribute__((aligned(n)))\n"
    "typedef struct { unsigned x, y; } __attribute__((aligned(8))) uint2;\n"
    "typedef struct { unsigned x, y, z, w; } __attribute__((aligned(16))) uint4;\n"
    "static __thread struct { unsigned x; } blockIdx, threadIdx, blockDim;\n"
    "static inline unsigned __float_as_uint(float x) { unsigned y; memcpy(&y, &x, 4); return y; }\n"
    "static inline float __uint_as_float(unsigned x) { float y; memcpy(&y, &x, 4); return y; }\n"
    "static inline long long __double_as_longlong(double x)\n"
    "{ long long y; memcpy(&y, &x, 8); return y; }\n"
    "static inline double __longlong_as_double(long long x)\n"
    "{ double y; memcpy(&y, &x, 8); return y; }\n"
    "#define __fmaf_rn fmaf\n#define __fma_rn fma\n"
    "#define __fdiv_rn(x, y) ((x) / (y))\n#define __ddiv_rn(x, y) ((x) / (y))\n"
    "#define __fsqrt_rn sqrtf\n#define __dsqrt_rn sqrt\n"
    "#define __mulhi(x, y) (int)((long long)(x) * (y) >> 32)\n"
    "#define __umulhi(x, y) (unsigned)((unsigned long long)(x) * (y) >> 32)\n"
    "#define __popc __builtin_popcount\n"
    "#define __mul64hi(x, y) (long long)((__int128)(x) * (y) >> 64)\n"
    "#define __umul64hi(x, y) (unsigned long long)((unsigned __int128)(x) * (y) >> 64)\n"
    "static void __syncthreads(void);\n#define __syncwarp __syncthreads\n";

/* Where there are barriers, each item has a stack of its own, and a barrier goes on to the next. */
static const char loops[] =
    "static __thread ucontext_t *items, main_item;\nstatic __thread void **given;\n"
    "static __thread unsigned left;\n"
    "static void __syncthreads(void) { swapcontext(&items[threadIdx.x], &main_item); }\n"
    "static void item(void) { call(given); left--; }\n"
    "static void run_group(void **parameters, unsigned group, char *stacks)\n{\n"
    "char *ended = calloc(group, 1);\ngiven = parameters;\nleft = group;\n"
    "for (unsigned t = 0; t < group; t++) {\n"
    "getcontext(&items[t]);\nitems[t].uc_link = &main_item;\n"
    "items[t].uc_stack.ss_sp = stacks + (size_t)t * 65536;\nitems[t].uc_stack.ss_size = 65536;\n"
    "makecontext(&items[t], item, 0);\n}\n"
    "while (left > 0)\nfor (unsigned t = 0; t < group; t++) {\nif (ended[t])\ncontinue;\n"
    "const unsigned before = left;\nthreadIdx.x = t;\nswapcontext(&main_item, &items[t]);\n"
    "ended[t] = left < before;\n}\nfree(ended);\n}\n"
    "void standin_run(void **parameters, unsigned groups, unsigned group)\n{\n"
    "char *stacks = BARRIERS ? malloc((size_t)group * 65536) : NULL;\n"
    "items = BARRIERS ? malloc(group * sizeof *items) : NULL;\nblockDim.x = group;\n"
    "for (unsigned b = 0; b < groups; b++) {\nblockIdx.x = b;\n"
    "if (BARRIERS)\nrun_group(parameters, group, stacks);\n"
    "else\nfor (unsigned t = 0; t < group; t++) {\nthreadIdx.x = t;\ncall(parameters);\n}\n}\n"
    "free(stacks);\nfree(items);\n}\n";

struct weft__nvrtc_program {
    char *text, *log, *code;
    size_t bytes;
};

EXPORT int nvrtcVersion(int *major, int *minor)
{
    *major = 13;
    *minor = 0;
    return 0;
}

EXPORT int nvrtcGetNumSupportedArchs(int *count)
{
    *count = 2;
    return 0;
}

EXPORT int nvrtcGetSupportedArchs(int *all)
{
    all[0] = 80;
    all[1] = 90;
    return 0;
}

EXPORT int nvrtcCreateProgram(nvrtcProgram *program, const char *text, const char *name, int count,
                              const char *const *headers, const char *const *names)
{
    (void)name, (void)count, (void)headers, (void)names;
    *program = calloc(1, sizeof **program);
    (*program)->text = strdup(text);
    return 0;
}

EXPORT int nvrtcDestroyProgram(nvrtcProgram *program)
{
    free((*program)->text);
    free((*program)->log);
    free((*program)->code);
    free(*program);
    *program = NULL;
    return 0;
}

/* Calls a kernel of a user's, the only one in its text: the types are what stands before the last
 * word of each parameter. */
static void write_native_call(FILE *file, const char *text)
{
    char call[2000] = "", sizes[2000] = "";
    const char *name = strstr(text, "void "), *at = name ? strchr(name, '(') : NULL;
    int count = 0;
    while (at && *at && *at != ')') {
        const char *begin = at + 1, *end = begin + strcspn(begin, ",)");
        const char *word = end;
        while (word > begin && strchr(" *", word[-1]) == NULL)
            word--;
        const int type = (int)(word - begin);
        const size_t used = strlen(call), told = strlen(sizes);
        snprintf(call + used, sizeof call - used, "%s*(%.*s *)parameters[%d]", count ? ", " : "",
                 type, begin, count);
        snprintf(sizes + told, sizeof sizes - told, ", sizeof(%.*s)", type, begin);
        count++;
        at = end;
    }
    fprintf(file, "static void call(void **parameters)\n{\n%.*s(%s);\n}\n",
            name ? (int)(strchr(name, '(') - name - 5) : 0, name ? name + 5 : "", call);
    fprintf(file, "const unsigned standin_sizes[] = {%d%s};\n", count, sizes);
}

static void write_call(FILE *file, const char *text)
{
    const bool pointed = strstr(text, "arguments *numbers") != NULL;
    int count = 0;
    const char *line = strstr(text, "#define PARAMETERS");
    const char *end = line ? strchr(line, '\n') : NULL;
    for (const char *at = line; at && (at = strstr(at, "u8 *p")) && at < end; at++)
        count++;
    fprintf(file, "static void call(void **parameters)\n{\n");
    for (int k = 0; k < count; k++)
        fprintf(file, "u8 *p%d = *(u8 **)parameters[%d];\n", k, k);
    fprintf(file,
            pointed ? "const arguments *numbers = *(const arguments **)parameters[%d];\n"
                    : "const arguments g = *(const arguments *)parameters[%d];\n",
            count);
    fprintf(file, "weft_kernel(ARGUMENTS);\n}\nconst unsigned standin_sizes[] = {%d", count + 1);
    for (int k = 0; k < count; k++)
        fprintf(file, ", 8");
    fprintf(file, ", %s};\n", pointed ? "8" : "sizeof(arguments)");
}

/* C has no linkage specifications. */
static void write_source(FILE *file, const char *text)
{
    const char *found = strstr(text, "extern \"C\"");
    const bool barriers = strstr(text, "\nBARRIER;") || strstr(text, "\n__syncthreads();");
    fputs(words, file);
    for (; found; found = strstr(text, "extern \"C\"")) {
        fwrite(text, 1, (size_t)(found - text), file);
        text = found + strlen("extern \"C\"");
    }
    fputs(text, file);
    if (strstr(text, "#define PARAMETERS"))
        write_call(file, text);
    else
        write_native_call(file, text);
    fprintf(file, "#define BARRIERS %d\n%s", barriers, loops);
}

static char *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    rewind(file);
    char *data = malloc((size_t)size + 1);
    *bytes = fread(data, 1, (size_t)size, file);
    data[*bytes] = 0;
    fclose(file);
    return data;
}

static uint64_t hash_of(const char *text)
{
    uint64_t hash = sizeof words + sizeof loops;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

static int compile(nvrtcProgram program, const char *base)
{
    char source[512], object[512], log[512], command[4096];
    snprintf(source, sizeof source, "%s.c", base);
    snprintf(object, sizeof object, "%s.so", base);
    snprintf(log, sizeof log, "%s.log", base);
    FILE *file = fopen(source, "w");
    if (!file)
        return 1;
    write_source(file, program->text);
    fclose(file);
    snprintf(command, sizeof command,
             "%s -x c -std=gnu11 -O1 -w -fPIC -shared -ffp-contract=off -fno-math-errno -fwrapv "
             "-fno-strict-aliasing -o %s.new %s -lm 2> %s && mv %s.new %s",
             STANDIN_COMPILER, object, source, log, object, object);
    const int code = system(command);
    size_t bytes;
    program->log = read_file(log, &bytes);
    (void)unlink(source);
    (void)unlink(log);
    return code == 0 ? 0 : 6;
}

EXPORT int nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options)
{
    char base[400], object[512];
    const int refused = standin_compile_really(program->text, count, options, &program->log);
    if (refused != 0)
        return refused;
    snprintf(base, sizeof base, "%s/%016" PRIx64 "-%ld", STANDIN_FOLDER, hash_of(program->text),
             (long)getpid());
    snprintf(object, sizeof object, "%s/%016" PRIx64 ".so", STANDIN_FOLDER, hash_of(program->text));
    if (access(object, R_OK) != 0) {
        char made[512];
        const int code = compile(program, base);
        if (code != 0)
            return code;
        snprintf(made, sizeof made, "%s.so", base);
        rename(made, object);
    }
    program->bytes = strlen(object) + 1;
    program->code = strdup(object);
    return 0;
}

EXPORT int nvrtcGetCUBINSize(nvrtcProgram program, size_t *bytes)
{
    *bytes = program->bytes;
    return 0;
}

EXPORT int nvrtcGetCUBIN(nvrtcProgram program, char *code)
{
    memcpy(code, program->code, program->bytes);
    return 0;
}

EXPORT int nvrtcGetPTXSize(nvrtcProgram program, size_t *bytes)
{
    return nvrtcGetCUBINSize(program, bytes);
}

EXPORT int nvrtcGetPTX(nvrtcProgram program, char *code) { return nvrtcGetCUBIN(program, code); }

EXPORT int nvrtcGetProgramLogSize(nvrtcProgram program, size_t *bytes)
{
    *bytes = program->log ? strlen(program->log) + 1 : 1;
    return 0;
}

EXPORT int nvrtcGetProgramLog(nvrtcProgram program, char *log)
{
    strcpy(log, program->log ? program->log : "");
    return 0;
}

EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    const CUresult code = standin_enter("cuModuleLoadData");
    if (code != CUDA_SUCCESS)
        return code;
    *module = dlopen(image, RTLD_NOW | RTLD_LOCAL);
    return *module ? CUDA_SUCCESS : 200;
}

/* Kernels that are queued may still need it. */
EXPORT CUresult cuModuleUnload(CUmodule module)
{
    (void)module;
    return standin_enter("cuModuleUnload");
}

EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    (void)name;
    *function = dlsym(module, "standin_run");
    return *function ? standin_enter("cuModuleGetFunction") : 500;
}

typedef struct launch {
    standin_kernel *kernel;
    unsigned groups, group;
    void *parameters[]; /* and what they point to */
} launch;

static void launch_task(CUstream stream, void *argument)
{
    launch *l = argument;
    CUcontext context = standin_context_of(stream);
    const int fault = standin_take_fault();
    if (fault)
        __atomic_store_n(&context->fault, fault, __ATOMIC_SEQ_CST);
    else if (context->fault == 0)
        l->kernel(l->parameters, l->groups, l->group);
}

/* How many there are, and how large each is, is in the code. */
static launch *new_launch(void **parameters, const unsigned *sizes)
{
    size_t bytes = sizes[0] * sizeof(void *);
    for (unsigned k = 0; k < sizes[0]; k++)
        bytes += (sizes[k + 1] + 15) / 16 * 16;
    launch *l = malloc(sizeof *l + bytes);
    char *at = (char *)(l->parameters + sizes[0]);
    for (unsigned k = 0; k < sizes[0]; k++) {
        l->parameters[k] = memcpy(at, parameters[k], sizes[k + 1]);
        at += (sizes[k + 1] + 15) / 16 * 16;
    }
    return l;
}

EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned bx,
                               unsigned by, unsigned bz, unsigned shared, CUstream stream,
                               void **parameters, void **extra)
{
    const CUresult code = standin_enter("cuLaunchKernel");
    (void)shared, (void)extra;
    if (code != CUDA_SUCCESS || y * z * by * bz != 1)
        return code != CUDA_SUCCESS ? code : 1;
    Dl_info info;
    void *library = dladdr((void *)function, &info) ? dlopen(info.dli_fname, RTLD_NOW) : NULL;
    const unsigned *sizes = library ? dlsym(library, "standin_sizes") : NULL;
    static const unsigned none[1];
    launch *l = new_launch(parameters, sizes ? sizes : none);
    memcpy(&l->kernel, &function, sizeof function);
    l->groups = x;
    l->group = bx;
    standin_queue(stream, launch_task, l);
    return CUDA_SUCCESS;
}
