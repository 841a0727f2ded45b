/* Programs of OpenCL devices on disk: found by the next process, and refused ones built anew. The
 * entries for other devices follow from test_device(). */
#include "backend/kernel_text.h"
#include "core/allocate.h"
#include "core/device.h"
#include "kernel/disk.h"
#include "support/opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a reset leaves are the files. */
TEST(found_again)
{
    NEEDS_OPENCL;
    char folder[] = "/tmp/weft-test-XXXXXX", command[64];
    weft_statistics first = {0}, second = {0}, third = {0};
    float value = 0;
    CHECK(mkdtemp(folder));
    weft__disk_choose(folder);
    WEFT_AUTO weft_array *a = weft_full(WEFT_SHAPE(100), 3.0, .device = opencl_device());
    weft_device_synchronize(opencl_device());
    weft_device_reset(opencl_device());
    weft_memory_stats(opencl_device(), &first);
    bool right = a && weft(a = a * 2.5f + 1, a) == WEFT_OK && weft_item(a, &value) == WEFT_OK;
    weft_memory_stats(opencl_device(), &second);
    weft_device_reset(opencl_device());
    right = right && weft(a = a * 2.5f + 1, a) == WEFT_OK && weft_item(a, &value) == WEFT_OK;
    weft_memory_stats(opencl_device(), &third);
    weft__disk_choose(NULL);
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
    CHECK(right && value == 22.25f);
    CHECK_INT(second.compilations, first.compilations + 1);
    CHECK_INT(second.compilations_loaded, first.compilations_loaded);
    CHECK_INT(third.compilations, second.compilations);
    CHECK_INT(third.compilations_loaded, second.compilations_loaded + 1);
}

static const char text[] =
    "__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void weft_kernel(__global int *a)\n"
    "{ a[get_global_id(0)] = 1; }\n";

static char *copy_of(const char *from, size_t bytes)
{
    char *copy = weft__allocate(bytes);
    return copy ? memcpy(copy, from, bytes) : NULL;
}

static weft_status load(const char *binary, size_t bytes, weft__module **module)
{
    weft__kernel_text given = {.text = copy_of(text, sizeof text), .group = 256, .points = 256};
    weft__image image;
    given.binary = binary ? copy_of(binary, bytes) : NULL;
    given.binary_bytes = bytes;
    weft_status status = weft__kernel_text_image(&given, &image);
    weft__device *device = weft__device_get(opencl_device());
    return status == WEFT_OK ? device->backend->module_load(opencl_device().index, &image, module)
                             : status;
}

/* What is no machine code of this device is built from the text, and is then there to be kept. */
TEST(strange_ones_are_built_anew)
{
    NEEDS_OPENCL;
    static const char strange[] = "\177ELF: not at all what the device's driver would write";
    const weft__backend *backend = weft__device_get(opencl_device())->backend;
    weft__module *module, *again, *wrong;
    void *binary = NULL, *none = NULL, *other = NULL;
    size_t bytes = 0, more = 0;
    CHECK_STATUS(load(NULL, 0, &module), WEFT_OK);
    CHECK(backend->module_binary(module, &binary, &bytes) && binary && bytes > 0);
    const weft_status loaded = load(binary, bytes, &again);
    const weft_status built = load(strange, sizeof strange, &wrong);
    const bool is_new = built == WEFT_OK && backend->module_binary(wrong, &other, &more);
    const bool was_kept = loaded == WEFT_OK && !backend->module_binary(again, &none, &more);
    weft__free(binary);
    weft__free(other);
    backend->module_release(module);
    if (loaded == WEFT_OK)
        backend->module_release(again);
    if (built == WEFT_OK)
        backend->module_release(wrong);
    CHECK_STATUS(loaded, WEFT_OK);
    CHECK_STATUS(built, WEFT_OK);
    CHECK(is_new && was_kept);
}

TEST_MAIN(TEST_NO_FAULTS(found_again, OPENCL_SLOW),
          TEST_NO_FAULTS(strange_ones_are_built_anew, OPENCL_SLOW));
