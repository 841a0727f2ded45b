# ./dev docs: checks the documents, and makes a site of them and of the headers.

usage() {
    cat <<'END'
usage: ./dev docs

Checks that the links in the Markdown files lead somewhere and that every public name has a comment, makes the site
of the manual and the headers in build/site/html (its warnings are errors, its links are checked), and compiles and
runs the examples in README.md and docs/.
END
}

main() {
    case "${1-}" in
    "") ;;
    -h | --help) usage && exit 0 ;;
    *) wrong_usage "docs takes no argument, got \"$1\"" ;;
    esac
    steps 6
    require compiler cmake builder
    prefer doxygen
    install_packages
    step "links"
    local status=0
    scripts/check_links.sh || status=1
    step "public names"
    scripts/check_public.sh || status=1
    step "site"
    if has doxygen; then
        scripts/site.sh && say "open build/site/html/index.html" || status=1
    fi
    step "building"
    configure release && build release weft || die "the build failed"
    step "examples"
    scripts/check_examples.sh build/release || status=1
    print_left_out
    return $status
}
