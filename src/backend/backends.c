/* The backends that this build has. */
#include "backend/backend.h"
#include "backend/cpu/cpu.h"
#include "backend/cuda/cuda.h"
#include "backend/opencl/opencl.h"

const weft__backend *const weft__backends[] = {&weft__backend_cpu, &weft__backend_cuda,
                                               &weft__backend_opencl};
const int weft__backends_count = (int)(sizeof weft__backends / sizeof weft__backends[0]);
