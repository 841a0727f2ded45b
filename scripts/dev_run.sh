# ./dev run: builds the release preset and runs the tour.

usage() {
    cat <<'END'
usage: ./dev run [--quick]

Installs what is missing (a C compiler, CMake, Ninja), builds the library with the release preset and
runs examples/tour.c, which shows the library on this machine, and examples/gray_scott.c: a simulation on
every device, with its picture in build/gray_scott.png and check sums that are all the same.
  --quick   400 x 400 and 2000 steps, not 1024 x 1024 and 5000
END
}

main() {
    local simulation=(--size 1024 --steps 5000)
    case "${1-}" in
    "") ;;
    -h | --help) usage && exit 0 ;;
    --quick) simulation=(--size 400 --steps 2000) ;;
    *) wrong_usage "run does not know \"$1\"" ;;
    esac
    [ -t 2 ] && simulation+=(--progress)
    steps 4
    require compiler cmake builder
    install_packages
    step "building"
    configure release && build release tour gray_scott || die "the build failed"
    step "the tour"
    build/release/examples/tour || return
    step "a simulation"
    build/release/examples/gray_scott "${simulation[@]}" -o build/gray_scott.png
}
