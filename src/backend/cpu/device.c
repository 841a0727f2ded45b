/* The CPU as a device: its name, its memory, its versions. */
#include "backend/cpu/cpu.h"
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

int weft__cpu_device_count(const char **why)
{
    (void)why;
    return 1;
}

/* Copies what follows the colon of the first line that begins with `key`; false if there is none.
 */
static bool read_field(const char *path, const char *key, char *value, size_t room)
{
    char line[512];
    bool found = false;
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, key, strlen(key)) != 0 || !colon)
            continue;
        const char *text = colon + 1 + strspn(colon + 1, " \t");
        snprintf(value, room, "%.*s", (int)strcspn(text, "\n"), text);
        found = true;
    }
    if (file)
        fclose(file);
    return found;
}

static void describe_memory(weft_device_info *info)
{
    struct sysinfo system;
    char text[64];
    unsigned long long kibibytes;
    if (sysinfo(&system) == 0) {
        info->memory_total = (uint64_t)system.totalram * system.mem_unit;
        info->memory_free = (uint64_t)system.freeram * system.mem_unit;
    }
    /* what the page cache holds is free too */
    if (read_field("/proc/meminfo", "MemAvailable", text, sizeof text) &&
        sscanf(text, "%llu", &kibibytes) == 1)
        info->memory_free = (uint64_t)kibibytes * 1024;
}

weft_status weft__cpu_device_describe(int index, weft_device_info *info)
{
    (void)index;
    struct utsname kernel;
    memset(info, 0, sizeof *info);
    bool known = uname(&kernel) == 0;
    if (!read_field("/proc/cpuinfo", "model name", info->name, sizeof info->name))
        snprintf(info->name, sizeof info->name, "%.64s CPU", known ? kernel.machine : "unknown");
    info->kind = WEFT_DEVICE_CPU;
    info->compute_units = weft__cpu_threads();
    describe_memory(info);
    snprintf(info->driver, sizeof info->driver, "%.63s", known ? kernel.release : "unknown");
    snprintf(info->compiler, sizeof info->compiler, "interpreter; LLVM where libLLVM is found");
    for (int dtype = WEFT_DTYPE_DEFAULT + 1; dtype < WEFT_DTYPE_END; dtype++)
        info->dtypes |= 1u << dtype;
    info->unified_memory = true;
    info->same_bits = true;
    return WEFT_OK;
}

/* Kernels and memory are cached by the layers above; the threads may stay. */
weft_status weft__cpu_device_reset(int index)
{
    (void)index;
    return WEFT_OK;
}
