/* The instruction set to compile for, and LLVM's description of it. */
#include "codegen/llvm/target.h"
#include "codegen/interpreter.h"
#include "core/status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined __x86_64__
#include <cpuid.h>
#endif

enum { LEVELS = 4 };

#if defined __x86_64__ && defined __LP64__
enum { KNOWN = 1, HALVES = 2, ASKS = 4, NARROW = 8, ROOMY = 16, ZEN_4 = 0x19 /* the family */ };

/* Not every compiler's __builtin_cpu_supports knows f16c. That the system keeps long registers is
 * sure: it is asked where there is AVX2. AMD's processors see by themselves what comes next, and
 * lose a tenth where they are told. Up to Zen 4 they move 64 bytes as two halves, and their first
 * cache has 32 KiB. */
static int ask_processor(void)
{
    unsigned a = 0, b = 0, c = 0, d;
    const bool amd = __get_cpuid(0, &a, &b, &c, &d) != 0 && b == signature_AMD_ebx;
    const bool known = __get_cpuid(1, &a, &b, &c, &d) != 0;
    const bool old = amd && known && (a >> 8 & 0xf) + (a >> 20 & 0xff) <= ZEN_4;
    return KNOWN | (known && (c & bit_F16C) != 0 ? HALVES : 0) | (amd ? 0 : ASKS) |
           (old ? NARROW : ROOMY);
}

/* Asked once: in a virtual machine that takes tens of microseconds. */
static _Atomic int facts;

static int processor(void)
{
    if (!atomic_load_explicit(&facts, memory_order_relaxed))
        atomic_store_explicit(&facts, ask_processor(), memory_order_relaxed);
    return atomic_load_explicit(&facts, memory_order_relaxed);
}

weft__target weft__target_host(void)
{
    const char *name = weft__interpreter_isa();
    const int known = processor();
    const bool halves = (known & HALVES) != 0, asks = (known & ASKS) != 0,
               narrow = (known & NARROW) != 0, roomy = (known & ROOMY) != 0;
    if (strcmp(name, "avx512") == 0)
        return (weft__target){WEFT__ISA_AVX512, 64, true, true, halves, asks, narrow, roomy};
    if (strcmp(name, "avx2") == 0)
        return (weft__target){WEFT__ISA_AVX2, 32, false, true, halves, asks, false, roomy};
    return (weft__target){WEFT__ISA_X86_64, 16, false, false, false, asks, false, roomy};
}

void weft__target_set_narrow(bool narrow)
{
    atomic_store(&facts, (processor() & ~NARROW) | (narrow ? NARROW : 0));
}

bool weft__target_runs(weft__isa isa, bool halves)
{
    const weft__target target = weft__target_host();
    return isa <= target.isa && isa <= WEFT__ISA_AVX512 && (target.halves || !halves);
}

const char *weft__target_triple(void) { return "x86_64-unknown-linux-gnu"; }

#elif defined __aarch64__
weft__target weft__target_host(void)
{
    return (weft__target){WEFT__ISA_NEON, 16, false, true, true, true, false, true};
}

void weft__target_set_narrow(bool narrow) { (void)narrow; }

bool weft__target_runs(weft__isa isa, bool halves)
{
    (void)halves;
    return isa == WEFT__ISA_NEON;
}

const char *weft__target_triple(void) { return "aarch64-unknown-linux-gnu"; }

#else
weft__target weft__target_host(void) { return (weft__target){.isa = WEFT__ISA_NONE, .bytes = 16}; }

void weft__target_set_narrow(bool narrow) { (void)narrow; }

bool weft__target_runs(weft__isa isa, bool halves)
{
    (void)isa, (void)halves;
    return false;
}

const char *weft__target_triple(void) { return ""; }
#endif

/* Exactly what the interpreter checks for: named processors promise more than some machines have,
 * and prefer short vectors. */
static const char *const features[] = {
    [WEFT__ISA_X86_64] = "",
    [WEFT__ISA_AVX2] = "+avx2,+fma,+bmi2",
    [WEFT__ISA_AVX512] = "+avx2,+fma,+bmi2,+avx512f,+avx512bw,+avx512dq,+avx512vl",
    [WEFT__ISA_NEON] = "",
    [WEFT__ISA_NONE] = "",
};

static weft_status new_machine(const weft__target *target, int level, weft__llvm_machine *machine)
{
    char list[128], *message = NULL;
    weft__llvm_target found;
    const char *triple = weft__target_triple();
    const bool x86 = target->isa <= WEFT__ISA_AVX512;
    const bool halves = target->isa == WEFT__ISA_AVX2 || target->isa == WEFT__ISA_AVX512;
    if (weft__llvm.GetTargetFromTriple(triple, &found, &message) != 0) {
        (void)FAIL(WEFT_ERROR_UNSUPPORTED, "libLLVM has no target %s: %s", triple, message);
        weft__llvm.DisposeMessage(message);
        return WEFT_ERROR_UNSUPPORTED;
    }
    (void)snprintf(list, sizeof list, "%s%s", features[target->isa],
                   halves && target->halves ? ",+f16c" : "");
    *machine = weft__llvm.CreateTargetMachine(found, triple, x86 ? "x86-64" : "generic", list,
                                              level, WEFT__RELOCATION_PIC, WEFT__CODE_MODEL_SMALL);
    if (*machine == NULL)
        return FAIL(WEFT_ERROR_UNSUPPORTED, "libLLVM cannot make code for %s", triple);
    return WEFT_OK;
}

/* One is kept for each target and level: making its tables takes a tenth of the time that a small
 * kernel does. */
static _Atomic(weft__llvm_machine) kept[WEFT__ISA_NONE][2][LEVELS];

static _Atomic(weft__llvm_machine) *kept_machine(const weft__target *target, int level)
{
    return &kept[target->isa][target->halves][level];
}

weft_status weft__target_take(const weft__target *target, int level, weft__llvm_machine *machine)
{
    *machine = atomic_exchange(kept_machine(target, level), NULL);
    return *machine ? WEFT_OK : new_machine(target, level, machine);
}

static void drop_all(void)
{
    _Atomic(weft__llvm_machine) *all = &kept[0][0][0];
    for (size_t k = 0; k < sizeof kept / sizeof *all; k++) {
        weft__llvm_machine machine = atomic_exchange(&all[k], NULL);
        if (machine)
            weft__llvm.DisposeTargetMachine(machine);
    }
}

static void drop_at_exit(void) { (void)atexit(drop_all); }

/* At the end, or when this library is unloaded, those that are kept are dropped before all that
 * libLLVM has registered while they were used. */
void weft__target_give(const weft__target *target, int level, weft__llvm_machine machine)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    machine = atomic_exchange(kept_machine(target, level), machine);
    if (machine)
        weft__llvm.DisposeTargetMachine(machine);
    (void)pthread_once(&once, drop_at_exit);
}
