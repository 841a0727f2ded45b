/* The choice of an instruction set: once, at run time, by what the machine has and WEFT_ISA allows.
 */
#include "codegen/interpreter.h"
#include "codegen/interpreter/variant.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

extern const weft__variant weft__variant_baseline;

#if defined __x86_64__ && defined __LP64__
extern const weft__variant weft__variant_avx2, weft__variant_avx512;

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

/* The best that the machine has and that is not above `limit`; a name that is none is no limit. */
static const weft__variant *choose(const char *limit)
{
#if defined __x86_64__ && defined __LP64__
    const bool baseline = limit != NULL && strcmp(limit, "baseline") == 0;
    const bool avx2 = limit != NULL && strcmp(limit, "avx2") == 0;
    if (!baseline && !avx2 && has_avx512())
        return &weft__variant_avx512;
    if (!baseline && has_avx2())
        return &weft__variant_avx2;
#else
    (void)limit;
#endif
    return &weft__variant_baseline;
}

static _Atomic(const weft__variant *) chosen;

const weft__variant *weft__variant_chosen(void)
{
    const weft__variant *variant = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (variant == NULL) {
        variant = choose(getenv("WEFT_ISA"));
        atomic_store_explicit(&chosen, variant, memory_order_relaxed);
    }
    return variant;
}

const char *weft__interpreter_isa(void) { return weft__variant_chosen()->name; }

void weft__interpreter_isa_choose(const char *name)
{
    atomic_store_explicit(&chosen, choose(name), memory_order_relaxed);
}
