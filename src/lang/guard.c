/* Elements that a loop reads under a condition, as in if (i > 0) y(i) = x(i - 1): whether what the
 * condition says is enough for them to be inside. What a kernel computes elsewhere is not used. */
#include "core/allocate.h"
#include "lang/portable_rewriting.h"
#include <string.h>

enum { ROOT = 0, UNSEEN = -1, ATOMS_MAX = 4, KNOWN_MAX = 16, DEPTH_MAX = 24 };

/* A condition that is true, or false, wherever a value is used; and those around it. */
typedef struct condition_link {
    int32_t condition, parent, depth;
    bool holds;
} condition_link;

/* An affine form plus multiples of values that are not: elements, quotients. */
typedef struct linear {
    weft__affine form;
    int32_t atom[ATOMS_MAX];
    int64_t factor[ATOMS_MAX];
    int atoms;
} linear;

typedef struct guarding {
    weft__rewriting *r;
    condition_link *links;
    int32_t links_count;
    int32_t *chain; /* of each node: its link */
    bool *local;    /* of each node: a condition that was written for a statement of the loop */
    bool *stated;   /* of each node: what a statement has, read where that is, used or not */
    linear known[KNOWN_MAX]; /* not negative, where the element is used */
    int known_count;
} guarding;

static const weft__syntax_node *node_at(const guarding *g, int32_t node)
{
    return &g->r->from->nodes[node];
}

static int32_t argument_of(const guarding *g, const weft__syntax_node *node, uint32_t k)
{
    return g->r->from->arguments[node->first + k];
}

/* Whether both always have the same value. */
static bool is_same(const guarding *g, int32_t a, int32_t b, int depth)
{
    const weft__syntax_node *x = node_at(g, a), *y = node_at(g, b);
    if (a == b)
        return true;
    if (depth > DEPTH_MAX || x->kind != y->kind || x->count != y->count ||
        x->operation != y->operation || x->dtype != y->dtype || x->index != y->index ||
        x->negative != y->negative || x->kind == WEFT__SYNTAX_LOOP)
        return false;
    if (x->kind == WEFT__SYNTAX_LITERAL && x->value.integer != y->value.integer)
        return false;
    if (x->kind == WEFT__SYNTAX_ACCESS && g->r->assigned[x->index])
        return false;
    for (uint32_t k = 0; k < x->count; k++)
        if (!is_same(g, argument_of(g, x, k), argument_of(g, y, k), depth + 1))
            return false;
    return true;
}

/* sum + by*other. */
static bool add_scaled(const guarding *g, linear *sum, const linear *other, int64_t by)
{
    weft__affine *form = &sum->form;
    for (int k = -1; k < WEFT_NDIM_MAX; k++) {
        int64_t term, *to = k < 0 ? &form->constant : &form->factor[k];
        if (__builtin_mul_overflow(k < 0 ? other->form.constant : other->form.factor[k], by,
                                   &term) ||
            __builtin_add_overflow(*to, term, to))
            return false;
    }
    for (int i = 0; i < other->atoms; i++) {
        int at = 0;
        int64_t term;
        while (at < sum->atoms && !is_same(g, sum->atom[at], other->atom[i], 0))
            at++;
        if (at == ATOMS_MAX || __builtin_mul_overflow(other->factor[i], by, &term))
            return false;
        if (at == sum->atoms) {
            sum->atom[sum->atoms++] = other->atom[i];
            sum->factor[at] = 0;
        }
        if (__builtin_add_overflow(sum->factor[at], term, &sum->factor[at]))
            return false;
    }
    return true;
}

static bool is_constant(const linear *form)
{
    bool constant = form->atoms == 0;
    for (int k = 0; k < WEFT_NDIM_MAX; k++)
        constant &= form->form.factor[k] == 0;
    return constant;
}

static bool find_linear(const guarding *g, int32_t node, int depth, linear *found);

static linear atom_of(int32_t node)
{
    return (linear){.form = {.valid = true}, .atom = {node}, .factor = {1}, .atoms = 1};
}

/* Sums and products that do not leave 64 bits. */
static bool find_call(const guarding *g, int32_t node, int depth, linear *found)
{
    const weft__syntax_node *n = node_at(g, node);
    const linear zero = {.form = {.valid = true}};
    linear a = zero, b = zero;
    int64_t low, high;
    switch (n->operation) {
    case WEFT__LANG_positive:
    case WEFT__LANG_negative:
    case WEFT__LANG_add:
    case WEFT__LANG_subtract:
    case WEFT__LANG_multiply:
        break;
    default:
        *found = atom_of(node);
        return true;
    }
    if (!find_linear(g, argument_of(g, n, 0), depth + 1, &a) ||
        (n->count == 2 && !find_linear(g, argument_of(g, n, 1), depth + 1, &b)) ||
        !weft__rewrite_range(g->r, node, &low, &high))
        return false;
    *found = zero;
    if (n->operation == WEFT__LANG_multiply)
        return is_constant(&b)   ? add_scaled(g, found, &a, b.form.constant)
               : is_constant(&a) ? add_scaled(g, found, &b, a.form.constant)
                                 : false;
    return add_scaled(g, found, &a, n->operation == WEFT__LANG_negative ? -1 : 1) &&
           add_scaled(g, found, &b, n->operation == WEFT__LANG_subtract ? -1 : 1);
}

static bool find_linear(const guarding *g, int32_t node, int depth, linear *found)
{
    const weft__syntax_node *n = node_at(g, node);
    int64_t low, high;
    *found = (linear){.form = g->r->forms[node]};
    if (found->form.valid || depth > DEPTH_MAX)
        return found->form.valid;
    *found = atom_of(node);
    switch (n->kind) {
    case WEFT__SYNTAX_CALL:
        return find_call(g, node, depth, found);
    case WEFT__SYNTAX_CAST:
        if (n->dtype == WEFT_I64 ||
            (n->dtype == WEFT_I32 && weft__rewrite_range(g->r, argument_of(g, n, 0), &low, &high) &&
             low >= INT32_MIN && high <= INT32_MAX))
            return find_linear(g, argument_of(g, n, 0), depth + 1, found);
        return true;
    case WEFT__SYNTAX_ACCESS:
        return !g->r->assigned[n->index] && g->r->types[n->index].dtype < WEFT_U64;
    default:
        return n->kind == WEFT__SYNTAX_LOOP;
    }
}

/* left - right - less. */
static bool find_difference(const guarding *g, int32_t left, int32_t right, int64_t less,
                            linear *found)
{
    linear b;
    return find_linear(g, left, 0, found) && find_linear(g, right, 0, &b) &&
           add_scaled(g, found, &b, -1) &&
           !__builtin_sub_overflow(found->form.constant, less, &found->form.constant);
}

/* Notes that the difference is not negative. */
static void add_known(guarding *g, int32_t left, int32_t right, int64_t less)
{
    linear found;
    if (g->known_count < KNOWN_MAX && find_difference(g, left, right, less, &found))
        g->known[g->known_count++] = found;
}

/* Whether it is never negative, by the ranges of what it is made of. */
static bool is_natural(const guarding *g, const linear *form)
{
    int64_t low, high, least, most, term;
    if (!weft__affine_range(&form->form, &g->r->out->points, &low, &high))
        return false;
    for (int i = 0; i < form->atoms; i++) {
        if (form->factor[i] == 0)
            continue;
        if (!weft__rewrite_range(g->r, form->atom[i], &least, &most) ||
            __builtin_mul_overflow(form->factor[i] > 0 ? least : most, form->factor[i], &term) ||
            __builtin_add_overflow(low, term, &low))
            return false;
    }
    return low >= 0;
}

/* What differs from an end of its range is further inside. */
static void add_different(guarding *g, int32_t left, int32_t right)
{
    linear found;
    if (find_difference(g, left, right, 0, &found) && is_natural(g, &found))
        add_known(g, left, right, 1);
    if (find_difference(g, right, left, 0, &found) && is_natural(g, &found))
        add_known(g, right, left, 1);
}

/* That left is below right, or with `strict` false at most right; or, if that does not hold, that
 * right is at most left, or below it. */
static void add_order(guarding *g, int32_t left, int32_t right, bool strict, bool holds)
{
    if (holds)
        add_known(g, right, left, strict);
    else
        add_known(g, left, right, !strict);
}

static void add_comparison(guarding *g, const weft__syntax_node *n, bool holds)
{
    const int32_t left = argument_of(g, n, 0), right = argument_of(g, n, 1);
    switch (n->operation) {
    case WEFT__LANG_less:
    case WEFT__LANG_less_equal:
        add_order(g, left, right, n->operation == WEFT__LANG_less, holds);
        return;
    case WEFT__LANG_greater:
    case WEFT__LANG_greater_equal:
        add_order(g, right, left, n->operation == WEFT__LANG_greater, holds);
        return;
    case WEFT__LANG_equal:
    case WEFT__LANG_not_equal:
        if (holds == (n->operation == WEFT__LANG_equal)) {
            add_known(g, left, right, 0);
            add_known(g, right, left, 0);
        } else
            add_different(g, left, right);
        return;
    default:
        return;
    }
}

/* What follows from a condition. */
static void add_condition(guarding *g, int32_t condition, bool holds, int depth)
{
    const weft__syntax_node *n = node_at(g, condition);
    if (n->kind != WEFT__SYNTAX_CALL || n->count < 1 || n->count > 2 || depth > DEPTH_MAX)
        return;
    const bool both = n->operation == WEFT__LANG_logical_and && holds;
    const bool neither = n->operation == WEFT__LANG_logical_or && !holds;
    if (n->operation == WEFT__LANG_logical_not)
        add_condition(g, argument_of(g, n, 0), !holds, depth + 1);
    else if (both || neither)
        for (uint32_t k = 0; k < 2; k++)
            add_condition(g, argument_of(g, n, k), holds, depth + 1);
    else if (n->count == 2)
        add_comparison(g, n, holds);
}

/* Whether it is never negative, with what is known here: one such thing, or two. */
static bool is_known_natural(const guarding *g, const linear *form)
{
    if (is_natural(g, form))
        return true;
    for (int i = 0; i < g->known_count; i++) {
        linear less = *form;
        if (!add_scaled(g, &less, &g->known[i], -1))
            continue;
        if (is_natural(g, &less))
            return true;
        for (int k = i; k < g->known_count; k++) {
            linear both = less;
            if (add_scaled(g, &both, &g->known[k], -1) && is_natural(g, &both))
                return true;
        }
    }
    return false;
}

/* The program is for these numbers only. */
static void rely_on(guarding *g, int32_t node, int depth)
{
    const weft__syntax_node *n = node_at(g, node);
    if (n->kind == WEFT__SYNTAX_OPERAND)
        g->r->out->relied[n->index] = true;
    for (uint32_t k = 0; n->kind != WEFT__SYNTAX_LITERAL && n->kind != WEFT__SYNTAX_OPERAND &&
                         n->kind != WEFT__SYNTAX_INDEX && k < n->count && depth < DEPTH_MAX;
         k++)
        rely_on(g, argument_of(g, n, k), depth + 1);
}

static void collect(guarding *g, int32_t chain)
{
    g->known_count = 0;
    for (int32_t at = chain; at > ROOT; at = g->links[at].parent) {
        rely_on(g, g->links[at].condition, 0);
        add_condition(g, g->links[at].condition, g->links[at].holds, 0);
    }
}

static bool is_inside(const guarding *g, int32_t subscript, int64_t size)
{
    linear low, high = {.form = {.valid = true, .constant = size - 1}};
    return find_linear(g, subscript, 0, &low) && add_scaled(g, &high, &low, -1) &&
           is_known_natural(g, &low) && is_known_natural(g, &high);
}

/* Whether the element needs its condition to be inside, and has enough of one. */
static bool is_guarded(guarding *g, int32_t access)
{
    const weft__syntax_node *n = node_at(g, access);
    const weft__lang_operand *type = &g->r->types[n->index];
    int64_t low, high, count = 1;
    bool outside = false, known = true;
    if (type->tag == WEFT_OPERAND_NUMBER || g->r->empty || g->chain[access] <= ROOT ||
        ((int)n->count != type->shape.ndim && n->count != 1))
        return false;
    for (int k = 0; k < type->shape.ndim; k++)
        count *= type->shape.size[k];
    for (uint32_t k = 0; k < n->count && known; k++) {
        int64_t size = (int)n->count == type->shape.ndim ? type->shape.size[k] : count;
        int32_t at = argument_of(g, n, k);
        if (weft__rewrite_range(g->r, at, &low, &high) && low >= 0 && high < size)
            continue;
        if (!outside)
            collect(g, g->chain[access]);
        outside = true;
        known = is_inside(g, at, size);
    }
    return outside && known && count > 0;
}

/* The link for one more condition. */
static int32_t add_link(guarding *g, int32_t parent, int32_t condition, bool holds)
{
    for (int32_t i = 1; i < g->links_count; i++)
        if (g->links[i].parent == parent && g->links[i].condition == condition &&
            g->links[i].holds == holds)
            return i;
    g->links[g->links_count] =
        (condition_link){condition, parent, g->links[parent].depth + 1, holds};
    return g->links_count++;
}

/* The conditions that both have. */
static int32_t common(const guarding *g, int32_t a, int32_t b)
{
    while (a != b)
        if (g->links[a].depth >= g->links[b].depth)
            a = g->links[a].parent;
        else
            b = g->links[b].parent;
    return a;
}

/* The conditions under which a node needs an argument of its: more than its own for the ways of a
 * choice, and behind && and ||. A where() of the user's has both of its values everywhere. */
static int32_t link_of(guarding *g, int32_t node, uint32_t k)
{
    const weft__syntax_node *n = node_at(g, node);
    if (n->kind != WEFT__SYNTAX_CALL || k == 0)
        return g->chain[node];
    const int32_t condition = argument_of(g, n, 0);
    switch (n->operation) {
    case WEFT__LANG_where:
        if (!g->local[condition])
            return g->chain[node];
        return add_link(g, g->chain[node], condition, k == 1);
    case WEFT__LANG_choose:
    case WEFT__LANG_logical_and:
        return add_link(g, g->chain[node], condition, k == 1);
    case WEFT__LANG_logical_or:
        return add_link(g, g->chain[node], condition, false);
    default:
        return g->chain[node];
    }
}

static void find_chains(guarding *g)
{
    const weft__lang_syntax *s = g->r->from;
    for (uint32_t i = 0; i < s->nodes_count; i++)
        g->chain[i] = UNSEEN;
    for (uint32_t i = 0; i < s->statements_count; i++) {
        const weft__syntax_statement *at = &s->statements[i];
        if (g->chain[at->node] != UNSEEN)
            continue; /* a local that another one is set to */
        g->chain[at->node] = at->under ? add_link(g, ROOT, at->under - 1, true) : ROOT;
        g->stated[at->node] = true;
    }
    for (int32_t i = (int32_t)s->nodes_count; i-- > 0;) {
        const weft__syntax_node *n = &s->nodes[i];
        if (!(g->r->needed[i] & WEFT__NEEDED_AS_VALUE) || n->kind == WEFT__SYNTAX_LITERAL ||
            n->kind == WEFT__SYNTAX_OPERAND || n->kind == WEFT__SYNTAX_INDEX)
            continue;
        if (n->kind == WEFT__SYNTAX_LOOP || g->chain[i] == UNSEEN)
            g->chain[i] = ROOT;
        for (uint32_t k = 0; k < n->count; k++) {
            const int32_t argument = argument_of(g, n, k), edge = link_of(g, i, k);
            int32_t *to = &g->chain[argument];
            if (!g->stated[argument])
                *to = *to == UNSEEN ? edge : common(g, *to, edge);
        }
    }
}

/* Conditions that the loop's statements were written under have names of their own. */
static void find_locals(guarding *g)
{
    const weft__lang_syntax *s = g->r->from;
    for (uint32_t i = 0; i < s->statements_count; i++) {
        const char *text = s->code.text + s->statements[i].column;
        if (s->statements[i].target < 0 &&
            (!strncmp(text, "weft_g", 6) || !strncmp(text, "weft_k", 6)))
            g->local[s->statements[i].node] = true;
    }
}

weft_status weft__rewrite_guards(weft__rewriting *r)
{
    const size_t nodes = r->from->nodes_count + (size_t)1;
    const size_t links = r->from->arguments_count + (size_t)r->from->statements_count + 1;
    guarding g = {.r = r, .links_count = 1};
    char *memory = weft__allocate_zeroed(links * sizeof *g.links +
                                         nodes * (sizeof *g.chain + 2 * sizeof *g.local));
    if (!memory)
        return WEFT_ERROR_MEMORY;
    g.links = (condition_link *)(void *)memory;
    g.chain = (int32_t *)(void *)(g.links + links);
    g.local = (bool *)(g.chain + nodes);
    g.stated = g.local + nodes;
    find_locals(&g);
    find_chains(&g);
    for (uint32_t i = 0; i < r->from->nodes_count; i++)
        if (r->from->nodes[i].kind == WEFT__SYNTAX_ACCESS && r->needed[i] & WEFT__NEEDED_AS_VALUE)
            r->guarded[i] = is_guarded(&g, (int32_t)i);
    weft__free(memory);
    return WEFT_OK;
}
