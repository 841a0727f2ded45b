/* Failures of functions: each says where in the text it happened. */
#include "support/arrays.h"
#include "support/check.h"
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>

#define ALWAYS (.offload = WEFT_OFFLOAD_ALWAYS)

WEFT_FUNCTION_WITH(steps, ALWAYS, (x), {
    x = x + 1;
    x = x * 2;
    look_at(x);
    for (k = 0; k < 10; k++)
        x = x - 1;
});

static weft_status look(int count, const weft_operand *arguments, void *context)
{
    (void)count, (void)arguments, (void)context;
    return WEFT_OK;
}

/* Calls until it fails, in the device's context. */
static weft_status call_often(weft_device where, int calls)
{
    int values[100] = {0};
    weft_status status = WEFT_OK;
    WEFT_AUTO weft_array *x = weft_borrow(values, sizeof values, WEFT_SHAPE(100), WEFT_I32);
    if (!x)
        return weft_error_code();
    WEFT_ON(where);
    for (int k = 0; k < calls && status == WEFT_OK; k++)
        status = weft_call(steps, NULL, x);
    return status;
}

static weft_status call_on_host(void)
{
    int values[100] = {0};
    WEFT_AUTO weft_array *x = weft_borrow(values, sizeof values, WEFT_SHAPE(100), WEFT_I32);
    const weft_status status = x ? weft_call(steps, NULL, x) : weft_error_code();
    return status == WEFT_OK && values[99] != -8 ? WEFT_ERROR_ARGUMENT : status;
}

static bool has_place(void)
{
    const char *message = weft_error_message(), *line = strstr(message, "\n    ");
    return strstr(message, "function 'steps': ") && line && strstr(line, "x = x") &&
           message[strlen(message) - 1] == '^';
}

/* A device that disappears while it works: the statement is shown, and the host works on. */
TEST(F5_device_disappears)
{
    if (!test_alone()) {
        setenv("WEFT_OPENCL", test_library(WEFT_TEST_STAND_IN), 1);
        setenv("STAND_IN", "lost", 1);
        const bool passed = test_passes_alone("F5_device_disappears");
        unsetenv("WEFT_OPENCL");
        unsetenv("STAND_IN");
        CHECK(passed);
        return;
    }
    const weft_device lost = weft_device_named("opencl:0");
    CHECK_STATUS(weft_host_bind("look_at", look, .access = "read"), WEFT_OK);
    CHECK_INT(lost.kind, WEFT_DEVICE_OPENCL);
    CHECK(call_often(lost, 4) != WEFT_OK);
    CHECK(has_place());
    CHECK(call_often(lost, 1) != WEFT_OK); /* it stays away */
    CHECK(has_place());
    CHECK_STATUS(call_on_host(), WEFT_OK);
}

/* A context of a device that is not there. */
TEST(F5_no_such_device)
{
    CHECK_STATUS(weft_host_bind("look_at", look, .access = "read"), WEFT_OK);
    CHECK_STATUS(weft_device_push(weft_device_named("opencl:77")), WEFT_ERROR_DEVICE);
    CHECK_STATUS(call_on_host(), WEFT_OK);
}

static weft_status refuse(int count, const weft_operand *arguments, void *context)
{
    (void)count, (void)arguments, (void)context;
    return weft_error_set(WEFT_ERROR_CALLBACK, "the printer is on fire");
}

static weft_status refuse_silently(int count, const weft_operand *arguments, void *context)
{
    (void)count, (void)arguments, (void)context;
    return WEFT_ERROR_CALLBACK;
}

WEFT_FUNCTION(prints, (x), {
    x = x + 1;
    out_there(x);
});
WEFT_FUNCTION_WITH(torn, (.serial = true, .offload = WEFT_OFFLOAD_ALWAYS), (x), { x = 1; });
WEFT_FUNCTION_WITH(strange, (.offload = (weft_offload)7), (x), { x = 1; });
WEFT_FUNCTION(pair, (x, second), { x = second; });

TEST(F1_places_of_failures)
{
    WEFT_AUTO weft_array *x = weft_zeros(WEFT_SHAPE(4), .device = device());
    CHECK(x);
    CHECK_STATUS(weft_host_bind("out_there", NULL), WEFT_OK);
    CHECK_STATUS(weft_call(prints, NULL, x), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT,
                "no host function is called 'out_there'; bind it with "
                "weft_host_bind\n    x = x + 1; out_there(x);\n               ^");
    CHECK_STATUS(weft_host_bind("out_there", refuse), WEFT_OK);
    CHECK_STATUS(weft_call(prints, NULL, (weft_array *)NULL),
                 WEFT_ERROR_ARGUMENT); /* which keeps the record */
    CHECK_STATUS(weft_call(prints, NULL, x), WEFT_ERROR_CALLBACK);
    CHECK_ERROR(WEFT_ERROR_CALLBACK,
                "the printer is on fire\n    x = x + 1; out_there(x);\n               ^");
    CHECK_STATUS(weft_host_bind("out_there", refuse_silently), WEFT_OK);
    CHECK_STATUS(weft_call(prints, NULL, x), WEFT_ERROR_CALLBACK);
    CHECK_ERROR(WEFT_ERROR_CALLBACK, "host function 'out_there' failed\n    x = x + 1;");
    CHECK_STATUS(weft_call(torn, NULL, x), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "its options contradict each other, at ");
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "test_failures.c:");
    CHECK_STATUS(weft_call(strange, NULL, x), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "offload is 7");
    CHECK_STATUS(weft_call(pair, NULL, x), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "and 1 argument was given\n    (x, second)\n        ^");
    CHECK_STATUS(weft_call(pair, NULL, x, 1, 2), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT,
                "and 3 arguments were given\n    (x, second)\n              ^");
}

#define PROCESS "the failing allocations are those of another process"
TEST_MAIN(TEST_NO_FAULTS(F5_device_disappears, PROCESS), TEST_OF(F5_no_such_device),
          TEST_OF(F1_places_of_failures));
