#!/usr/bin/env bash
# scripts/gpu_trial.sh [--device D] [--seconds N] [--only PART...]: all that can be found out about a GPU in one go.
# Builds, runs the tests on the device (the quickest first, each with a limit of time, going on after failures), random
# programs, sanitizers and measurements. What came out goes to the folder $OUT, or build/gpu_trial: few files, since
# they may have to be carried away. Needs no network, and no package but a compiler and CMake.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export LC_ALL=C.UTF-8 PYTHONUNBUFFERED=1

device=cuda:0 seconds=300 parts="build info faults bench tests random sanitizer"
while [ $# -gt 0 ]; do
    case "$1" in
    --device) device=$2 && shift 2 ;;
    --seconds) seconds=$2 && shift 2 ;;
    --only) shift && parts="$*" && break ;;
    *) sed -n '2,6s/^# //p' "$0" && exit 2 ;;
    esac
done

out=${OUT:-build/gpu_trial}
build=build/gpu
mkdir -p "$out" build
summary=$out/summary.txt
: >"$summary"
begin=$(date +%s)
left() { echo $((seconds - ($(date +%s) - begin))); }
say() { printf '[%3ss] %s\n' "$(($(date +%s) - begin))" "$*" | tee -a "$summary"; }

export WEFT_CACHE_DIR=$PWD/build/gpu-cache WEFT_TEST_DEVICE=$device
rm -rf "$WEFT_CACHE_DIR"

# limited SECONDS LOG COMMAND...: the status of the command, which has so long at most, and less if less is left.
limited() {
    local limit=$1 log=$2 rest
    shift 2
    rest=$(left)
    [ "$limit" -gt "$rest" ] && limit=$rest
    [ "$limit" -lt 2 ] && return 125
    timeout -k 2 "$limit" "$@" >"$log" 2>&1
}

part_build() {
    local generator="Unix Makefiles"
    command -v ninja >/dev/null && generator=Ninja
    if limited 60 build/gpu-configure.log cmake -B "$build" -G "$generator" -DCMAKE_BUILD_TYPE=Release \
        -DWEFT_BUILD_BENCH=ON -DWEFT_TEST_DEVICES="$device" &&
        limited 200 build/gpu-make.log cmake --build "$build" --parallel "$(nproc)"; then
        say "built"
    else
        cat build/gpu-configure.log build/gpu-make.log >"$out/failures.txt" 2>/dev/null
        say "the build failed: $(grep -m 3 -i error "$out/failures.txt" | tr '\n' ' ')"
    fi
}

part_info() {
    {
        nvidia-smi --query-gpu=name,driver_version,memory.free --format=csv,noheader 2>&1
        "$build/tests/weft_devices" 2>&1
        ldconfig -p | grep -E 'libnvrtc\.so|libcuda\.so'
    } >"$out/info.txt" 2>&1
    limited 30 build/gpu-info.log "$build/tests/test_backend_cuda" --only D2_facts
    local status=$?
    cat build/gpu-info.log >>"$out/info.txt"
    say "devices: $(tr '\n' ' ' <"$out/info.txt" | cut -c 1-300) (status $status)"
}

# Each in a process of its own, several at once; its last line is the result.
run_test() {
    local name=${1##*/test_} log=$2/${1##*/} start=$EPOCHREALTIME status
    timeout -k 2 "$3" "$1" >"$log" 2>&1
    status=$?
    printf '%s status %d %.1f s: %s\n' "$name" "$status" "$(bc -l <<<"$EPOCHREALTIME - $start" 2>/dev/null || echo 0)" \
        "$(tail -n 1 "$log")"
}
export -f run_test

part_tests() {
    local logs=build/gpu-tests limit=60 list
    rm -rf "$logs" && mkdir -p "$logs"
    [ "$(left)" -lt 130 ] && limit=$(($(left) / 2))
    list=$(grep -lE '[^a-z_](test_)?device\(\)' tests/*/test_*.c | sed "s,tests/\([^/]*\)/test_\(.*\)\.c,$build/tests/test_\1_\2,")
    # shellcheck disable=SC2086
    printf '%s\n' $list | xargs -P 12 -I{} bash -c 'run_test {} '"$logs $limit" >"$out/tests.txt"
    say "tests: $(grep -c 'status 0' "$out/tests.txt") files passed, $(grep -vc 'status 0' "$out/tests.txt") not"
    grep -v 'status 0' "$out/tests.txt" >>"$summary"
    for list in $(grep -v 'status 0' "$out/tests.txt" | cut -d ' ' -f 1); do
        echo "=== $list"
        grep -vE '^\[( RUN|  *OK)' "$logs/test_$list" | head -n 60
        tail -n 3 "$logs/test_$list"
    done >>"$out/failures.txt"
}

# What takes the device's context with it.
part_faults() {
    limited 40 build/gpu-faults.log "$build/tests/test_backend_cuda"
    say "faults: status $?, $(tail -n 1 build/gpu-faults.log), $(grep -m 1 'after its fault' build/gpu-faults.log)"
    limited 20 build/gpu-nvrtc.log "$build/tests/test_codegen_nvrtc"
    say "compiler: $(grep 'NVRTC' build/gpu-nvrtc.log)"
    cp build/gpu-faults.log "$out/faults.txt"
}

part_random() {
    limited 55 build/gpu-random.log tests/random/run.sh run.py --library "$build/libweft.so" --count 20000 --seconds 40 \
        --workers 14 --device "$device"
    say "random programs: status $?, $(tail -n 1 build/gpu-random.log)"
    tail -c 200000 build/gpu-random.log >"$out/random.txt"
}

part_sanitizer() {
    local tool sanitizer
    sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
    : >"$out/sanitizer.txt"
    for tool in memcheck racecheck; do
        limited 30 build/gpu-sanitizer.log env WEFT_TEST_KERNELS=8 "$sanitizer" --tool $tool --error-exitcode 9 \
            "$build/tests/test_codegen_c_like"
        say "compute-sanitizer $tool: status $?, $(grep -m 1 'ERROR SUMMARY\|RACECHECK SUMMARY' build/gpu-sanitizer.log)"
        tail -c 100000 build/gpu-sanitizer.log >>"$out/sanitizer.txt"
    done
}

# Alone: what ran beside would be measured too.
part_bench() {
    : >"$out/bench.jsonl"
    limited 40 build/gpu-floor.log "$build/bench/floor"
    say "floor: status $?"
    limited 120 build/gpu-bench.log "$build/bench/expressions" --device "$device"
    say "expressions: status $?"
    cat build/gpu-floor.log build/gpu-bench.log >>"$out/bench.jsonl"
    sed -n 's/.*"work": "\([^"]*\)", "who": "\([^"]*\)".*"seconds": \([^,]*\), "gbps": \([0-9.e+]*\).*/\4 GB\/s  \3 s  \2: \1/p' \
        "$out/bench.jsonl" >>"$summary"
}

for part in $parts; do
    [ "$(left)" -gt 5 ] || { say "no time is left for $part" && continue; }
    "part_$part"
done
say "end"
cat "$summary"
