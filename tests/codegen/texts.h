/* The texts for GPUs, run by whatever device there is, on arrays of any size. */
#ifndef WEFT_TESTS_CODEGEN_TEXTS_H
#define WEFT_TESTS_CODEGEN_TEXTS_H

#include "codegen/c_like.h"
#include "support/check.h"

static inline weft_device text_device(void)
{
    weft_device given = weft_device_named(test_device());
    return given.kind > WEFT_DEVICE_CPU ? given : weft_device_named("opencl:0");
}

/* Checks that each of `count` trials, of so many bytes, is the same there as on the CPU. */
static inline void check_texts(bool (*is_same)(const void *trial), const void *trials, size_t bytes,
                               size_t count)
{
    if (text_device().kind == WEFT_DEVICE_INVALID)
        SKIP(weft_error_message());
    weft__c_like_as_gpu(true);
    weft__c_like_share(0);
    bool same = true;
    for (size_t k = 0; k < count && same; k += test_quick() ? 3 : 1)
        same = is_same((const char *)trials + k * bytes);
    weft__c_like_share(-1);
    weft__c_like_as_gpu(false);
    CHECK(same);
}
#define CHECK_ALL(trials)                                                                          \
    check_texts(is_same, trials, sizeof *(trials), sizeof(trials) / sizeof *(trials))

#endif
