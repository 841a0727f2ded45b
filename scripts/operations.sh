#!/usr/bin/env bash
# Writes include/weft/operations.h from the table in src/lang/operations.h; --check: says if it is old.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
header=include/weft/operations.h

# One line for each operation that works element by element: name, arguments, group, text.
# `choose` is left out: as a function it is `where`.
table() {
    sed -n '/define WEFT__LANG_OPERATION_LIST/,/^$/p' src/lang/operations.h | tr -d '\\\n' |
        grep -oE 'X\([a-z0-9_]+, [0-9], [0-9], [A-Z]+, [A-Z]+, [a-z]+, *"[^"]*"\)' |
        sed -E 's/X\(([a-z0-9_]+), [0-9], ([0-9]), [A-Z]+, [A-Z]+, ([a-z]+), *"([^"]*)"\)/\1\t\2\t\3\t\4/' |
        grep -vE '^choose\s|\s(reduction|stencil|position)\s'
}

functions() {
    table | awk -F'\t' '
        function title(group) {
            if (group == "operator") return "Operators."
            if (group == "choice") return "Choosing."
            if (group == "math") return "Mathematical functions."
            if (group == "rounding") return "Rounding."
            if (group == "test") return "Tests."
            if (group == "complex") return "Parts of complex numbers."
            if (group == "bits") return "Bits."
            return toupper(substr(group, 1, 1)) substr(group, 2) "."
        }
        $3 != group { group = $3; printf "\n/* %s */\n\n", title(group) }
        { printf "/* %s */\n#define weft_%s(...) WEFT__APPLY(%s, %d, __VA_ARGS__, )\n", $4, $1, $1, $2 }'
}

# At most 32 in a list, which is what WEFT__EACH can do.
declarations() {
    for count in 1 2 3; do
        table | awk -F'\t' -v count=$count '
            $2 == count { line = line ", " $1; if (++n % 32 == 0) flush() }
            function flush() { if (line) printf "WEFT__EACH(WEFT__APPLY_DECLARE_%d%s)\n", count, line; line = "" }
            END { flush() }'
    done
}

write() {
    cat <<'END'
/* Operations as functions: every operator and function of expressions that works on elements.
 * scripts/operations.sh writes this header from the table of operations. */
#ifndef WEFT_OPERATIONS_H
#define WEFT_OPERATIONS_H

#include <weft/array.h>
#include <weft/each.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What operations can be told. All of them give a new array, queued on the operands' stream, and do
 * not wait. Operands are arrays, which broadcast, or C
 * numbers; types are those of expressions: weft_add(a, 1) is weft_new(a + 1, a).
 *     weft_add(a, b)
 *     weft_exp(a, .out = b)    into an array that is there, or a handle: returns it, retained
 * An expression of several operations is one kernel in weft(...), and one for each of them here. */
typedef struct weft_operation_options {
    size_t struct_size;
    weft_array *out; /* where the result goes; default: a new array */
} WEFT__NAMED weft_operation_options;
END
    functions
    cat <<'END'

/* The functions under the macros, weft_add_with and so on: operands, then options; NULL options are
 * no options. */
#define WEFT__APPLY(name, count, ...) WEFT__APPLY_##count(weft_##name##_with, __VA_ARGS__)
#define WEFT__APPLY_1(name, x, ...) name(WEFT_OPERAND(x), WEFT__APPLY_OPTIONS(__VA_ARGS__))
#define WEFT__APPLY_2(name, x, ...) WEFT__APPLY_2_(name, x, __VA_ARGS__)
#define WEFT__APPLY_2_(name, x, y, ...)                                                            \
    name(WEFT_OPERAND(x), WEFT_OPERAND(y), WEFT__APPLY_OPTIONS(__VA_ARGS__))
#define WEFT__APPLY_3(name, x, ...) WEFT__APPLY_3_(name, x, __VA_ARGS__)
#define WEFT__APPLY_3_(name, x, y, ...) WEFT__APPLY_3__(name, x, y, __VA_ARGS__)
#define WEFT__APPLY_3__(name, x, y, z, ...)                                                        \
    name(WEFT_OPERAND(x), WEFT_OPERAND(y), WEFT_OPERAND(z), WEFT__APPLY_OPTIONS(__VA_ARGS__))
#define WEFT__APPLY_OPTIONS(...) WEFT__OPTIONS(weft_operation_options, __VA_ARGS__)

#define WEFT__APPLY_DECLARE_1(name)                                                                \
    WEFT_API weft_array *weft_##name##_with(weft_operand x, const weft_operation_options *options);
#define WEFT__APPLY_DECLARE_2(name)                                                                \
    WEFT_API weft_array *weft_##name##_with(weft_operand x, weft_operand y,                        \
                                            const weft_operation_options *options);
#define WEFT__APPLY_DECLARE_3(name)                                                                \
    WEFT_API weft_array *weft_##name##_with(weft_operand x, weft_operand y, weft_operand z,        \
                                            const weft_operation_options *options);
END
    declarations
    cat <<'END'

#ifdef __cplusplus
}
#endif
#endif
END
}

# As clang-format breaks lines, so they are not compared.
bare() { tr -d ' \n\t\\*'; }

if [ "${1:-}" = --check ]; then
    [ "$(write | bare)" = "$(bare <$header)" ] && exit 0
    echo "$header is older than src/lang/operations.h; run scripts/operations.sh"
    exit 1
fi
write >$header
command -v clang-format >/dev/null && clang-format -i $header
exit 0
