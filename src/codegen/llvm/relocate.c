/* The relocations that occur in compiled kernels, which have one section of code and some of
 * constants. */
#include "codegen/llvm/object.h"

#include <elf.h>
#include <string.h>

#if defined __x86_64__
uint16_t weft__elf_machine(void) { return EM_X86_64; }

bool weft__relocate(uint32_t kind, char *place, uint64_t symbol, int64_t addend)
{
    if (kind != R_X86_64_PC32 && kind != R_X86_64_PLT32)
        return false;
    const int64_t distance = (int64_t)(symbol + (uint64_t)addend - (uint64_t)(uintptr_t)place);
    const int32_t stored = (int32_t)distance;
    memcpy(place, &stored, sizeof stored);
    return distance == stored;
}

#elif defined __aarch64__
uint16_t weft__elf_machine(void) { return EM_AARCH64; }

/* Puts the low `bits` of a value into an instruction, from bit `at` on. */
static void put(char *place, uint64_t value, int at, int bits)
{
    uint32_t instruction;
    const uint32_t mask = (uint32_t)((1U << bits) - 1) << at;
    memcpy(&instruction, place, sizeof instruction);
    instruction = (instruction & ~mask) | ((uint32_t)(value << at) & mask);
    memcpy(place, &instruction, sizeof instruction);
}

/* The distance between pages, in an instruction's two fields. */
static bool put_pages(char *place, uint64_t address)
{
    const uint64_t page = ~(uint64_t)0xfff;
    const int64_t pages = (int64_t)((address & page) - ((uint64_t)(uintptr_t)place & page)) / 4096;
    put(place, (uint64_t)pages, 29, 2);
    put(place, (uint64_t)pages >> 2, 5, 19);
    return pages >= -(1 << 20) && pages < 1 << 20;
}

bool weft__relocate(uint32_t kind, char *place, uint64_t symbol, int64_t addend)
{
    const uint64_t address = symbol + (uint64_t)addend, low = address & 0xfff;
    switch (kind) {
    case R_AARCH64_ADR_PREL_PG_HI21:
        return put_pages(place, address);
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
        put(place, low, 10, 12);
        return true;
    case R_AARCH64_LDST16_ABS_LO12_NC:
        put(place, low >> 1, 10, 12);
        return true;
    case R_AARCH64_LDST32_ABS_LO12_NC:
        put(place, low >> 2, 10, 12);
        return true;
    case R_AARCH64_LDST64_ABS_LO12_NC:
        put(place, low >> 3, 10, 12);
        return true;
    case R_AARCH64_LDST128_ABS_LO12_NC:
        put(place, low >> 4, 10, 12);
        return true;
    default:
        return false;
    }
}

#else
uint16_t weft__elf_machine(void) { return EM_NONE; }

bool weft__relocate(uint32_t kind, char *place, uint64_t symbol, int64_t addend)
{
    (void)kind, (void)place, (void)symbol, (void)addend;
    return false;
}
#endif
