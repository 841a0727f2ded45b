/* Counters of a device. */
#ifndef WEFT_CORE_STATISTICS_H
#define WEFT_CORE_STATISTICS_H

#include <stdatomic.h>
#include <stdint.h>

/* The fields of weft_statistics, in its order. */
#define WEFT__STATISTICS_LIST(X)                                                                   \
    X(bytes_in_use)                                                                                \
    X(bytes_peak)                                                                                  \
    X(bytes_cached)                                                                                \
    X(allocations)                                                                                 \
    X(reuses)                                                                                      \
    X(copies_to_device)                                                                            \
    X(copies_to_host)                                                                              \
    X(copies_on_device)                                                                            \
    X(bytes_to_device)                                                                             \
    X(bytes_to_host)                                                                               \
    X(bytes_on_device)                                                                             \
    X(launches)                                                                                    \
    X(compilations)                                                                                \
    X(waits)                                                                                       \
    X(compilations_llvm)                                                                           \
    X(compilations_loaded)                                                                         \
    X(compilations_waiting)

typedef struct weft__statistics {
#define WEFT__STATISTICS_FIELD(name) _Atomic uint64_t name;
    WEFT__STATISTICS_LIST(WEFT__STATISTICS_FIELD)
#undef WEFT__STATISTICS_FIELD
} weft__statistics;

#define COUNT(counter, amount) atomic_fetch_add_explicit(&(counter), (amount), memory_order_relaxed)

#endif
