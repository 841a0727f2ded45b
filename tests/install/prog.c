/* A program outside the project, built against the installed library only. */
#include <stdio.h>
#include <string.h>

#include <weft/weft.h>

int main(void)
{
    printf("weft %s\n", weft_version());
    return strcmp(weft_version(), "0.1.0") == 0 ? 0 : 1;
}
