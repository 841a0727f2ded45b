/* Element types: names, sizes and promotion. */
#include "core/dtype.h"
#include "core/status.h"
#include <stdio.h>
#include <string.h>
#include <weft/dtype.h>

typedef struct dtype_facts {
    const char *name;
    uint8_t bytes, kind;
} dtype_facts;

static const dtype_facts facts[] = {{"default", 0, 0},
#define DTYPE_FACTS(name, NAME, bytes, kind) {#name, bytes, WEFT_KIND_##kind},
                                    WEFT_DTYPE_LIST(DTYPE_FACTS)};

static bool is_dtype(weft_dtype dtype)
{
    return dtype > WEFT_DTYPE_DEFAULT && dtype < WEFT_DTYPE_END;
}

const char *weft_dtype_name(weft_dtype dtype)
{
    return is_dtype(dtype) ? facts[dtype].name : "unknown";
}

size_t weft_dtype_size(weft_dtype dtype) { return is_dtype(dtype) ? facts[dtype].bytes : 0; }

weft_status weft__fail_dtype(weft_dtype dtype)
{
    if (dtype == WEFT_DTYPE_DEFAULT)
        return FAIL_AT(WEFT_ERROR_DTYPE, "dtype",
                       "no dtype was given; one such as WEFT_F32 was expected");
    return FAIL_AT(WEFT_ERROR_DTYPE, "dtype",
                   "%d is no dtype; WEFT_BOOL (%d) to WEFT_C128 (%d) are", (int)dtype, WEFT_BOOL,
                   WEFT_C128);
}

weft_dtype weft_dtype_named(const char *name)
{
    OPERATION("weft_dtype_named");
    for (int d = 1; name && d < WEFT_DTYPE_END; d++)
        if (!strcmp(name, facts[d].name))
            return (weft_dtype)d;
    FAIL_AT(WEFT_ERROR_DTYPE, "name",
            "there is no dtype '%.40s'; the dtypes are bool, i8, i16, i32, i64, u8, u16, u32, u64, "
            "f16, bf16, f32, f64, c64 and c128",
            name ? name : "(NULL)");
    return WEFT_DTYPE_DEFAULT;
}

weft_status weft_dtype_kind_of(weft_dtype dtype, weft_dtype_kind *kind)
{
    OPERATION("weft_dtype_kind_of");
    if (!is_dtype(dtype))
        return weft__fail_dtype(dtype);
    TRY(weft__check_result(kind, "kind"));
    *kind = (weft_dtype_kind)facts[dtype].kind;
    return WEFT_OK;
}

static weft_dtype promote_integers(weft_dtype a, weft_dtype b)
{
    if (facts[a].kind == facts[b].kind)
        return facts[a].bytes >= facts[b].bytes ? a : b;
    weft_dtype is_signed = facts[a].kind == WEFT_KIND_SIGNED ? a : b;
    weft_dtype is_unsigned = is_signed == a ? b : a;
    if (facts[is_signed].bytes > facts[is_unsigned].bytes)
        return is_signed;
    switch (facts[is_unsigned].bytes) {
    case 1:
        return WEFT_I16;
    case 2:
        return WEFT_I32;
    case 4:
        return WEFT_I64;
    default:
        return WEFT_DTYPE_DEFAULT;
    }
}

static weft_dtype promote_floats(weft_dtype a, weft_dtype b)
{
    if (facts[a].bytes != facts[b].bytes)
        return facts[a].bytes > facts[b].bytes ? a : b;
    return a == b ? a : WEFT_F32; /* f16 with bf16 */
}

static weft_dtype promote_complex(weft_dtype a, weft_dtype b)
{
    return a == WEFT_C128 || b == WEFT_C128 || a == WEFT_F64 || b == WEFT_F64 ? WEFT_C128
                                                                              : WEFT_C64;
}

static weft_dtype promote(weft_dtype a, weft_dtype b)
{
    int low = facts[a].kind < facts[b].kind ? facts[a].kind : facts[b].kind;
    int high = facts[a].kind < facts[b].kind ? facts[b].kind : facts[a].kind;
    if (a == b)
        return a;
    if (low >= WEFT_KIND_SIGNED && high <= WEFT_KIND_UNSIGNED)
        return promote_integers(a, b);
    if (low == WEFT_KIND_FLOAT && high == WEFT_KIND_FLOAT)
        return promote_floats(a, b);
    if (low >= WEFT_KIND_FLOAT)
        return promote_complex(a, b);
    return WEFT_DTYPE_DEFAULT;
}

weft_status weft_dtype_promote(weft_dtype a, weft_dtype b, weft_dtype *result)
{
    OPERATION("weft_dtype_promote");
    if (!is_dtype(a) || !is_dtype(b))
        return weft__fail_dtype(is_dtype(a) ? b : a);
    weft_dtype both = promote(a, b);
    if (both == WEFT_DTYPE_DEFAULT)
        return FAIL(WEFT_ERROR_DTYPE, "%s and %s have no common dtype; cast one of them",
                    facts[a].name, facts[b].name);
    TRY(weft__check_result(result, "result"));
    *result = both;
    return WEFT_OK;
}

bool weft_dtype_assignable(weft_dtype to, weft_dtype from)
{
    if (!is_dtype(to) || !is_dtype(from))
        return false;
    int t = facts[to].kind, f = facts[from].kind;
    bool integers = (t == WEFT_KIND_SIGNED || t == WEFT_KIND_UNSIGNED) &&
                    (f == WEFT_KIND_SIGNED || f == WEFT_KIND_UNSIGNED);
    return t == f || integers || (t == WEFT_KIND_COMPLEX && f == WEFT_KIND_FLOAT);
}

weft__rank weft__dtype_rank(weft_dtype dtype)
{
    if (dtype == WEFT_BOOL)
        return WEFT__RANK_BOOL;
    if (dtype <= WEFT_U64)
        return WEFT__RANK_INTEGER;
    return dtype <= WEFT_F64 ? WEFT__RANK_FLOAT : WEFT__RANK_COMPLEX;
}

void weft__dtype_typestr(weft_dtype dtype, char text[8])
{
    static const char kinds[] = {'b', 'i', 'u', 'f', 'c'};
    weft_dtype_kind kind = WEFT_KIND_BOOL;
    const int bytes = (int)weft_dtype_size(dtype);
    weft_dtype_kind_of(dtype, &kind);
    const char order = bytes == 1 ? '|' : __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
    (void)snprintf(text, 8, "%c%c%d", order, dtype == WEFT_BF16 ? 'V' : kinds[kind], bytes);
}
