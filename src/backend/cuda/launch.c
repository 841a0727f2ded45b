/* Kernels on CUDA devices: compiling, loading and launching. */
#include "backend/cuda/cuda.h"
#include "backend/kernel_text.h"
#include "core/allocate.h"
#include <string.h>

struct weft__module {
    weft__image image;
    weft__cuda_device *device;
    uint64_t generation; /* of the context that it is in */
    CUmodule module;
    CUfunction function;
};

static weft_status load(weft__module *module, const char *code)
{
    weft__cuda_device *device = module->device;
    const bool entered = weft__cuda_enter(device);
    const char *call = "ModuleLoadData";
    CUresult result = weft__cu.ModuleLoadData(&module->module, code);
    if (result == CUDA_SUCCESS) {
        call = "ModuleGetFunction";
        result = weft__cu.ModuleGetFunction(&module->function, module->module, "weft_kernel");
    }
    weft__cuda_leave(entered);
    return weft__cuda_check(device, call, result);
}

static weft_status build(weft__module *module)
{
    weft__kernel_text *text = module->image.program;
    char *code;
    size_t bytes;
    TRY(weft__cuda_compile(module->device, text->text, &code, &bytes));
    const weft_status status = load(module, code);
    weft__free(code);
    return status;
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
    weft__free(module);
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

static weft_status start(const launching *l)
{
    const weft__module *module = l->work->of.launch.module;
    const weft__kernel_text *text = module->image.program;
    const int64_t groups = weft__kernel_text_groups(text, l->work->of.launch.launch);
    if (groups > INT32_MAX)
        return FAIL(WEFT_ERROR_UNSUPPORTED,
                    "a launch of %lld groups is more than CUDA takes; compute in parts",
                    (long long)groups);
    return weft__cuda_check(l->device, "LaunchKernel",
                            weft__cu.LaunchKernel(module->function, (unsigned)groups, 1, 1,
                                                  text->group, 1, 1, 0, l->stream, l->parameters,
                                                  NULL));
}

/* The struct in memory of the device's, which lives until the kernel has run. */
static weft_status start_pointed(const launching *l, uint32_t count)
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

static weft_status set_and_start(const launching *l)
{
    const weft__launch *launch = l->work->of.launch.launch;
    const weft__kernel_text *text = l->work->of.launch.module->image.program;
    const weft__argument *arguments = weft__launch_arguments_of(launch);
    const uint32_t count = launch->arguments_count;
    memset(l->numbers, 0, count * sizeof *l->numbers);
    weft__kernel_text_arguments(launch, l->numbers, l->numbers + count);
    for (uint32_t k = 0; k < count; k++)
        l->parameters[k] = (void *)(uintptr_t)&arguments[k].data;
    l->parameters[count] = l->numbers + count;
    return text->pointed ? start_pointed(l, count) : start(l);
}

static weft_status launch_kernel(weft__cuda_device *device, CUstream stream, const weft__work *work)
{
    enum { NUMBERS = 512, PARAMETERS = 64 };
    int64_t numbers[NUMBERS];
    void *parameters[PARAMETERS];
    const weft__launch *launch = work->of.launch.launch;
    const size_t count = launch->arguments_count;
    const size_t bytes =
        weft__kernel_text_bytes(count, (size_t)launch->ndim, launch->scalars_count);
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

weft_status weft__cuda_enqueue(weft__cuda_device *device, CUstream stream, const weft__work *work)
{
    if (work->kind == WEFT__WORK_LAUNCH)
        return launch_kernel(device, stream, work);
    if (work->kind == WEFT__WORK_COPY && work->of.copy.bytes > 0)
        return weft__cuda_copy(device, stream, work);
    return WEFT_OK;
}
