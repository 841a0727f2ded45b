/* Functions: several statements, loops and host calls as text, whose parallel parts run as kernels,
 * on the device of the context they are called in. */
#ifndef WEFT_FUNCTION_H
#define WEFT_FUNCTION_H

#include <weft/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/*     WEFT_FUNCTION(foo, (x, y), {
 *         a = 0.5;
 *         preprocess(x);
 *         y = a*x + y;
 *         return sum(y);
 *     });
 *     weft_host_bind("preprocess", preprocess);
 *     { WEFT_ON(gpu); weft_call(foo, &r, x, y); }
 *
 * The body is the language of expressions, with variables that hold numbers or arrays, types of C
 * for those (float s = 0; double t(n, m); is an array of zeros), if, else, for, while, break,
 * continue, return, elements x(i, j), and calls of host functions. Assigning to a parameter that is
 * an array writes the caller's array.
 *
 * Called in a device context, its parallel regions (array statements, and loops that are proved to
 * be independent) run on that device, and arrays of the host are copied there when a region reads
 * them, back when the host does, or when the call returns. Called outside of one, it follows its
 * arrays. An error shows the body with a caret under the place. docs/offload.md is the manual. */

/* What a function that is marked serial does in a device context. */
typedef enum weft_serial_rule {
    WEFT_SERIAL_ERROR,  /* the call is an error */
    WEFT_SERIAL_IGNORE, /* it is offloaded as if it were not serial */
    WEFT_SERIAL_HOST    /* it runs serially, on the host, and copies nothing to the device */
} weft_serial_rule;

/* Whether a device context moves the work of a function. */
/* Where the regions of a function run that is called in a device context. */
typedef enum weft_offload {
    WEFT_OFFLOAD_AUTO,   /* on its device, unless what they copy costs more than they gain */
    WEFT_OFFLOAD_ALWAYS, /* on its device */
    WEFT_OFFLOAD_NEVER   /* where the arrays are: the context moves nothing */
} weft_offload;

/* How a function is run. */
typedef struct weft_function_options {
    size_t struct_size;
    bool serial;                    /* loops run serially */
    weft_serial_rule serial_device; /* … and in a device context? */
    weft_offload offload;           /* … and whether it is offloaded at all */
} weft_function_options;

/* A function by its text; must not change once it was called. What it is analysed to is found by
 * its address. */
typedef struct weft_function {
    size_t struct_size;
    const char *name;              /* for messages */
    const char *parameters;        /* "(x, y)" */
    const char *body;              /* the text */
    const char *place;             /* "file:line" */
    weft_function_options options; /* how it is run */
} weft_function;

/* Defines a function: WEFT_FUNCTION(foo, (x, y), { … }); */
#define WEFT_FUNCTION(name, parameters, ...)                                                       \
    static const weft_function name = {                                                            \
        sizeof(weft_function),                                                                     \
        #name,                                                                                     \
        #parameters,                                                                               \
        #__VA_ARGS__,                                                                              \
        WEFT__PLACE,                                                                               \
        {sizeof(weft_function_options), false, WEFT_SERIAL_ERROR, WEFT_OFFLOAD_AUTO}}
/* One with options, in parentheses:
 *     WEFT_FUNCTION_WITH(foo, (.offload = WEFT_OFFLOAD_ALWAYS), (x), { … }); */
#define WEFT_FUNCTION_WITH(name, options, parameters, ...)                                         \
    static const weft_function name = {sizeof(weft_function), #name,                               \
                                       #parameters,           #__VA_ARGS__,                        \
                                       WEFT__PLACE,           WEFT__FUNCTION_OPTIONS options}
/* One that is marked serial: WEFT_FUNCTION_SERIAL(foo, WEFT_SERIAL_HOST, (x), { … }). */
#define WEFT_FUNCTION_SERIAL(name, rule, parameters, ...)                                          \
    static const weft_function name = {                                                            \
        sizeof(weft_function), #name,                                                              \
        #parameters,           #__VA_ARGS__,                                                       \
        WEFT__PLACE,           {sizeof(weft_function_options), true, rule, WEFT_OFFLOAD_AUTO}}

/* Where a returned value goes: a C number, an array (owned by the caller), or nowhere. */
typedef struct weft_result {
    void *out;     /* NULL: it is dropped */
    int32_t dtype; /* of the C number; WEFT_DTYPE_DEFAULT: out is a weft_array ** */
} weft_result;

/* Calls a function. `out` is the address of a number or of a weft_array *, or NULL. Numbers are
 * waited for; arrays are promises, except lent memory, which is complete on return. */
#define weft_call(function, out, ...)                                                              \
    weft_call_with(&(function), 1, WEFT__RESULT(out), WEFT__COUNT(__VA_ARGS__),                    \
                   WEFT__OPERANDS(__VA_ARGS__))
/* The function under the macro: any number of results, at most as many as are returned, and of
 * arguments, at most 256. */
WEFT_API weft_status weft_call_with(const weft_function *function, int results_count,
                                    const weft_result *results, int count,
                                    const weft_operand *operands);

/* A function of the program's, called by name from bodies. Arrays are on the host, complete, and
 * must be used before it returns; those that it only reads are WEFT_OPERAND_INPUT. What it returns
 * other than WEFT_OK ends the call, with the message that it left. */
typedef weft_status weft_host_function(int count, const weft_operand *arguments, void *context);

/* What weft_host_bind can be told. */
typedef struct weft_host_options {
    size_t struct_size;
    const char
        *access;   /* what it does with each array: "read, write, both"; default: both. One that
                      is written is not copied to the host first: all of it must be written */
    void *context; /* handed to the function */
} WEFT__NAMED weft_host_options;

/* Binds a name for the whole process; binding it again replaces it, with NULL it is unknown. */
#define weft_host_bind(...) WEFT__HOST_BIND(__VA_ARGS__, )
#define WEFT__HOST_BIND(name, ...) WEFT__HOST_BIND_(name, __VA_ARGS__)
#define WEFT__HOST_BIND_(name, function, ...)                                                      \
    weft_host_bind_with((name), (function), WEFT__OPTIONS(weft_host_options, __VA_ARGS__))
WEFT_API weft_status weft_host_bind_with(const char *name, weft_host_function *function,
                                         const weft_host_options *options);

/* Lets bodies call a function of Weft's by this name, for the whole process: as a statement, or in
 * an expression, where it is the first value that is returned. It is written out where it is
 * called, before the statement that it is in, so that loops around it can be parallel; recursion is
 * an error. Arrays that are given are the caller's, numbers are copies. The function must live as
 * long as it is bound; binding the name again replaces it, with NULL it is unknown. */
WEFT_API weft_status weft_function_bind(const char *name, const weft_function *function);

/* What a function does, as text to be freed with weft_explain_free: its regions, which loops are
 * parallel and why others are not (the dependence, with its column), and what this thread's last
 * call of it ran and copied. */
WEFT_API weft_status weft_function_explain(char **text, const weft_function *function);

/* How a function is explained. */
typedef enum weft_explain_form {
    WEFT_EXPLAIN_TEXT, /* lines to be read */
    WEFT_EXPLAIN_JSON, /* one object: function, parameters, place, statements, call */
    WEFT_EXPLAIN_SVG   /* a picture of the last call: host and device, copies between them */
} weft_explain_form;
/* The same in another form. */
WEFT_API weft_status weft_function_explain_as(char **text, weft_explain_form form,
                                              const weft_function *function);

/* What computing and copying costs on a device, in seconds and per second. `auto` decides by them:
 * guesses from what the device is, or what weft_device_calibrate has measured. */
typedef struct weft_costs {
    bool measured;             /* not guessed */
    double launch;             /* seconds before a kernel begins */
    double copy;               /* seconds before a copy begins, to the device or back */
    double to_device, to_host; /* bytes a second of copies */
    double memory;             /* bytes a second that a kernel reads and writes */
    double operations;         /* a second */
} weft_costs;

/* Fills a weft_costs: weft_device_costs(gpu, &costs). */
#define weft_device_costs(device, costs)                                                           \
    weft_device_costs_sized((device), (costs), sizeof(weft_costs))
WEFT_API weft_status weft_device_costs_sized(weft_device device, weft_costs *costs,
                                             size_t costs_size);
/* Measures them, in about a second, and keeps them in the cache folder for other processes. */
WEFT_API weft_status weft_device_calibrate(weft_device device);

#ifdef __cplusplus
}
/* Options: weft__options sets them one by one. */
#define WEFT__FUNCTION_OPTIONS(...)                                                                \
    (weft__options<weft_function_options>([](weft_function_options &weft__given) {                 \
         (void)weft__given;                                                                        \
         WEFT__EACH(WEFT__OPTION_SET, __VA_ARGS__)                                                 \
     }).options)
template <class Number> inline weft_result weft__result(Number *out)
{
    return weft_result{out, weft__dtype_of(out)};
}
inline weft_result weft__result(weft_array **out) { return weft_result{out, WEFT_DTYPE_DEFAULT}; }
inline weft_result weft__result(decltype(nullptr)) { return weft_result{nullptr, 0}; }
struct weft__result_holder {
    weft_result result;
    operator const weft_result *() const { return &result; }
};
#define WEFT__RESULT(out) (weft__result_holder{weft__result(out)})
#else
#define WEFT__FUNCTION_OPTIONS(...)                                                                \
    {                                                                                              \
        sizeof(weft_function_options), __VA_ARGS__                                                 \
    }
#define WEFT__RESULT(out)                                                                          \
    (&(const weft_result){                                                                         \
        (out), _Generic((out), WEFT__DTYPE_CASES(WEFT__DTYPE_CASE) float _Complex *: WEFT_C64,     \
                        double _Complex *: WEFT_C128, weft_array **: WEFT_DTYPE_DEFAULT,           \
                        void *: WEFT_DTYPE_DEFAULT)})
#endif
#endif
