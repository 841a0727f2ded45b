/* Random functions of loops: as text, and walked as a tree in plain C, element by element. */
#include "function/open.h"
#include "kernel/engine.h"
#include "support/arrays.h"
#include "support/check.h"
#include "support/random.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

enum { SIZE = 9, ARRAYS = 3, NODES = 64, STATEMENTS = 4, TEXT = 4096 };

/* An element: array, and for each of two subscripts constant + factor*i + factor*j, or k of that.
 */
typedef struct element {
    int array, constant[2], factor[2][2];
    bool through[2];
} element;

enum { LITERAL, ELEMENT, COUNTER, ADD, SUBTRACT, MULTIPLY, PRIVATE, FOLDED };
typedef struct node {
    int kind, literal, left, right, counter;
    element element;
} node;

/* What is done: x(…) = expression, perhaps under a condition, or to a variable first. */
typedef struct statement {
    element target;
    int value, condition; /* nodes; -1: none */
    bool compound, set_private, folds;
    bool skips; /* if (…) continue; */
} statement;

typedef struct program {
    node nodes[NODES];
    int nodes_count;
    statement statements[STATEMENTS];
    int statements_count, depth;
    int low[2], high[2], step[2]; /* of the loops */
    bool triangular, has_private, has_fold;
    bool rows; /* t = …; s = 0; for j { s = max(s, …); perhaps t = …; } x(…) = s + … */
    bool carries, returns;
    int jump; /* 1: the inner loop is left under a condition, 2: a round of it */
    char text[TEXT];
    size_t length;
} program;

static int below(int n) { return (int)random_below(n); }

/* Subscripts that stay inside: one counter with a small displacement, or rarely something else. */
static element new_element(const program *p)
{
    element e = {.array = below(ARRAYS)};
    for (int s = 0; s < 2; s++) {
        int counter = p->depth == 2 ? (below(4) ? s : 1 - s) : 0;
        bool fixed = below(6) == 0 || (p->depth == 1 && s == 1 && below(2));
        e.constant[s] = fixed ? below(SIZE) : below(5) == 0 ? 2 : below(3) ? 0 : below(3) - 1;
        if (!fixed)
            e.factor[s][counter] = below(12) == 0 ? 2 : 1;
        e.through[s] = below(8) == 0;
    }
    return e;
}

static int new_node(program *p, int depth, bool use_private)
{
    int at = p->nodes_count++;
    node n = {.kind = depth > 2 || p->nodes_count > NODES - 8 ? below(3) : below(6),
              .literal = below(9),
              .counter = below(p->depth)};
    if (use_private && below(3) == 0)
        n.kind = PRIVATE;
    if (n.kind == ELEMENT)
        n.element = new_element(p);
    p->nodes[at] = n;
    if (n.kind >= ADD && n.kind <= MULTIPLY) {
        int left = new_node(p, depth + 1, use_private);
        int right = new_node(p, depth + 1, use_private);
        p->nodes[at].left = left;
        p->nodes[at].right = right;
    }
    return at;
}

/* Outside of the inner loop there is no j. */
static void make_rows(program *p)
{
    statement *s = p->statements;
    p->statements_count = 4;
    p->carries = below(3) == 0;
    p->returns = below(6) == 0;
    p->depth = 1;
    s[0].value = new_node(p, 1, false);
    s[3].value = new_node(p, 1, true);
    s[3].target = new_element(p);
    p->depth = 2;
    p->jump = below(6);
    s[0].condition = new_node(p, 2, below(2));
    s[1].value = new_node(p, 0, below(2));
    s[1].condition = below(4) == 0 && !p->triangular ? new_node(p, 2, false) : -1;
    s[2].value = new_node(p, 1, below(2));
    int at = p->nodes_count, sum = at + 1;
    p->nodes_count += 2;
    p->nodes[at] = (node){.kind = FOLDED};
    p->nodes[sum] = (node){.kind = ADD, .left = at, .right = s[3].value};
    s[3].value = sum;
}

static void make(program *p)
{
    memset(p, 0, sizeof *p);
    p->depth = 1 + below(2);
    for (int k = 0; k < 2; k++) {
        p->low[k] = 1 + below(2);
        p->high[k] = SIZE - 2 - below(3);
        p->step[k] = below(6) == 0 ? 2 : below(4) == 0 ? -1 : 1;
    }
    p->triangular = p->depth == 2 && below(3) == 0;
    if (p->triangular)
        p->step[1] = 1;
    p->rows = p->depth == 2 && below(3) == 0;
    if (p->rows) {
        make_rows(p);
        return;
    }
    p->statements_count = 1 + below(3);
    for (int i = 0; i < p->statements_count; i++) {
        statement *s = &p->statements[i];
        bool first = i == 0 && p->statements_count > 1 && below(3) == 0;
        s->set_private = first;
        s->folds = !first && !p->has_fold && below(5) == 0;
        p->has_fold |= s->folds;
        s->value = new_node(p, 0, p->has_private);
        s->condition = !first && below(4) == 0 ? new_node(p, 2, p->has_private) : -1;
        p->has_private |= first;
        s->target = new_element(p);
        s->compound = below(3) == 0;
        s->skips = s->condition >= 0 && below(3) == 0;
        if (s->skips)
            s->folds = false;
    }
}

/* As text. */
__attribute__((format(printf, 2, 3))) static void put(program *p, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(p->text + p->length, TEXT - p->length, format, arguments);
    va_end(arguments);
    p->length += (size_t)length;
    if (p->length >= TEXT)
        p->length = TEXT - 1;
}

static void put_element(program *p, const element *e)
{
    put(p, "%c(", "xyz"[e->array]);
    for (int s = 0; s < 2; s++) {
        put(p, "%s%s%d", s ? ", " : "", e->through[s] ? "k(" : "", e->constant[s]);
        for (int k = 0; k < 2; k++)
            if (e->factor[s][k])
                put(p, " + %d*%c", e->factor[s][k], "ij"[k]);
        put(p, e->through[s] ? ")" : "");
    }
    put(p, ")");
}

static void put_node(program *p, int at)
{
    const node *n = &p->nodes[at];
    if (n->kind == LITERAL)
        put(p, "%d.0f", n->literal);
    else if (n->kind == COUNTER)
        put(p, "f32(%c)", "ij"[n->counter]);
    else if (n->kind == PRIVATE || n->kind == FOLDED)
        put(p, n->kind == PRIVATE ? "t" : "s");
    else if (n->kind == ELEMENT)
        put_element(p, &n->element);
    else {
        put(p, "(");
        put_node(p, n->left);
        put(p, " %c ", "+-*"[n->kind - ADD]);
        put_node(p, n->right);
        put(p, ")*0.25f");
    }
}

static void put_rows(program *p, const char *inner)
{
    const statement *s = p->statements;
    put(p, "{ t = ");
    put_node(p, s[0].value);
    put(p, "; s = 0.0f; %s{ ", inner);
    if (s[1].condition >= 0) {
        put(p, "if (");
        put_node(p, s[1].condition);
        put(p, " > 1.0f) ");
    }
    put(p, s[1].condition >= 0 ? "s += " : "s = max(s, ");
    put_node(p, s[1].value);
    put(p, s[1].condition >= 0 ? "*0.0f; " : "); ");
    if (p->jump == 1 || p->jump == 2) {
        put(p, "if (");
        put_node(p, s[0].condition);
        put(p, " > 1.5f) %s; ", p->jump == 1 ? "break" : "continue");
    }
    if (p->carries) {
        put(p, "t = ");
        put_node(p, s[2].value);
        put(p, "; ");
    }
    put(p, "} ");
    put_element(p, &s[3].target);
    put(p, " = ");
    put_node(p, s[3].value);
    put(p, "; } return %s; }", p->returns ? "t" : "0.0f");
}

static void put_program(program *p)
{
    char inner[80] = "";
    put(p, "{ float s = 0.0f; float t = 0.0f; ");
    for (int k = 0; k < p->depth; k++) {
        char c = "ij"[k];
        size_t before = p->length;
        if (p->step[k] > 0 && k == 1 && p->triangular)
            put(p, "for (int %c = i; %c < %d; %c += 1) ", c, c, p->high[k], c);
        else if (p->step[k] > 0)
            put(p, "for (int %c = %d; %c < %d; %c += %d) ", c, p->low[k], c, p->high[k], c,
                p->step[k]);
        else
            put(p, "for (int %c = %d; %c > %d; %c--) ", c, p->high[k], c, p->low[k], c);
        if (k == 1) { /* written where it belongs */
            snprintf(inner, sizeof inner, "%s", p->text + before);
            p->length = before;
            p->text[before] = 0;
        }
    }
    if (p->rows) {
        put_rows(p, inner);
        return;
    }
    put(p, "%s{ ", inner);
    for (int i = 0; i < p->statements_count; i++) {
        const statement *s = &p->statements[i];
        if (s->condition >= 0) {
            put(p, "if (");
            put_node(p, s->condition);
            put(p, " > 1.0f) ");
        }
        if (s->skips) {
            put(p, "continue; ");
            continue;
        }
        if (s->set_private)
            put(p, "t = ");
        else if (s->folds)
            put(p, "s = max(s, ");
        else {
            put_element(p, &s->target);
            put(p, s->compound ? " += " : " = ");
        }
        put_node(p, s->value);
        put(p, "%s; ", s->folds && !s->set_private ? ")" : "");
    }
    put(p, "} return s; }");
}

/* In C. */
typedef struct state {
    float arrays[ARRAYS][SIZE][SIZE], t, s;
    int32_t positions[SIZE];
    int count[2];
    bool outside, left;
} state;

static float *find(state *s, const element *e)
{
    int at[2];
    for (int k = 0; k < 2; k++) {
        at[k] = e->constant[k] + e->factor[k][0] * s->count[0] + e->factor[k][1] * s->count[1];
        s->outside |= at[k] < 0 || at[k] >= SIZE;
        if (e->through[k] && !s->outside) {
            at[k] = s->positions[at[k]];
            s->outside |= at[k] < 0 || at[k] >= SIZE;
        }
    }
    return s->outside ? &s->arrays[0][0][0] : &s->arrays[e->array][at[0]][at[1]];
}

static float value(const program *p, state *s, int at)
{
    const node *n = &p->nodes[at];
    if (n->kind == LITERAL)
        return (float)n->literal;
    if (n->kind == COUNTER)
        return (float)s->count[n->counter];
    if (n->kind == PRIVATE || n->kind == FOLDED)
        return n->kind == PRIVATE ? s->t : s->s;
    if (n->kind == ELEMENT)
        return *find(s, &n->element);
    float a = value(p, s, n->left), b = value(p, s, n->right);
    return (n->kind == ADD ? a + b : n->kind == SUBTRACT ? a - b : a * b) * 0.25f;
}

static void run_body(const program *p, state *s)
{
    for (int i = 0; i < p->statements_count && !s->outside; i++) {
        const statement *st = &p->statements[i];
        if (st->condition >= 0 && !(value(p, s, st->condition) > 1.0f))
            continue;
        if (st->skips)
            return;
        if (st->set_private) {
            s->t = value(p, s, st->value);
            continue;
        }
        if (st->folds) {
            float v = value(p, s, st->value);
            s->s = s->s > v ? s->s : v;
            continue;
        }
        float old = st->compound ? *find(s, &st->target) : 0, v = value(p, s, st->value);
        float *to = find(s, &st->target);
        if (!s->outside)
            *to = st->compound ? old + v : v;
    }
}

static void run_inner(const program *p, state *s)
{
    const statement *st = p->statements;
    bool chosen = st[1].condition < 0 || value(p, s, st[1].condition) > 1.0f;
    float v = chosen ? value(p, s, st[1].value) : 0;
    if (st[1].condition < 0)
        s->s = s->s > v ? s->s : v;
    else
        s->s += v * 0.0f;
    if (p->jump == 1 || p->jump == 2) {
        bool jumps = value(p, s, st[0].condition) > 1.5f;
        s->left = jumps && p->jump == 1;
        if (jumps)
            return;
    }
    if (p->carries)
        s->t = value(p, s, st[2].value);
}

static void run_loops(const program *p, state *s, int loop);

static void run_row(const program *p, state *s)
{
    s->t = value(p, s, p->statements[0].value);
    s->s = 0;
    run_loops(p, s, 1);
    s->left = false;
    float v = value(p, s, p->statements[3].value);
    float *to = find(s, &p->statements[3].target);
    if (!s->outside)
        *to = v;
}

static void run_loops(const program *p, state *s, int loop)
{
    if (loop == p->depth) {
        if (p->rows)
            run_inner(p, s);
        else
            run_body(p, s);
        return;
    }
    s->left = false;
    int low = loop == 1 && p->triangular ? s->count[0] : p->low[loop];
    if (p->step[loop] > 0)
        for (int i = low; i < p->high[loop] && !s->outside && !s->left; i += p->step[loop]) {
            s->count[loop] = i;
            if (p->rows && loop == 0)
                run_row(p, s);
            else
                run_loops(p, s, loop + 1);
        }
    else
        for (int i = p->high[loop]; i > low && !s->outside && !s->left; i--) {
            s->count[loop] = i;
            if (p->rows && loop == 0)
                run_row(p, s);
            else
                run_loops(p, s, loop + 1);
        }
}

static void fill(state *s, int strange)
{
    memset(s, 0, sizeof *s);
    for (int i = 0; i < SIZE; i++)
        s->positions[i] = strange == i ? SIZE : strange == SIZE + i ? -1 : i * 4 % SIZE;
    for (int a = 0; a < ARRAYS; a++)
        for (int i = 0; i < SIZE * SIZE; i++)
            s->arrays[a][i / SIZE][i % SIZE] = (float)((i * 7 + a * 3) % 13) / 4;
}

/* An array as a view: dense, turned, or of every second element. */
typedef struct lying {
    int64_t strides[2]; /* in elements */
    float memory[2 * SIZE * SIZE];
} lying;

static void move(lying *l, float (*array)[SIZE], bool back)
{
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            float *there = &l->memory[i * l->strides[0] + j * l->strides[1]];
            *(back ? &array[i][j] : there) = *(back ? there : &array[i][j]);
        }
}

static weft_array *lay(lying *l, float (*array)[SIZE])
{
    static const int64_t all[][2] = {{SIZE, 1}, {1, SIZE}, {2 * SIZE, 2}};
    const int64_t *chosen = all[below(3)];
    const int64_t strides[] = {4 * chosen[0], 4 * chosen[1]};
    *l = (lying){.strides = {chosen[0], chosen[1]}};
    move(l, array, false);
    return weft_borrow(l->memory, sizeof l->memory, WEFT_SHAPE(SIZE, SIZE), WEFT_F32,
                       .strides = strides);
}

static weft_status run_text(program *p, state *s, bool *parallel)
{
    weft_function f = {.struct_size = sizeof f,
                       .name = "random",
                       .parameters = "(x, y, z, k)",
                       .body = p->text,
                       .place = "here",
                       .options = {.offload = WEFT_OFFLOAD_ALWAYS}};
    lying views[ARRAYS];
    WEFT_AUTO weft_array *x = lay(&views[0], s->arrays[0]);
    WEFT_AUTO weft_array *y = lay(&views[1], s->arrays[1]);
    WEFT_AUTO weft_array *z = lay(&views[2], s->arrays[2]);
    WEFT_AUTO weft_array *k =
        weft_borrow(s->positions, sizeof s->positions, WEFT_SHAPE(SIZE), WEFT_I32);
    weft__function *opened;
    if (!x || !y || !z || !k)
        return weft_error_code();
    WEFT_ON(device());
    weft_status status = weft_call(f, &s->s, x, y, z, k);
    weft_error saved = *weft_error_last();
    for (int a = 0; a < ARRAYS; a++)
        move(&views[a], s->arrays[a], true);
    if (weft__function_find(&f, &opened) == WEFT_OK)
        *parallel = opened->totals[WEFT__DID_LOOP] > 0;
    if (status != WEFT_OK)
        weft_error_set(saved.code, saved.message);
    return status;
}

/* semantics: Functions / Loops */
TEST(F3_random)
{
    weft__engine engine = WEFT__ENGINE_AUTO;
    CHECK_STATUS(weft__engine_get(&engine), WEFT_OK);
    const int all = engine == WEFT__ENGINE_LLVM ? 300 : 5000; /* compiling takes its time */
    int many = test_faults() ? 20 : test_quick() ? 60 : all, parallel = 0, ran = 0;
    const char *seed = getenv("WEFT_TEST_SEED"); /* to try others */
    random_state = seed ? strtoull(seed, NULL, 10) + 1 : 7;
    for (int i = 0; i < many; i++) {
        program p;
        state expected, actual;
        bool kernel = false;
        make(&p);
        put_program(&p);
        int strange = below(6 * SIZE); /* rarely a position that is out of range */
        fill(&expected, strange);
        fill(&actual, strange);
        run_loops(&p, &expected, 0);
        if (p.rows)
            expected.s = p.returns ? expected.t : 0;
        weft_status status = run_text(&p, &actual, &kernel);
        if (expected.outside) {
            if (status == WEFT_OK)
                fprintf(stderr, "%s\nleaves an array, and was not refused\n", p.text);
            CHECK(status != WEFT_OK);
            continue;
        }
        ran++;
        parallel += kernel;
        bool same = status == WEFT_OK && expected.s == actual.s &&
                    !memcmp(expected.arrays, actual.arrays, sizeof expected.arrays);
        if (!same && !test_faults())
            fprintf(stderr, "%s\n%s%s\n", p.text, kernel ? "parallel " : "serial ",
                    status == WEFT_OK ? "differs from C" : weft_error_message());
        CHECK(same);
    }
    if (!test_faults())
        printf("%d functions, %d of them ran, %d with loops as kernels\n", many, ran, parallel);
    CHECK(test_faults() || 10 * parallel > ran);
}

TEST_MAIN(TEST_OF(F3_random));
