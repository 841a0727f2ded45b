# ./dev check: everything that can be checked without knowing what the library is for.

usage() {
    cat <<'END'
usage: ./dev check [PART...]
       ./dev check --fix-format

Installs what is missing and checks. Without PART, all of these:

  format    the sources are formatted (clang-format 14)
  files     short files, a first line that says what each is for, no long lines
  layers    no layer includes what lies above it
  headers   each public header compiles alone, as C11 and C++17
  gcc       the release build has no warning
  docs      public names have comments and tests, links lead somewhere, Doxygen has no warning
  clang     the same with clang
  asan      the tests under the address and undefined behaviour sanitizers, also with failing allocations
  tsan      the tests under the thread sanitizer
  aarch64   the tests on an emulated 64-bit Arm processor

  --fix-format   format the sources now
END
}

all_parts="format files layers headers gcc docs clang asan tsan aarch64"

# The time a test may take in fault runs here, so that all of it ends in minutes.
export WEFT_TEST_FAULTS_SECONDS=${WEFT_TEST_FAULTS_SECONDS:-20}

# What each part needs beyond a compiler and CMake.
needs_of() {
    case "$1" in
    format) echo clang-format ;;
    headers) echo c++ clang ;;
    docs) echo doxygen ;;
    clang) echo clang ;;
    aarch64) echo aarch64 ;;
    asan | tsan) echo cmocka mpfr mpc llvm ;;
    esac
}

part_format() { scripts/check_format.sh; }
part_files() { scripts/check_files.sh; }
part_layers() { tests/layers/run.sh; }
part_headers() { scripts/check_headers.sh; }
part_gcc() { configure release && build release; }
part_docs() {
    local status=0
    scripts/check_links.sh || status=1
    configure release && build release && scripts/check_public.sh build/release || status=1
    if has doxygen; then scripts/site.sh || status=1; fi
    return $status
}
part_clang() { configure clang && build clang; }
part_asan() { configure asan && build asan && run_ctest asan; }
part_tsan() { configure tsan && build tsan && WEFT_STRESS_SECONDS=60 run_ctest tsan -LE '^faults$'; }
part_aarch64() {
    leave_out "fork on 64-bit Arm: QEMU cannot fork a process that has threads"
    leave_out "CUDA on 64-bit Arm: its stand-in compiles for this machine"
    configure aarch64 && build aarch64 && run_ctest aarch64 -LE '^faults$'
}

main() {
    local parts=() part
    while [ $# -gt 0 ]; do
        case "$1" in
        -h | --help) usage && exit 0 ;;
        --fix-format) fix_format ;;
        *)
            case " $all_parts " in
            *" $1 "*) parts+=("$1") ;;
            *) wrong_usage "check does not know \"$1\"" ;;
            esac
            shift
            ;;
        esac
    done
    # shellcheck disable=SC2206
    [ ${#parts[@]} -gt 0 ] || parts=($all_parts)

    steps $((${#parts[@]} + 1))
    require compiler cmake builder
    for part in "${parts[@]}"; do
        # shellcheck disable=SC2046
        prefer $(needs_of "$part")
    done
    install_packages

    local report=() failures=0
    for part in "${parts[@]}"; do
        run_part "$part"
    done
    printf '\n'
    printf '%s\n' "${report[@]}"
    print_left_out
    [ "$failures" -eq 0 ]
}

fix_format() {
    steps 2
    require clang-format
    install_packages
    step "formatting"
    scripts/check_format.sh --fix
    exit
}

# Runs a part and adds a line to the report. A part whose tools are missing is left out.
run_part() {
    local start=$SECONDS result=passed need status
    step "$1"
    for need in $(needs_of "$1"); do
        case "$1:$need" in
        format:* | clang:* | aarch64:*)
            has "$need" || {
                say "left out: $(without "$need")"
                report+=("$(printf '%-9s left out' "$1")")
                return
            }
            ;;
        esac
    done
    "part_$1"
    status=$?
    if [ $status -ne 0 ]; then
        result=FAILED
        failures=$((failures + 1))
    fi
    report+=("$(printf '%-9s %s  (%d s)' "$1" "$result" $((SECONDS - start)))")
}
