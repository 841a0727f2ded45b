/* Encoding: EVEX for vectors, VEX for masks. */
#include "codegen/x86/assemble.h"
#include "core/allocate.h"

#include <string.h>

enum {
    FIRST_ROOM = 256,
    RETURN = 0xc3,
    RAX = 0,
    RDI = 7,
    RELATIVE = 5 /* to the next instruction */
};

void weft__assembly_free(weft__assembly *assembly)
{
    weft__free(assembly->bytes);
    weft__free(assembly->constants);
    weft__free(assembly->references);
    *assembly = (weft__assembly){0};
}

/* Room for one more. */
static void *reserve(weft__assembly *assembly, void *list, uint32_t count, uint32_t *room,
                     size_t size)
{
    if (count < *room)
        return list;
    const uint32_t more = *room ? 2 * *room : FIRST_ROOM;
    void *grown = weft__reallocate(list, more * size);
    if (grown == NULL) {
        assembly->failed = true;
        return list;
    }
    *room = more;
    return grown;
}

static void put(weft__assembly *assembly, int byte)
{
    assembly->bytes = reserve(assembly, assembly->bytes, assembly->count, &assembly->room, 1);
    if (!assembly->failed)
        assembly->bytes[assembly->count++] = (uint8_t)byte;
}

static void put_word(weft__assembly *assembly, uint32_t word)
{
    for (int k = 0; k < 4; k++)
        put(assembly, (int)(word >> (8 * k) & 0xff));
}

static void set_word(weft__assembly *assembly, uint32_t at, uint32_t word)
{
    if (!assembly->failed)
        memcpy(assembly->bytes + at, &word, sizeof word);
}

uint32_t weft__assemble_constant(weft__assembly *assembly, uint64_t bits)
{
    for (uint32_t k = 0; k < assembly->constants_count; k++)
        if (assembly->constants[k] == bits)
            return k;
    assembly->constants = reserve(assembly, assembly->constants, assembly->constants_count,
                                  &assembly->constants_room, sizeof *assembly->constants);
    if (assembly->failed)
        return 0;
    assembly->constants[assembly->constants_count] = bits;
    return assembly->constants_count++;
}

/* The distance of a constant is known at the end. */
static void refer(weft__assembly *assembly, uint32_t constant)
{
    assembly->references = reserve(assembly, assembly->references, assembly->references_count,
                                   &assembly->references_room, sizeof *assembly->references);
    if (assembly->failed)
        return;
    assembly->references[assembly->references_count++] =
        (weft__reference){.at = assembly->count, .constant = constant};
    put_word(assembly, 0);
}

/* The byte that says where operands are, with what belongs to it, and the immediate. */
static void put_operands(weft__assembly *assembly, int to, weft__operand operand, int immediate)
{
    const int reg = (to & 7) << 3;
    const uint32_t before = assembly->references_count;
    if (operand.kind == WEFT__IN_REGISTER) {
        put(assembly, 0xc0 | reg | (int)(operand.where & 7));
    } else if (operand.kind != WEFT__IN_CONSTANT) {
        put(assembly, 0x80 | reg | (operand.kind == WEFT__IN_FRAME ? RDI : RAX));
        put_word(assembly, operand.where);
    } else {
        put(assembly, reg | RELATIVE);
        refer(assembly, operand.where);
    }
    if (immediate != WEFT__NO_IMMEDIATE)
        put(assembly, immediate);
    if (!assembly->failed && assembly->references_count > before)
        assembly->references[before].end = assembly->count;
}

/* Bit k of a number, the other way round, as prefixes have it. */
static int inverted(int number, int k) { return ~number >> k & 1; }

void weft__assemble(weft__assembly *assembly, const weft__instruction *i)
{
    const bool in_register = i->operand.kind == WEFT__IN_REGISTER;
    const int operand = in_register ? (int)i->operand.where : 0;
    const int map = (int)(i->code >> 8 & 15), prefix = (int)(i->code >> 12 & 15);
    const int w = (int)(i->code >> 16 & 1), length = i->bytes / 32;
    const bool repeats =
        i->operand.kind == WEFT__IN_CONSTANT && (i->code & WEFT__X86_BROADCASTS) == 0;
    put(assembly, 0x62);
    put(assembly, inverted(i->to, 3) << 7 | inverted(operand, 4) << 6 | inverted(operand, 3) << 5 |
                      inverted(i->to, 4) << 4 | map);
    put(assembly, w << 7 | (~i->from & 15) << 3 | 1 << 2 | prefix);
    put(assembly, i->zero << 7 | length << 5 | repeats << 4 | inverted(i->from, 4) << 3 | i->mask);
    put(assembly, (int)(i->code & 0xff));
    put_operands(assembly, i->to, i->operand, i->immediate);
}

void weft__assemble_mask(weft__assembly *assembly, uint32_t code, bool wide, int to, int from,
                         weft__operand operand, int immediate)
{
    const int map = (int)(code >> 8 & 15), prefix = (int)(code >> 12 & 15);
    put(assembly, 0xc4);
    put(assembly, 0xe0 | map);
    put(assembly, (int)(code >> 16 & 1) << 7 | (~from & 15) << 3 | wide << 2 | prefix);
    put(assembly, (int)(code & 0xff));
    put_operands(assembly, to, operand, immediate);
}

static void put_all(weft__assembly *assembly, const uint8_t *bytes, int count)
{
    for (int k = 0; k < count; k++)
        put(assembly, bytes[k]);
}

void weft__assemble_pointer(weft__assembly *assembly, uint32_t at)
{
    static const uint8_t load_rax[] = {0x48, 0x8b, 0x87};
    put_all(assembly, load_rax, 3);
    put_word(assembly, at);
}

void weft__assemble_advance(weft__assembly *assembly, uint32_t at, uint32_t bytes)
{
    static const uint8_t add[] = {0x48, 0x81, 0x87};
    put_all(assembly, add, 3);
    put_word(assembly, at);
    put_word(assembly, bytes);
}

void weft__assemble_divide(weft__assembly *assembly, uint32_t at, uint32_t by, bool is_signed)
{
    static const uint8_t store_rax[] = {0x48, 0x89, 0x87};
    static const uint8_t clear_rdx[] = {0x31, 0xd2}, extend_rax[] = {0x48, 0x99};
    static const uint8_t divide[] = {0x48, 0xf7, 0xb7}, divide_signed[] = {0x48, 0xf7, 0xbf};
    weft__assemble_pointer(assembly, at);
    put_all(assembly, is_signed ? extend_rax : clear_rdx, 2);
    put_all(assembly, is_signed ? divide_signed : divide, 3);
    put_word(assembly, by);
    put_all(assembly, store_rax, 3);
    put_word(assembly, at);
}

uint32_t weft__assemble_jump(weft__assembly *assembly, int condition)
{
    if (condition == WEFT__ALWAYS) {
        put(assembly, 0xe9);
    } else {
        put(assembly, 0x0f);
        put(assembly, 0x80 | condition);
    }
    put_word(assembly, 0);
    return assembly->count;
}

void weft__assemble_again(weft__assembly *assembly)
{
    static const uint8_t count_rsi[] = {0x48, 0xff, 0xce};
    put_all(assembly, count_rsi, 3);
    const uint32_t jump = weft__assemble_jump(assembly, WEFT__IF_NOT_ZERO);
    if (!assembly->failed)
        set_word(assembly, jump - 4, 0U - jump);
}

void weft__assemble_land(weft__assembly *assembly, uint32_t jump)
{
    if (!assembly->failed)
        set_word(assembly, jump - 4, assembly->count - jump);
}

/* Instructions of before AVX would wait for the upper parts of registers. */
void weft__assemble_end(weft__assembly *assembly)
{
    static const uint8_t clear_upper[] = {0xc5, 0xf8, 0x77};
    put_all(assembly, clear_upper, 3);
    put(assembly, RETURN);
    while (!assembly->failed && assembly->count % sizeof *assembly->constants != 0)
        put(assembly, 0);
    const uint32_t begin = assembly->count;
    for (uint32_t k = 0; k < assembly->constants_count; k++)
        for (int j = 0; j < 2; j++)
            put_word(assembly, (uint32_t)(assembly->constants[k] >> (32 * j)));
    for (uint32_t k = 0; !assembly->failed && k < assembly->references_count; k++) {
        const weft__reference *reference = &assembly->references[k];
        const uint32_t constant =
            begin + (uint32_t)sizeof *assembly->constants * reference->constant;
        set_word(assembly, reference->at, constant - reference->end);
    }
}
