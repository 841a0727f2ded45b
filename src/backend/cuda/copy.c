/* Copies of CUDA devices, of memory that the driver knows. */
#include "backend/cuda/cuda.h"
#include "core/buffer.h"

enum {
    SMALL = 64 << 10
}; /* the driver takes so much of the host's memory at once, without waiting */

bool weft__cuda_copy_knows(const weft__work *work, const void *address)
{
    const char *at = address;
    for (uint32_t i = 0; i < work->uses_count; i++) {
        const weft__buffer *buffer = work->uses[i].buffer;
        if (at >= buffer->data && at < buffer->data + buffer->capacity)
            return buffer->device.kind == WEFT_DEVICE_CUDA;
    }
    return false;
}

bool weft__cuda_copy_waits(const weft__work *work)
{
    if (work->kind != WEFT__WORK_COPY)
        return false;
    return !weft__cuda_copy_knows(work, work->of.copy.dst) ||
           (work->of.copy.bytes > SMALL && !weft__cuda_copy_knows(work, work->of.copy.src));
}

weft_status weft__cuda_copy(weft__cuda_device *device, CUstream stream, const weft__work *work)
{
    void *dst = work->of.copy.dst;
    const void *src = work->of.copy.src;
    const size_t bytes = work->of.copy.bytes;
    if (!weft__cuda_copy_knows(work, src))
        return weft__cuda_check(
            device, "MemcpyHtoDAsync",
            weft__cu.MemcpyHtoDAsync(weft__cuda_address(dst), src, bytes, stream));
    return weft__cuda_check(
        device, "MemcpyAsync",
        weft__cu.MemcpyAsync(weft__cuda_address(dst), weft__cuda_address(src), bytes, stream));
}
