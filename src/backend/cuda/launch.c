/* Kernels on CUDA devices: compiling, loading and launching. */
#include "backend/cuda/cuda.h"
#include "core/allocate.h"
#include <string.h>

struct weft__module {
    weft__image image;
    weft__cuda_device *device;
    uint64_t generation; /* of the context that it is in */
    CUmodule module;
    CUfunction function;
    char *code; /* what was compiled and nobody has taken yet, or NULL */
    size_t code_bytes;
    bool loaded; /* from what an earlier process kept */
};

static CUresult find_function(weft__module *module, const char *code, const char **call)
{
    const weft__kernel_text *text = module->image.program;
    *call = "ModuleLoadData";
    const CUresult result = weft__cu.ModuleLoadData(&module->module, code);
    if (result != CUDA_SUCCESS)
        return result;
    *call = "ModuleGetFunction";
    return weft__cu.ModuleGetFunction(&module->function, module->module,
                                      text->name ? text->name : "weft_kernel");
}

static weft_status load(weft__module *module, const char *code)
{
    enum { NOT_FOUND = 500 };
    const weft__kernel_text *text = module->image.program;
    const char *call;
    const bool entered = weft__cuda_enter(module->device);
    const CUresult result = find_function(module, code, &call);
    weft__cuda_leave(entered);
    if (result == NOT_FOUND && text->name)
        return FAIL(WEFT_ERROR_COMPILE,
                    "the text has no kernel of the name '%s'; it must be extern \"C\"", text->name);
    return weft__cuda_check(module->device, call, result);
}

/* What an earlier process kept may be of no use any more: then the text is there. */
static bool load_binary(weft__module *module)
{
    const weft__kernel_text *text = module->image.program;
    const weft_error before = *weft_error_last();
    module->loaded = text->binary && load(module, text->binary) == WEFT_OK;
    if (!module->loaded)
        weft__error_restore(&before);
    return module->loaded;
}

static weft_status build(weft__module *module)
{
    const weft__kernel_text *text = module->image.program;
    if (load_binary(module))
        return WEFT_OK;
    TRY(weft__cuda_compile(module->device, text, &module->code, &module->code_bytes));
    return load(module, module->code);
}

bool weft__cuda_module_binary(weft__module *module, void **data, size_t *bytes)
{
    *data = module->code;
    *bytes = module->code_bytes;
    module->code = NULL;
    return !module->loaded;
}

weft_status weft__cuda_module_load(int index, weft__image *image, weft__module **module)
{
    weft__cuda_device *device = weft__cuda_device_get(index);
    *module = device ? weft__allocate_zeroed(sizeof **module) : NULL;
    if (!*module) {
        image->destroy(image->program);
        return weft_error_code();
    }
    (*module)->image = *image;
    (*module)->device = device;
    (*module)->generation = atomic_load(&device->generation);
    const weft_status status = build(*module);
    if (status != WEFT_OK)
        weft__cuda_module_release(*module);
    return status;
}

void weft__cuda_module_release(weft__module *module)
{
    if (!module)
        return;
    weft__cuda_device *device = module->device;
    if (module->module && weft__cuda_usable() && !atomic_load(&device->fault) &&
        module->generation == atomic_load(&device->generation)) {
        const bool entered = weft__cuda_enter(device);
        weft__cu.ModuleUnload(module->module);
        weft__cuda_leave(entered);
    }
    module->image.destroy(module->image.program);
    weft__free(module->code);
    weft__free(module);
}

const weft__kernel_text *weft__cuda_module_text(const weft__module *module)
{
    return module->image.program;
}

/* A launch that is being put into a stream. */
typedef struct launching {
    weft__cuda_device *device;
    CUstream stream;
    const weft__work *work;
    int64_t *numbers; /* zeros for where the arguments begin, then the struct that a kernel takes */
    size_t bytes;     /* of the struct */
    void **parameters; /* the addresses of all that a kernel takes */
} launching;

static weft_status count_groups(const weft__work *work, int64_t *groups)
{
    *groups =
        weft__kernel_text_groups(work->of.launch.module->image.program, work->of.launch.launch);
    if (*groups > INT32_MAX)
        return FAIL(WEFT_ERROR_UNSUPPORTED,
                    "a launch of %lld groups is more than CUDA takes; compute in parts",
                    (long long)*groups);
    return WEFT_OK;
}

static weft_status start(const launching *l)
{
    const weft__module *module = l->work->of.launch.module;
    const weft__kernel_text *text = module->image.program;
    int64_t groups;
    TRY(count_groups(l->work, &groups));
    CUresult code = weft__cu.LaunchKernel(module->function, (unsigned)groups, 1, 1, text->group, 1,
                                          1, 0, l->stream, l->parameters, NULL);
    if (code != CUDA_SUCCESS && weft__cuda_is_elsewhere(l->device)) {
        const bool entered = weft__cuda_enter(l->device);
        code = weft__cu.LaunchKernel(module->function, (unsigned)groups, 1, 1, text->group, 1, 1, 0,
                                     l->stream, l->parameters, NULL);
        weft__cuda_leave(entered);
    }
    return weft__cuda_check(l->device, "LaunchKernel", code);
}

/* The struct in memory of the device's, which lives until the kernel has run. */
static weft_status start_there(const launching *l, uint32_t count)
{
    CUdeviceptr there = 0;
    TRY(weft__cuda_check(l->device, "MemAllocAsync",
                         weft__cu.MemAllocAsync(&there, l->bytes, l->stream)));
    l->parameters[count] = &there;
    weft_status status =
        weft__cuda_check(l->device, "MemcpyHtoDAsync",
                         weft__cu.MemcpyHtoDAsync(there, l->numbers + count, l->bytes, l->stream));
    if (status == WEFT_OK)
        status = start(l);
    weft__cu.MemFreeAsync(there, l->stream);
    return status;
}

static weft_status start_pointed(const launching *l, uint32_t count)
{
    const bool entered = weft__cuda_enter(l->device);
    const weft_status status = start_there(l, count);
    weft__cuda_leave(entered);
    return status;
}

/* What a kernel takes. */
static void set(const launching *l)
{
    const weft__launch *launch = l->work->of.launch.launch;
    const weft__argument *arguments = weft__launch_arguments_of(launch);
    const uint32_t count = launch->arguments_count;
    memset(l->numbers, 0, count * sizeof *l->numbers);
    weft__kernel_text_arguments(launch, l->numbers, l->numbers + count);
    for (uint32_t k = 0; k < count; k++)
        l->parameters[k] = (void *)(uintptr_t)&arguments[k].data;
    l->parameters[count] = l->numbers + count;
}

static weft_status set_and_start(const launching *l)
{
    const weft__kernel_text *text = l->work->of.launch.module->image.program;
    set(l);
    return text->pointed ? start_pointed(l, l->work->of.launch.launch->arguments_count) : start(l);
}

/* A kernel of the user's: threads in blocks of 256 along the last axis, or of 32 × 8 where there
 * are more, as many as cover the index space. */
static weft_status launch_native(weft__cuda_device *device, CUstream stream, const weft__work *work)
{
    enum { PARAMETERS = 64, AXES = 3 };
    static const uint64_t nothing[WEFT_NDIM_MAX]; /* for what a text has more parameters */
    const weft__launch *launch = work->of.launch.launch;
    const weft__argument *arguments = weft__launch_arguments_of(launch);
    void *parameters[PARAMETERS];
    unsigned block[AXES] = {launch->ndim > 1 ? 32 : 256, launch->ndim > 1 ? 8 : 1, 1};
    unsigned grid[AXES] = {1, 1, 1};
    for (uint32_t k = 0; k < PARAMETERS; k++)
        parameters[k] = k >= launch->arguments_count ? (void *)(uintptr_t)nothing
                        : arguments[k].data          ? (void *)(uintptr_t)&arguments[k].data
                                                     : (void *)(uintptr_t)arguments[k].stride;
    for (int axis = 0; axis < launch->ndim; axis++) {
        const int along = launch->ndim - 1 - axis;
        const int64_t blocks = (launch->size[axis] + block[along] - 1) / block[along];
        if (blocks > (along == 0 ? INT32_MAX : UINT16_MAX))
            return FAIL(WEFT_ERROR_SHAPE,
                        "the index space has %lld points along axis %d, more "
                        "than CUDA takes",
                        (long long)launch->size[axis], axis);
        grid[along] = (unsigned)blocks;
    }
    const bool entered = weft__cuda_enter(device);
    const CUresult code =
        weft__cu.LaunchKernel(work->of.launch.module->function, grid[0], grid[1], grid[2], block[0],
                              block[1], block[2], 0, stream, parameters, NULL);
    weft__cuda_leave(entered);
    return weft__cuda_check(device, "LaunchKernel", code);
}

/* A launch that is kept for being queued again, where its caller has room for it. */
typedef struct kept_launch {
    CUfunction function;
    unsigned groups, group;
    uint64_t generation; /* of the work's, when it was made */
    void *parameters[];  /* then the numbers */
} kept_launch;

static int launch_again(void *what, void *stream)
{
    kept_launch *kept = what;
    return weft__cu.LaunchKernel(kept->function, kept->groups, 1, 1, kept->group, 1, 1, 0, stream,
                                 kept->parameters, NULL);
}

static bool can_be_kept(const weft__work *work, size_t bytes)
{
    const weft__kernel_text *text = work->of.launch.module->image.program;
    const size_t count = work->of.launch.launch->arguments_count;
    return !text->pointed &&
           sizeof(kept_launch) + (count + 1) * sizeof(void *) + count * sizeof(int64_t) + bytes <=
               work->again->room;
}

static bool is_kept(const weft__again *again, uint64_t generation)
{
    return again->queue && ((const kept_launch *)again->what)->generation == generation;
}

static weft_status keep(const weft__work *work, size_t bytes)
{
    weft__again *again = work->again;
    kept_launch *kept = again->what;
    const weft__launch *launch = work->of.launch.launch;
    const size_t count = launch->arguments_count;
    int64_t groups, *numbers = (int64_t *)(void *)(kept->parameters + count + 1);
    TRY(count_groups(work, &groups));
    set(&(launching){.work = work, .numbers = numbers, .parameters = kept->parameters});
    kept->function = work->of.launch.module->function;
    kept->groups = (unsigned)groups;
    kept->group = weft__cuda_module_text(work->of.launch.module)->group;
    kept->generation = work->generation;
    again->scalars = (uint64_t *)numbers + count + bytes / sizeof *numbers - launch->scalars_count;
    again->queue = launch_again;
    return WEFT_OK;
}

static weft_status start_kept(weft__cuda_device *device, CUstream stream, const weft__work *work)
{
    const weft__launch *launch = work->of.launch.launch;
    weft__again *again = work->again;
    if (launch->scalars_count)
        memcpy(again->scalars, weft__launch_scalars(launch),
               launch->scalars_count * sizeof *again->scalars);
    CUresult code = launch_again(again->what, stream);
    if (code != CUDA_SUCCESS && weft__cuda_is_elsewhere(device)) {
        const bool entered = weft__cuda_enter(device);
        code = launch_again(again->what, stream);
        weft__cuda_leave(entered);
    }
    return weft__cuda_check(device, "LaunchKernel", code);
}

__attribute__((noinline)) static weft_status
launch_large(weft__cuda_device *device, CUstream stream, const weft__work *work, size_t bytes)
{
    enum { NUMBERS = 512, PARAMETERS = 64 };
    int64_t numbers[NUMBERS];
    void *parameters[PARAMETERS];
    const size_t count = work->of.launch.launch->arguments_count;
    const size_t needed = count + bytes / sizeof *numbers;
    if (needed <= NUMBERS && count < PARAMETERS)
        return set_and_start(&(launching){device, stream, work, numbers, bytes, parameters});
    int64_t *more = weft__allocate(needed * sizeof *more + (count + 1) * sizeof(void *));
    if (!more)
        return WEFT_ERROR_MEMORY;
    const weft_status status = set_and_start(
        &(launching){device, stream, work, more, bytes, (void **)(void *)(more + needed)});
    weft__free(more);
    return status;
}

/* Few numbers are near what the caller has on its stack, which is in the cache. */
static weft_status launch_kernel(weft__cuda_device *device, CUstream stream, const weft__work *work)
{
    enum { NUMBERS = 64, PARAMETERS = 16 };
    int64_t numbers[NUMBERS];
    void *parameters[PARAMETERS];
    const weft__launch *launch = work->of.launch.launch;
    const size_t count = launch->arguments_count;
    const size_t bytes =
        weft__kernel_text_bytes(count, (size_t)launch->ndim, launch->scalars_count);
    const size_t needed = count + bytes / sizeof *numbers;
    if (needed <= NUMBERS && count < PARAMETERS)
        return set_and_start(&(launching){device, stream, work, numbers, bytes, parameters});
    return launch_large(device, stream, work, bytes);
}

static weft_status launch_kept(weft__cuda_device *device, CUstream stream, const weft__work *work)
{
    const weft__launch *launch = work->of.launch.launch;
    const size_t bytes = weft__kernel_text_bytes(launch->arguments_count, (size_t)launch->ndim,
                                                 launch->scalars_count);
    if (is_kept(work->again, work->generation))
        return start_kept(device, stream, work);
    if (!can_be_kept(work, bytes)) {
        work->again->queue = NULL;
        return launch_kernel(device, stream, work);
    }
    TRY(keep(work, bytes));
    return start_kept(device, stream, work);
}

weft_status weft__cuda_enqueue(weft__cuda_device *device, CUstream stream, const weft__work *work)
{
    if (work->kind == WEFT__WORK_LAUNCH) {
        if (work->again)
            return launch_kept(device, stream, work);
        const weft__kernel_text *text = work->of.launch.module->image.program;
        return text->name ? launch_native(device, stream, work)
                          : launch_kernel(device, stream, work);
    }
    if (work->kind == WEFT__WORK_GRAPH)
        return weft__cuda_graph_launch(work->of.graph, stream);
    if (work->kind == WEFT__WORK_COPY && work->of.copy.bytes > 0)
        return weft__cuda_copy(device, stream, work);
    return WEFT_OK;
}
