/* Weft: n-d arrays for C that run on CPU and GPU. This header includes all the others. */
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include <weft/array.h>
#include <weft/cache.h>
#include <weft/compare.h>
#include <weft/create.h>
#include <weft/cumulative.h>
#include <weft/device.h>
#include <weft/dlpack.h>
#include <weft/dtype.h>
#include <weft/explain.h>
#include <weft/expression.h>
#include <weft/file.h>
#include <weft/function.h>
#include <weft/graph.h>
#include <weft/kernel.h>
#include <weft/memory.h>
#include <weft/operations.h>
#include <weft/random.h>
#include <weft/reduce.h>
#include <weft/shape.h>
#include <weft/status.h>
#include <weft/stream.h>
#include <weft/version.h>
#include <weft/warning.h>

#endif
