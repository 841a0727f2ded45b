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
    const bool at_once = work->of.copy.bytes <= SMALL && work->of.copy.rows.width == 0;
    return !weft__cuda_copy_knows(work, work->of.copy.dst) ||
           (!at_once && !weft__cuda_copy_knows(work, work->of.copy.src));
}

static CUDA_MEMCPY3D_end end_at(const void *address, weft__pitch pitch)
{
    return (CUDA_MEMCPY3D_end){.kind = CU_MEMORYTYPE_UNIFIED,
                               .device = weft__cuda_address(address),
                               .pitch = pitch.row,
                               .height = pitch.slice / pitch.row};
}

weft_status weft__cuda_copy_rows(weft__cuda_device *device, CUstream stream, void *dst,
                                 const void *src, const weft__rows *rows)
{
    const CUDA_MEMCPY3D copy = {end_at(src, rows->src), end_at(dst, rows->dst), rows->width,
                                rows->rows, rows->slices};
    return weft__cuda_check(device, "Memcpy3DAsync", weft__cu.Memcpy3DAsync(&copy, stream));
}

weft_status weft__cuda_copy(weft__cuda_device *device, CUstream stream, const weft__work *work)
{
    void *dst = work->of.copy.dst;
    const void *src = work->of.copy.src;
    const size_t bytes = work->of.copy.bytes;
    if (work->of.copy.rows.width > 0)
        return weft__cuda_copy_rows(device, stream, dst, src, &work->of.copy.rows);
    if (!weft__cuda_copy_knows(work, src))
        return weft__cuda_check(
            device, "MemcpyHtoDAsync",
            weft__cu.MemcpyHtoDAsync(weft__cuda_address(dst), src, bytes, stream));
    return weft__cuda_check(
        device, "MemcpyAsync",
        weft__cu.MemcpyAsync(weft__cuda_address(dst), weft__cuda_address(src), bytes, stream));
}
