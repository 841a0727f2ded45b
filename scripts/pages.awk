# A page of the manual as Doxygen wants it: headings with names, links to pages, headings and functions.
# -v page=NAME -v folder=ITS_FOLDER -v pages="the names of all" -v names=FILE (public names, one a line)

# The name that a heading has in links, made as code hosts do.
function anchor(heading) {
    heading = tolower(heading)
    gsub(/[^a-z0-9 _-]/, "", heading)
    gsub(/ /, "-", heading)
    return heading
}

# The page of a Markdown file, as it is called in a link; "" if it is not one of the site's.
function page_of(path) {
    if (path ~ /^\.\.\//) sub(/^\.\.\//, "", path)
    else if (folder != "") path = folder "/" path
    return path in page_names ? page_names[path] : ""
}

function link(text, target,    path, name, at) {
    gsub(/`/, "", text)
    if (target ~ /^[a-z]+:/) return "[" text "](" target ")"
    at = index(target, "#")
    path = at ? substr(target, 1, at - 1) : target
    name = path == "" ? page : page_of(path)
    if (name == "") return text
    if (name == "results") return "[" text "](@ref page_results)"
    if (name == "index") return "[" text "](@ref index)"
    if (at) return "[" text "](@ref " name "_" substr(target, at + 1) ")"
    return "[" text "](@ref page_" name ")"
}

function links(line,    out, middle, picture) {
    while (match(line, /\[[^][]*\]\([^)]*\)/)) {
        out = out prose(substr(line, 1, RSTART - 1))
        middle = substr(line, RSTART, RLENGTH)
        picture = RSTART > 1 && substr(line, RSTART - 1, 1) == "!"
        line = substr(line, RSTART + RLENGTH)
        if (picture) {
            sub(/\]\(pictures\//, "](", middle) # they lie beside the page
            out = out middle
            continue
        }
        out = out link(substr(middle, 2, index(middle, "](") - 2),
                       substr(middle, index(middle, "](") + 2, length(middle) - index(middle, "](") - 2))
    }
    return out prose(line)
}

function prose(text,    parts, count, i, out) {
    count = split(text, parts, "`")
    for (i = 1; i <= count; i++) {
        if (i % 2 == 0 && i < count) out = out code(parts[i])
        else {
            gsub(/[@#%]/, "\\\\&", parts[i])
            gsub(/</, "\\&lt;", parts[i])
            out = out parts[i]
        }
    }
    return out
}

# The name of a function leads to it.
function code(text,    name) {
    name = text
    sub(/\(.*/, "", name)
    if (name in public) {
        gsub(/"/, "\\\"", text)
        return "<code>@ref " name " \"" text "\"</code>"
    }
    return "`" text "`"
}

BEGIN {
    count = split(pages, list, " ")
    for (i = 1; i <= count; i++) {
        split(list[i], pair, "=")
        page_names[pair[1]] = pair[2]
    }
    while ((getline name < names) > 0) public[name] = 1
}

/^```/ {
    inside = !inside
    language = substr($0, 4)
    if (inside) print "~~~~{" (language == "c" ? ".c" : ".unparsed") "}"
    else print "~~~~"
    next
}
inside && /^\/\* example: [a-z0-9_]+ \*\/$/ { next }
inside { print; next }
/^#+ / {
    match($0, /^#+ /)
    heading = substr($0, RLENGTH + 1)
    name = $0 ~ /^# / ? (page == "index" ? "" : "page_" page) : page "_" anchor(heading)
    if (seen[name]++) name = name "-" seen[name] - 1
    marks = substr($0, 1, RLENGTH)
    gsub(/`/, "", heading)
    print marks prose(heading) (name == "" ? "" : " {#" name "}")
    if (marks == "# " && page != "index") print "\n[TOC]"
    next
}
{ print links($0) }
