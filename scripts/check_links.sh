#!/usr/bin/env bash
# Every relative link in a Markdown file leads to a file, and every #anchor to a heading.
set -u
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}" || exit 1
wrong=0
links=0

# The anchors of a Markdown file, made from its headings as code hosts do.
anchors() {
    awk '/^```/ { inside = !inside } !inside && /^#+ / { sub(/^#+ +/, ""); print tolower($0) }' "$1" |
        sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}

while IFS=: read -r file line link; do
    links=$((links + 1))
    target=${link%%#*}
    path=$file
    [ -n "$target" ] && path=$(dirname "$file")/$target
    if [ ! -e "$path" ]; then
        echo "$file:$line: there is no $target"
        wrong=$((wrong + 1))
    elif [ "$link" != "$target" ] && ! anchors "$path" | grep -qxF -- "${link#*#}"; then
        echo "$file:$line: $path has no heading for #${link#*#}"
        wrong=$((wrong + 1))
    fi
done < <(
    find . -name build -prune -o -name .git -prune -o -name '*.md' -print | sed 's|^\./||' | sort |
        while read -r file; do
            awk -v file="$file" '
                /^```/ { inside = !inside }
                !inside {
                    text = $0
                    gsub(/`[^`]*`/, "", text)
                    while (match(text, /\]\([^)]*\)/)) {
                        link = substr(text, RSTART + 2, RLENGTH - 3)
                        text = substr(text, RSTART + RLENGTH)
                        if (link !~ /^[a-z]+:/) print file ":" FNR ":" link
                    }
                }' "$file"
        done
)
echo "$links links inside the project, $wrong broken"
[ $wrong -eq 0 ]
