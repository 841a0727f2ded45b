/* Warnings of what is right but slow: told when it happens, and only where somebody listens. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include <weft/weft.h>

static weft_device device(void) { return weft_device_named(test_device()); }

/* What was told: how often of each, and the last text. */
typedef struct heard {
    int count[3];
    char text[512];
} heard;

static void hear(void *context, weft_warning warning, const char *message)
{
    heard *h = context;
    h->count[warning]++;
    snprintf(h->text, sizeof h->text, "%s: %s", weft_warning_name(warning), message);
    weft_error_set(WEFT_ERROR_CALLBACK, "what this does is not the caller's");
}

static void deafen(heard *h)
{
    (void)h;
    weft_warnings_set(NULL, NULL);
}
#define AUTO_HEARD __attribute__((cleanup(deafen))) heard

/* On the CPU nothing of this is slow. */
static int if_device(int count) { return weft_device_equal(device(), WEFT_CPU) ? 0 : count; }

TEST(M3_mixed_memory_is_told)
{
    AUTO_HEARD h = {0};
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(4), .device = device());
    WEFT_AUTO weft_array *b =
        weft_ones(WEFT_SHAPE(4), .device = device(), .memory = WEFT_MEMORY_SHARED);
    CHECK(a && b);
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(weft(a += b, a, b), WEFT_OK); /* nobody listens at first */
        weft_error_clear();
        weft_warnings_set(hear, &h);
        CHECK_STATUS(weft(a += b, a, b), WEFT_OK);
        CHECK_STATUS(weft(a += a, a), WEFT_OK); /* not mixed */
        CHECK_STATUS(weft_error_code(), WEFT_OK);
        CHECK_INT(h.count[WEFT_WARNING_MIXED_MEMORY], if_device(i + 1));
        weft_warnings_set(NULL, NULL);
    }
    if (if_device(1))
        CHECK(strstr(h.text, "mixed memory: weft: operands are in memory of several kinds: a on "));
}

TEST(M1_pageable_copies_are_told)
{
    static float memory[1 << 15];
    AUTO_HEARD h = {0};
    weft_warnings_set(hear, &h);
    WEFT_AUTO weft_array *lent = weft_borrow(memory, sizeof memory, WEFT_SHAPE(1 << 15), WEFT_F32);
    WEFT_AUTO weft_array *few = weft_borrow(memory, 400, WEFT_SHAPE(100), WEFT_F32);
    CHECK(lent && few);
    WEFT_AUTO weft_array *a = weft_to_device(few, device(), NULL);
    CHECK(a);
    CHECK_INT(h.count[WEFT_WARNING_PAGEABLE_COPY], 0);
    WEFT_AUTO weft_array *b = weft_to_device(lent, device(), NULL);
    CHECK(b);
    CHECK_INT(h.count[WEFT_WARNING_PAGEABLE_COPY], if_device(1));
    if (if_device(1))
        CHECK(strstr(h.text, "weft_to_device: 131072 bytes are copied to "));
    WEFT_AUTO weft_array *pinned =
        weft_zeros(WEFT_SHAPE(1 << 15), .device = device(), .memory = WEFT_MEMORY_HOST);
    WEFT_AUTO weft_array *c = weft_asarray(pinned, .memory = WEFT_MEMORY_DEVICE);
    CHECK(c);
    CHECK_INT(h.count[WEFT_WARNING_PAGEABLE_COPY], if_device(1));
}

TEST(E2_host_reads_in_a_loop_are_told)
{
    AUTO_HEARD h = {0};
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(100), .device = device());
    CHECK(a);
    weft_warnings_set(hear, &h);
    for (int i = 0; i < 40; i++) {
        float first = 0;
        CHECK_STATUS(weft_item(a, &first), WEFT_OK);
        CHECK(first == 1);
    }
    CHECK_INT(h.count[WEFT_WARNING_HOST_READS], if_device(2));
}

TEST_MAIN(TEST_OF(M3_mixed_memory_is_told), TEST_OF(M1_pageable_copies_are_told),
          TEST_NO_FAULTS(E2_host_reads_in_a_loop_are_told, "reads of failed runs count too"));
