#!/usr/bin/env bash
# check_site.sh FOLDER: every link in the HTML files leads to a file, and every #anchor to a place in it.
set -u
cd "${1:?the folder of the site}" || exit 1
awk '
    function place(text) { return substr(text, index(text, "\"") + 1, length(text) - index(text, "\"") - 1) }
    {
        text = $0
        while (match(text, /(id|name|href|src)="[^"]*"/)) {
            found = substr(text, RSTART, RLENGTH)
            text = substr(text, RSTART + RLENGTH)
            if (found ~ /^(id|name)=/) there[FILENAME "#" place(found)] = 1
            else if (place(found) !~ /^(https?:|mailto:|javascript:|data:|#?$)/) wanted[FILENAME "\t" place(found)] = FNR
        }
        there[FILENAME] = 1
    }
    END {
        for (key in wanted) {
            split(key, parts, "\t")
            target = parts[2]
            gsub(/&amp;/, "\\&", target)
            if (target ~ /^#/) target = parts[1] target
            file = target
            sub(/#.*/, "", file)
            links++
            if (!(file in there) && (getline line < file) < 0) wrong(parts[1], key, target)
            else if (target ~ /#/ && !(target in there)) wrong(parts[1], key, target)
            close(file)
        }
        print links + 0 " links in the site, " broken + 0 " broken"
        exit broken > 0
    }
    function wrong(from, key, target) {
        broken++
        print from ":" wanted[key] ": there is no " target
    }' *.html

