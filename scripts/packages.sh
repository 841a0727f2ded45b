# Finds out which packages are missing, and installs them with apt when that is allowed.
#
#   require THING...   the command cannot do without: installed, or the one line to run and exit 1
#   prefer THING...    installed when possible, else left out, which the summary tells
#
# A THING is a name of the table below. `install_packages` then does all of it in one go.

# has THING: is it there? A few milliseconds each, so that a second run costs nothing.
has() {
    case "$1" in
    compiler) have cc && echo '#include <stdio.h>' | cc -E - >/dev/null 2>&1 ;;
    c++) have c++ && echo '#include <cstddef>' | c++ -x c++ -E - >/dev/null 2>&1 ;;
    cmake) have cmake ;;
    builder) have ninja || have make ;;
    cmocka) echo '#include <cmocka.h>' | cc -E - >/dev/null 2>&1 ;;
    mpfr) echo '#include <mpfr.h>' | cc -E - >/dev/null 2>&1 ;;
    mpc) echo '#include <mpc.h>' | cc -E - >/dev/null 2>&1 ;;
    llvm) ls /usr/lib/*/libLLVM*.so* /usr/lib/llvm-*/lib/libLLVM*.so* 2>/dev/null | grep -qE 'LLVM-?(1[5-9]|[2-9][0-9])|\.so\.(1[5-9]|[2-9][0-9])' ;;
    opencl) ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1 && /sbin/ldconfig -p | grep 'libOpenCL\.so\.1' >/dev/null ;;
    pkg-config) have pkg-config ;;
    clang) have clang ;;
    doxygen) have doxygen && printf '1.9.4\n%s\n' "$(doxygen --version)" | sort -VC ;;
    clang-format) [ -n "$(clang_format)" ] ;;
    aarch64) have aarch64-linux-gnu-gcc && have qemu-aarch64 && [ -e /usr/aarch64-linux-gnu/include/stdio.h ] ;;
    python) python3 -c 'import venv, ensurepip' >/dev/null 2>&1 ;;
    browser) have chromium || have chromium-browser || have google-chrome ;;
    numpy) python3 -c 'import numpy' 2>/dev/null || /usr/bin/python3 -c 'import numpy' 2>/dev/null ;;
    esac
}

# The newest libLLVM that apt knows; its lists may not be there yet.
newest_llvm() {
    local name
    name=$(apt-cache pkgnames libllvm 2>/dev/null | grep -E '^libllvm(1[5-9]|[2-9][0-9])$' | sort -V | tail -n 1)
    echo "${name:-libllvm15}"
}

packages_of() {
    case "$1" in
    compiler) echo gcc libc6-dev ;;
    c++) echo g++ ;;
    cmake) echo cmake ;;
    builder) echo ninja-build ;;
    cmocka) echo libcmocka-dev ;;
    mpfr) echo libmpfr-dev ;;
    mpc) echo libmpc-dev ;;
    llvm) newest_llvm ;;
    opencl) echo ocl-icd-libopencl1 pocl-opencl-icd ;;
    pkg-config) echo pkg-config ;;
    clang) echo clang ;;
    doxygen) echo doxygen ;;
    clang-format) echo clang-format-14 ;;
    aarch64) echo gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user ;;
    python) echo python3 python3-venv ;;
    browser) echo chromium ;;
    numpy) echo python3-numpy ;;
    esac
}

# What the summary says when a preferred thing is not there.
without() {
    case "$1" in
    c++) echo "headers as C++17: no C++ compiler" ;;
    cmocka) echo "cmocka: not installed, the tests ran in the plain runner" ;;
    mpc) echo "MPC: not installed, functions of complex numbers were compared at special values only" ;;
    mpfr) echo "MPFR: not installed, math functions were compared with the C library" ;;
    llvm) echo "the compiling engine of the CPU: no libLLVM 15 or newer" ;;
    opencl) echo "OpenCL: no driver is installed" ;;
    pkg-config) echo "the installed library through pkg-config: not installed" ;;
    clang) echo "everything that needs clang: not installed" ;;
    doxygen) echo "the site of the manual and the headers: no Doxygen 1.9.4 or newer" ;;
    clang-format) echo "the format: clang-format 14 is not installed" ;;
    aarch64) echo "64-bit Arm: no cross compiler or no QEMU" ;;
    python) echo "the peers of the benchmark: no Python with venv" ;;
    browser) echo "pages of timelines: no Chromium to open them in" ;;
    numpy) echo "random programs and files beside NumPy: not installed" ;;
    esac
}

# The name of clang-format 14: other versions format differently.
clang_format() {
    local name
    for name in clang-format-14 clang-format; do
        if have "$name" && "$name" --version | grep -q 'version 14\.'; then
            echo "$name"
            return
        fi
    done
}

required=()
preferred=()
unavailable=build/unavailable-packages # what apt could not give, not asked for again for a day

require() {
    local thing
    for thing in "$@"; do
        has "$thing" || required+=("$thing")
    done
}

prefer() {
    local thing
    for thing in "$@"; do
        case " ${preferred[*]} " in
        *" $thing "*) ;;
        *) has "$thing" || preferred+=("$thing") ;;
        esac
    done
}

packages_of_all() { for thing in "$@"; do packages_of "$thing"; done | tr '\n' ' ' | sed 's/ $//'; }

# Prints what goes before apt-get, or fails when this user may not install.
apt_prefix() {
    have apt-get || return 1
    [ "$(id -u)" = 0 ] && return 0
    have sudo && sudo -n true 2>/dev/null && echo sudo
}

apt_get() {
    local prefix
    prefix=$(apt_prefix) || return 1
    $prefix env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=1 \
        -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 -o DPkg::Lock::Timeout=300 "$@" \
        >>build/apt.log 2>&1
}

by_hand() {
    if have apt-get; then
        local prefix=""
        [ "$(id -u)" = 0 ] || prefix="sudo "
        echo "${prefix}apt-get update && ${prefix}apt-get install -y --no-install-recommends $1"
    else
        echo "install these, or what they are called here: $1"
    fi
}

# Leaves those of the preferred things out that apt did not know yesterday either.
forget_unavailable() {
    [ -n "$(find "$unavailable" -mtime -1 2>/dev/null)" ] || return 0
    local thing kept=()
    for thing in "${preferred[@]}"; do
        if grep -qx "$thing" "$unavailable"; then
            leave_out "$(without "$thing") (asked apt less than a day ago; delete $unavailable to ask again)"
        else
            kept+=("$thing")
        fi
    done
    preferred=("${kept[@]}")
}

install_packages() {
    mkdir -p build
    [ ${#preferred[@]} -gt 0 ] && forget_unavailable
    if [ ${#required[@]} -eq 0 ] && [ ${#preferred[@]} -eq 0 ]; then
        step "packages: $([ ${#left_out[@]} -eq 0 ] && echo all there || echo nothing to install)"
        return
    fi
    local wanted needed
    wanted=$(packages_of_all "${required[@]}" "${preferred[@]}")
    needed=$(packages_of_all "${required[@]}")
    if ! apt_prefix >/dev/null; then
        step "packages: not allowed to install $wanted"
        [ ${#required[@]} -eq 0 ] || die "some packages are missing. Please run:
$(by_hand "$wanted")"
        for thing in "${preferred[@]}"; do
            leave_out "$(without "$thing") (to have it: $(by_hand "$(packages_of "$thing")"))"
        done
        return
    fi

    step "installing: $wanted"
    say "fetching the lists of packages"
    apt_get update || say "apt-get update failed (see build/apt.log)"
    install_required "$needed"
    for thing in "${preferred[@]}"; do
        install_preferred "$thing"
    done
}

install_required() {
    [ ${#required[@]} -gt 0 ] || return 0
    say "installing $1"
    # shellcheck disable=SC2086
    apt_get install --no-install-recommends $1 && return
    tail -n 5 build/apt.log >&2
    die "the packages could not be installed (the whole story is in build/apt.log). By hand:
$(by_hand "$1")"
}

install_preferred() {
    has "$1" && return
    say "installing $(packages_of "$1")"
    # shellcheck disable=SC2046
    if ! apt_get install --no-install-recommends $(packages_of "$1") || ! has "$1"; then
        echo "$1" >>"$unavailable"
        leave_out "$(without "$1") (apt could not install it, see build/apt.log)"
    fi
}
