/* The command weft: looks at and changes what Weft keeps on this machine. */
#include <stdio.h>
#include <string.h>
#include <weft/weft.h>

static int usage(void)
{
    fprintf(stderr, "usage: weft cache         shows the disk cache of compiled kernels\n"
                    "       weft cache clear   empties it\n");
    return 2;
}

static int fail(void)
{
    fprintf(stderr, "weft: %s\n", weft_error_message());
    return 1;
}

static int show_cache(void)
{
    weft_cache_info info;
    if (weft_cache_describe(&info) != WEFT_OK)
        return fail();
    if (!info.folder[0]) {
        printf("there is no disk cache: WEFT_CACHE is off, or the environment has no HOME\n");
        return 0;
    }
    printf("folder   %s\n", info.folder);
    printf("entries  %llu\n", (unsigned long long)info.entries);
    printf("bytes    %llu of at most %llu\n", (unsigned long long)info.bytes,
           (unsigned long long)info.limit);
    return 0;
}

static int run_cache(int count, char **arguments)
{
    if (count == 0)
        return show_cache();
    if (count == 1 && strcmp(arguments[0], "clear") == 0)
        return weft_cache_clear() == WEFT_OK ? show_cache() : fail();
    return usage();
}

int main(int count, char **arguments)
{
    if (count >= 2 && strcmp(arguments[1], "cache") == 0)
        return run_cache(count - 2, arguments + 2);
    return usage();
}
