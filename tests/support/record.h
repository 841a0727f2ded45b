/* The outcome of the test that is running: written by the checks, read by the runner. */
#ifndef WEFT_TESTS_SUPPORT_RECORD_H
#define WEFT_TESTS_SUPPORT_RECORD_H

#include <stdbool.h>

void test_record_clear(void);

/* The first failed check, as "file:line: text", or NULL. */
const char *test_record_failure(void);

/* weft_error_code() of the failing thread at that moment. */
int test_record_error_code(void);

/* Why the test was skipped, or NULL. */
const char *test_record_skip(void);

#endif
