/* What the examples share: a failed call ends them, and so does a wrong result. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stdio.h>
#include <stdlib.h>
#include <weft/weft.h>

/* Ends the program if a call failed, with what it says. */
static inline void check(weft_status status, const char *what)
{
    if (status == WEFT_OK)
        return;
    fprintf(stderr, "%s: %s\n", what, weft_error_message());
    exit(1);
}

/* Ends the program if a result is not what it should be. */
static inline void expect(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "wrong: %s\n", what);
    exit(1);
}

#endif
