/* Instructions as bytes: those of AVX-512 that kernels need, with operands in vector registers, in
 * masks, in a frame of memory that rdi points to, or among the constants behind the code. */
#ifndef WEFT_CODEGEN_X86_ASSEMBLE_H
#define WEFT_CODEGEN_X86_ASSEMBLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The last operand of an instruction. */
typedef enum weft__operand_kind {
    WEFT__IN_REGISTER,
    WEFT__IN_FRAME,    /* `where` bytes from its beginning */
    WEFT__IN_CONSTANT, /* number `where`, for every lane */
    WEFT__IN_MEMORY    /* `where` bytes from what weft__assemble_pointer took */
} weft__operand_kind;
typedef struct weft__operand {
    weft__operand_kind kind;
    uint32_t where;
} weft__operand;

/* What an instruction is: its opcode, the map that is in (1: 0F, 2: 0F38, 3: 0F3A), its prefix (0:
 * none, 1: 66, 2: F3, 3: F2) and W. */
#define WEFT__X86(map, prefix, w, opcode)                                                          \
    ((uint32_t)(opcode) | (uint32_t)(map) << 8 | (uint32_t)(prefix) << 12 | (uint32_t)(w) << 16)

/* A constant is read as it is in memory, not once for each lane by the instruction's broadcast. */
enum { WEFT__X86_BROADCASTS = 1 << 20 };

enum { WEFT__NO_IMMEDIATE = -1 };

/* One of vectors: `to` and `from` are registers, `from` 0 where there is none. */
typedef struct weft__instruction {
    uint32_t code;
    int bytes; /* of its vectors: 16, 32 or 64 */
    int to, from;
    weft__operand operand;
    int mask;      /* of the lanes that are written; 0: all are */
    bool zero;     /* the others become 0; else they stay */
    int immediate; /* or WEFT__NO_IMMEDIATE */
} weft__instruction;

/* A constant that an instruction refers to: where its distance is, and what it is counted from. */
typedef struct weft__reference {
    uint32_t at, end, constant;
} weft__reference;

/* Code while it is made. If memory runs out, what is made is useless and `failed` says so; until
 * then every call is harmless. All 0 is empty. */
typedef struct weft__assembly {
    uint8_t *bytes;
    uint64_t *constants;
    weft__reference *references;
    uint32_t count, room, constants_count, constants_room, references_count, references_room;
    bool failed;
} weft__assembly;

void weft__assembly_free(weft__assembly *assembly);

/* The number of a constant, which is there once. */
uint32_t weft__assemble_constant(weft__assembly *assembly, uint64_t bits);
void weft__assemble(weft__assembly *assembly, const weft__instruction *instruction);
/* Takes the address that is at a place in the frame. */
void weft__assemble_pointer(weft__assembly *assembly, uint32_t at);
/* One of masks, or of one and the frame; `wide` is the L of its encoding. */
void weft__assemble_mask(weft__assembly *assembly, uint32_t code, bool wide, int to, int from,
                         weft__operand operand, int immediate);
/* Adds to the address that is there. */
void weft__assemble_advance(weft__assembly *assembly, uint32_t at, uint32_t bytes);
/* Goes back to the beginning of the code, as often as rsi says in all. */
void weft__assemble_again(weft__assembly *assembly);
/* Divides the i64 or u64 at a place in the frame by that at another, which is not 0. */
void weft__assemble_divide(weft__assembly *assembly, uint32_t at, uint32_t by, bool is_signed);
/* A jump forward, on a condition: what weft__assemble_land is given where it goes to. */
enum { WEFT__IF_CARRY = 2, WEFT__IF_ZERO = 4, WEFT__IF_NOT_ZERO = 5, WEFT__ALWAYS = 16 };
uint32_t weft__assemble_jump(weft__assembly *assembly, int condition);
void weft__assemble_land(weft__assembly *assembly, uint32_t jump);
/* The end: returns, and puts the constants behind the code. */
void weft__assemble_end(weft__assembly *assembly);

#endif
