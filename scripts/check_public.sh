#!/usr/bin/env bash
# check_public.sh [BUILD_FOLDER]: every function, macro, type, field and constant of the public headers has a comment;
# every environment variable is in docs/environment.md, and what a backend must do in docs/backend.md;
# and, in a folder with built tests, every function that the library exports is declared there and used by a test.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
wrong=0
complain() {
    echo "$1"
    wrong=$((wrong + 1))
}

while read -r line; do
    complain "$line has no comment that says what it is"
done < <(for header in include/weft/*.h; do awk -v mode=missing -f scripts/headers.awk "$header" || echo "$header: was not read, so it"; done)

for variable in $(grep -rhoE '"WEFT_[A-Z_]+"' src tools | tr -d '"' | sort -u); do
    # what a header defines is a macro or a constant
    grep -rqE "^(#define |  *)$variable\\b" include/weft || grep -q "\`$variable\`" docs/environment.md ||
        complain "$variable is not in docs/environment.md"
done

for member in $(sed -n '/^typedef struct weft__backend {/,/^} weft__backend;/p' src/backend/backend.h | grep -oE '\(\*[a-z_]+\)' | tr -d '(*)'); do
    grep -q "\`$member\`" docs/backend.md || complain "$member of a backend is not in docs/backend.md"
done

functions=0
if [ -n "${1-}" ]; then
    library=$(find "$1" -maxdepth 1 -name 'libweft.so' | head -n 1)
    [ -n "$library" ] || complain "$1 has no libweft.so"
    used=$(find "$1/tests" -name '*.o' -path '*test_*' -exec nm --undefined-only {} + | awk 'NF == 2 { print $2 }' | sort -u)
    for name in $(nm --dynamic --defined-only "$library" | awk '{ print $3 }' | grep '^weft' | sort -u); do
        functions=$((functions + 1))
        [[ $name != weft__* ]] || complain "$name is exported, and is nobody's business"
        grep -qw -- "$name" include/weft/*.h || grep -qw -- "${name%_with}" include/weft/operations.h ||
            complain "$name is exported, and no public header declares it"
        grep -qxF -- "$name" <<<"$used" || grep -rqw --include='*.py' -- "$name" tests ||
            complain "$name is used by no test"
    done
fi
echo "$(cat include/weft/*.h | grep -c '^WEFT_API') declarations, $functions exported functions, $wrong complaints"
[ $wrong -eq 0 ]
