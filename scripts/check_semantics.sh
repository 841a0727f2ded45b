#!/usr/bin/env bash
# Every corner of docs/semantics.md is named by a test, and tests name no corner that is not there.
#
# A corner is "Section / what is bold", or "Section / first cell of a row of a table" (of casts:
# "from to to"); a section that has neither is one itself. A test names it in a comment,
# "semantics: Section / corner", several with "; " between, or in a string.
set -u
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}" || exit 1
document=docs/semantics.md

corners=$(awk '
function put(what) {
    gsub(/[`*]/, "", what); gsub(/ +/, " ", what); sub(/^ /, "", what); sub(/[ .:]+$/, "", what)
    if (what != "") { print section " / " what; found = 1 }
}
function end() { if (section != "" && !found) print section }
/^## / { end(); section = substr($0, 4); found = 0; table = 0; next }
section == "" { next }
/^\|/ {
    split($0, cell, "|")
    if (++table == 1) from_to = cell[2] ~ /from/ && cell[3] ~ /to/
    if (table > 2 && from_to) put(cell[2] "to" cell[3])
    else if (table > 2) put(cell[2])
    next
}
{
    table = 0
    for (rest = $0; match(rest, /\*\*[^*]+\*\*/); rest = substr(rest, RSTART + RLENGTH))
        put(substr(rest, RSTART, RLENGTH))
}
END { end() }' "$document" | sort -u)

# The tests, a line for each, without what comments have at the beginning of their lines.
texts=$(for file in tests/*/*.[ch] tests/*/*.py; do
    tr '\n' ' ' <"$file" | sed 's/  *\* / /g; s/  */ /g'
    echo
done)

named=$({
    grep -oE 'semantics: [^*]*' <<<"$texts" | sed 's/^semantics: //; s/: .*//' | tr ';' '\n'
    grep -oE '"[A-Z][A-Za-z0-9 ,]* / [^"]*"' <<<"$texts" | tr -d '"'
} | sed 's/^ *//; s/[ .]*$//' | sort -u)

failures=0
while IFS= read -r corner; do
    grep -qxF -e "$corner" <<<"$named" && continue
    echo "$document: no test names the corner \"$corner\""
    failures=$((failures + 1))
done <<<"$corners"
while IFS= read -r name; do
    grep -qxF -e "$name" <<<"$corners" && continue
    echo "tests: \"$name\" is no corner of $document"
    failures=$((failures + 1))
done <<<"$named"
exit $((failures > 0))
