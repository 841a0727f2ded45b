/* Running a kernel with the compiling engine beside the interpreter, on the same memory. */
#ifndef WEFT_TESTS_CODEGEN_TEST_LLVM_H
#define WEFT_TESTS_CODEGEN_TEST_LLVM_H

#include "codegen/corners.h"
#include "codegen/interpreter/memory.h"
#include "codegen/llvm.h"
#include "codegen/trials.h"
#include "core/allocate.h"

/* Leaves the test if there is no libLLVM. */
#define NEEDS_LLVM                                                                                 \
    do {                                                                                           \
        if (weft__llvm_open() != WEFT_OK)                                                          \
            SKIP(weft_error_message());                                                            \
    } while (0)

static inline weft_status compile_full(const struct tiny *tiny, const struct tiny_launch *at,
                                       weft__object *object)
{
    weft__effort effort = WEFT__EFFORT_FULL;
    return weft__llvm_compile(&tiny->kernel, &at->launch, &effort, object);
}

static inline weft_status native_compile(const struct tiny *tiny, const struct tiny_launch *at,
                                         weft__effort effort, weft__image *image)
{
    weft__object object = {0};
    weft_status status = weft__llvm_compile(&tiny->kernel, &at->launch, &effort, &object);
    if (status == WEFT_OK)
        status = weft__object_load(&object, image);
    weft__object_free(&object);
    return status;
}

/* Runs a launch in pieces, last one first; cut at multiples of the grain. */
static inline void run_pieces(const weft__image *image, const weft__launch *launch, int64_t grain)
{
    for (int64_t end = launch->count; end > 0;) {
        const int64_t grains = (end + grain - 1) / grain;
        const int64_t begin = random_below(grains) * grain;
        image->entry(image->program, launch, begin, end);
        end = begin;
    }
}

/* Both engines leave the same bytes everywhere, also where they should write nothing. The compiled
 * code, which is optimized every other time, runs as if arrays were large at random, and in pieces
 * of `grain`, or as it likes if that is 0. */
static inline bool trial_run(struct trial *trial, int64_t grain)
{
    static int number;
    const weft__effort effort = number++ % 2 ? WEFT__EFFORT_QUICK : WEFT__EFFORT_FULL;
    struct tiny_launch at;
    weft__image image = {0};
    trial_launch(trial, 0, &at);
    CHECK_OR(tiny_run(&trial->tiny, &at) == WEFT_OK, false);
    trial_launch(trial, 1, &at);
    CHECK_OR(native_compile(&trial->tiny, &at, effort, &image) == WEFT_OK, false);
    weft__memory_set_streaming_bytes(random_below(2));
    run_pieces(&image, &at.launch,
               grain > 0 ? grain : weft__llvm_grain(&trial->tiny.kernel, &at.launch));
    weft__memory_set_streaming_bytes(0);
    image_release(&image);
    return trial_same(trial);
}

#endif
