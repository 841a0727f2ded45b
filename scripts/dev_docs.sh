# ./dev docs: checks the documents.

usage() {
    cat <<'END'
usage: ./dev docs

Checks that the links in the Markdown files lead somewhere, and compiles and runs the examples in
README.md and docs/.
END
}

main() {
    case "${1-}" in
    "") ;;
    -h | --help) usage && exit 0 ;;
    *) wrong_usage "docs takes no argument, got \"$1\"" ;;
    esac
    steps 4
    require compiler cmake builder
    install_packages
    step "links"
    local status=0
    scripts/check_links.sh || status=1
    step "building"
    configure release && build release weft || die "the build failed"
    step "examples"
    scripts/check_examples.sh build/release || status=1
    return $status
}
