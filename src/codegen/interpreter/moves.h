/* Moving elements by their size: strided rows, transposition, stores past the caches; part of
 * variant.c. */

/* Strides that images and slices have often get loops of their own, with what the compiler makes of
 * a constant stride. `d` and `s` are the strides in elements. */
#define MOVE_LOOP(d, s) EACH(count) to[i * (d)] = from[i * (s)];
#define MOVE_ROW(T, bytes)                                                                         \
    static void move_row_##bytes(char *dst, int64_t dst_stride, const char *src,                   \
                                 int64_t src_stride, int64_t count)                                \
    {                                                                                              \
        T *to = (T *)(void *)dst;                                                                  \
        const T *from = (const T *)(const void *)src;                                              \
        const int64_t d = dst_stride / bytes, s = src_stride / bytes;                              \
        if (d == 1 && s == 0) {                                                                    \
            const T value = from[0];                                                               \
            EACH(count) to[i] = value;                                                             \
        } else if (d == 1 && s == -1)                                                              \
            MOVE_LOOP(1, -1)                                                                       \
        else if (d == 1 && s == 2)                                                                 \
            MOVE_LOOP(1, 2)                                                                        \
        else if (d == 1)                                                                           \
            MOVE_LOOP(1, s)                                                                        \
        else if (d == 2 && s == 1)                                                                 \
            MOVE_LOOP(2, 1)                                                                        \
        else                                                                                       \
            MOVE_LOOP(d, s)                                                                        \
    }
MOVE_ROW(u8, 1)
MOVE_ROW(u16, 2)
MOVE_ROW(u32, 4)
MOVE_ROW(u64, 8)

/* Sixteen bytes as elements of each size; longer registers pay for the larger ones. */
#if defined __AVX512F__ && defined __AVX512BW__
enum { BYTES_1 = 16, BYTES_2 = 16, BYTES_4 = 64, BYTES_8 = 64 };
#else
enum { BYTES_1 = 16, BYTES_2 = 16, BYTES_4 = 16, BYTES_8 = 16 };
#endif
typedef uint8_t bytes_1 __attribute__((vector_size(BYTES_1)));
typedef uint16_t bytes_2 __attribute__((vector_size(BYTES_2)));
typedef uint32_t bytes_4 __attribute__((vector_size(BYTES_4)));
typedef uint64_t bytes_8 __attribute__((vector_size(BYTES_8)));

#ifdef __clang__
#define SHUFFLE(V, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(V, a, b, ...) __builtin_shuffle(a, b, (V){__VA_ARGS__})
#endif
#define LOW_1(V, a, b) SHUFFLE(V, a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH_1(V, a, b)                                                                            \
    SHUFFLE(V, a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define LOW_2(V, a, b) SHUFFLE(V, a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH_2(V, a, b) SHUFFLE(V, a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#if defined __AVX512F__ && defined __AVX512BW__
#define LOW_4(V, a, b) SHUFFLE(V, a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH_4(V, a, b)                                                                            \
    SHUFFLE(V, a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define LOW_8(V, a, b) SHUFFLE(V, a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH_8(V, a, b) SHUFFLE(V, a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define LOW_4(V, a, b) SHUFFLE(V, a, b, 0, 4, 1, 5)
#define HIGH_4(V, a, b) SHUFFLE(V, a, b, 2, 6, 3, 7)
#define LOW_8(V, a, b) SHUFFLE(V, a, b, 0, 2)
#define HIGH_8(V, a, b) SHUFFLE(V, a, b, 1, 3)
#endif

/* A square of N×N elements, N*bytes = BYTES: each of log2(N) rounds interleaves the first half of
 * the vectors with the second. */
#define SQUARE(bytes, N, ROUNDS)                                                                   \
    static inline __attribute__((always_inline)) void square_##bytes(                              \
        char *dst, int64_t dst_stride, const char *src, int64_t src_stride)                        \
    {                                                                                              \
        bytes_##bytes even[N], odd[N];                                                             \
        for (int k = 0; k < (N); k++)                                                              \
            memcpy(&even[k], src + k * src_stride, BYTES_##bytes);                                 \
        for (int round = 0; round < (ROUNDS); round++) {                                           \
            bytes_##bytes *a = round % 2 ? odd : even, *b = round % 2 ? even : odd;                \
            for (int k = 0; k < (N) / 2; k++) {                                                    \
                b[2 * k] = LOW_##bytes(bytes_##bytes, a[k], a[k + (N) / 2]);                       \
                b[2 * k + 1] = HIGH_##bytes(bytes_##bytes, a[k], a[k + (N) / 2]);                  \
            }                                                                                      \
        }                                                                                          \
        for (int k = 0; k < (N); k++)                                                              \
            memcpy(dst + k * dst_stride, (ROUNDS) % 2 ? &odd[k] : &even[k], BYTES_##bytes);        \
    }
SQUARE(1, 16, 4)
SQUARE(2, 8, 3)
#if defined __AVX512F__ && defined __AVX512BW__
/* A line is read by one load: when lines are a power of two apart, the first cache has no room for
 * as many as make a square. */
SQUARE(4, 16, 4)
SQUARE(8, 8, 3)
enum { SIDE_4 = 16, SIDE_8 = 8 };
#else
SQUARE(4, 4, 2)
SQUARE(8, 2, 1)
enum { SIDE_4 = 4, SIDE_8 = 2 };
#endif

/* Asks for lines of memory that will be read next, and be in the second cache by then: the first
 * has few places for lines that are a power of two apart. They may lie outside of the array. */
static inline void ask_for(const char *src, int64_t stride, int64_t count, int64_t ahead)
{
    const uintptr_t first = (uintptr_t)src + (uintptr_t)ahead;
    for (int64_t k = 0; k < count; k++)
        __builtin_prefetch((const void *)(first + (uintptr_t)(k * stride)), 0, 2);
}

/* Goes over the squares with the rows inside, so that lines of src are used up while they are in
 * the first cache, and asks for those of the next patch, which mostly lies after this one. Edges go
 * element by element. */
#define TRANSPOSE(bytes, N)                                                                        \
    static void transpose_##bytes(char *dst, int64_t dst_stride, const char *src,                  \
                                  int64_t src_stride, int64_t rows, int64_t columns)               \
    {                                                                                              \
        const int64_t whole_rows = rows - rows % (N), whole = columns - columns % (N);             \
        for (int64_t c = 0; c < whole; c += (N))                                                   \
            for (int64_t r = 0; r < whole_rows; r += (N)) {                                        \
                const char *from = src + c * src_stride + r * bytes;                               \
                if (r * bytes % 64 == 0)                                                           \
                    ask_for(from, src_stride, (N), columns *src_stride);                           \
                square_##bytes(dst + r * dst_stride + c * bytes, dst_stride, from, src_stride);    \
            }                                                                                      \
        for (int64_t r = 0; r < whole_rows && whole < columns; r++)                                \
            move_row_##bytes(dst + r * dst_stride + whole * bytes, bytes,                          \
                             src + whole * src_stride + r * bytes, src_stride, columns - whole);   \
        for (int64_t r = whole_rows; r < rows; r++)                                                \
            move_row_##bytes(dst + r * dst_stride, bytes, src + r * bytes, src_stride, columns);   \
    }
TRANSPOSE(1, 16)
TRANSPOSE(2, 8)
TRANSPOSE(4, SIDE_4)
TRANSPOSE(8, SIDE_8)

#if defined __AVX512F__
static inline void stream_line(char *dst, const char *src)
{
    _mm512_stream_si512((void *)dst, _mm512_loadu_si512((const void *)src));
}
#elif defined __AVX__
static inline void stream_line(char *dst, const char *src)
{
    for (int k = 0; k < 64; k += 32)
        _mm256_stream_si256((void *)(dst + k), _mm256_loadu_si256((const void *)(src + k)));
}
#elif defined __SSE2__
static inline void stream_line(char *dst, const char *src)
{
    for (int k = 0; k < 64; k += 16)
        _mm_stream_si128((void *)(dst + k), _mm_loadu_si128((const void *)(src + k)));
}
#else
static inline void stream_line(char *dst, const char *src) { memcpy(dst, src, 64); }
#endif

static void stream(char *dst, const char *src, int64_t bytes)
{
    const int64_t peel = (int64_t)(-(uintptr_t)dst & 63U);
    const int64_t head = peel < bytes ? peel : bytes;
    memcpy(dst, src, (size_t)head);
    int64_t at = head;
    for (; at + 64 <= bytes; at += 64)
        stream_line(dst + at, src + at);
    memcpy(dst + at, src + at, (size_t)(bytes - at));
}
