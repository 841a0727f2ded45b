/* The header of an NPY file: a Python dictionary with dtype, order and shape. */
#include "core/dtype.h"
#include "file/file.h"
#include <stdio.h>
#include <string.h>

static const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

weft__quote weft__quote_of(const char *text, size_t length)
{
    weft__quote quote;
    size_t k = 0;
    for (; k < length && k + 1 < sizeof quote.text; k++)
        quote.text[k] = text[k] >= ' ' && text[k] <= '~' ? text[k] : '?';
    quote.text[k] = 0;
    return quote;
}

typedef struct reader {
    const char *path, *text;
    size_t length, at;
} reader;

static weft_status wrong(const reader *r, const char *expected)
{
    const size_t rest = r->length - r->at;
    return FAIL(WEFT_ERROR_ARGUMENT,
                "%.200s: the NPY header has '%s' at character %zu, where %s was expected; the file "
                "is damaged or no NPY file",
                r->path, weft__quote_of(r->text + r->at, rest < 20 ? rest : 20).text, r->at,
                expected);
}

static void skip_blanks(reader *r)
{
    while (r->at < r->length && (r->text[r->at] == ' ' || r->text[r->at] == '\n' ||
                                 r->text[r->at] == '\t' || r->text[r->at] == '\r'))
        r->at++;
}

/* Whether this character comes next; it is passed then. */
static bool take(reader *r, char c)
{
    skip_blanks(r);
    if (r->at >= r->length || r->text[r->at] != c)
        return false;
    r->at++;
    return true;
}

static bool take_word(reader *r, const char *word)
{
    const size_t length = strlen(word);
    skip_blanks(r);
    if (r->length - r->at < length || memcmp(r->text + r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

/* A string in either kind of quotes, without escapes. */
static bool take_string(reader *r, const char **text, size_t *length)
{
    const size_t start = r->at;
    if (!take(r, '\'') && !take(r, '"'))
        return false;
    const char *begin = r->text + r->at, *end = memchr(begin, begin[-1], r->length - r->at);
    if (!end || memchr(begin, '\\', (size_t)(end - begin))) {
        r->at = start;
        return false;
    }
    *text = begin;
    *length = (size_t)(end - begin);
    r->at += *length + 1;
    return true;
}

static weft_status no_such_dtype(const reader *r, const char *text, size_t length)
{
    const bool objects = length > 1 && (text[1] == 'O' || text[0] == 'O');
    return FAIL(WEFT_ERROR_DTYPE,
                "%.200s: holds %s ('%s'); Weft reads bool, integers, f16, f32, f64, "
                "c64, c128 and, as 'V2', bf16%s",
                r->path, objects ? "Python objects" : "elements of a dtype that Weft has not",
                weft__quote_of(text, length).text,
                objects ? "; convert it with numpy.asarray(x, dtype=...)" : "");
}

/* A size, as Python 2 wrote it too: 3L. */
static bool take_size(reader *r, int64_t *size)
{
    const size_t start = r->at;
    bool overflow = false;
    skip_blanks(r);
    const size_t first = r->at;
    for (*size = 0; r->at < r->length && r->text[r->at] >= '0' && r->text[r->at] <= '9'; r->at++)
        overflow |= __builtin_mul_overflow(*size, 10, size) ||
                    __builtin_add_overflow(*size, r->text[r->at] - '0', size);
    if (r->at == first || overflow) {
        r->at = start;
        return false;
    }
    take(r, 'L');
    return true;
}

/* The dtype with NumPy's name, which has no byte order here. */
static weft_dtype dtype_of(const char *name, size_t length)
{
    char typestr[8];
    for (int k = 1; k < WEFT_DTYPE_END; k++) {
        weft__dtype_typestr((weft_dtype)k, typestr);
        if (strlen(typestr + 1) == length && memcmp(typestr + 1, name, length) == 0)
            return (weft_dtype)k;
    }
    return length == 1 && *name == '?' ? WEFT_BOOL : WEFT_DTYPE_DEFAULT;
}

static weft_status read_dtype(reader *r, weft__npy *npy)
{
    const char *text;
    size_t length;
    if (take(r, '['))
        return FAIL(WEFT_ERROR_DTYPE,
                    "%.200s: holds records (a structured dtype), which Weft has not; save its "
                    "fields one by one",
                    r->path);
    if (!take_string(r, &text, &length))
        return wrong(r, "a dtype as '<f4'");
    const bool ordered = length > 0 && text[0] && strchr("<>=|", text[0]);
    npy->dtype = dtype_of(text + ordered, length - ordered);
    if (npy->dtype == WEFT_DTYPE_DEFAULT)
        return no_such_dtype(r, text, length);
    npy->swapped = ordered && text[0] == (little ? '>' : '<') && weft__npy_part(npy->dtype) > 1;
    return WEFT_OK;
}

static weft_status read_order(reader *r, weft__npy *npy)
{
    npy->fortran = take_word(r, "True");
    return npy->fortran || take_word(r, "False") ? WEFT_OK : wrong(r, "True or False");
}

static weft_status read_shape(reader *r, weft__npy *npy)
{
    bool comma = true;
    if (!take(r, '('))
        return wrong(r, "a shape as (3, 4)");
    while (!take(r, ')')) {
        int64_t size;
        if (!comma || !take_size(r, &size))
            return wrong(r, comma ? "a size below 2^63" : "a comma or ')'");
        if (npy->shape.ndim == WEFT_NDIM_MAX)
            return FAIL(WEFT_ERROR_SHAPE,
                        "%.200s: the array has more than %d dimensions; reshape it first", r->path,
                        WEFT_NDIM_MAX);
        npy->shape.size[npy->shape.ndim++] = size;
        comma = take(r, ',');
    }
    return !comma && npy->shape.ndim == 1 ? wrong(r, "a tuple as (3,)") : WEFT_OK;
}

/* One entry of the dictionary; `seen` has a bit for each that was there. */
static weft_status read_entry(reader *r, weft__npy *npy, unsigned *seen)
{
    static const struct {
        const char *key;
        weft_status (*read)(reader *r, weft__npy *npy);
    } entries[] = {{"descr", read_dtype}, {"fortran_order", read_order}, {"shape", read_shape}};
    const char *key;
    size_t length;
    const size_t start = r->at;
    if (!take_string(r, &key, &length) || !take(r, ':'))
        return wrong(r, "a key and ':'");
    for (unsigned k = 0; k < 3; k++)
        if (strlen(entries[k].key) == length && memcmp(entries[k].key, key, length) == 0 &&
            !(*seen & 1u << k)) {
            *seen |= 1u << k;
            return entries[k].read(r, npy);
        }
    r->at = start;
    return wrong(r, "descr, fortran_order or shape, each once,");
}

weft_status weft__npy_parse(const char *path, const char *text, size_t length, weft__npy *npy)
{
    reader r = {path, text, length, 0};
    unsigned seen = 0;
    bool comma = true;
    *npy = (weft__npy){.dtype = WEFT_DTYPE_DEFAULT};
    if (!take(&r, '{'))
        return wrong(&r, "'{'");
    while (!take(&r, '}')) {
        if (!comma)
            return wrong(&r, "a comma or '}'");
        TRY(read_entry(&r, npy, &seen));
        comma = take(&r, ',');
    }
    skip_blanks(&r);
    if (r.at != length)
        return wrong(&r, "the end");
    if (seen != 7)
        return FAIL(WEFT_ERROR_ARGUMENT, "%.200s: the NPY header has no %s", path,
                    !(seen & 1)   ? "descr"
                    : !(seen & 2) ? "fortran_order"
                                  : "shape");
    return weft__shape_bytes(&npy->shape, weft_dtype_size(npy->dtype), &npy->bytes);
}

size_t weft__npy_part(weft_dtype dtype)
{
    const size_t size = weft_dtype_size(dtype);
    return dtype == WEFT_C64 || dtype == WEFT_C128 ? size / 2 : size;
}

/* Version 1: what is written is short. The first element is on a multiple of 64 bytes. */
size_t weft__npy_write(const weft__npy *npy, char *header)
{
    char typestr[8];
    weft__dtype_typestr(npy->dtype, typestr);
    int at = snprintf(header + 10, WEFT__NPY_ROOM - 10,
                      "{'descr': '%s', 'fortran_order': %s, "
                      "'shape': (",
                      typestr, npy->fortran ? "True" : "False");
    for (int k = 0; k < npy->shape.ndim; k++)
        at +=
            snprintf(header + 10 + at, (size_t)(WEFT__NPY_ROOM - 10 - at), "%s%lld%s",
                     k ? ", " : "", (long long)npy->shape.size[k], npy->shape.ndim == 1 ? "," : "");
    at += snprintf(header + 10 + at, (size_t)(WEFT__NPY_ROOM - 10 - at), "), }");
    const size_t whole = ((size_t)at + 11 + 63) / 64 * 64;
    memset(header + 10 + at, ' ', whole - 10 - (size_t)at);
    header[whole - 1] = '\n';
    memcpy(header, "\x93NUMPY\x01\0", 8);
    header[8] = (char)((whole - 10) & 255);
    header[9] = (char)((whole - 10) >> 8);
    return whole;
}
