/* The backends that this build has. */
#include "backend/backend.h"
#include "backend/cpu/cpu.h"

const weft__backend *const weft__backends[] = {&weft__backend_cpu};
const int weft__backends_count = (int)(sizeof weft__backends / sizeof weft__backends[0]);
