#!/usr/bin/env bash
# Tests scripts/headers.awk and scripts/check_site.sh: what lacks a comment, and links that lead nowhere, are found.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0
failed=0

# expect WHAT EXPECTED FOUND
expect() {
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '%s\nexpected:\n%s\nfound:\n%s\n' "$1" "$2" "$3"
    fi
}

# missing TEXT: the names in a header with that text that have no comment.
missing() {
    printf '/* For a test. */\n%s\n' "$1" >"$folder/a.h"
    awk -v mode=missing -f scripts/headers.awk "$folder/a.h" | sed 's/.*: //'
}

expect "a function" "function weft_a" "$(missing 'WEFT_API int weft_a(void);')"
expect "a function with a comment" "" "$(missing $'/* It is a. */\nWEFT_API int weft_a(void);')"
expect "a function over two lines" "function weft_a" "$(missing $'WEFT_API int weft_a(int x,\n                    int y);')"
expect "a comment is for all that follow" "" "$(missing $'/* Both. */\nWEFT_API int weft_a(void);\nWEFT_API int weft_b(void);')"
expect "… up to a blank line" "function weft_b" "$(missing $'/* It. */\nWEFT_API int weft_a(void);\n\nWEFT_API int weft_b(void);')"
expect "… or one that has its own" "function weft_c" \
    "$(missing $'/* It. */\nWEFT_API int weft_a(void);\nWEFT_API int weft_b(void); /* b */\nWEFT_API int weft_c(void);')"
expect "a macro" "macro WEFT_A" "$(missing '#define WEFT_A(x) x')"
expect "a macro of ours" "" "$(missing '#define WEFT__A(x) x')"
expect "a type and its fields" $'type weft_a\nfield weft_a.x\nfield weft_a.z' \
    "$(missing $'typedef struct weft_a {\n    int x;\n    int y; /* y */\n    int z;\n} weft_a;')"
expect "several fields at once" "field weft_a.x" "$(missing $'/* A. */\ntypedef struct weft_a {\n    int x, y;\n} weft_a;')"
expect "a field that is a function" "field weft_a.go" \
    "$(missing $'/* A. */\ntypedef struct weft_a {\n    void (*go)(int x);\n} weft_a;')"
expect "a constant" "constant weft_a.WEFT_B" "$(missing $'/* A. */\ntypedef enum weft_a {\n    WEFT_A, /* a */\n    WEFT_B\n} weft_a;')"
expect "an enum without a name" "constant WEFT_A" "$(missing 'enum { WEFT_A = 8 };')"
expect "a function in the header" "function weft_a" "$(missing $'static inline int weft_a(void)\n{\n    return 1;\n}')"
expect "what is for C++" "" "$(missing $'#ifdef __cplusplus\nstruct b {\n    int x;\n};\n#endif')"

site() { scripts/check_site.sh "$folder/site" | tail -n 1; }
mkdir "$folder/site"
echo '<a href="b.html#here">b</a> <a href="https://example.org/">out</a>' >"$folder/site/a.html"
echo '<p id="here"><a href="a.html">a</a></p>' >"$folder/site/b.html"
expect "links that lead somewhere" "2 links in the site, 0 broken" "$(site)"
echo '<a href="b.html#there">b</a> <img src="c.svg"/>' >"$folder/site/a.html"
expect "links that lead nowhere" "3 links in the site, 2 broken" "$(site)"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
