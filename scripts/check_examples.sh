#!/usr/bin/env bash
# check_examples.sh BUILD_FOLDER: compiles and runs the examples of README.md and docs/*.md.
#
# An example is a C block with a line `/* example: name */`. Without a main it is the inside of one.
# A block marked `output` that follows it is what the example must print. Every C block is an example. One that ends with
# status 77 lacks a device.
set -u
build=$(cd "${1:?the build folder}" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
folder=$build/examples-of-documents
rm -rf "$folder"
mkdir -p "$folder" "$build/cache-pocl"
export WEFT_CACHE_DIR=$build/cache POCL_CACHE_DIR=$build/cache-pocl # not the user's own

# Writes name.c, name.expected (when given) and a line "name<tab>file:line" for each example.
awk -v folder="$folder" '
function finish_example(    path) {
    if (name == "") return
    path = folder "/" name ".c"
    if (seen[name]++) { print name "\t" place "\ttwice"; return }
    if (code !~ /int main\(/) {
        code = "#include <weft/weft.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" \
               "int main(void)\n{\n" code "return 0;\n}\n"
    }
    printf "%s", code >path
    close(path)
    print name "\t" place
}
FNR == 1 { inside = 0; last = "" }
!inside && /^```c$/ { inside = 1; code = ""; name = ""; place = FILENAME ":" FNR; next }
!inside && /^```output$/ && last != "" { inside = 2; next }
!inside && /^```/ { inside = 3; last = ""; next }
inside && /^```/ {
    if (inside == 1 && name == "") print "none\t" place "\tunnamed"
    if (inside == 1) { finish_example(); last = name }
    if (inside == 2) last = ""
    inside = 0
    next
}
inside == 1 {
    code = code $0 "\n"
    if (match($0, /\/\* example: [a-z0-9_]+ \*\//)) name = substr($0, RSTART + 12, RLENGTH - 15)
}
inside == 2 { print >(folder "/" last ".expected") }
' README.md docs/*.md >"$folder/list"

passed=0
failed=0
fail() {
    echo "$1: $2"
    failed=$((failed + 1))
}
while IFS=$'\t' read -r name place twice; do
    program=$folder/$name
    [ "$twice" != unnamed ] || { fail "$place" "the C block has no line /* example: name */, so nobody runs it" && continue; }
    [ -z "$twice" ] || { fail "$place" "there are two examples named $name" && continue; }
    ${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude "$program.c" -o "$program" \
        -L"$build" -Wl,-rpath,"$build" -lweft -lm >"$program.log" 2>&1 ||
        { fail "$place" "example $name does not compile:" && cat "$program.log" && continue; }
    "$program" >"$program.out" 2>"$program.err"
    status=$?
    [ $status -ne 77 ] || { echo "skipped $name: $(head -n 1 "$program.out")" && continue; }
    [ $status -eq 0 ] || { fail "$place" "example $name ends with status $status:" && cat "$program.err" && continue; }
    if [ -e "$program.expected" ] && ! diff -u "$program.expected" "$program.out"; then
        fail "$place" "example $name prints something else"
        continue
    fi
    passed=$((passed + 1))
done <"$folder/list"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
