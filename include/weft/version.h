/* The version of Weft and the marks that public declarations carry. */
#ifndef WEFT_VERSION_H
#define WEFT_VERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The version of these headers. */
#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0

#if defined __GNUC__
/* Marks what the library exports. */
#define WEFT_API __attribute__((visibility("default")))
#else
#define WEFT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that is running, as "0.1.0". A program built against 0.x runs with any
 * library that has the same soname; the soname changes whenever that stops being true. */
WEFT_API const char *weft_version(void);

#ifdef __cplusplus
}
#endif
#endif
