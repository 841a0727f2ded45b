/* First code: how long random expressions of up to 100 operations that were never seen take until
 * all their kernels are compiled. Not a row of run.py: prints a table of its own.
 *
 *     first_code [--seed NUMBER] [--count NUMBER] [--rounds NUMBER] [--only SUBSTRING] [--list]
 *
 * The time is that from the second call, which has kernels compiled, until the last of them has
 * code; that it is optimized later does not count. Operations are those that are written. The same
 * seed makes the same expressions, whichever kinds are chosen; --list prints them instead. Of
 * several rounds, before each of which all is forgotten, the best one counts: what else the host
 * does is not in it. */
#include "measure.h"
#include <limits.h>
#include <unistd.h>
#include <weft/weft.h>

enum { ROWS = 8, COLUMNS = 64, TEXT = 8192, OPERANDS = 4, COUNT_MOST = 1000 };
static const double ASKED = 0.010; /* seconds */

/* With a comma: of two arguments; with a colon: real numbers of complex ones. */
static const char *const float_functions[] = {
    "abs",   "sign",       "square",    "sqrt",       "rsqrt",      "cbrt",     "exp",
    "exp2",  "expm1",      "log",       "log2",       "log10",      "log1p",    "sin",
    "cos",   "tan",        "asin",      "acos",       "atan",       "sinh",     "cosh",
    "tanh",  "asinh",      "acosh",     "atanh",      "erf",        "tgamma",   "lgamma",
    "floor", "ceil",       "trunc",     "round",      "pow,",       "atan2,",   "hypot,",
    "fmod,", "remainder,", "copysign,", "nextafter,", "logaddexp,", "minimum,", "maximum,"};
static const char *const complex_functions[] = {
    "abs:",  "sign",  "square", "sqrt", "exp",  "exp2",  "expm1", "log",  "log2", "log10",
    "log1p", "sin",   "cos",    "tan",  "asin", "acos",  "atan",  "sinh", "cosh", "tanh",
    "asinh", "acosh", "atanh",  "pow,", "conj", "real:", "imag:", "arg:"};
static const char *const float_operators[] = {"+", "-", "*", "/"};
static const char *const integer_operators[] = {"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"};
static const char *const integer_literals[] = {"2", "3", "5", "7"};
static const char *const float_literals[] = {"2", "3", "0.5", "0.75", "1.25", "2.5"};
#define LENGTH(list) ((int)(sizeof(list) / sizeof *(list)))
static const char *const names[] = {"c", "a", "b", "d", "e"}; /* the result is first */

struct kind {
    weft_dtype dtype;
    int operations, percent; /* of them functions */
    enum form { MAP, SUM, SUM_0 } form;
    char name[64];
};

/* An expression that is being written. */
typedef struct expression {
    const struct kind *kind;
    uint64_t *state; /* of the random numbers */
    bool chain;      /* each operation has the one before as an argument */
    int operations_left, functions_left;
    int operands, leaves, last; /* how many there are to read, were read, and which one was */
    size_t length;
    char text[TEXT];
} expression;

/* What is known of a part of an expression: real parts may be in complex ones. */
typedef enum part { NUMBER, REAL, LITERAL } part;

static bool is_integer(weft_dtype dtype) { return dtype == WEFT_I32 || dtype == WEFT_I64; }

/* A number below `end`: splitmix64. */
static int draw(uint64_t *state, int end)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (int)((z ^ z >> 31) % (uint64_t)end);
}

#define DRAW(e, list) (list)[draw((e)->state, LENGTH(list))]

static void put(expression *e, const char *text)
{
    e->length += (size_t)snprintf(e->text + e->length, TEXT - e->length, "%s", text);
}

/* Every operand in turn, then any but the last one, or a literal where that makes no constant. */
static part write_leaf(expression *e, bool literal)
{
    const bool integer = is_integer(e->kind->dtype);
    const int k = e->leaves < e->operands
                      ? e->leaves
                      : (e->last + 1 + draw(e->state, e->operands - 1)) % e->operands;
    if (literal && e->leaves >= e->operands && draw(e->state, 3) == 0) {
        put(e, integer ? DRAW(e, integer_literals) : DRAW(e, float_literals));
        return LITERAL;
    }
    e->leaves++;
    e->last = k;
    put(e, names[1 + k]);
    return NUMBER;
}

static part write_part(expression *e, int count);

static part write_one(expression *e, int count)
{
    return count ? write_part(e, count) : write_leaf(e, false);
}

/* Both arguments of an operation, which share the other operations. */
static part write_both(expression *e, int count, const char *between)
{
    const int whole = e->chain ? draw(e->state, 2) * count : draw(e->state, count + 1);
    const part left = write_one(e, whole);
    put(e, between);
    const part right = count > whole ? write_part(e, count - whole) : write_leaf(e, true);
    return left == REAL && right != NUMBER ? REAL : NUMBER;
}

static part write_function(expression *e, int count)
{
    const bool of_complex = e->kind->dtype == WEFT_C64 || e->kind->dtype == WEFT_C128;
    const char *function = of_complex ? DRAW(e, complex_functions) : DRAW(e, float_functions);
    char name[16];
    snprintf(name, sizeof name, "%.*s(", (int)strcspn(function, ",:"), function);
    put(e, name);
    const part result = strchr(function, ',') ? write_both(e, count, ", ") : write_one(e, count);
    put(e, ")");
    return strchr(function, ':') ? REAL : result;
}

static part write_operator(expression *e, int count)
{
    const bool integer = is_integer(e->kind->dtype);
    char between[8];
    part result;
    put(e, "(");
    if (draw(e->state, 10) == 0) {
        put(e, integer && draw(e->state, 2) ? "~" : "-");
        result = write_one(e, count);
    } else {
        snprintf(between, sizeof between, " %s ",
                 integer ? DRAW(e, integer_operators) : DRAW(e, float_operators));
        result = write_both(e, count, between);
    }
    put(e, ")");
    return result;
}

/* So many operations, at least one; those that are left are functions as often as is asked. */
static part write_part(expression *e, int count)
{
    const bool function = draw(e->state, e->operations_left--) < e->functions_left;
    e->functions_left -= function;
    return function ? write_function(e, count - 1) : write_operator(e, count - 1);
}

/* The sum is one of the operations. Complex results must not be real, and two operands are read at
 * least: such texts are drawn again. */
static void write_expression(expression *e, const struct kind *kind, uint64_t *state)
{
    part result;
    do {
        const int count = kind->operations - (kind->form != MAP);
        *e = (expression){.kind = kind, .state = state, .operations_left = count};
        e->functions_left = (kind->operations * kind->percent + 50) / 100;
        if (e->functions_left > count)
            e->functions_left = count;
        e->chain = draw(state, 2);
        e->operands = 2 + draw(state, OPERANDS - 1);
        put(e, kind->form == MAP ? "c = " : "c = sum(");
        result = write_part(e, count);
        put(e, kind->form == MAP ? "" : kind->form == SUM ? ")" : ", axis=0)");
    } while (result == REAL || e->leaves < 2);
    if (e->leaves < e->operands)
        e->operands = e->leaves; /* those that are read */
}

static weft_statistics statistics(void)
{
    weft_statistics all = {0};
    weft_memory_stats(WEFT_CPU, &all);
    return all;
}

/* Until nothing is left to be compiled, or optimized. When the last kernel had its first code, with
 * which it is counted. */
static double wait_optimized(uint64_t compiled)
{
    weft_statistics all;
    double end = 0;
    do {
        usleep(20);
        all = statistics();
        if (all.compilations_llvm != compiled)
            end = now();
        compiled = all.compilations_llvm;
    } while (all.compilations_waiting);
    return end;
}

typedef struct outcome {
    double seconds;
    int kernels, missing; /* that have code, and that have none */
} outcome;

static void call(const expression *e, const weft_operand *operands)
{
    if (weft_evaluate(e->text, 1 + e->operands, names, operands) != WEFT_OK) {
        fprintf(stderr, "%s\n", weft_error_message());
        exit(1);
    }
}

/* Calls twice. Where already the first call hands a kernel over, the time is from there. */
static outcome measure_calls(const expression *e, const weft_operand *operands)
{
    const weft_statistics before = statistics();
    double begin = now();
    call(e, operands);
    if (!statistics().compilations_waiting)
        begin = now();
    call(e, operands);
    const double end = wait_optimized(before.compilations_llvm);
    const weft_statistics after = statistics();
    const int kernels = (int)(after.compilations_llvm - before.compilations_llvm);
    return (outcome){kernels ? end - begin : 0, kernels,
                     (int)(after.compilations - before.compilations) - kernels};
}

static outcome measure_expression(const expression *e)
{
    const weft_dtype dtype = e->kind->dtype;
    const enum form form = e->kind->form;
    const bool integer = is_integer(dtype);
    const weft_shape shape = WEFT_SHAPE(ROWS, COLUMNS);
    weft_array *arrays[1 + OPERANDS];
    weft_operand operands[1 + OPERANDS];
    for (int k = 1; k <= e->operands; k++)
        arrays[k] = integer ? weft_full(shape, k + 1, .dtype = dtype)
                            : weft_full(shape, 0.375 * k, .dtype = dtype);
    arrays[0] = weft_zeros(form == MAP   ? shape
                           : form == SUM ? WEFT_SCALAR
                                         : WEFT_SHAPE(COLUMNS),
                           .dtype = integer && form != MAP ? WEFT_I64 : dtype);
    for (int k = 0; k <= e->operands; k++)
        operands[k] = WEFT_OPERAND(arrays[k]);
    (void)wait_optimized(0); /* what fills */
    const outcome found = measure_calls(e, operands);
    for (int k = 0; k <= e->operands; k++)
        weft_array_release(arrays[k]);
    return found;
}

/* What is asked for, and what all kinds together had. */
static struct {
    uint64_t seed;
    int count, rounds;
    const char *only;
    bool list;
    int expressions, late, missing;
} run = {.seed = 1, .count = 8, .rounds = 1, .only = ""};

static outcome measure_best(const expression *e)
{
    outcome best = measure_expression(e);
    for (int round = 1; round < run.rounds; round++) {
        weft_device_reset(WEFT_CPU);
        const outcome found = measure_expression(e);
        if (found.seconds < best.seconds)
            best = found;
    }
    return best;
}

static void print_kind(const struct kind *kind, double *seconds, int least, int most)
{
    const int count = run.count;
    int late = 0;
    qsort(seconds, (size_t)count, sizeof *seconds, compare_times);
    for (int k = 0; k < count; k++)
        late += seconds[k] > ASKED;
    run.late += late;
    run.expressions += count;
    printf("%-34s %7.2f %7.2f %7.2f ms, %2d to %2d kernels, %d of %d late\n", kind->name,
           (seconds[(count - 1) / 2] + seconds[count / 2]) / 2 * 1e3,
           seconds[(9 * count + 9) / 10 - 1] * 1e3, seconds[count - 1] * 1e3, least, most, late,
           count);
    fflush(stdout);
}

/* Each kind has random numbers of its own. */
static void do_kind(weft_dtype dtype, int operations, int percent, enum form form)
{
    static const char *const forms[] = {"map", "sum", "sum axis 0"};
    struct kind kind = {dtype, operations, percent, form, ""};
    static expression e;
    double seconds[COUNT_MOST];
    int least = INT_MAX, most = 0;
    uint64_t state = run.seed;
    snprintf(kind.name, sizeof kind.name, "%s %d operations %d%% %s", weft_dtype_name(dtype),
             operations, percent, forms[form]);
    if (!strstr(kind.name, run.only))
        return;
    for (const char *at = kind.name; *at; at++)
        state = (state ^ (unsigned char)*at) * 0x100000001b3u;
    for (int k = 0; k < run.count; k++) {
        write_expression(&e, &kind, &state);
        if (run.list) {
            printf("%s: %s\n", kind.name, e.text);
            continue;
        }
        const outcome found = measure_best(&e);
        seconds[k] = found.seconds;
        least = found.kernels < least ? found.kernels : least;
        most = found.kernels > most ? found.kernels : most;
        run.missing += found.missing > 0 ? found.missing : 0;
    }
    if (!run.list)
        print_kind(&kind, seconds, least, most);
}

/* Integers have operators alone. */
static void do_dtype(weft_dtype dtype)
{
    static const int sizes[] = {10, 30, 100}, percents[] = {0, 10, 30, 100};
    const bool integer = is_integer(dtype);
    for (int p = 0; p < (integer ? 1 : 4); p++)
        for (int s = 0; s < 3; s++)
            do_kind(dtype, sizes[s], percents[p], MAP);
    for (enum form form = SUM; form <= SUM_0; form++) {
        do_kind(dtype, 30, integer ? 0 : 30, form);
        do_kind(dtype, 100, integer ? 0 : 10, form);
    }
}

/* Opens libLLVM, in both threads that compile. */
static bool open_llvm(void)
{
    static const struct kind first = {WEFT_F32, 30, 50, MAP, ""};
    static expression e;
    uint64_t state = 0;
    write_expression(&e, &first, &state);
    return measure_expression(&e).kernels > 0;
}

static bool read_arguments(int count, char **arguments)
{
    for (int k = 1; k < count; k++) {
        const char *name = arguments[k];
        if (strcmp(name, "--list") == 0)
            run.list = true;
        else if (++k == count)
            return false;
        else if (strcmp(name, "--seed") == 0)
            run.seed = strtoull(arguments[k], NULL, 10);
        else if (strcmp(name, "--count") == 0)
            run.count = atoi(arguments[k]);
        else if (strcmp(name, "--rounds") == 0)
            run.rounds = atoi(arguments[k]);
        else if (strcmp(name, "--only") == 0)
            run.only = arguments[k];
        else
            return false;
    }
    return run.count > 0 && run.count <= COUNT_MOST && run.rounds > 0;
}

int main(int count, char **arguments)
{
    static const weft_dtype dtypes[] = {WEFT_F32,  WEFT_F64, WEFT_C64,
                                        WEFT_C128, WEFT_I32, WEFT_I64};
    if (!read_arguments(count, arguments)) {
        fprintf(stderr,
                "first_code [--seed NUMBER] [--count 1..%d] [--rounds NUMBER] [--only SUBSTRING] "
                "[--list]\n",
                COUNT_MOST);
        return 2;
    }
    if (setenv("WEFT_CACHE", "off", 1) != 0 || (!run.list && !open_llvm())) {
        fprintf(stderr, "nothing is compiled: is there a libLLVM?\n");
        return 1;
    }
    if (!run.list)
        printf("all first code of %d expressions of each kind, seed %llu, best of %d: median, 90th "
               "percentile, largest\n",
               run.count, (unsigned long long)run.seed, run.rounds);
    for (int k = 0; k < LENGTH(dtypes); k++)
        do_dtype(dtypes[k]);
    if (!run.list)
        printf("%d of %d took more than 10 ms; %d kernels have no code\n", run.late,
               run.expressions, run.missing);
    return 0;
}
