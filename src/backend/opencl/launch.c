/* Kernels and copies on OpenCL devices: loading, and putting commands into a queue. */
#include "backend/opencl/opencl.h"
#include "core/allocate.h"
#include "core/traced.h"
#include <pthread.h>
#include <string.h>

weft_status weft__opencl_module_load(int index, weft__image *image, weft__module **module)
{
    const weft__opencl_device *device = weft__opencl_device_get(index);
    *module = device ? weft__allocate_zeroed(sizeof **module) : NULL;
    if (!*module) {
        image->destroy(image->program);
        return weft_error_code();
    }
    (*module)->image = *image;
    pthread_mutex_init(&(*module)->mutex, NULL);
    const weft_status status =
        weft__opencl_program_build(device, image->program, &(*module)->built);
    if (status != WEFT_OK)
        weft__opencl_module_release(*module);
    return status;
}

void weft__opencl_module_release(weft__module *module)
{
    if (!module)
        return;
    weft__opencl_program_release(&module->built);
    pthread_mutex_destroy(&module->mutex);
    module->image.destroy(module->image.program);
    weft__free(module);
}

bool weft__opencl_module_binary(weft__module *module, void **data, size_t *bytes)
{
    if (module->built.loaded)
        return false;
    weft__opencl_program_binary(&module->built, data, bytes);
    return true;
}

/* A driver may compile when a kernel is first launched, on a thread of its own, with a library that
 * is no longer in order once the functions run that it has registered for the end of the process:
 * from now on all work is done before those. */
void weft__opencl_module_ran(weft__module *module)
{
    if (!atomic_load_explicit(&module->ran, memory_order_relaxed) &&
        !atomic_exchange(&module->ran, true))
        (void)weft__opencl_end_first();
}

static cl_int set_pointer(cl_kernel kernel, cl_uint at, weft__opencl_place place)
{
    if (place.shared)
        return weft__cl.SetKernelArgSVMPointer(kernel, at, place.shared);
    return weft__cl.SetKernelArg(kernel, at, sizeof place.object,
                                 place.object ? &place.object : NULL);
}

weft_status weft__opencl_set_pointer(cl_kernel kernel, cl_uint at, weft__opencl_place place)
{
    if (place.shared && !weft__cl.SetKernelArgSVMPointer)
        return FAIL(WEFT_ERROR_UNSUPPORTED,
                    "the OpenCL of this system cannot use memory that is not its own");
    const cl_int code = set_pointer(kernel, at, place);
    return code == CL_SUCCESS ? WEFT_OK : weft__cl_fail("SetKernelArg", code);
}

/* Each call of the driver's costs as much as a part of the launch: arguments that are as they were
 * stay so. */
static bool is_set(const weft__module *module, uint32_t i, uint64_t number)
{
    return i < WEFT__OPENCL_POINTERS && number && module->set.pointers[i] == number;
}

static void note_set(weft__module *module, uint32_t i, uint64_t number)
{
    if (i < WEFT__OPENCL_POINTERS)
        module->set.pointers[i] = number;
}

/* Pointers, and where in what they point to the arguments begin. */
static weft_status set_pointers(const weft__opencl_command *l, int64_t *offsets)
{
    weft__module *module = l->work->of.launch.module;
    const weft__launch *launch = l->work->of.launch.launch;
    const weft__argument *arguments = weft__launch_arguments_of(launch);
    for (uint32_t i = 0; i < launch->arguments_count; i++) {
        const weft__opencl_place place = weft__opencl_place_of(l->work, arguments[i].data);
        offsets[i] = (int64_t)place.offset;
        if (is_set(module, i, place.number))
            continue;
        note_set(module, i, 0);
        TRY(weft__opencl_set_pointer(module->built.kernel, i, place));
        note_set(module, i, place.number);
    }
    return WEFT_OK;
}

static size_t items_of(const weft__work *work)
{
    const weft__kernel_text *text = work->of.launch.module->image.program;
    return (size_t)weft__kernel_text_groups(text, work->of.launch.launch) * text->group;
}

static weft_status start(const weft__opencl_command *l)
{
    const weft__module *module = l->work->of.launch.module;
    const size_t items = ((const weft__kernel_text *)module->image.program)->group;
    const size_t all = items_of(l->work);
    const cl_int code =
        weft__cl.EnqueueNDRangeKernel(l->queue, module->built.kernel, 1, NULL, &all, &items,
                                      l->waits->count, l->waits->events, l->event);
    return code == CL_SUCCESS ? WEFT_OK : weft__cl_fail("EnqueueNDRangeKernel", code);
}

static cl_int set_struct(const weft__opencl_command *l, size_t bytes, const void *value)
{
    return weft__cl.SetKernelArg(l->work->of.launch.module->built.kernel,
                                 l->work->of.launch.launch->arguments_count, bytes, value);
}

/* Argument number `at`. */
static cl_int set_changed_struct(weft__module *module, cl_uint at, size_t bytes, const void *value)
{
    weft__opencl_set *set = &module->set;
    if (bytes == set->bytes && memcmp(set->numbers, value, bytes) == 0)
        return CL_SUCCESS;
    const cl_int code = weft__cl.SetKernelArg(module->built.kernel, at, bytes, value);
    set->bytes = code == CL_SUCCESS && bytes <= sizeof set->numbers ? bytes : 0;
    memcpy(set->numbers, value, set->bytes);
    return code;
}

/* The struct in memory of the device's, which lives until the kernel has run. */
static weft_status start_pointed(const weft__opencl_command *l, int64_t *numbers, size_t bytes)
{
    cl_int code;
    cl_mem object = weft__cl.CreateBuffer(l->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                          bytes, numbers, &code);
    if (!object)
        return weft__cl_fail("CreateBuffer", code);
    code = set_struct(l, sizeof object, &object);
    const weft_status status = code == CL_SUCCESS ? start(l) : weft__cl_fail("SetKernelArg", code);
    weft__cl.ReleaseMemObject(object);
    return status;
}

static weft_status start_with(const weft__opencl_command *l, int64_t *numbers, size_t bytes)
{
    const weft__kernel_text *text = l->work->of.launch.module->image.program;
    if (text->pointed)
        return start_pointed(l, numbers, bytes);
    const cl_int code = set_changed_struct(
        l->work->of.launch.module, l->work->of.launch.launch->arguments_count, bytes, numbers);
    return code == CL_SUCCESS ? start(l) : weft__cl_fail("SetKernelArg", code);
}

/* Launches the kernel with nothing to do, on a queue of its own, and waits: then the driver has
 * compiled it, and no process ends while it does (weft__opencl_module_ran). */
static weft_status compile_now(const weft__opencl_command *l, int64_t *numbers, size_t bytes)
{
    static const weft__opencl_waits none;
    weft__module *module = l->work->of.launch.module;
    cl_device_id device = NULL;
    cl_event event = NULL;
    cl_int code = CL_SUCCESS;
    weft__cl.GetCommandQueueInfo(l->queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
    cl_command_queue queue = weft__cl.CreateCommandQueue(l->context, device, 0, &code);
    if (!queue)
        return weft__cl_fail("CreateCommandQueue", code);
    const weft__opencl_command idle = {queue, l->context, l->work, &none, &event};
    for (uint32_t i = 0; i < l->work->of.launch.launch->arguments_count; i++)
        weft__cl.SetKernelArg(module->built.kernel, i, sizeof(cl_mem), NULL);
    module->set = (weft__opencl_set){0};
    memset(numbers, 0, bytes);
    numbers[0] = -1;
    const weft_status status = start_with(&idle, numbers, bytes);
    if (status == WEFT_OK) {
        weft__cl.WaitForEvents(1, &event);
        weft__cl.ReleaseEvent(event);
    }
    weft__cl.ReleaseCommandQueue(queue);
    if (status == WEFT_OK)
        weft__opencl_module_ran(module);
    return status;
}

/* With the module's mutex held. `room` is for the offsets and then the struct. */
static weft_status set_and_start(const weft__opencl_command *l, int64_t *room, size_t bytes)
{
    const weft__launch *launch = l->work->of.launch.launch;
    weft__module *module = l->work->of.launch.module;
    const weft__kernel_text *text = module->image.program;
    int64_t *numbers = room + launch->arguments_count;
    if (text->idles && !module->compiled) {
        const uint64_t begin = weft__tracing() ? weft__trace_now() : 0;
        TRY(compile_now(l, numbers, bytes));
        if (begin && l->work->uses_count)
            weft__traced_compilation(l->work->uses[0].buffer->device, "at the first launch",
                                     l->work->source, begin);
    }
    module->compiled = true;
    TRY(set_pointers(l, room));
    weft__kernel_text_arguments(launch, room, numbers);
    return start_with(l, numbers, bytes);
}

/* A launch as it is queued again; one block with what the kernel is given. */
typedef struct kept_argument {
    cl_mem object;
    char *shared;
    uint64_t number;
} kept_argument;
typedef struct kept_launch {
    weft__module *module;
    size_t all, items, bytes; /* of work-items, of those of a group, of the struct */
    uint32_t count;
    kept_argument arguments[]; /* then the struct */
} kept_launch;

static int64_t *kept_numbers(kept_launch *kept)
{
    return (int64_t *)(void *)(kept->arguments + kept->count);
}

/* With the module's mutex held. */
static cl_int set_kept(kept_launch *kept)
{
    weft__module *module = kept->module;
    for (uint32_t i = 0; i < kept->count; i++) {
        const kept_argument *argument = &kept->arguments[i];
        if (is_set(module, i, argument->number))
            continue;
        note_set(module, i, 0);
        const cl_int code =
            set_pointer(module->built.kernel, i,
                        (weft__opencl_place){argument->object, argument->shared, 0, 0, 0});
        if (code != CL_SUCCESS)
            return code;
        note_set(module, i, argument->number);
    }
    return set_changed_struct(module, kept->count, kept->bytes, kept_numbers(kept));
}

static int launch_again(void *what, void *stream)
{
    kept_launch *kept = what;
    const weft__opencl_stream *s = stream;
    weft__module *module = kept->module;
    pthread_mutex_lock(&module->mutex);
    cl_int code = set_kept(kept);
    if (code == CL_SUCCESS)
        code = weft__cl.EnqueueNDRangeKernel(s->queue, module->built.kernel, 1, NULL, &kept->all,
                                             &kept->items, 0, NULL, NULL);
    pthread_mutex_unlock(&module->mutex);
    if (code == CL_SUCCESS)
        weft__cl.Flush(s->queue);
    return code;
}

/* Notes how the launch, whose struct that is, is queued again. */
static void keep(const weft__work *work, const int64_t *numbers, size_t bytes)
{
    weft__again *again = work->again;
    const weft__launch *launch = work->of.launch.launch;
    const weft__argument *arguments = weft__launch_arguments_of(launch);
    const weft__kernel_text *text = work->of.launch.module->image.program;
    const uint32_t count = launch->arguments_count;
    kept_launch *kept = again->what;
    again->queue = NULL;
    if (text->name || text->pointed ||
        sizeof *kept + count * sizeof *kept->arguments + bytes > again->room)
        return;
    *kept = (kept_launch){work->of.launch.module, items_of(work), text->group, bytes, count};
    for (uint32_t i = 0; i < count; i++) {
        const weft__opencl_place place = weft__opencl_place_of(work, arguments[i].data);
        kept->arguments[i] = (kept_argument){place.object, place.shared, place.number};
    }
    memcpy(kept_numbers(kept), numbers, bytes);
    again->scalars =
        (uint64_t *)kept_numbers(kept) + bytes / sizeof *numbers - launch->scalars_count;
    again->queue = launch_again;
}

static weft_status enqueue_launch(const weft__opencl_command *l)
{
    enum { INLINE = 192 };
    int64_t few[INLINE], *room = few;
    const weft__launch *launch = l->work->of.launch.launch;
    weft__module *module = l->work->of.launch.module;
    const size_t bytes = weft__kernel_text_bytes(launch->arguments_count, (size_t)launch->ndim,
                                                 launch->scalars_count);
    const size_t whole = launch->arguments_count * sizeof *room + bytes;
    if (whole > sizeof few && !(room = weft__allocate(whole)))
        return WEFT_ERROR_MEMORY;
    pthread_mutex_lock(&module->mutex);
    const weft_status status = ((const weft__kernel_text *)module->image.program)->name
                                   ? weft__opencl_start_native(l)
                                   : set_and_start(l, room, bytes);
    pthread_mutex_unlock(&module->mutex);
    if (status == WEFT_OK && l->work->again)
        keep(l->work, room + launch->arguments_count, bytes);
    if (room != few)
        weft__free(room);
    return status;
}

/* The column, row and slice of a byte. */
typedef struct origin {
    size_t at[3];
} origin;
static origin origin_of(size_t offset, weft__pitch pitch)
{
    return (origin){
        {offset % pitch.slice % pitch.row, offset % pitch.slice / pitch.row, offset / pitch.slice}};
}

static weft_status enqueue_rows(const weft__opencl_command *l, weft__opencl_place to,
                                weft__opencl_place from)
{
    const weft__rows *r = &l->work->of.copy.rows;
    const size_t region[] = {r->width, r->rows, r->slices};
    const origin dst = origin_of(to.object ? to.offset : 0, r->dst);
    const origin src = origin_of(from.object ? from.offset : 0, r->src);
    cl_int code;
    if (to.object && from.object)
        code = weft__cl.EnqueueCopyBufferRect(
            l->queue, from.object, to.object, src.at, dst.at, region, r->src.row, r->src.slice,
            r->dst.row, r->dst.slice, l->waits->count, l->waits->events, l->event);
    else if (to.object)
        code = weft__cl.EnqueueWriteBufferRect(
            l->queue, to.object, 0, dst.at, src.at, region, r->dst.row, r->dst.slice, r->src.row,
            r->src.slice, l->work->of.copy.src, l->waits->count, l->waits->events, l->event);
    else
        code = weft__cl.EnqueueReadBufferRect(
            l->queue, from.object, 0, src.at, dst.at, region, r->src.row, r->src.slice, r->dst.row,
            r->dst.slice, l->work->of.copy.dst, l->waits->count, l->waits->events, l->event);
    return code == CL_SUCCESS ? WEFT_OK : weft__cl_fail("Enqueue{Read,Write,Copy}BufferRect", code);
}

static weft_status enqueue_copy(const weft__opencl_command *l)
{
    void *dst = l->work->of.copy.dst;
    const void *src = l->work->of.copy.src;
    const size_t bytes = l->work->of.copy.bytes;
    const weft__opencl_place to = weft__opencl_place_of(l->work, dst);
    const weft__opencl_place from = weft__opencl_place_of(l->work, src);
    cl_int code;
    if (!to.object && !from.object)
        return FAIL(WEFT_ERROR_PLACEMENT, "a copy on an OpenCL device has neither end there");
    if (l->work->of.copy.rows.width > 0)
        return enqueue_rows(l, to, from);
    if (to.object && from.object)
        code = weft__cl.EnqueueCopyBuffer(l->queue, from.object, to.object, from.offset, to.offset,
                                          bytes, l->waits->count, l->waits->events, l->event);
    else if (to.object)
        code = weft__cl.EnqueueWriteBuffer(l->queue, to.object, 0, to.offset, bytes, src,
                                           l->waits->count, l->waits->events, l->event);
    else
        code = weft__cl.EnqueueReadBuffer(l->queue, from.object, 0, from.offset, bytes, dst,
                                          l->waits->count, l->waits->events, l->event);
    return code == CL_SUCCESS ? WEFT_OK : weft__cl_fail("Enqueue{Read,Write,Copy}Buffer", code);
}

/* Nothing but an event. NVIDIA's driver notes the time of a marker, and of a barrier a 0; what
 * comes after a barrier waits for all that it does. */
static weft_status enqueue_event(const weft__opencl_command *l)
{
    const bool barrier = l->waits->count > 0;
    const cl_int code = barrier ? weft__cl.EnqueueBarrierWithWaitList(l->queue, l->waits->count,
                                                                      l->waits->events, l->event)
                                : weft__cl.EnqueueMarkerWithWaitList(l->queue, 0, NULL, l->event);
    return code == CL_SUCCESS ? WEFT_OK
                              : weft__cl_fail("Enqueue{Barrier,Marker}WithWaitList", code);
}

weft_status weft__opencl_enqueue(cl_command_queue queue, cl_context context, const weft__work *work,
                                 const weft__opencl_waits *waits, cl_event *event)
{
    const weft__opencl_command l = {queue, context, work, waits, event};
    if (work->kind == WEFT__WORK_LAUNCH)
        return enqueue_launch(&l);
    if (work->kind == WEFT__WORK_COPY && work->of.copy.bytes > 0)
        return enqueue_copy(&l);
    return enqueue_event(&l);
}
