/* The canonical form of a launch: fewest axes, in the order of the output's memory. */
#ifndef WEFT_KERNEL_CANONICAL_H
#define WEFT_KERNEL_CANONICAL_H

#include "core/array.h"
#include "kernel/ir.h"

/* Fills sizes, strides and addresses of the launch, whose counts are set. Axes of size 1 go, axes
 * that the first output walks backwards are turned round, axes are ordered by the output's strides,
 * and axes that follow each other in memory in every operand are merged; a kernel with an
 * index or a displaced load keeps its axes as they are. Folded axes come last, in their order. */
void weft__canonical(const weft__kernel *kernel, const weft_shape *space, weft_array *const *arrays,
                     weft__launch *launch);

#endif
