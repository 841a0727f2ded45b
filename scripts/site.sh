#!/usr/bin/env bash
# site.sh [FOLDER]: makes the site of the manual and the headers with Doxygen in FOLDER (build/site), whose
# warnings are errors, and checks every link in it.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
folder=${1:-build/site}
input=$folder/input
rm -rf "$folder"
mkdir -p "$input/weft"

# The pages: file=name. docs/README.md is the first page, and those that it links to follow in its order.
pages=""
linked=$(grep -oE '\]\([a-zA-Z_./]+\.md\)' docs/README.md | sed -E 's|^\]\(|docs/|; s|\)$||; s|^docs/\.\./||' | awk '!seen[$0]++')
for file in docs/README.md $linked; do
    case $file in
    docs/README.md) name=index ;;
    README.md) continue ;;
    *README.md) name=$(dirname "$file") ;;
    *) name=$(basename "$file" .md | tr '[:upper:]' '[:lower:]') ;;
    esac
    pages="$pages $file=$name"
done

# What the README shows as measured is a page of its own, after the performance guide; links to the README lead there.
results=$(grep -oE 'bench/results/[^)]*/results\.md' README.md | head -n 1)
if [ -n "$results" ]; then
    pages="${pages/ docs\/performance.md=performance/ docs/performance.md=performance $results=results} README.md=results"
    cp "$(dirname "$results")"/*.svg "$input"
fi
cp docs/pictures/*.png "$input"

# The public names, for links: macros and functions of the headers.
names=$folder/names
sed -nE 's/^#define (weft_[a-z0-9_]+|weft|WEFT_[A-Z_]*[A-Z])\(.*/\1/p' include/weft/*.h | grep -v __ >"$names"
sed -nE 's/^WEFT_API .*[ *](weft_[a-z0-9_]+)\(.*/\1/p; s/^(weft_[a-z0-9_]+)\(.*/\1/p' include/weft/*.h >>"$names"

for header in include/weft/*.h; do
    awk -v mode=doxygen -v names="$names" -f scripts/headers.awk "$header" >"$input/weft/$(basename "$header")"
done
order=""
for entry in $pages; do
    file=${entry%%=*}
    name=${entry#*=}
    at=$(dirname "$file")
    [ "$at" = . ] && at=""
    target=$name
    [ "$file" = README.md ] && continue
    [ "$name" = index ] && target=README
    [ "$name" = index ] || order="$order $target.md"
    awk -v page="$name" -v folder="$at" -v pages="$pages" -v names="$names" -f scripts/pages.awk "$file" >"$input/$target.md"
done
for file in docs/*.md; do
    [[ " $pages " = *" $file="* ]] || { echo "docs/README.md does not link to $file" && exit 1; }
done
[ -n "$results" ] && sed -i '1s/^# /# Measured: /' "$input/results.md"
cp docs/site/style.css docs/site/layout.xml "$input"
{
    cat docs/site/Doxyfile
    echo "PROJECT_NUMBER = $(sed -nE 's/^#define WEFT_VERSION_(MAJOR|MINOR|PATCH) //p' include/weft/version.h | paste -sd.)"
    echo "OUTPUT_DIRECTORY = .."
    echo "INPUT = README.md $order weft"
} >"$input/Doxyfile"
(cd "$input" && doxygen Doxyfile) || exit 1
scripts/check_site.sh "$folder/html"
