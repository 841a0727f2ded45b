#!/usr/bin/env bash
# run.sh BUILD_FOLDER: installs into a temporary prefix and builds outside programs against it.
set -u
build=$(cd "${1:?the build folder}" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

try() {
    local name=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $name"
        cat "$work/log"
    fi
}

try "install" cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$work/prefix" # an installed tree can be moved
library=$(find "$work/prefix" -name libweft.so)
folder=$(dirname "$library")

with_pkg_config() {
    export PKG_CONFIG_PATH=$folder/pkgconfig
    # shellcheck disable=SC2046
    ${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror "$here/prog.c" -o "$work/prog" \
        $(pkg-config --cflags --libs weft) && LD_LIBRARY_PATH=$folder "$work/prog"
}

generator=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$build/CMakeCache.txt")

with_cmake() {
    cmake -G "$generator" -S "$here" -B "$work/outside" -DCMAKE_PREFIX_PATH="$work/prefix" &&
        cmake --build "$work/outside" && "$work/outside/prog" && "$work/outside/prog_static"
}

only_weft_symbols() {
    local others
    others=$(nm -D --defined-only "$library" | awk '{ print $NF }' | grep -vE '^weft_[a-z0-9]')
    [ -z "$others" ] || { echo "libweft.so exports more than weft_: $others" && return 1; }
    [ "$(nm -D --defined-only "$library" | wc -l)" -gt 0 ]
}

only_c_libraries() {
    local others
    others=$(objdump -p "$library" | awk '$1 == "NEEDED" { print $2 }' |
        grep -vE '^(libc|libm|libpthread|libdl)\.so\.|^ld-linux')
    [ -z "$others" ] || { echo "libweft.so needs $others" && return 1; }
}

soname() { objdump -p "$library" | grep -qE 'SONAME +libweft\.so\.0$'; }

the_command() {
    [ -s "$work/prefix/share/man/man1/weft.1" ] && [ -s "$work/prefix/share/bash-completion/completions/weft" ] &&
        [ -s "$work/prefix/share/zsh/site-functions/_weft" ] && [ "$("$work/prefix/bin/weft" eval 6*x x=7)" = "result = 42" ]
}

if command -v pkg-config >/dev/null; then
    try "a program through pkg-config" with_pkg_config
else
    echo "skipped: a program through pkg-config: not installed"
fi
try "a program through the CMake package" with_cmake
try "the command weft, with its manual and completions" the_command
try "only weft_ symbols are exported" only_weft_symbols
try "only the C library is needed" only_c_libraries
try "the soname" soname
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
