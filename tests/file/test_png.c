/* Pictures as PNG: what is refused, and that nothing is left behind. What is in them png_files.py
 * looks at. */
#include "support/arrays.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/weft.h>

static long size_of(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 ? (long)facts.st_size : -1;
}

TEST(png_of_every_real_dtype)
{
    char path[128];
    (void)snprintf(path, sizeof path, "/tmp/weft-test-png-%ld.png", (long)getpid());
    for (int dtype = 1; dtype < WEFT_C64; dtype++) {
        WEFT_AUTO weft_array *line =
            weft_arange(0, 2, 1, .dtype = (weft_dtype)dtype, .device = device());
        WEFT_AUTO weft_array *row = weft_reshape(line, WEFT_SHAPE(1, 2));
        WEFT_AUTO weft_array *wide = weft_broadcast(row, WEFT_SHAPE(3, 2));
        WEFT_AUTO weft_array *turned = weft_transpose(wide);
        CHECK(turned);
        CHECK_STATUS(weft_save_png(path, turned, .colours = (weft_colours)(dtype % 4)), WEFT_OK);
        CHECK(size_of(path) > 60);
        CHECK_INT(unlink(path), 0);
    }
}

TEST(png_refuses)
{
    WEFT_AUTO weft_array *cube = weft_zeros(WEFT_SHAPE(2, 2, 2), .device = device());
    WEFT_AUTO weft_array *none = weft_zeros(WEFT_SHAPE(2, 0), .device = device());
    WEFT_AUTO weft_array *numbers = weft_zeros(WEFT_SHAPE(2, 2), .dtype = WEFT_C64);
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(2, 2), .device = device());
    CHECK(cube && none && numbers && a);
    char path[64];
    snprintf(path, sizeof path, "/tmp/weft-test-png-%d-refused.png", (int)getpid());
    (void)unlink(path);
    CHECK_STATUS(weft_save_png(path, cube), WEFT_ERROR_SHAPE);
    CHECK_ERROR(WEFT_ERROR_SHAPE, "(2, 2, 2)");
    CHECK_STATUS(weft_save_png(path, none), WEFT_ERROR_SHAPE);
    CHECK_STATUS(weft_save_png(path, numbers), WEFT_ERROR_DTYPE);
    CHECK_STATUS(weft_save_png(path, a, .colours = (weft_colours)9), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_save_png(path, a, .low = (double)NAN), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_save_png("/dev/null/a.png", a), WEFT_ERROR_SYSTEM);
    CHECK_INT(size_of(path), -1);
}

TEST_MAIN(TEST_OF(png_of_every_real_dtype), TEST_OF(png_refuses));
