# Configures and builds a preset in build/<preset>.

# generator: Ninja where there is one.
generator() { if have ninja; then echo Ninja; else echo "Unix Makefiles"; fi; }

cmake_is_new_enough() {
    local version
    version=$(cmake --version | sed -n 's/^cmake version //p')
    [ "$(printf '3.21\n%s\n' "$version" | sort -V | head -n 1)" = 3.21 ] ||
        die "CMake $version is too old: 3.21 or newer is needed"
}

# configure PRESET [CMAKE ARGUMENT...]
configure() {
    local preset=$1 folder=build/$1 choice=()
    shift
    cmake_is_new_enough
    # A tree that was copied or moved starts anew.
    if [ -f "$folder/CMakeCache.txt" ] &&
        ! grep -qx "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$folder/CMakeCache.txt"; then
        rm -rf "$folder"
    fi
    [ -f "$folder/CMakeCache.txt" ] || choice=(-G "$(generator)")
    mkdir -p build
    logged "build/configure-$preset.log" cmake --preset "$preset" "${choice[@]}" "$@"
}

# build PRESET [TARGET...]: on a terminal the progress is seen, else only what fails.
build() {
    local preset=$1 show=(logged "build/build-$1.log")
    shift
    [ -t 1 ] && show=()
    "${show[@]}" cmake --build "build/$preset" --parallel "$(processors)" ${1:+--target "$@"}
}

# logged LOG COMMAND...: the output goes to the log; the parts that matter are shown on failure.
logged() {
    local log=$1
    shift
    "$@" >"$log" 2>&1 && return
    grep -nE -A 12 'error|warning|FAILED|CMake Error' "$log" | head -n 60
    say "the whole output is in $log"
    return 1
}

# run_ctest PRESET [CTEST ARGUMENT...]: one line for each file of tests, more for those that fail.
run_ctest() {
    local preset=$1 fixed=()
    shift
    # The thread sanitizer does not know every place that random addresses can take.
    [ "$preset" = tsan ] && setarch -R true 2>/dev/null && fixed=(setarch -R)
    "${fixed[@]}" ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$(processors)" "$@" 2>&1 |
        grep -vE '^(Internal ctest|Errors while running|Test project|Label Time|\S+ += .*sec\*proc| +Start +[0-9]+:|$)'
    [ "${PIPESTATUS[0]}" -eq 0 ]
}
