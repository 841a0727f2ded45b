# ./dev test: builds and runs the tests, and says in one screen what ran and what did not.

usage() {
    cat <<'END'
usage: ./dev test [--device D] [--engine E] [--only SUBSTRING] [--preset P]

Installs what is missing, builds, and runs every test that this machine can run, also with each
allocation inside the library failing in turn.

  --device D         only on this device, as cpu or opencl:0 (without it: on all)
  --engine E         with this engine of the CPU, as interpreter (WEFT_ENGINE)
  --only SUBSTRING   only the tests with SUBSTRING in their name or in that of their file
  --preset P         release (the default), debug, asan, tsan, clang or aarch64
END
}

main() {
    local device="" engine="" only="" preset=release devices entries
    while [ $# -gt 0 ]; do
        case "$1" in
        -h | --help) usage && exit 0 ;;
        --device) option_value "$@" && device=$value && shift 2 ;;
        --engine) option_value "$@" && engine=$value && shift 2 ;;
        --only) option_value "$@" && only=$value && shift 2 ;;
        --preset) option_value "$@" && preset=$value && shift 2 ;;
        *) wrong_usage "test does not know \"$1\"" ;;
        esac
    done
    case "$preset" in
    release | debug | asan | tsan | clang | aarch64) ;;
    *) wrong_usage "there is no preset \"$preset\"" ;;
    esac

    steps 3
    require compiler cmake builder
    [ "$preset" = clang ] && require clang
    [ "$preset" = aarch64 ] && require aarch64
    prefer cmocka pkg-config c++ mpfr mpc llvm numpy opencl
    case "$preset" in # what the sanitizers and an emulator do not look at
    asan | tsan | aarch64) ;;
    *) prefer browser ;;
    esac
    install_packages
    step "building ($preset)"
    configure "$preset" && build "$preset" || die "the build failed"
    choose_devices
    step "testing on ${devices//;/, }"
    run_tests
    local status=$?
    print_summary "$preset"
    return $status
}

# Sets `devices` to those of the machine, or to the one asked for, and makes the tests' entries.
choose_devices() {
    local left_out='^$'
    case "$preset" in # drivers are not built for sanitizers
    asan | tsan) left_out='^opencl' ;;
    esac
    if [ -n "$device" ]; then
        device=$(run_program weft_devices "$device") || exit 1
        devices=$device
    else
        devices=$(run_program weft_devices | grep -vE "$left_out" | paste -sd ';')
    fi
    configure "$preset" "-DWEFT_TEST_DEVICES=$devices" || die "the build failed"
}

# run_program NAME ARGUMENT...: one of the tests' programs, emulated where it must be.
run_program() {
    local program=build/$preset/tests/$1
    shift
    if [ "$preset" = aarch64 ]; then
        qemu-aarch64 -L /usr/aarch64-linux-gnu "$program" "$@"
    else
        "$program" "$@"
    fi
}

run_tests() {
    local arguments=()
    [ -n "$device" ] && arguments+=(-L "^$device\$")
    [ -n "$engine" ] && export WEFT_ENGINE=$engine
    if [ -n "$only" ]; then
        choose_entries
        arguments+=(-R "$entries")
    fi
    run_ctest "$preset" "${arguments[@]}"
}

# Sets `entries` to a pattern for what --only means: entries whose name has it, or else those
# that have a test whose name has it.
choose_entries() {
    if ctest --test-dir "build/$preset" -N | grep -E '^ +Test +#' | grep -F -- "$only" >/dev/null; then
        entries=$(sed 's/[][\.*^$+?(){}|]/\\&/g' <<<"$only")
        return
    fi
    export WEFT_TEST_ONLY=$only
    local path name
    entries=""
    for path in build/"$preset"/tests/test_*; do
        [ -f "$path" ] && [ -x "$path" ] || continue
        name=${path##*/test_}
        [ -n "$(run_program "test_$name" --list)" ] && entries+="${entries:+|}^${name%%_*}/${name#*_}@"
    done
    [ -n "$entries" ] || die "no test has \"$only\" in its name"
}

print_summary() {
    printf '\n'
    awk -f scripts/summary.awk "build/$1/Testing/Temporary/LastTest.log"
    print_left_out
}
