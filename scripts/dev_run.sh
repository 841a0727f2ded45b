# ./dev run: builds the release preset and runs the tour.

usage() {
    cat <<'END'
usage: ./dev run

Installs what is missing (a C compiler, CMake, Ninja), builds the library with the release preset and
runs examples/tour.c, which shows the library on this machine.
END
}

main() {
    case "${1-}" in
    "") ;;
    -h | --help) usage && exit 0 ;;
    *) wrong_usage "run takes no argument, got \"$1\"" ;;
    esac
    steps 3
    require compiler cmake builder
    install_packages
    step "building"
    configure release && build release tour || die "the build failed"
    step "the tour"
    build/release/examples/tour
}
