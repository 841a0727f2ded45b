/* A kernel as machine code of our own, run on a frame, beside the interpreter. */
#ifndef WEFT_TESTS_CODEGEN_X86_TRIALS_H
#define WEFT_TESTS_CODEGEN_X86_TRIALS_H

#include "codegen/corners.h"
#include "codegen/x86.h"

#include <stdio.h>
#include <sys/mman.h>

enum {
    X86_VALUES = 8192,
    X86_OPERANDS = 512,
    X86_MEMORY = 1 << 22, /* of all operands */
    X86_FRAME = 48 << 10,
    X86_LINE = 64,
    X86_CELL = 16 /* bytes for an element, of any dtype */
};

static const weft_dtype x86_types[] = {WEFT_BOOL, WEFT_I32, WEFT_U32, WEFT_I64,
                                       WEFT_U64,  WEFT_F32, WEFT_F64};
enum { X86_TYPES = sizeof x86_types / sizeof x86_types[0] };

/* A kernel, what is found out about it, and memory for its operands. */
struct x86_trial {
    weft__kernel kernel;
    weft__value values[X86_VALUES];
    weft__kernel_operand operands[X86_OPERANDS];
    int lanes;
    int64_t count; /* of elements: whole vectors */
    uint8_t needed[X86_VALUES], level[X86_VALUES], skip[X86_VALUES];
    uint32_t room[3 * X86_VALUES];
    weft__skips skips;
    char given[X86_MEMORY], expected[X86_MEMORY], made[X86_MEMORY];
};

static inline void x86_begin(struct x86_trial *t)
{
    t->kernel = (weft__kernel){.ndim = 1, .values = t->values, .operands = t->operands};
}

static inline int x86_value(struct x86_trial *t, weft__op op, weft_dtype dtype, int x, int y, int z)
{
    t->values[t->kernel.values_count] =
        (weft__value){.op = (uint8_t)op, .dtype = (uint8_t)dtype, .argument = {x, y, z}};
    return (int)t->kernel.values_count++;
}

static inline int x86_constant(struct x86_trial *t, weft_dtype dtype, uint64_t bits)
{
    const int at = x86_value(t, WEFT__OP_constant, dtype, 0, 0, 0);
    t->values[at].bits = bits;
    return at;
}

/* A load or a store, with an operand of its own. */
static inline int x86_move(struct x86_trial *t, weft__op op, weft_dtype dtype, int value)
{
    const int at = x86_value(t, op, dtype, value, 0, 0);
    t->values[at].slot = (uint16_t)t->kernel.operands_count;
    t->operands[t->kernel.operands_count++] =
        (weft__kernel_operand){.dtype = (uint8_t)dtype, .output = op == WEFT__OP_store};
    return at;
}

static inline int x86_load(struct x86_trial *t, weft_dtype dtype)
{
    return x86_move(t, WEFT__OP_load, dtype, 0);
}

static inline void x86_store(struct x86_trial *t, int value)
{
    (void)x86_move(t, WEFT__OP_store, (weft_dtype)t->values[value].dtype, value);
}

/* The element of an operand in one of the memories. */
static inline char *x86_element(const struct x86_trial *t, const char *memory, uint32_t operand,
                                int64_t at)
{
    return (char *)memory + ((int64_t)operand * t->count + at) * X86_CELL;
}

/* What is needed, what is the same everywhere, and what can be skipped. */
static inline void x86_survey(struct x86_trial *t)
{
    const weft__kernel *kernel = &t->kernel;
    memset(t->needed, 0, kernel->values_count);
    memset(t->skip, 0, kernel->values_count);
    memset(t->room, 0, 3 * kernel->values_count * sizeof *t->room);
    for (uint32_t k = kernel->values_count; k-- > 0;) {
        t->needed[k] |= kernel->values[k].op == WEFT__OP_store;
        for (int j = 0; t->needed[k] && j < weft__value_arguments(kernel, &kernel->values[k]); j++)
            t->needed[kernel->values[k].argument[j]] = 1;
    }
    for (uint32_t k = 0; k < kernel->values_count; k++) {
        t->level[k] = kernel->values[k].op == WEFT__OP_load;
        for (int j = 0; j < weft__value_arguments(kernel, &kernel->values[k]); j++)
            t->level[k] |= t->level[kernel->values[k].argument[j]];
    }
    t->skips = (weft__skips){
        .kernel = kernel, .needed = t->needed, .level = t->level, .point = 1, .skip = t->skip};
    weft__skips_find(&t->skips, t->room);
}

static inline weft_status x86_make(struct x86_trial *t, weft__x86_code *code)
{
    x86_survey(t);
    return weft__x86_make(&(weft__x86_source){.kernel = &t->kernel,
                                              .needed = t->needed,
                                              .skip = t->skip,
                                              .skips = t->skips.skips,
                                              .skips_count = t->skips.count,
                                              .lanes = t->lanes},
                          code);
}

static inline void x86_print(const struct x86_trial *t)
{
    static const char *const names[] = {
#define NAME(name, arity) #name,
        WEFT__OP_LIST(NAME)
#undef NAME
    };
    fprintf(stderr, "%d lanes, %d skips\n", t->lanes, t->skips.count);
    for (uint32_t k = 0; k < t->kernel.values_count && k < 400; k++) {
        const weft__value *v = &t->values[k];
        fprintf(stderr, "%u: %s %s", k, names[v->op], weft_dtype_name(v->dtype));
        for (int j = 0; j < weft__value_arguments(&t->kernel, v); j++)
            fprintf(stderr, " %d", v->argument[j]);
        fprintf(stderr, " slot %u part %u bits %llx skip %d%s\n", v->slot, v->part,
                (unsigned long long)v->bits, t->skip[k], t->needed[k] ? "" : " not needed");
    }
}

/* Between an operand and the frame; bools are bits there. */
static inline void x86_put(const struct x86_trial *t, uint32_t operand, int64_t from, char *frame)
{
    const weft_dtype dtype = (weft_dtype)t->operands[operand].dtype;
    char *to = frame + weft__x86_operand(&t->kernel, operand, t->lanes);
    for (int lane = 0; lane < t->lanes; lane++) {
        const char *element = x86_element(t, t->given, operand, from + lane);
        if (dtype == WEFT_BOOL)
            to[lane / 8] =
                (char)((to[lane / 8] & ~(1 << lane % 8)) | (*element != 0) << (lane % 8));
        else
            memcpy(to + (size_t)lane * weft_dtype_size(dtype), element, weft_dtype_size(dtype));
    }
}

static inline void x86_take(struct x86_trial *t, uint32_t operand, int64_t to, const char *frame)
{
    const weft_dtype dtype = (weft_dtype)t->operands[operand].dtype;
    const char *from = frame + weft__x86_operand(&t->kernel, operand, t->lanes);
    for (int lane = 0; lane < t->lanes; lane++) {
        char *element = x86_element(t, t->made, operand, to + lane);
        if (dtype == WEFT_BOOL)
            *element = from[lane / 8] >> (lane % 8) & 1;
        else
            memcpy(element, from + (size_t)lane * weft_dtype_size(dtype), weft_dtype_size(dtype));
    }
}

/* Runs a function on all vectors, each on a frame of other garbage; whether it left alone what it
 * was given and what lies behind the frame. */
static inline bool x86_call(struct x86_trial *t, void (*function)(char *), uint32_t bytes)
{
    static const unsigned char garbage[] = {0xff, 0x00, 0x7f, 0x5a, 0xa5, 0x80};
    static _Alignas(X86_LINE) char frame[X86_FRAME + X86_LINE], before[X86_FRAME + X86_LINE];
    bool kept = true;
    for (int64_t at = 0; at < t->count; at += t->lanes) {
        memset(frame, garbage[at / t->lanes % 6], bytes + X86_LINE);
        for (uint32_t k = 0; k < t->kernel.operands_count; k++)
            if (!t->operands[k].output)
                x86_put(t, k, at, frame);
        memcpy(before, frame, bytes + X86_LINE);
        function(frame);
        for (uint32_t k = 0; k < t->kernel.operands_count; k++) {
            const uint32_t begin = weft__x86_operand(&t->kernel, k, t->lanes);
            const uint32_t end = weft__x86_operand(&t->kernel, k + 1, t->lanes);
            if (t->operands[k].output)
                x86_take(t, k, at, frame);
            else
                kept &= memcmp(frame + begin, before + begin, end - begin) == 0;
        }
        kept &= memcmp(frame + bytes, before + bytes, X86_LINE) == 0;
    }
    return kept;
}

static inline bool x86_run(struct x86_trial *t, const weft__x86_code *code)
{
    void (*function)(char *);
    CHECK_OR(code->frame <= X86_FRAME && code->frame % X86_LINE == 0, false);
    void *memory =
        mmap(NULL, code->count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK_OR(memory != MAP_FAILED, false);
    memcpy(memory, code->bytes, code->count);
    bool passed = mprotect(memory, code->count, PROT_READ | PROT_EXEC) == 0;
    memcpy(&function, &memory, sizeof function);
    passed = passed && x86_call(t, function, code->frame);
    (void)munmap(memory, code->count);
    CHECK_OR(passed, false);
    return true;
}

/* The kernel with the stores from `first` to before `end` alone, and what those need. */
static inline weft__kernel x86_some(const struct x86_trial *t, int first, int end)
{
    static weft__value some[X86_VALUES];
    static int32_t number[X86_VALUES];
    static bool needed[X86_VALUES];
    weft__kernel kernel = t->kernel;
    int stores = (int)t->kernel.operands_count;
    memset(needed, 0, sizeof needed);
    for (uint32_t k = kernel.values_count; k-- > 0;) {
        const weft__value *value = &t->values[k];
        if (value->op == WEFT__OP_store)
            needed[k] = --stores >= first && stores < end;
        for (int j = 0; needed[k] && j < weft__value_arguments(&kernel, value); j++)
            needed[value->argument[j]] = true;
    }
    kernel.values = some;
    kernel.values_count = 0;
    for (uint32_t k = 0; k < t->kernel.values_count; k++) {
        weft__value value = t->values[k];
        for (int j = 0; needed[k] && j < weft__value_arguments(&kernel, &value); j++)
            value.argument[j] = number[value.argument[j]];
        number[k] = (int32_t)kernel.values_count;
        if (needed[k])
            some[kernel.values_count++] = value;
    }
    return kernel;
}

/* In two parts if that is more than the interpreter, which has room for about 200 values at once,
 * can do. */
static inline weft_status x86_interpret_some(struct x86_trial *t, const weft__launch *launch,
                                             int first, int end)
{
    const weft__kernel kernel = x86_some(t, first, end);
    weft__image image = {0};
    const weft_status status = weft__interpreter_compile(&kernel, &image);
    if (status == WEFT_OK)
        image.entry(image.program, launch, 0, t->count);
    image_release(&image);
    if (status != WEFT_ERROR_COMPILE || end - first < 2)
        return status;
    const int middle = (first + end) / 2;
    const weft_status half = x86_interpret_some(t, launch, first, middle);
    return half == WEFT_OK ? x86_interpret_some(t, launch, middle, end) : half;
}

/* The interpreter on the same elements. */
static inline weft_status x86_interpret(struct x86_trial *t)
{
    static struct {
        weft__launch launch;
        char room[X86_OPERANDS * sizeof(weft__argument)];
    } at;
    memset(&at.launch, 0, sizeof at.launch);
    at.launch.ndim = 1;
    at.launch.arguments_count = (uint16_t)t->kernel.operands_count;
    at.launch.count = at.launch.size[0] = t->count;
    for (uint32_t k = 0; k < t->kernel.operands_count; k++)
        weft__launch_arguments(&at.launch)[k] = (weft__argument){
            .data = x86_element(t, t->operands[k].output ? t->expected : t->given, k, 0),
            .stride = {X86_CELL}};
    return x86_interpret_some(t, &at.launch, 0, (int)t->kernel.operands_count);
}

/* NaNs have any bits until they are stored, which machine code does not do. */
static inline bool x86_is_same(weft_dtype dtype, uint64_t x, uint64_t y)
{
    return x == y || (is_float(dtype) && isnan(f64_of(dtype, x)) && isnan(f64_of(dtype, y)));
}

/* A value whose bits are open where it is made of a NaN: bitcast, part 1, of what was loaded. */
static inline bool x86_is_open(const struct x86_trial *t, const weft__value *store, int64_t at)
{
    const weft__value *value = &t->values[store->argument[0]];
    const weft__value *from = &t->values[value->argument[0]];
    if (value->op != WEFT__OP_bitcast || value->part == 0 || !is_float(from->dtype))
        return false;
    const uint64_t bits =
        from->op == WEFT__OP_constant
            ? from->bits
            : element_read(x86_element(t, t->given, from->slot, at), 0, from->dtype);
    return isnan(f64_of(from->dtype, bits));
}

static inline bool x86_compare(const struct x86_trial *t)
{
    for (uint32_t k = 0; k < t->kernel.values_count; k++) {
        const weft__value *store = &t->values[k];
        const weft_dtype dtype = (weft_dtype)store->dtype;
        for (int64_t at = 0; store->op == WEFT__OP_store && at < t->count; at++) {
            const uint64_t x = element_read(x86_element(t, t->expected, store->slot, at), 0, dtype);
            const uint64_t y = element_read(x86_element(t, t->made, store->slot, at), 0, dtype);
            if (x86_is_same(dtype, x, y) || x86_is_open(t, store, at))
                continue;
            fprintf(stderr, "operand %u, element %lld: %llx, not %llx; of", store->slot,
                    (long long)at, (unsigned long long)y, (unsigned long long)x);
            for (uint32_t j = 0; j < t->kernel.operands_count && j < 8; j++)
                if (!t->operands[j].output)
                    fprintf(stderr, " %llx",
                            (unsigned long long)element_read(x86_element(t, t->given, j, at), 0,
                                                             t->operands[j].dtype));
            fprintf(stderr, "\n");
            return false;
        }
    }
    return true;
}

/* Both on what is given; prints the kernel if they differ. */
static inline bool x86_try(struct x86_trial *t)
{
    weft__x86_code code = {0};
    CHECK_OR(t->count % t->lanes == 0 &&
                 t->count * X86_CELL * t->kernel.operands_count <= X86_MEMORY,
             false);
    for (uint32_t k = 0; k < t->kernel.values_count; k++)
        CHECK_OR(t->values[k].op < WEFT__OP_cast ||
                     weft__x86_does(&t->kernel, &t->values[k], t->lanes),
                 false);
    bool passed = x86_interpret(t) == WEFT_OK && x86_make(t, &code) == WEFT_OK;
    passed = passed && x86_run(t, &code) && x86_compare(t);
    weft__x86_free(&code);
    if (!passed)
        x86_print(t);
    CHECK_OR(passed, false);
    return true;
}

/* Lanes of a bool that no, one, all but one, some or all have. */
static inline bool x86_truth(int kind, int lane, int lanes, int one)
{
    switch (kind) {
    case 0:
        return false;
    case 1:
        return true;
    case 2:
        return lane == one % lanes;
    case 3:
        return lane != one % lanes;
    case 4:
        return lane < lanes / 2;
    default:
        return random_below(2) != 0;
    }
}

/* Fills all inputs: corners, random numbers, and bools that are often the same in all lanes. */
static inline void x86_fill(struct x86_trial *t)
{
    for (uint32_t k = 0; k < t->kernel.operands_count; k++) {
        const weft_dtype dtype = (weft_dtype)t->operands[k].dtype;
        uint64_t corner[CORNERS_MAX];
        const int corners = corners_of(dtype, corner);
        int kind = 0, one = 0;
        for (int64_t at = 0; at < t->count && !t->operands[k].output; at++) {
            const int lane = (int)(at % t->lanes);
            if (lane == 0) {
                kind = (int)random_below(7);
                one = (int)random_below(t->lanes);
            }
            const uint64_t bits = dtype == WEFT_BOOL ? x86_truth(kind, lane, t->lanes, one)
                                  : random_below(3)  ? random_of(dtype)
                                                     : corner[random_below(corners)];
            element_write(x86_element(t, t->given, k, at), 0, dtype, bits);
        }
    }
}

/* Whether the machine has what the code needs; as in FOR_EACH_ISA. */
#define NEEDS_AVX512                                                                               \
    do {                                                                                           \
        if (!isa_use(2))                                                                           \
            SKIP("the processor has no AVX-512");                                                  \
    } while (0)

#endif
