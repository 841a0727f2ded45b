/* Prints the table of operations as docs/operations.md has it, or compares the two:
 * weft_operations [FILE]. */
#include "lang/operations.h"
#include <stdio.h>
#include <string.h>

static const struct {
    const char *title, *what;
} groups[] = {
    [WEFT__GROUP_operator] = {"Operators", "written"},
    [WEFT__GROUP_choice] = {"Choosing", "function"},
    [WEFT__GROUP_math] = {"Mathematics", "function"},
    [WEFT__GROUP_rounding] = {"Rounding", "function"},
    [WEFT__GROUP_test] = {"Tests", "function"},
    [WEFT__GROUP_complex] = {"Complex numbers", "function"},
    [WEFT__GROUP_bits] = {"Bits", "function"},
    [WEFT__GROUP_reduction] = {"Reductions", "function"},
    [WEFT__GROUP_stencil] = {"Neighbours", "function"},
    [WEFT__GROUP_position] = {"Positions", "function"},
};
enum { GROUPS = sizeof groups / sizeof groups[0] };

static void print_kinds(FILE *file, int kinds)
{
    static const char *const names[] = {"bool", "integers", "floats", "complex"};
    const char *between = "";
    if (kinds == WEFT__KINDS_ANY) {
        fputs("all", file);
        return;
    }
    for (int k = 0; k < 4; k++)
        if (kinds >> k & 1) {
            fprintf(file, "%s%s", between, names[k]);
            between = ", ";
        }
}

/* Texts go into the cells of a table. */
static void print_text(FILE *file, const char *text)
{
    for (; *text; text++)
        fprintf(file, *text == '|' || *text == '*' ? "\\%c" : "%c", *text);
}

static void print_operation(FILE *file, const weft__lang_facts *facts)
{
    static const char *const results[] = {
        [WEFT__RESULT_SAME] = "the same", [WEFT__RESULT_REAL] = "the same, real",
        [WEFT__RESULT_BOOLEAN] = "bool",  [WEFT__RESULT_WIDE] = "the same; integers of 64 bits",
        [WEFT__RESULT_POSITION] = "i64",  [WEFT__RESULT_SELECT] = "that of the choices"};
    if (facts->group == WEFT__GROUP_operator)
        fprintf(file, "| %s | ", facts->name);
    else
        fprintf(file, "| `%s` | ", facts->name);
    print_kinds(file, facts->kinds);
    fprintf(file, " | %s | ", results[facts->result]);
    print_text(file, facts->text);
    fputs(" |\n", file);
}

static void print_table(FILE *file)
{
    fputs("# Operations\n\n"
          "Every operator and function of [expressions](expressions.md), from the table that the "
          "parser uses.\n"
          "*of*: the kinds of dtypes it takes, after its arguments were brought to a common one; "
          "*gives*: the\n"
          "dtype of the result.\n",
          file);
    for (int group = 0; group < GROUPS; group++) {
        fprintf(file, "\n## %s\n\n| name | of | gives | |\n|---|---|---|---|\n",
                groups[group].title);
        for (int k = 0; k < WEFT__LANG_OPERATION_END; k++)
            if (weft__lang_operations[k].group == group)
                print_operation(file, &weft__lang_operations[k]);
    }
}

static int compare(const char *path)
{
    FILE *made = tmpfile(), *kept = fopen(path, "r");
    int a = 0, b = 0, line = 1;
    if (!made || !kept) {
        fprintf(stderr, "%s cannot be read\n", path);
        return 1;
    }
    print_table(made);
    rewind(made);
    while (a == b && a != EOF) {
        a = getc(made);
        b = getc(kept);
        line += a == '\n';
    }
    fclose(made);
    fclose(kept);
    if (a != b)
        fprintf(stderr,
                "%s:%d is not what the table of operations says; write it anew with "
                "weft_operations > %s\n",
                path, line, path);
    return a != b;
}

int main(int count, char **arguments)
{
    if (count > 1)
        return compare(arguments[1]);
    print_table(stdout);
    return 0;
}
