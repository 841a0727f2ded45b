/* Between which integers a node is: of what loops count, by the condition that they go on under, of
 * elements, by what is known of their array. */
#include "lang/portable_rewriting.h"

enum { DEPTH_MAX = 24 };

typedef struct range {
    int64_t low, high;
} range;

static bool find(const weft__rewriting *r, int32_t node, int depth, range *found);

static const weft__syntax_node *node_at(const weft__rewriting *r, int32_t node)
{
    return &r->from->nodes[node];
}

static int32_t argument_of(const weft__rewriting *r, const weft__syntax_node *node, uint32_t k)
{
    return r->from->arguments[node->first + k];
}

static bool is_part(const weft__syntax_node *node, weft__loop_part part)
{
    return node->kind == WEFT__SYNTAX_LOOP && node->operation == (uint8_t)part;
}

static bool add(range a, range b, range *sum)
{
    return !__builtin_add_overflow(a.low, b.low, &sum->low) &&
           !__builtin_add_overflow(a.high, b.high, &sum->high);
}

static bool negate(range a, range *found)
{
    return !__builtin_sub_overflow((int64_t)0, a.high, &found->low) &&
           !__builtin_sub_overflow((int64_t)0, a.low, &found->high);
}

static bool multiply(range a, range b, range *found)
{
    const int64_t x[2] = {a.low, a.high}, y[2] = {b.low, b.high};
    *found = (range){INT64_MAX, INT64_MIN};
    for (int i = 0; i < 4; i++) {
        int64_t product;
        if (__builtin_mul_overflow(x[i & 1], y[i >> 1], &product))
            return false;
        found->low = product < found->low ? product : found->low;
        found->high = product > found->high ? product : found->high;
    }
    return true;
}

/* By a positive constant. */
static bool divide(range a, range b, bool rest, range *found)
{
    if (b.low != b.high || b.low <= 0)
        return false;
    *found = (range){a.low / b.low, a.high / b.low};
    if (rest)
        *found = (range){a.low < 0 ? 1 - b.low : 0, a.high > 0 ? b.low - 1 : 0};
    return true;
}

static range either(range a, range b)
{
    return (range){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

/* What is written here may be anything. */
static bool find_element(const weft__rewriting *r, const weft__syntax_node *access, range *found)
{
    if (!r->ranges || r->assigned[access->index])
        return false;
    *found = (range){r->ranges[access->index].low, r->ranges[access->index].high};
    return true;
}

static bool find_call(const weft__rewriting *r, const weft__syntax_node *call, int depth,
                      range *found)
{
    range a = {0, 0}, b = {0, 0};
    const uint32_t first =
        call->operation == WEFT__LANG_where || call->operation == WEFT__LANG_choose;
    if (call->count - first < 1 || call->count - first > 2 ||
        !find(r, argument_of(r, call, first), depth + 1, &a) ||
        (call->count - first == 2 && !find(r, argument_of(r, call, first + 1), depth + 1, &b)))
        return false;
    switch (call->operation) {
    case WEFT__LANG_positive:
        *found = a;
        return true;
    case WEFT__LANG_negative:
        return negate(a, found);
    case WEFT__LANG_add:
        return add(a, b, found);
    case WEFT__LANG_subtract:
        return negate(b, &b) && add(a, b, found);
    case WEFT__LANG_multiply:
        return multiply(a, b, found);
    case WEFT__LANG_divide:
    case WEFT__LANG_modulo:
        return divide(a, b, call->operation == WEFT__LANG_modulo, found);
    case WEFT__LANG_minimum:
        *found = (range){a.low < b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
        return true;
    case WEFT__LANG_maximum:
        *found = (range){a.low > b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
        return true;
    case WEFT__LANG_where:
    case WEFT__LANG_choose:
        *found = either(a, b);
        return true;
    default:
        return false;
    }
}

/* What does not fit into the type would be cut. */
static bool find_cast(const weft__rewriting *r, const weft__syntax_node *cast, int depth,
                      range *found)
{
    const bool wide = cast->dtype == WEFT_I64, narrow = cast->dtype == WEFT_I32;
    return (wide || narrow) && find(r, argument_of(r, cast, 0), depth + 1, found) &&
           (wide || (found->low >= INT32_MIN && found->high <= INT32_MAX));
}

/* What a carry becomes: casts and choices of the same aside. */
static const weft__syntax_node *next_of(const weft__rewriting *r, int32_t carry, int32_t node)
{
    const weft__syntax_node *n = node_at(r, node);
    while (n->kind == WEFT__SYNTAX_CAST ||
           (n->kind == WEFT__SYNTAX_CALL && n->operation == WEFT__LANG_where &&
            argument_of(r, n, 2) == carry))
        n = node_at(r, argument_of(r, n, n->kind == WEFT__SYNTAX_CALL));
    return n;
}

/* How much is added to what is carried. */
static bool step_of(const weft__rewriting *r, int32_t carry, const weft__syntax_node *n,
                    int64_t *step)
{
    if (n->kind != WEFT__SYNTAX_CALL || argument_of(r, n, 0) != carry || n->count != 2 ||
        (n->operation != WEFT__LANG_add && n->operation != WEFT__LANG_subtract))
        return false;
    const weft__syntax_node *by = node_at(r, argument_of(r, n, 1));
    if (by->kind != WEFT__SYNTAX_LITERAL || by->dtype != WEFT_I64 || by->value.integer > INT32_MAX)
        return false;
    *step = (int64_t)by->value.integer;
    if (by->negative != (n->operation == WEFT__LANG_subtract))
        *step = -*step;
    return *step != 0;
}

/* The bound that a condition has for what is carried, which may be one of several joined by &&. */
static bool bound_of(const weft__rewriting *r, int32_t carry, int32_t condition, bool up, int depth,
                     int64_t *bound)
{
    const weft__syntax_node *n = node_at(r, condition);
    range found;
    if (n->kind != WEFT__SYNTAX_CALL || n->count != 2 || depth > DEPTH_MAX)
        return false;
    const int32_t left = argument_of(r, n, 0), right = argument_of(r, n, 1);
    if (n->operation == WEFT__LANG_logical_and)
        return bound_of(r, carry, left, up, depth + 1, bound) ||
               bound_of(r, carry, right, up, depth + 1, bound);
    const bool less = n->operation == WEFT__LANG_less || n->operation == WEFT__LANG_less_equal;
    const bool more =
        n->operation == WEFT__LANG_greater || n->operation == WEFT__LANG_greater_equal;
    const bool open = n->operation == WEFT__LANG_less || n->operation == WEFT__LANG_greater;
    const bool first = left == carry;
    if ((!less && !more) || (!first && right != carry) || (less == first) != up ||
        !find(r, first ? right : left, depth + 1, &found) || found.high == INT64_MIN ||
        found.low == INT64_MAX)
        return false;
    *bound = up ? found.high - open : found.low + open;
    return true;
}

/* m = k(m), again and again: its first value, or an element, as what is counted is stored. */
static bool find_chased(const weft__rewriting *r, const weft__syntax_node *access, range *found)
{
    range elements;
    if (!find_element(r, access, &elements) || elements.low < INT32_MIN ||
        elements.high > INT32_MAX || found->low < INT32_MIN || found->high > INT32_MAX)
        return false;
    *found = either(*found, elements);
    return true;
}

/* Between its first value and the bound; it only goes towards that. */
static bool find_carry(const weft__rewriting *r, int32_t carry, int depth, range *found)
{
    int64_t step = 0, bound = 0;
    int32_t next = -1, test = -1;
    for (uint32_t i = (uint32_t)carry; i < r->from->nodes_count && next < 0; i++) {
        const weft__syntax_node *n = node_at(r, (int32_t)i);
        if (is_part(n, WEFT__LOOP_NEXT) && argument_of(r, n, 0) == carry)
            next = (int32_t)i;
    }
    if (next < 0 || !find(r, argument_of(r, node_at(r, carry), 0), depth + 1, found))
        return false;
    const weft__syntax_node *becomes = next_of(r, carry, argument_of(r, node_at(r, next), 1));
    if (becomes->kind == WEFT__SYNTAX_ACCESS)
        return find_chased(r, becomes, found);
    if (!step_of(r, carry, becomes, &step))
        return false;
    for (test = argument_of(r, node_at(r, next), 2); is_part(node_at(r, test), WEFT__LOOP_NEXT);)
        test = argument_of(r, node_at(r, test), 2);
    if (!is_part(node_at(r, test), WEFT__LOOP_TEST) ||
        !bound_of(r, carry, argument_of(r, node_at(r, test), 0), step > 0, depth + 1, &bound))
        return false;
    if (step > 0)
        found->high = bound > found->low ? bound : found->low;
    else
        found->low = bound < found->high ? bound : found->high;
    return true;
}

static bool find(const weft__rewriting *r, int32_t node, int depth, range *found)
{
    const weft__syntax_node *n = node_at(r, node);
    const weft__affine *form = &r->forms[node];
    if (depth > DEPTH_MAX)
        return false;
    if (form->valid)
        return weft__affine_range(form, &r->out->points, &found->low, &found->high);
    if (n->kind == WEFT__SYNTAX_CALL)
        return find_call(r, n, depth, found);
    if (n->kind == WEFT__SYNTAX_CAST)
        return find_cast(r, n, depth, found);
    if (n->kind == WEFT__SYNTAX_ACCESS)
        return find_element(r, n, found);
    return is_part(n, WEFT__LOOP_CARRY) && find_carry(r, node, depth, found);
}

bool weft__rewrite_range(const weft__rewriting *r, int32_t node, int64_t *low, int64_t *high)
{
    range found;
    if (!find(r, node, 0, &found))
        return false;
    *low = found.low;
    *high = found.high;
    return true;
}
