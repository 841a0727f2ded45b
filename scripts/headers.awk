# Reads a public header and says what it declares: for Doxygen, whose comments look different
# (-v mode=doxygen), or as a list of what has no comment (-v mode=missing).
#
# A comment belongs to what follows it, up to a blank line, another comment, or a line with a comment
# of its own at its end. A comment before a blank line belongs to the file. Names with two underscores
# (weft__, WEFT__) are nobody's business, and of conditions only the branch for C is read.

function trim(text) { sub(/^[ \t]+/, "", text); sub(/[ \t]+$/, "", text); return text }

# The words of a comment, one line after the other, without its marks.
function words(comment,    lines, count, i, text, line) {
    sub(/^[ \t]*\/\*/, "", comment)
    sub(/[ \t]*\*\/[ \t]*$/, "", comment)
    count = split(comment, lines, "\n")
    for (i = 1; i <= count; i++) {
        line = lines[i]
        if (i > 1 && !sub(/^[ \t]*\*/, "", line)) line = " " trim(line)
        sub(/^ /, "", line)
        text = text (i > 1 ? "\n" : "") line
    }
    return text
}

# A comment as Doxygen wants it: indented lines are code, and marks of its own are escaped.
function documented(text,    lines, count, i, out, inside) {
    count = split(text, lines, "\n")
    for (i = 1; i <= count; i++) {
        if (lines[i] ~ /^    / && !inside) { out = out "\n@code{.c}"; inside = 1 }
        if (lines[i] !~ /^    / && lines[i] !~ /^$/ && inside) { out = out "\n@endcode"; inside = 0 }
        out = out "\n" (inside ? substr(lines[i], 5) : escaped(lines[i]))
    }
    return out (inside ? "\n@endcode" : "")
}

function escaped(line,    parts, count, i, out) {
    count = split(line, parts, "`")
    for (i = 1; i <= count; i++) {
        if (i % 2) gsub(/[\\@<>#&%|]/, "\\\\&", parts[i])
        out = out (i > 1 ? "`" : "") parts[i]
    }
    return linked(out)
}

# Names of functions and macros lead to them.
function linked(line,    out, before, name) {
    while (match(line, /weft_[a-z0-9_]+/)) {
        before = RSTART > 1 ? substr(line, RSTART - 1, 1) : ""
        name = substr(line, RSTART, RLENGTH)
        if (before !~ /[A-Za-z_`\/.#]/ && name !~ /_$/ && name !~ /__/ && (name in public))
            name = "@ref " name " \"" name "\""
        out = out substr(line, 1, RSTART - 1) name
        line = substr(line, RSTART + RLENGTH)
    }
    return out line
}

function report(kind, name, doc) {
    if (doc == "" && mode == "missing") print FILENAME ":" number ": " kind " " name
}

function emit(doc, code) {
    if (mode != "doxygen") return
    print "/**" documented(doc) "\n*/"
    print code
}

# Joins lines from `number` on until one of them ends as `end` says.
function gather(end,    text) {
    text = line_of[number]
    while (number < total && text !~ end) text = text "\n" line_of[++number]
    return text
}

# Takes the comment at the end of a declaration off it, into `trailing`.
function take_trailing(text,    at) {
    at = index(text, "/*")
    trailing = at ? words(substr(text, at)) : ""
    return at ? trim(substr(text, 1, at - 1)) : trim(text)
}

# The parameters of a public macro, which passes them to one of ours.
function parameters_of(name, given, body,    inner) {
    if (given != "...") return given
    match(body, /^[A-Za-z_]+/)
    inner = substr(body, 1, RLENGTH)
    if (inner == "WEFT__APPLY") {
        match(body, /[0-9]/)
        return substr("x, y, z", 1, substr(body, RSTART, 1) * 3 - 2) ", ..."
    }
    while ((inner "_") in inner_parameters) inner = inner "_"
    if (inner == "WEFT__REDUCE_") inner = "WEFT__REDUCE"
    given = inner in inner_parameters ? inner_parameters[inner] : "..."
    sub(/^name, /, "", given)
    inner_body[name] = inner in inner_bodies ? inner_bodies[inner] : body
    return given
}

function options_of(name) {
    if (match(inner_body[name], /WEFT__OPTIONS\([a-z_]+/))
        return substr(inner_body[name], RSTART + 14, RLENGTH - 14)
    return inner_body[name] ~ /WEFT__NEW\(/ ? "weft_options" : ""
}

function split_define(text) {
    gsub(/\\\n/, " ", text)
    sub(/^#define /, "", text)
    match(text, /^[A-Za-z0-9_]+/)
    define_name = substr(text, 1, RLENGTH)
    text = substr(text, RLENGTH + 1)
    define_parameters = ""
    if (text ~ /^\(/) {
        match(text, /\)/)
        define_parameters = substr(text, 2, RSTART - 2)
        text = substr(text, RSTART + 1)
    }
    define_body = trim(text)
    gsub(/ +/, " ", define_body)
}

function define(    text, doc, options, parameters) {
    text = line_of[number]
    while (text ~ /\\$/) text = text "\n" line_of[++number]
    if (text ~ /\/\*/) while (text !~ /\*\//) text = text "\n" line_of[++number]
    text = take_trailing(text)
    split_define(text)
    if (define_name ~ /__/ || define_name ~ /_H$/) return
    doc = trailing != "" ? trailing : pending
    report("macro", define_name, doc)
    parameters = parameters_of(define_name, define_parameters, define_body)
    options = options_of(define_name)
    if (options != "") doc = doc "\n\n`...`: fields of " options ", by name."
    else if (define_body ~ /WEFT__APPLY/) doc = doc "\n\n`...`: fields of weft_operation_options, by name."
    emit(doc, "#define " define_name (text ~ /^#define [A-Za-z0-9_]+\(/ ? "(" parameters ")" : ""))
    if (define_name ~ /_LIST$/) remember_list(define_name, define_body)
    if (trailing != "") pending = ""
}

# Entries of X(...) lists, for the enums that are made of them.
function remember_list(name, body,    entry, parts, text, quote) {
    while (match(body, /X\([^)]*\)/)) {
        entry = substr(body, RSTART + 2, RLENGTH - 3)
        body = substr(body, RSTART + RLENGTH)
        split(entry, parts, ", *")
        quote = index(entry, "\"")
        if (name == "WEFT_DTYPE_LIST") text = "WEFT_" parts[2] ", /**< " parts[1] ", " parts[3] " bytes */"
        else text = "WEFT_" parts[1] ", /**< " substr(entry, quote + 1, length(entry) - quote - 1) " */"
        entries[name] = entries[name] text "\n"
    }
}

function function_name(text) {
    if (match(text, /\(\*[a-z_]+\)/)) return substr(text, RSTART + 2, RLENGTH - 3)
    match(text, /[A-Za-z0-9_]+\(/)
    return substr(text, RSTART, RLENGTH - 1)
}

function declaration(    text, doc, name) {
    text = gather(";[ \t]*$|;[ \t]*/\\*.*\\*/|;[ \t]*/\\*|\\)$")
    if (text ~ /\/\*/) while (text !~ /\*\//) text = text "\n" line_of[++number]
    text = take_trailing(text)
    if (text ~ /^WEFT__/) return
    doc = trailing != "" ? trailing : pending
    name = text ~ /^typedef/ && text !~ /\(/ ? last_word(text) : function_name(text)
    if (name ~ /__/) return
    report(text ~ /^typedef/ ? "type" : "function", name, doc)
    sub(/^WEFT_API /, "", text)
    emit(doc, text)
    if (trailing != "") pending = ""
}

function last_word(text) {
    sub(/[;,].*$/, "", text)
    sub(/\[.*$/, "", text)
    sub(/ *=.*$/, "", text)
    match(text, /[A-Za-z0-9_]+$/)
    return substr(text, RSTART)
}

function inline_function(    text, doc) {
    text = gather("\\{|\\}$")
    doc = pending
    if (text !~ /\}$/) while (number < total && line_of[number] != "}") number++
    sub(/[ \n]*\{.*/, ";", text)
    if (function_name(text) ~ /__/) return
    report("function", function_name(text), doc)
    emit(doc, text)
}

# struct X { … } X; and enum { … }: the members are documented each.
function compound(    head, kind, doc, name, text) {
    text = line_of[number]
    if (text ~ /\/\*/) while (text !~ /\*\//) text = text "\n" line_of[++number]
    head = take_trailing(text)
    doc = trailing != "" ? (pending != "" ? pending "\n\n" trailing : trailing) : pending
    kind = head ~ /enum/ ? "constant" : "field"
    name = head
    sub(/ *\{.*/, "", name)
    name = last_word(name)
    if (head !~ /enum \{/) {
        report("type", name, doc)
        emit(doc, head)
    } else if (mode == "doxygen") print head
    if (head ~ /\};$/) { constants(head, doc); return }
    pending = head ~ /enum \{/ ? doc : ""
    for (number++; line_of[number] !~ /^\}/; number++) member(kind, name)
    if (mode == "doxygen") print line_of[number]
    pending = ""
}

# enum { A = 1, B = 2 }; on one line, already printed up to its brace.
function constants(head, doc,    parts, count, i) {
    sub(/^enum \{ */, "", head)
    sub(/ *\};$/, "", head)
    count = split(head, parts, ", *")
    for (i = 1; i <= count; i++) report("constant", last_word(parts[i]), doc)
}

function member(kind, owner,    text, doc, name, parts, count, i, type) {
    text = line_of[number]
    if (text ~ /^#/) return
    if (text ~ /^[ \t]*$/) { pending = ""; if (mode == "doxygen") print; return }
    if (text ~ /^[ \t]*\/\*/) { pending = words(gather("\\*/")); return }
    if (match(text, /WEFT_[A-Z]+_LIST\(/)) {
        if (mode == "doxygen") printf "%s", entries[substr(text, RSTART, RLENGTH - 1)]
        return
    }
    if (text ~ /^[ \t]*(struct|union) \{/) { parts_of = trim(text); part_list = ""; pending = ""; return }
    if (kind == "field") text = gather(";|\\{")
    if (text ~ /\/\*/) while (text !~ /\*\//) text = text "\n" line_of[++number]
    text = take_trailing(text)
    doc = trailing != "" ? trailing : pending
    if (text ~ /size_t struct_size;/) doc = "The size of this struct, which the macro sets."
    if (trailing != "") pending = ""
    name = text ~ /\(/ ? function_name(text) : last_word(text)
    report(kind, owner "." name, doc)
    if (mode != "doxygen") return
    if (text ~ /^\}/) { # a struct or union without a name, whose fields are told with it
        emit(doc "\n\n" part_list, parts_of "\n" text)
        parts_of = ""
        return
    }
    if (parts_of != "") { part_list = part_list "- `" substr(text, 1, length(text) - 1) "`: " doc "\n"; return }
    if (kind == "field" && text !~ /\(/ && text ~ /, /) {
        match(text, /^.*[A-Za-z0-9_] /)
        type = text
        sub(/[A-Za-z0-9_*]+,.*$/, "", type)
        text = substr(text, length(type) + 1)
        sub(/;$/, "", text)
        count = split(text, parts, ", ")
        for (i = 1; i <= count; i++) emit(doc, type parts[i] ";")
        return
    }
    emit(doc, text)
}

# Conditions: what is for C++ alone is not read.
function condition(text) {
    if (text ~ /^#if/) {
        depth++
        for_cplusplus[depth] = text ~ /__cplusplus/
        active[depth] = text !~ /^#ifdef __cplusplus/
    } else if (text ~ /^#(else|elif)/)
        active[depth] = for_cplusplus[depth] && !active[depth]
    else
        depth--
}

function is_active(    i) {
    for (i = 1; i <= depth; i++) if (!active[i]) return 0
    return 1
}

# A comment for what follows, for the file, or, alone on a line, the title of a section.
function comment(    text, first) {
    first = number == 1
    text = words(gather("\\*/"))
    pending = text
    if (!first && line_of[number + 1] !~ /^[ \t]*$/ && line_of[number + 1] !~ /^#(if|endif)/) return
    pending = ""
    if (mode != "doxygen") return
    if (first || text ~ /\n/) print "/** @file" documented((first ? "" : "\n") text) "\n*/"
    else {
        if (section) print "/** @} */"
        sub(/\.$/, "", text)
        print "/** @name " escaped(text) " */\n/** @{ */"
        section = 1
    }
}

{ line_of[++total] = $0 }

END {
    while (names != "" && (getline name < names) > 0) public[name] = 1
    for (number = 1; number <= total; number++) { # what our own macros take
        if (line_of[number] !~ /^#define WEFT__/) continue
        split_define(gather("[^\\\\]$"))
        if (define_name in inner_parameters) continue
        inner_parameters[define_name] = define_parameters
        inner_bodies[define_name] = define_body
    }
    for (number = 1; number <= total; number++) {
        text = line_of[number]
        if (text ~ /^#(if|else|elif|endif)/) condition(text)
        else if (!is_active()) continue
        else if (text ~ /^[ \t]*$/) pending = ""
        else if (text ~ /^[ \t]*\/\*/) comment()
        else if (text ~ /^#define/) define()
        else if (text ~ /^#|^extern "C"|^\}/) continue
        else if (text ~ /^static inline/) inline_function()
        else if (text ~ /^(typedef )?(struct|enum) ?[a-z_]* ?\{/) compound()
        else declaration()
    }
    if (section) print "/** @} */"
}
