/* Keyword arguments: how the macros below turn `.name = value` into an options struct. */
#ifndef WEFT_OPTIONS_H
#define WEFT_OPTIONS_H

#include <weft/each.h>
#include <weft/version.h>

/* A compound literal with commas in it needs parentheses as an argument of these macros:
 * weft_zeros(((weft_shape){2, {3, 4}})).
 *
 * Every options struct begins with `size_t struct_size`, so that a library can tell which fields
 * its caller knows. A field that is not named is zero, and zero always means "not given". gcc warns
 * of values without a name. */
#if defined __has_attribute
#if __has_attribute(designated_init)
#define WEFT__NAMED __attribute__((designated_init))
#endif
#endif
#ifndef WEFT__NAMED
#define WEFT__NAMED
#endif
#ifndef __cplusplus
#define WEFT__OPTIONS(type, ...) (&(const type){.struct_size = sizeof(type), __VA_ARGS__})
#else
template <class Options> struct weft__options {
    Options options;
    template <class Set> explicit weft__options(Set set) : options()
    {
        options.struct_size = sizeof options;
        set(options);
    }
    const Options *get() const { return &options; }
};
#define WEFT__OPTION_SET(assignment) (void)(weft__given assignment);
#define WEFT__OPTIONS(type, ...)                                                                   \
    (weft__options<type>([&](type &weft__given) {                                                  \
         (void)weft__given;                                                                        \
         WEFT__EACH(WEFT__OPTION_SET, __VA_ARGS__)                                                 \
     }).get())
#endif

#endif
