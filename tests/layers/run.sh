#!/usr/bin/env bash
# The layer check accepts what it should and refuses what it should: it is tried on small trees.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
passed=0
failed=0

# try good|bad FILE INCLUDED: a file that includes another.
try() {
    rm -rf "${tree:?}"/*
    mkdir -p "$tree/$(dirname "$2")"
    echo "#include $3" >"$tree/$2"
    local result=good
    scripts/check_layers.sh "$tree" >/dev/null || result=bad
    if [ $result = "$1" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$2 including $3 is $result, expected $1"
    fi
}

try good src/core/array.c '"core/shape.h"'
try good src/core/array.c '"backend/backend.h"'
try bad src/core/array.c '"backend/other.h"'
try bad src/core/array.c '"backend/cpu/cpu.h"'
try bad src/core/array.c '"kernel/ir.h"'
try bad src/core/array.c '"ops/ops.h"'
try bad src/core/array.c '"shape.h"'
try bad src/core/array.c '<ops/ops.h>'
try good src/core/array.c '<weft/weft.h>'
try good src/core/array.c '<stdlib.h>'
try good src/backend/cpu/memory.c '"backend/backend.h"'
try good src/backend/cpu/memory.c '"backend/cpu/cpu.h"'
try good src/backend/cpu/memory.c '"core/status.h"'
try bad src/backend/cpu/memory.c '"backend/cuda/cuda.h"'
try bad src/backend/cpu/memory.c '"kernel/ir.h"'
try bad src/backend/registry.c '"backend/cpu/cpu.h"'
try good src/backend/backends.c '"backend/cpu/cpu.h"'
try bad src/backend/backends.c '"kernel/ir.h"'
try good src/codegen/interpreter/run.c '"kernel/ir.h"'
try bad src/codegen/interpreter/run.c '"kernel/build.h"'
try good src/codegen/interpreter/run.c '"codegen/interpreter/block.h"'
try good src/kernel/cache.c '"codegen/codegen.h"'
try bad src/kernel/cache.c '"ops/fill.h"'
try good src/ops/fill.c '"kernel/build.h"'
try bad src/ops/fill.c '"lang/parse.h"'
try bad src/lang/parse.c '"function/function.h"'
try good src/function/parse.c '"lang/lang.h"'
try bad src/other/file.c '"core/status.h"'
try bad include/weft/array.h '"core/array.h"'
try good include/weft/array.h '<weft/status.h>'
try good examples/tour.c '<weft/weft.h>'
try bad examples/tour.c '"core/array.h"'
try good bench/rows.c '"measure.h"'
try bad tools/info.c '"core/device.h"'

scripts/check_layers.sh || failed=$((failed + 1))
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
