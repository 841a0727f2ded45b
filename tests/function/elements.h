/* Elements as functions call them, in plain C: defined where this is included, and not any more
 * where it is included again. No guard. */
#ifndef WEFT_TESTS_ELEMENTS
#define WEFT_TESTS_ELEMENTS
#define x(i) X[i]
#define y(i) Y[i]
#define z(i) Z[i]
#define a(i, j) A[(i)*N + (j)]
#define c(i, j) C[(i)*N + (j)]
#define k(i) K[i]
#define f32(value) ((float)(value))
#define max(p, q) ((p) > (q) ? (p) : (q))
#define min(p, q) ((p) < (q) ? (p) : (q))
#else
#undef WEFT_TESTS_ELEMENTS
#undef x
#undef y
#undef z
#undef a
#undef c
#undef k
#undef f32
#undef max
#undef min
#endif
