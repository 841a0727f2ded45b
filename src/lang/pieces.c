/* Cutting very large programs into pieces: an order in which few values are needed at a time, and
 * cuts where they are fewest. */
#include "lang/pieces.h"
#include "core/allocate.h"
#include "core/status.h"
#include "lang/cost.h"
#include <string.h>

typedef struct cutting {
    const weft__lang_program *program;
    const uint8_t *wanted;
    weft__pieces *out;
    uint32_t *need;   /* of each node: how many values there are at a time while it is computed */
    uint32_t *last;   /* of each node: the position in the order of its last use */
    uint32_t *ending; /* of each position: how many values have their last use there */
    uint32_t *read;   /* of each node: 1 + the piece that has last read it */
    int32_t *stack;
    uint8_t *visited; /* of each node: 1 + how many of its arguments have been */
} cutting;

/* What a piece has so far. */
typedef struct piece_size {
    uint32_t operations, primitives, reads;
} piece_size;

static bool is_leaf(const weft__lang_node *node)
{
    return node->kind == WEFT__NODE_LITERAL || node->kind == WEFT__NODE_OPERAND ||
           node->kind == WEFT__NODE_INDEX;
}

bool weft__piece_repeats(const weft__lang_program *program, int32_t node)
{
    const weft__lang_node *n = &program->nodes[node];
    bool converts = n->kind == WEFT__NODE_CAST || n->kind == WEFT__NODE_BROADCAST;
    return is_leaf(n) || (converts && is_leaf(&program->nodes[n->argument[0]]));
}

static void count_read(const cutting *c, int32_t node, uint32_t piece, piece_size *size)
{
    const weft__lang_node *n = &c->program->nodes[node];
    if (n->kind == WEFT__NODE_CAST || n->kind == WEFT__NODE_BROADCAST)
        node = n->argument[0]; /* of a node that is repeated */
    n = &c->program->nodes[node];
    bool array = n->kind == WEFT__NODE_OPERAND ? !n->weak : !is_leaf(n);
    size->reads += array && c->read[node] != piece + 1;
    c->read[node] = piece + 1;
}

/* Adds a node, whose piece begins at the position `first` of the order. */
static void count_node(const cutting *c, int32_t node, uint32_t piece, uint32_t first,
                       piece_size *size)
{
    const weft__lang_node *n = &c->program->nodes[node];
    for (int k = 0; k < 3; k++) {
        int32_t a = n->argument[k];
        if (a >= 0 && (weft__piece_repeats(c->program, a) || c->out->piece[a] < (int32_t)first))
            count_read(c, a, piece, size);
    }
    if (weft__piece_repeats(c->program, node))
        return;
    size->operations += n->dtype == WEFT_C64 || n->dtype == WEFT_C128 ? 2 : 1;
    size->primitives += weft__node_cost(c->program, node);
}

static bool is_over(const piece_size *size, uint32_t part)
{
    return size->operations > WEFT__PIECE_OPERATIONS / part ||
           size->primitives > WEFT__PIECE_PRIMITIVES / part ||
           size->reads > WEFT__PIECE_READS / part;
}

/* The nodes in the order of the program; true if they are a single piece. */
static bool is_small(cutting *c)
{
    weft__pieces *out = c->out;
    piece_size size = {0, 0, 0};
    out->nodes_count = 0;
    for (uint32_t i = 0; i < c->program->nodes_count; i++) {
        if (!c->wanted[i])
            continue;
        out->piece[i] = (int32_t)out->nodes_count;
        out->order[out->nodes_count++] = (int32_t)i;
        if (!is_over(&size, 1))
            count_node(c, (int32_t)i, 0, 0, &size);
    }
    return !is_over(&size, 1);
}

/* The argument that needs most is computed first: while the k-th is, k others are kept. */
static uint32_t need_of(const cutting *c, const weft__lang_node *n)
{
    uint32_t most = 1;
    for (int a = 0; a < 3; a++) {
        uint32_t need = n->argument[a] < 0 ? 0 : c->need[n->argument[a]];
        for (int b = 0; need > 0 && b < 3; b++) {
            uint32_t other = b == a || n->argument[b] < 0 ? 0 : c->need[n->argument[b]];
            need += other > c->need[n->argument[a]] || (other == c->need[n->argument[a]] && b < a);
        }
        most = need > most ? need : most;
    }
    return most;
}

static void find_needs(const cutting *c)
{
    for (uint32_t i = 0; i < c->program->nodes_count; i++)
        if (!weft__piece_repeats(c->program, (int32_t)i))
            c->need[i] = need_of(c, &c->program->nodes[i]);
}

/* The k-th of the arguments in the order of what they need, most first; -1 if there is none. */
static int32_t argument_by_need(const cutting *c, const weft__lang_node *n, int k)
{
    for (int a = 0; a < 3; a++) {
        int before = 0;
        if (n->argument[a] < 0)
            continue;
        uint32_t need = c->need[n->argument[a]];
        for (int b = 0; b < 3; b++)
            if (b != a && n->argument[b] >= 0)
                before +=
                    c->need[n->argument[b]] > need || (c->need[n->argument[b]] == need && b < a);
        if (before == k)
            return n->argument[a];
    }
    return -1;
}

/* Puts the node and all that it depends on into the order. */
static void visit(cutting *c, int32_t root)
{
    weft__pieces *out = c->out;
    uint32_t depth = 0;
    if (c->visited[root])
        return;
    c->stack[depth++] = root;
    c->visited[root] = 1;
    while (depth > 0) {
        int32_t node = c->stack[depth - 1];
        if (c->visited[node] <= 3) {
            int32_t a = argument_by_need(c, &c->program->nodes[node], c->visited[node]++ - 1);
            if (a >= 0 && !c->visited[a]) {
                c->stack[depth++] = a;
                c->visited[a] = 1;
            }
            continue;
        }
        out->piece[node] = (int32_t)out->nodes_count;
        out->order[out->nodes_count++] = node;
        depth--;
    }
}

static void put_in_order(cutting *c)
{
    const weft__lang_program *p = c->program;
    find_needs(c);
    c->out->nodes_count = 0;
    for (uint32_t i = 0; i < p->assignments_count; i++)
        if (p->assignments[i].last)
            visit(c, p->assignments[i].node);
    if (p->value >= 0)
        visit(c, p->value);
}

/* While pieces are cut, `piece` has the positions of the nodes. */
static void find_last_uses(const cutting *c)
{
    const weft__pieces *out = c->out;
    for (uint32_t i = 0; i < out->nodes_count; i++) {
        const weft__lang_node *n = &c->program->nodes[out->order[i]];
        c->last[out->order[i]] = i;
        for (int k = 0; k < 3; k++)
            if (n->argument[k] >= 0)
                c->last[n->argument[k]] = i;
    }
    for (uint32_t i = 0; i < out->nodes_count; i++)
        if (!weft__piece_repeats(c->program, out->order[i]))
            c->ending[c->last[out->order[i]]]++;
}

/* The position after the piece that begins at `first`. *live values of earlier pieces are needed
 * there; then it is how many are needed after it. */
static uint32_t cut_after(const cutting *c, uint32_t piece, uint32_t first, int64_t *live)
{
    const weft__pieces *out = c->out;
    piece_size size = {0, 0, 0};
    uint32_t best = first;
    int64_t now = *live, fewest = INT64_MAX;
    for (uint32_t i = first; i < out->nodes_count; i++) {
        count_node(c, out->order[i], piece, first, &size);
        if (is_over(&size, 1) && i > first)
            return best;
        now += !weft__piece_repeats(c->program, out->order[i]) - (int64_t)c->ending[i];
        if (now > fewest)
            continue;
        best = i + 1;
        *live = now;
        if (is_over(&size, 2)) /* the first half is too early for a cut */
            fewest = now;
    }
    return out->nodes_count;
}

static void cut(cutting *c)
{
    weft__pieces *out = c->out;
    int64_t live = 0;
    uint32_t at = 0;
    find_last_uses(c);
    while (at < out->nodes_count) {
        out->first[out->count] = at;
        at = cut_after(c, out->count++, at, &live);
    }
}

static void finish(weft__pieces *out)
{
    out->first[out->count] = out->nodes_count;
    for (uint32_t p = 0; p < out->count; p++)
        for (uint32_t i = out->first[p]; i < out->first[p + 1]; i++)
            out->piece[out->order[i]] = (int32_t)p;
}

weft_status weft__pieces_make(const weft__lang_program *program, const uint8_t *wanted,
                              weft__pieces *out)
{
    size_t nodes = program->nodes_count;
    cutting c = {.program = program, .wanted = wanted, .out = out};
    memset(out, 0, sizeof *out);
    out->order = weft__allocate_zeroed((3 * nodes + 2) * sizeof(int32_t));
    char *scratch = weft__allocate_zeroed(nodes * (5 * sizeof(uint32_t) + 1) + 1);
    if (!out->order || !scratch) {
        weft__free(scratch);
        return WEFT_ERROR_MEMORY;
    }
    out->piece = out->order + nodes;
    out->first = (uint32_t *)(out->piece + nodes);
    c.need = (uint32_t *)(void *)scratch;
    c.last = c.need + nodes;
    c.ending = c.last + nodes;
    c.read = c.ending + nodes;
    c.stack = (int32_t *)(c.read + nodes);
    c.visited = (uint8_t *)(c.stack + nodes);
    if (is_small(&c)) {
        out->count = 1;
    } else {
        memset(c.read, 0, nodes * sizeof *c.read);
        put_in_order(&c);
        cut(&c);
    }
    finish(out);
    weft__free(scratch);
    return WEFT_OK;
}

void weft__pieces_free(weft__pieces *pieces)
{
    weft__free(pieces->order);
    pieces->order = NULL;
}
