/* Memory for machine code, from the system. */
#include "codegen/executable.h"
#include "core/allocate.h"

#include <sys/mman.h>

weft_status weft__executable_new(size_t bytes, weft__executable *executable)
{
    const int protection = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
    const bool allowed = weft__allocation_begin(bytes);
    void *memory = allowed ? mmap(NULL, bytes, protection, flags, -1, 0) : MAP_FAILED;
    if (memory == MAP_FAILED) {
        if (allowed)
            weft__allocation_end();
        return FAIL(WEFT_ERROR_MEMORY, "no memory for %zu bytes of a compiled kernel", bytes);
    }
    *executable = (weft__executable){memory, bytes};
    return WEFT_OK;
}

weft_status weft__executable_finish(const weft__executable *executable)
{
    if (mprotect(executable->memory, executable->bytes, PROT_READ | PROT_EXEC) != 0)
        return FAIL(WEFT_ERROR_SYSTEM, "the system does not let memory be made executable");
    __builtin___clear_cache(executable->memory, executable->memory + executable->bytes);
    return WEFT_OK;
}

void weft__executable_free(const weft__executable *executable)
{
    if (executable->memory == NULL)
        return;
    (void)munmap(executable->memory, executable->bytes);
    weft__allocation_end();
}
