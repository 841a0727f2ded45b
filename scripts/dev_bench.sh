# ./dev bench: builds the release preset and measures it beside what others offer.

usage() {
    cat <<'END'
usage: ./dev bench [--json FILE] [-- ARGUMENT...]

Builds the benchmarks with the release preset, sets up NumPy, numexpr, Numba, PyTorch, JAX and PyOpenCL in
build/peers (from PyPI, about 1 GB, once), and runs bench/run.py. Without a network it measures without the
missing peers and says so. With -- --device opencl:0 it measures that device beside OpenCL by hand and PyOpenCL.
A run of all rows beside all peers takes twenty minutes and is kept in bench/results/, with a table and plots,
which the README then shows.

  --json FILE     also writes the numbers to FILE: a list of {work, who, device, n, seconds, gbps}
  -- ARGUMENT...  is passed on to bench/run.py; -- --help lists what it knows
END
}

main() {
    local arguments=()
    while [ $# -gt 0 ]; do
        case "$1" in
        -h | --help) usage && exit 0 ;;
        --json) option_value "$@" && arguments+=(--json "$(path_given "$value")") && shift 2 ;;
        --)
            shift
            arguments+=("$@")
            break
            ;;
        *) wrong_usage "bench does not know \"$1\"" ;;
        esac
    done
    [ -f bench/run.py ] || die "there is no bench/run.py"
    steps 4
    require compiler cmake builder python
    prefer c++ opencl # torch.compile; PyOpenCL
    install_packages
    step "building"
    configure release && build release benchmarks weft_tool_weft || die "the build failed"
    step "NumPy, numexpr, Numba, PyTorch, JAX, PyOpenCL"
    scripts/peers.sh build/peers
    local peer
    for peer in numpy numexpr numba jax torch pyopencl; do
        grep -qx "$peer" build/peers/ready 2>/dev/null ||
            leave_out "$peer: could not be set up (see build/peers.log)"
    done
    step "measuring"
    local python=python3
    [ -x build/peers/bin/python ] && python=build/peers/bin/python
    PYTHONDONTWRITEBYTECODE=1 WEFT_BUILD=build/release $python bench/run.py "${arguments[@]}"
    local status=$?
    print_left_out
    return $status
}
