/* Running kernels on memory that the device cannot reach: what the user has lent, in the context of
 * a device that is not the CPU. */
#ifndef WEFT_KERNEL_BRING_H
#define WEFT_KERNEL_BRING_H

#include "core/array.h"
#include "kernel/ir.h"

bool weft__bring_is_needed(weft_array *const *arrays, uint32_t count, weft_device device);
/* weft__kernel_run, with copies there and back of what is out of reach. */
weft_status weft__bring_and_run(const weft__kernel *kernel, weft_stream *stream,
                                const weft_shape *space, weft_array *const *arrays,
                                const uint64_t *scalars);

#endif
