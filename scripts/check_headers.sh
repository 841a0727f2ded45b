#!/usr/bin/env bash
# Each public header compiles alone, as C11 and as C++17, and tests/tour/*.c against headers alone;
# the generated one is what would be generated, and every name has a comment.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
flags="-fsyntax-only -Wall -Wextra -Wpedantic -Werror -Wconversion -Wshadow -Iinclude"
failures=0
checked=0

try() {
    checked=$((checked + 1))
    "$@" || {
        echo "failed: $*"
        failures=$((failures + 1))
    }
}

# alone HEADER COMPILER...: compiles a file that includes only this header. It has a declaration,
# which every file needs and not every header has.
alone() {
    local header=$1
    shift
    printf '#include <%s>\ntypedef int weft_alone;\n' "$header" | "$@" -
}

try scripts/operations.sh --check
for c in gcc clang cc; do
    if [ $c = cc ] && { command -v gcc || command -v clang; } >/dev/null; then continue; fi
    command -v $c >/dev/null || { echo "skipped: headers with $c: not installed" && continue; }
    for header in include/weft/*.h; do
        # shellcheck disable=SC2086
        try alone "${header#include/}" $c -std=c11 $flags -Wstrict-prototypes -x c
    done
    for program in tests/tour/*.c; do
        # shellcheck disable=SC2086
        [ -e "$program" ] && try $c -std=c11 $flags -Wstrict-prototypes "$program"
    done
done
for cxx in g++ clang++; do
    echo '#include <cstddef>' | $cxx -x c++ -E - >/dev/null 2>&1 ||
        { echo "skipped: headers with $cxx: not installed" && continue; }
    for header in include/weft/*.h; do
        # shellcheck disable=SC2086
        try alone "${header#include/}" $cxx -std=c++17 $flags -x c++
    done
    for program in tests/tour/*.cpp; do
        # shellcheck disable=SC2086
        [ -e "$program" ] && try $cxx -std=c++17 $flags "$program"
    done
done
try scripts/check_public.sh
[ $checked -gt 0 ] || { echo "no compiler or no header found" && exit 1; }
echo "$((checked - failures)) passed, $failures failed"
[ $failures -eq 0 ]
