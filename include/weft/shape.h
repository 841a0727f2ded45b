/* Shapes, axes, slices and positions: small values that are passed by copy. */
#ifndef WEFT_SHAPE_H
#define WEFT_SHAPE_H

#include <weft/each.h>
#include <weft/status.h>

#ifdef __cplusplus
#include <type_traits>
extern "C" {
#endif

/* The most dimensions that an array can have. */
enum { WEFT_NDIM_MAX = 8 };

/* The sizes of an array: WEFT_SHAPE(2, 3). */
typedef struct weft_shape {
    int32_t ndim;                /* dimensions */
    int64_t size[WEFT_NDIM_MAX]; /* elements along each */
} weft_shape;

/* Axes; a negative one counts from the end. A count of 0 means "not given"; it comes last, so that
 * `.axes = 1`, which should be WEFT_AXES(1), is an error. gcc warns of it, and of `.axes = 0`,
 * which is the same as none. */
typedef struct weft_axes {
    int32_t axis[WEFT_NDIM_MAX]; /* which */
    int32_t count;               /* how many are given */
} weft_axes;

/* One entry of a slice. */
typedef struct weft_range {
    int32_t kind;              /* a weft_range_kind */
    int64_t start, stop, step; /* from, up to and without, by; an index is in start */
} weft_range;

/* What an entry of a slice does with its axis. Numbers that no index is: one that is given without
 * WEFT_AT is an error. */
typedef enum weft_range_kind {
    WEFT_RANGE_STEP = 0x57000001, /* start (included) to stop (excluded) by step */
    WEFT_RANGE_AT,                /* one index; the axis goes away */
    WEFT_RANGE_NEW_AXIS           /* a new axis of size 1 */
} weft_range_kind;

/* As the start or stop of a range: the end that the step's direction begins or ends at. */
#define WEFT_END INT64_MIN

/* Entries of weft_slice: from start to stop by step, the same by 1, all, all backwards, one index
 * (whose axis goes away), a new axis of size 1. Python's rules: a negative index counts from the
 * end; starts and stops past an end are clamped; an index past an end is an error. */
#define WEFT_STEP(start, stop, step) (weft_range_of(WEFT_RANGE_STEP, (start), (stop), (step)))
#define WEFT_RANGE(start, stop) WEFT_STEP(start, stop, 1)
#define WEFT_ALL WEFT_STEP(WEFT_END, WEFT_END, 1)
#define WEFT_REVERSED WEFT_STEP(WEFT_END, WEFT_END, -1)
#define WEFT_AT(index) (weft_range_of(WEFT_RANGE_AT, (index), 0, 0))
#define WEFT_NEW_AXIS (weft_range_of(WEFT_RANGE_NEW_AXIS, 0, 0, 0))

/* The function under the macros above. */
static inline weft_range weft_range_of(int32_t kind, int64_t start, int64_t stop, int64_t step)
{
    weft_range range = {kind, start, stop, step};
    return range;
}

/* The number of elements; an error for a negative size, too many dimensions, or a product of the
 * sizes beyond 2⁶³ − 1. */
WEFT_API weft_status weft_shape_count(weft_shape shape, int64_t *count);
/* Whether both have the same sizes. */
WEFT_API bool weft_shape_equal(weft_shape a, weft_shape b);
/* The shape that both broadcast to, by NumPy's rules. */
WEFT_API weft_status weft_shape_broadcast(weft_shape a, weft_shape b, weft_shape *result);
/* The position of the element with that linear index in C order, and back. */
WEFT_API weft_status weft_shape_position(weft_shape shape, int64_t index, int64_t *position);
WEFT_API weft_status weft_shape_index(weft_shape shape, const int64_t *position, int64_t *index);
/* Writes "(2, 3)" and a NUL into at most `room` bytes; returns the length without a bound. */
WEFT_API size_t weft_shape_format(weft_shape shape, char *text, size_t room);

#ifdef __cplusplus
}
template <class Integer, class Value> constexpr Integer weft__integer(Value value)
{
    static_assert(std::is_integral<Value>::value || std::is_enum<Value>::value,
                  "a size, axis or index is an integer");
    return static_cast<Integer>(value);
}
template <class... Sizes> inline weft_shape weft__shape(Sizes... sizes)
{
    static_assert(sizeof...(sizes) <= WEFT_NDIM_MAX, "too many dimensions");
    return weft_shape{static_cast<int32_t>(sizeof...(sizes)), {weft__integer<int64_t>(sizes)...}};
}
template <class... Axes> inline weft_axes weft__axes(Axes... axes)
{
    static_assert(sizeof...(axes) <= WEFT_NDIM_MAX, "too many axes");
    return weft_axes{{weft__integer<int32_t>(axes)...}, static_cast<int32_t>(sizeof...(axes))};
}
#define WEFT_SHAPE(...) (weft__shape(__VA_ARGS__))
#define WEFT_SCALAR (weft__shape())
#define WEFT_AXES(...) (weft__axes(__VA_ARGS__))
#else
/* A floating-point size does not compile. */
#define WEFT__SIZE(x) _Generic((x), float : (char *)0, double : (char *)0, default : (int64_t)(x))
#define WEFT__AXIS(x) _Generic((x), float : (char *)0, double : (char *)0, default : (int32_t)(x))
/* A shape of up to 8 sizes, WEFT_SHAPE(2, 3), and that of a single element. */
#define WEFT_SHAPE(...)                                                                            \
    ((weft_shape){WEFT__COUNT(__VA_ARGS__), {WEFT__LIST(WEFT__SIZE, __VA_ARGS__)}})
#define WEFT_SCALAR ((weft_shape){0, {0}})
/* Axes: WEFT_AXES(0, -1). */
#define WEFT_AXES(...)                                                                             \
    ((weft_axes){{WEFT__LIST(WEFT__AXIS, __VA_ARGS__)}, WEFT__COUNT(__VA_ARGS__)})
#endif
#endif
