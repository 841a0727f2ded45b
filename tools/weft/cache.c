/* weft cache: the disk cache of compiled kernels. */
#include "command.h"
#include <string.h>

static const char help[] = "usage: weft cache [clear] [--json]\n"
                           "\n"
                           "Shows the disk cache of compiled kernels: its folder, its entries and "
                           "their size.\n"
                           "  clear    empties it; programs that run keep what they have loaded\n"
                           "  --json   as JSON: folder, entries, bytes, limit\n"
                           "\n"
                           "WEFT_CACHE_DIR names another folder, WEFT_CACHE=off turns it off.\n";

static void show_json(const weft_cache_info *info)
{
    printf("{\"folder\": ");
    json_text(info->folder);
    printf(", \"entries\": %llu, \"bytes\": %llu, \"limit\": %llu}\n",
           (unsigned long long)info->entries, (unsigned long long)info->bytes,
           (unsigned long long)info->limit);
}

static int show(bool json)
{
    weft_cache_info info;
    if (weft_cache_describe(&info) != WEFT_OK)
        return failed_call();
    if (json)
        show_json(&info);
    else if (!info.folder[0])
        printf("there is no disk cache: WEFT_CACHE is off, or the environment has no HOME\n");
    else
        printf("folder   %s\nentries  %llu\nbytes    %llu of at most %llu\n", info.folder,
               (unsigned long long)info.entries, (unsigned long long)info.bytes,
               (unsigned long long)info.limit);
    return DONE;
}

int command_cache(int count, char **arguments)
{
    bool clear = false, json = false;
    for (int k = 0; k < count; k++) {
        if (is_help(arguments[k])) {
            fputs(help, stdout);
            return DONE;
        }
        if (strcmp(arguments[k], "clear") == 0)
            clear = true;
        else if (strcmp(arguments[k], "--json") == 0)
            json = true;
        else
            return wrong_usage("cache", "'%s' is neither clear nor --json", arguments[k]);
    }
    if (clear && weft_cache_clear() != WEFT_OK)
        return failed_call();
    return show(json);
}
