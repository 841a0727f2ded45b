/* Random numbers: arrays of them, and where they come from. */
#ifndef WEFT_RANDOM_H
#define WEFT_RANDOM_H

#include <weft/create.h>

#ifdef __cplusplus
extern "C" {
#endif

/* New arrays, which take the options of weft_options by name:
 *     weft_random_uniform(-1, 1, WEFT_SHAPE(256, 256), .dtype = WEFT_F64, .device = gpu)
 * Each element depends on the seed, the number of the call and its place in C order alone: the same
 * on every device, with any number of threads and any memory layout. They are those of Philox4x32
 * with 10 rounds; docs/semantics.md says which.
 *
 * Each part of a complex number is drawn by itself. */

/* From low up to, but never including, high: f16, bf16, f32 (the default), f64, c64 or c128. Both
 * are rounded to the dtype first. One of 2^24 numbers at equal distances (f64: 2^53, f16: 2^11,
 * bf16: 2^8), scaled and rounded; where that gives high, it is the number below it. */
#define weft_random_uniform(...) WEFT__RANDOM_UNIFORM(__VA_ARGS__, )
#define WEFT__RANDOM_UNIFORM(low, ...) WEFT__RANDOM_UNIFORM_(low, __VA_ARGS__)
#define WEFT__RANDOM_UNIFORM_(low, high, ...) WEFT__RANDOM_UNIFORM__(low, high, __VA_ARGS__)
#define WEFT__RANDOM_UNIFORM__(low, high, shape, ...)                                              \
    weft_random_uniform_with((low), (high), (shape), WEFT__NEW(__VA_ARGS__))
/* The normal distribution, of the same dtypes; deviation is 0 or more. No further than 6.8
 * deviations from the mean; f64 and c128, 8.7. */
#define weft_random_normal(...) WEFT__RANDOM_NORMAL(__VA_ARGS__, )
#define WEFT__RANDOM_NORMAL(mean, ...) WEFT__RANDOM_NORMAL_(mean, __VA_ARGS__)
#define WEFT__RANDOM_NORMAL_(mean, deviation, ...)                                                 \
    WEFT__RANDOM_NORMAL__(mean, deviation, __VA_ARGS__)
#define WEFT__RANDOM_NORMAL__(mean, deviation, shape, ...)                                         \
    weft_random_normal_with((mean), (deviation), (shape), WEFT__NEW(__VA_ARGS__))
/* Integers from low to high - 1: i64 (the default), any other integer dtype, or bool. All of them
 * are equally likely, to one part in 2^32; i64 and u64, in 2^64. Either may be a double that is an
 * integer, so that a range can end at the end of its dtype:
 *     weft_random_integers(0, 0x1p64, WEFT_SHAPE(1000), .dtype = WEFT_U64) */
#define weft_random_integers(...) WEFT__RANDOM_INTEGERS(__VA_ARGS__, )
#define WEFT__RANDOM_INTEGERS(low, ...) WEFT__RANDOM_INTEGERS_(low, __VA_ARGS__)
#define WEFT__RANDOM_INTEGERS_(low, high, ...) WEFT__RANDOM_INTEGERS__(low, high, __VA_ARGS__)
#define WEFT__RANDOM_INTEGERS__(low, high, shape, ...)                                             \
    weft_random_integers_with(WEFT_OPERAND(low), WEFT_OPERAND(high), (shape),                      \
                              WEFT__NEW(__VA_ARGS__))

/* Shape, dtype, device and memory kind of another array, unless given:
 * weft_random_normal_like(a, 0, 1). */
#define weft_random_uniform_like(...) WEFT__RANDOM_UNIFORM_LIKE(__VA_ARGS__, )
#define WEFT__RANDOM_UNIFORM_LIKE(array, low, ...)                                                 \
    WEFT__RANDOM_UNIFORM_LIKE_(array, low, __VA_ARGS__)
#define WEFT__RANDOM_UNIFORM_LIKE_(array, low, high, ...)                                          \
    weft_random_uniform_like_with((array), (low), (high), WEFT__NEW(__VA_ARGS__))
#define weft_random_normal_like(...) WEFT__RANDOM_NORMAL_LIKE(__VA_ARGS__, )
#define WEFT__RANDOM_NORMAL_LIKE(array, mean, ...)                                                 \
    WEFT__RANDOM_NORMAL_LIKE_(array, mean, __VA_ARGS__)
#define WEFT__RANDOM_NORMAL_LIKE_(array, mean, deviation, ...)                                     \
    weft_random_normal_like_with((array), (mean), (deviation), WEFT__NEW(__VA_ARGS__))
#define weft_random_integers_like(...) WEFT__RANDOM_INTEGERS_LIKE(__VA_ARGS__, )
#define WEFT__RANDOM_INTEGERS_LIKE(array, low, ...)                                                \
    WEFT__RANDOM_INTEGERS_LIKE_(array, low, __VA_ARGS__)
#define WEFT__RANDOM_INTEGERS_LIKE_(array, low, high, ...)                                         \
    weft_random_integers_like_with((array), WEFT_OPERAND(low), WEFT_OPERAND(high),                 \
                                   WEFT__NEW(__VA_ARGS__))

/* A generator. Calls that differ in seed or number have no block of random bits in common, so
 * nothing overlaps. Every call that makes an array takes the number and leaves the next one. */
typedef struct weft_random {
    uint64_t seed;   /* which numbers */
    uint64_t call;   /* the number of the next call */
    uint64_t offset; /* the number of the first element; stays. With it, a part of a larger array
                        can be made: element k is element offset + k of the whole */
} weft_random;

/* Each thread has a generator of its own, which its calls use:
 *     weft_random_seed(7)    begins again at call 0; of this thread alone
 * Threads that were not seeded share a seed, that of the environment variable WEFT_SEED or else one
 * that the system gives, and have calls that are far apart. After a fork the child goes on as its
 * parent does: seed one of them. */
WEFT_API void weft_random_seed(uint64_t seed);
/* This thread's generator as it is, and as it was: what follows is repeated. */
WEFT_API weft_random weft_random_get(void);
WEFT_API void weft_random_set(weft_random random);
/* Or a call is given one, which no other thread may use at that time:
 *     weft_random mine = {7, (uint64_t)worker << 32, 0};
 *     weft_random_normal(0, 1, WEFT_SHAPE(1000), .random = &mine) */

/* The functions under the macros. NULL options are no options. */
WEFT_API weft_array *weft_random_uniform_with(double low, double high, weft_shape shape,
                                              const weft_options *options);
WEFT_API weft_array *weft_random_normal_with(double mean, double deviation, weft_shape shape,
                                             const weft_options *options);
WEFT_API weft_array *weft_random_integers_with(weft_operand low, weft_operand high,
                                               weft_shape shape, const weft_options *options);
WEFT_API weft_array *weft_random_uniform_like_with(weft_array *array, double low, double high,
                                                   const weft_options *options);
WEFT_API weft_array *weft_random_normal_like_with(weft_array *array, double mean, double deviation,
                                                  const weft_options *options);
WEFT_API weft_array *weft_random_integers_like_with(weft_array *array, weft_operand low,
                                                    weft_operand high, const weft_options *options);

#ifdef __cplusplus
}
#endif
#endif
