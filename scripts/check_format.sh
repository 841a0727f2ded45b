#!/usr/bin/env bash
# The sources are formatted with clang-format 14; with --fix they are formatted now.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
. scripts/common.sh
. scripts/packages.sh
tool=$(clang_format)
[ -n "$tool" ] || { echo "skipped: clang-format 14 is not installed" && exit 77; }
mkdir -p build
find include src tests tools examples bench -name '*.[ch]' -o -name '*.inc' -o -name '*.cpp' |
    sort >build/format-files
if [ "${1-}" = --fix ]; then
    xargs "$tool" -i <build/format-files
else
    xargs "$tool" --dry-run -Werror <build/format-files 2>build/format.log && exit
    sed -n 's/: error: code should be.*/: not formatted/p' build/format.log | head -n 20
    echo "to format everything: ./dev check --fix-format (the whole list is in build/format.log)"
    exit 1
fi
