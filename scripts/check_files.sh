#!/usr/bin/env bash
# Files stay small, say in their first line what they are for, and have no long lines or stray blanks.
set -u
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}" || exit 1
find include src tests tools examples bench -name '*.[ch]' -o -name '*.inc' -o -name '*.cpp' 2>/dev/null |
    sort | LC_ALL=C xargs awk '
function complain(text) { printf "%s:%d: %s\n", name, FNR, text; wrong++ }
function finish() {
    limit = name ~ /^include\// ? 300 : 800
    if (name != "" && last > limit) {
        printf "%s: has %d lines, %d are allowed\n", name, last, limit
        wrong++
    }
}
FNR == 1 {
    finish()
    name = FILENAME
    files++
    if ($0 !~ /^\/[*\/] [A-Z"_a-z0-9]/) complain("the first line is not a comment that says what the file is for")
}
length($0) > 100 {
    text = $0
    gsub(/[\200-\277]/, "", text) # the bytes after the first of a character
    if (length(text) > 100) complain("the line has " length(text) " characters, 100 are allowed")
}
/[ \t]$/ { complain("blanks at the end of the line") }
/\t/ { complain("a tab") }
{ last = FNR }
END {
    finish()
    printf "%d source files, %d complaints\n", files, wrong
    exit wrong > 0
}'
