#!/usr/bin/env bash
# No layer includes what lies above it.
#
# In src/ an include is written from src/ on ("core/status.h"); public headers are <weft/...>.
# One row for each folder (or file), the longest match counts: what its files may include.
# Layers from the bottom: trace, backend, core, codegen, kernel, ops, file, lang, function.
rules='
src/trace               trace/ core/status.h
src/backend             backend/*.h core/ trace/trace.h
src/backend/backends.c  backend/
src/core                core/ backend/backend.h trace/trace.h
src/codegen             codegen/ core/ backend/*.h kernel/ir.h
src/kernel              kernel/ codegen/ core/ backend/*.h trace/trace.h
src/ops                 ops/ kernel/ codegen/ core/ backend/*.h trace/trace.h
src/file                file/ ops/ core/
src/lang                lang/ ops/ kernel/ codegen/ core/ backend/*.h trace/trace.h
src/function            function/ lang/ ops/ kernel/ codegen/ core/ backend/*.h trace/trace.h
include/weft            -
tools                   -
examples                -
bench                   -
'
# A folder of a backend (src/backend/NAME) may also include its own headers, backend/NAME/; only
# backends.c, the list of them, knows every one.
# "x/" allows everything below the folder x, "x/*.h" only its own headers, "-" nothing but <...>.
# tools/, examples/ and bench/ may include files of their own folder.

set -u
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}" || exit 1
folders=""
for folder in src include tools examples bench; do
    [ -d "$folder" ] && folders="$folders $folder"
done
# shellcheck disable=SC2086
grep -rnE '^[[:space:]]*#[[:space:]]*include' --include='*.[ch]' --include='*.inc' $folders |
    awk -v rules="$rules" '
function folder_of(file) { sub(/\/[^\/]*$/, "", file); return file }
function allowed(file, target,    folder, own, list, count, parts, i, pattern) {
    folder = folder_of(file)
    if (folder ~ /^src\/backend\/./) {
        own = substr(folder, 5)
        if (index(target, own "/") == 1) return 1
    }
    if (folder ~ /^(tools|examples|bench)/ && target !~ /\//) return 1
    if (file in rule) folder = file
    while (!(folder in rule) && folder ~ /\//) folder = folder_of(folder)
    if (!(folder in rule)) return 0
    count = split(rule[folder], parts, " ")
    for (i = 1; i <= count; i++) {
        pattern = parts[i]
        if (pattern == target) return 1
        if (pattern ~ /\/$/ && index(target, pattern) == 1) return 1
        if (pattern ~ /\/\*\.h$/ && folder_of(pattern) == folder_of(target)) return 1
    }
    return 0
}
BEGIN {
    count = split(rules, lines, "\n")
    for (i = 1; i <= count; i++) {
        if (split(lines[i], words, " ") < 2) continue
        name = words[1]
        list = lines[i]
        sub(/^[^ ]+ +/, "", list)
        rule[name] = list
    }
}
{
    split($0, part, ":")
    file = part[1]; line = part[2]; text = $0
    sub(/^[^:]*:[^:]*:/, "", text)
    if (text ~ /<weft\//) next
    if (text ~ /</) {
        if (file ~ /^include\/weft\// || text !~ /<(core|backend|codegen|kernel|ops|file|function|lang)\//) next
    }
    target = text
    sub(/^[^"<]*["<]/, "", target)
    sub(/[">].*$/, "", target)
    checked++
    if (!allowed(file, target)) {
        printf "%s:%s: may not include \"%s\"\n", file, line, target
        wrong++
    }
}
END {
    printf "%d includes inside the project, %d against the layers\n", checked, wrong
    exit wrong > 0
}'
