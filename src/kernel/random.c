/* Random numbers in primitives: the generator, distributions, and the two kinds of kernels. */
#include "kernel/random.h"
#include "kernel/math/terms.h"

enum { RUN_BITS = 8, WORDS = 4, ROUNDS = WEFT__RANDOM_ROUNDS };
_Static_assert(WEFT__RANDOM_RUN == 1 << RUN_BITS, "a run is a power of two");

static bool is_wide(weft_dtype dtype) { return dtype == WEFT_F64 || dtype == WEFT_C128; }

/* Words that one result takes, or two normal ones. */
static int words_of(weft__distribution distribution, weft_dtype dtype)
{
    if (distribution == WEFT__INTEGERS)
        return weft_dtype_size(dtype) == 8 ? 4 : 2;
    return (is_wide(dtype) ? 2 : 1) * (distribution == WEFT__NORMAL ? 2 : 1);
}

static int results_of(weft__distribution distribution)
{
    return distribution == WEFT__NORMAL ? 2 : 1;
}

int weft__random_planes(weft__distribution distribution, weft_dtype dtype)
{
    return WORDS / words_of(distribution, dtype) * results_of(distribution);
}

int weft__random_bits(weft_dtype dtype)
{
    return dtype == WEFT_F16 ? 11 : dtype == WEFT_BF16 ? 8 : is_wide(dtype) ? 53 : 24;
}

/* What a kernel is built with. */
typedef struct making {
    weft__terms terms; /* of the value type of the elements */
    weft__distribution distribution;
    weft_dtype dtype;
    int32_t key[ROUNDS][2], call[2];
    int32_t parameter[WEFT__RANDOM_PARAMETERS_MAX];
} making;

static making begin(weft__builder *b, weft__distribution distribution, weft_dtype dtype)
{
    const bool wide = is_wide(dtype);
    making m = {.terms = {.builder = b,
                          .value = wide ? WEFT_F64 : WEFT_F32,
                          .word = wide ? WEFT_U64 : WEFT_U32,
                          .number = wide ? WEFT_I64 : WEFT_I32,
                          .wide = wide},
                .distribution = distribution,
                .dtype = dtype};
    const int count = distribution == WEFT__UNIFORM ? 5 : 2;
    for (int k = 0; k < 2 * ROUNDS; k++)
        m.key[k / 2][k % 2] = weft__build_scalar(b, WEFT_U32);
    for (int k = 0; k < 2; k++)
        m.call[k] = weft__build_scalar(b, WEFT_U32);
    for (int k = 0; k < count; k++)
        m.parameter[k] =
            weft__build_scalar(b, distribution == WEFT__INTEGERS ? WEFT_U64 : m.terms.value);
    return m;
}

/* Keys of rounds would otherwise be computed anew for each block. */
void weft__random_scalars(uint64_t seed, uint64_t call, uint64_t scalars[WEFT__RANDOM_SCALARS])
{
    static const uint32_t step[] = {0x9e3779b9, 0xbb67ae85};
    for (int k = 0; k < 2; k++) {
        const uint32_t half = (uint32_t)(seed >> (32 * k));
        for (int round = 0; round < ROUNDS; round++)
            scalars[2 * round + k] = (uint32_t)(half + (uint32_t)round * step[k]);
        scalars[2 * ROUNDS + k] = (uint32_t)(call >> (32 * k));
    }
}

/* Philox4x32-10 (Salmon et al., 2011) of block `low`, `high` of the call. */
static void generate(making *m, int32_t low, int32_t high, int32_t words[WORDS])
{
    weft__terms *t = &m->terms;
    const int32_t by[] = {constant_bits(t, WEFT_U32, 0xd2511f53),
                          constant_bits(t, WEFT_U32, 0xcd9e8d57)};
    int32_t c[] = {low, high, m->call[0], m->call[1]};
    for (int round = 0; round < ROUNDS; round++) {
        const int32_t *key = m->key[round];
        const int32_t first = multiply_high(t, c[2], by[1]), second = multiply_high(t, c[0], by[0]);
        const int32_t next[] = {
            bits_xor(t, first, bits_xor(t, c[1], key[0])), multiply(t, c[2], by[1]),
            bits_xor(t, second, bits_xor(t, c[3], key[1])), multiply(t, c[0], by[0])};
        memcpy(c, next, sizeof c);
    }
    memcpy(words, c, sizeof c);
}

static int32_t joined(weft__terms *t, int32_t low, int32_t high)
{
    const int32_t by = constant_bits(t, WEFT_U64, 32);
    return bits_or(t, converted(t, WEFT_U64, low), shift_left(t, converted(t, WEFT_U64, high), by));
}

/* One word of the size of the value type. */
static int32_t word_of(making *m, const int32_t *words)
{
    return m->terms.wide ? joined(&m->terms, words[0], words[1]) : words[0];
}

/* The leading bits of a word as a float: at most as many as it holds, so exact. */
static int32_t leading(making *m, int32_t bits, int count)
{
    weft__terms *t = &m->terms;
    const int32_t kept = shift_right(t, bits, word(t, (uint64_t)((t->wide ? 64 : 32) - count)));
    return converted(t, t->value, reinterpreted(t, t->number, kept));
}

static int32_t as_stored(making *m, int32_t x)
{
    weft__builder *b = m->terms.builder;
    if (m->dtype == WEFT_F16 || m->dtype == WEFT_BF16)
        return weft__build(b, m->dtype == WEFT_F16 ? WEFT__OP_round_f16 : WEFT__OP_round_bf16,
                           WEFT_F32, x, 0, 0);
    return x;
}

/* low + range*u, rounded once; what rounds to `high` becomes the number below it. */
static void uniform(making *m, const int32_t *words, int32_t *results)
{
    weft__terms *t = &m->terms;
    const int32_t *p = m->parameter;
    const int32_t u = multiply(t, leading(m, word_of(m, words), weft__random_bits(m->dtype)), p[0]);
    const int32_t x = as_stored(m, fused(t, u, p[1], p[2]));
    results[0] = choose(t, less(t, x, p[3]), x, p[4]);
}

/* The same bits: u*unit is exact, so it is range*unit that is multiplied by. None is NaN. */
static void uniform_below(making *m, const int32_t *words, int32_t *results)
{
    weft__terms *t = &m->terms;
    const int32_t u = leading(m, word_of(m, words), weft__random_bits(m->dtype));
    const int32_t x = as_stored(m, fused(t, u, m->parameter[0], m->parameter[1]));
    results[0] = reinterpreted(t, t->value, raw_bits(t, x));
}

/* Two by Box and Muller: a radius of all bits of a word, so that tails are long, and an angle. */
static void normal(making *m, const int32_t *words, int32_t *results)
{
    weft__terms *t = &m->terms;
    const int32_t size = t->wide ? word_of(m, words) : words[0];
    const int32_t x = t->wide ? leading(m, size, 53) : converted(t, WEFT_F32, size);
    const int32_t u =
        fused(t, x, constant_of(t, 0x1p-32, 0x1p-53), constant_of(t, 0x1p-33, 0x1p-54));
    const int32_t log = weft__math(t->builder, WEFT__MATH_log, t->value, u, 0);
    const int32_t radius = square_root(t, multiply(t, constant(t, -2), log));
    const int32_t turn = reinterpreted(t, t->number, word_of(m, words + (t->wide ? 2 : 1)));
    weft__math_circle(t->builder, t->value, turn, results);
    for (int k = 0; k < 2; k++)
        results[k] = as_stored(
            m, fused(t, multiply(t, radius, results[k]), m->parameter[0], m->parameter[1]));
}

/* The high half of a random number of twice the bits of the element, times how many values there
 * are: each is as likely as any other to one part in 2^32, or 2^64 for elements of 64 bits. */
static void integer(making *m, const int32_t *words, int32_t *results)
{
    weft__terms *t = &m->terms;
    const bool wide = weft_dtype_size(m->dtype) == 8;
    const weft_dtype type = wide ? WEFT_U64 : WEFT_U32;
    const int32_t low = wide ? joined(t, words[0], words[1]) : words[0];
    const int32_t high = wide ? joined(t, words[2], words[3]) : words[1];
    const int32_t range = wide ? m->parameter[0] : converted(t, WEFT_U32, m->parameter[0]);
    const int32_t first = wide ? m->parameter[1] : converted(t, WEFT_U32, m->parameter[1]);
    const int32_t part = multiply(t, high, range), sum = add(t, part, multiply_high(t, low, range));
    const int32_t carry = converted(t, type, less(t, sum, part));
    const int32_t scaled = add(t, multiply_high(t, high, range), carry);
    const int32_t all = equal(t, range, constant_bits(t, type, 0));
    const weft__element x = {.part = {add(t, first, choose(t, all, high, scaled))}, .dtype = type};
    results[0] = weft__build_convert(t->builder, x, m->dtype).part[0];
}

static void make(making *m, const int32_t *words, int32_t *results)
{
    (m->distribution == WEFT__UNIFORM         ? uniform
     : m->distribution == WEFT__UNIFORM_BELOW ? uniform_below
     : m->distribution == WEFT__NORMAL        ? normal
                                              : integer)(m, words, results);
}

void weft__random_runs(weft__builder *b, weft__distribution distribution, weft_dtype dtype)
{
    making m = begin(b, distribution, dtype);
    weft__terms *t = &m.terms;
    const int words = words_of(distribution, dtype), results = results_of(distribution);
    const int32_t first = weft__build_scalar(b, WEFT_I64), row = weft__build_index(b, 0);
    const int32_t length = constant_bits(t, WEFT_I64, WEFT__RANDOM_RUN);
    const int32_t block =
        add(t, multiply(t, row, length), first); /* of the row, so computed once */
    const int32_t low =
        add(t, converted(t, WEFT_U32, block), converted(t, WEFT_U32, weft__build_index(b, 1)));
    const int32_t high =
        converted(t, WEFT_U32, shift_right(t, block, constant_bits(t, WEFT_I64, 32)));
    int32_t word[WORDS], result[2];
    generate(&m, low, high, word);
    for (int k = 0; k < WORDS / words; k++) {
        make(&m, word + k * words, result);
        for (int r = 0; r < results; r++)
            weft__build_store(b, weft__build_operand(b, dtype, true),
                              (weft__element){.part = {result[r]}, .dtype = dtype});
    }
}

/* The number of the element at this point, in C order. */
static int32_t element_number(making *m, int ndim)
{
    weft__terms *t = &m->terms;
    int32_t number = constant_bits(t, WEFT_I64, 0);
    for (int k = 0; k < ndim; k++) {
        if (k > 0)
            number = multiply(t, number, weft__build_scalar(t->builder, WEFT_I64));
        number = add(t, number, weft__build_index(t->builder, k));
    }
    return number;
}

static int32_t has_bit(weft__terms *t, int32_t x, uint64_t bit)
{
    return unequal(t, bits_and(t, x, constant_bits(t, WEFT_U64, bit)),
                   constant_bits(t, WEFT_U64, 0));
}

static int bits_for(int planes) { return planes == 4 ? 2 : planes == 2 ? 1 : 0; }

/* The draw of this number: the block that it is in, and of that what its plane takes. */
static int32_t draw(making *m, int32_t number)
{
    weft__terms *t = &m->terms;
    const int words = words_of(m->distribution, m->dtype);
    const int planes = weft__random_planes(m->distribution, m->dtype),
              planes_bits = bits_for(planes);
    const int32_t run = constant_bits(t, WEFT_U64, RUN_BITS);
    const int32_t group =
        shift_right(t, number, constant_bits(t, WEFT_U64, (uint64_t)(RUN_BITS + planes_bits)));
    const int32_t within = bits_and(t, number, constant_bits(t, WEFT_U64, WEFT__RANDOM_RUN - 1));
    const int32_t block = bits_or(t, shift_left(t, group, run), within);
    const int32_t high = shift_right(t, block, constant_bits(t, WEFT_U64, 32));
    const uint64_t first_bit = WEFT__RANDOM_RUN;
    int32_t word[WORDS], result[2];
    generate(m, converted(t, WEFT_U32, block), converted(t, WEFT_U32, high), word);
    if (words == 2 && planes > 1) {
        const int32_t second = has_bit(t, number, first_bit << (planes_bits - 1));
        word[0] = choose(t, second, word[2], word[0]);
        word[1] = choose(t, second, word[3], word[1]);
    } else if (words == 1) {
        const int32_t upper = has_bit(t, number, first_bit << 1);
        const int32_t odd = has_bit(t, number, first_bit);
        word[0] =
            choose(t, upper, choose(t, odd, word[3], word[2]), choose(t, odd, word[1], word[0]));
    }
    make(m, word, result);
    if (m->distribution != WEFT__NORMAL)
        return result[0];
    return choose(t, has_bit(t, number, first_bit), result[1], result[0]);
}

void weft__random_elements(weft__builder *b, weft__distribution distribution, weft_dtype dtype,
                           int ndim)
{
    making m = begin(b, distribution, dtype);
    weft__terms *t = &m.terms;
    const int parts = dtype == WEFT_C64 || dtype == WEFT_C128 ? 2 : 1;
    const int32_t first = weft__build_scalar(b, WEFT_I64);
    const int32_t number =
        multiply(t, element_number(&m, ndim), constant_bits(t, WEFT_I64, (uint64_t)parts));
    const int32_t from = reinterpreted(t, WEFT_U64, add(t, number, first));
    weft__element x = {.dtype = dtype};
    for (int k = 0; k < parts; k++)
        x.part[k] = draw(&m, k ? add(t, from, constant_bits(t, WEFT_U64, 1)) : from);
    weft__build_store(b, weft__build_operand(b, dtype, true), x);
}
