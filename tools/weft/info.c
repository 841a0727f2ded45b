/* weft info: the devices of this machine, and why others are missing. */
#include "command.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char help[] = "usage: weft info [--calibrate] [--json]\n"
                           "\n"
                           "Shows the devices of this machine, with the name to use, memory, "
                           "drivers and compilers, and why\n"
                           "CUDA, OpenCL or the compiling engine of the CPU are missing.\n"
                           "  --calibrate  measures first what computing and copying costs on "
                           "each device, and keeps it:\n"
                           "               functions in a device context decide by it which of "
                           "their parts go there\n"
                           "  --json   {\"version\", \"default\", \"devices\": [{\"id\", ...}], "
                           "\"missing\": [{\"what\", \"why\"}]}\n";

typedef struct missing {
    const char *what;
    char why[640];
} missing;

/* The library's message for a device that is not there has the reason in it. */
static bool find_reason(const char *name, const char *label, missing *found)
{
    weft_error_clear();
    if (weft_device_named(name).kind > 0)
        return false;
    const char *message = weft_error_message(), *begin = strstr(message, label);
    const char *end = begin ? strstr(begin, ". Names look") : NULL;
    (void)snprintf(found->why, sizeof found->why, "%.*s",
                   end ? (int)(end - begin - (int)strlen(label)) : 600,
                   begin ? begin + strlen(label) : "there is no such device");
    return true;
}

static bool find_no_llvm(missing *found)
{
    const char *names[] = {"a", "c"};
    WEFT_AUTO weft_array *a = weft_zeros(WEFT_SHAPE(4), .device = WEFT_CPU);
    WEFT_AUTO weft_array *c = weft_zeros(WEFT_SHAPE(4), .device = WEFT_CPU);
    const weft_operand values[] = {WEFT_OPERAND(a), WEFT_OPERAND(c)};
    char *text = NULL;
    weft_error_clear();
    const weft_status status = weft_explain_code(&text, "llvm", "c = a + 1", 2, names, values);
    weft_explain_free(text);
    (void)snprintf(found->why, sizeof found->why, "%s", weft_error_message());
    return status != WEFT_OK;
}

static int find_missing(missing *list)
{
    int count = 0;
    list[count].what = "CUDA";
    count += find_reason("cuda:0", "CUDA: ", &list[count]);
    list[count].what = "OpenCL";
    count += find_reason("opencl:0", "OpenCL: ", &list[count]);
    list[count].what = "LLVM, the compiling engine of the CPU";
    count += find_no_llvm(&list[count]);
    return count;
}

/* Names of the dtypes that a device has, or lacks. */
static void show_dtypes(const weft_device_info *info, bool has, const char *before,
                        const char *after)
{
    bool first = true;
    for (int k = 1; k < WEFT_DTYPE_END; k++)
        if (((info->dtypes >> k & 1) != 0) == has) {
            printf("%s%s%s%s", first ? "" : ", ", before, weft_dtype_name((weft_dtype)k), after);
            first = false;
        }
}

static void show_costs_json(weft_device device)
{
    weft_costs c;
    if (weft_device_costs(device, &c) == WEFT_OK)
        printf(", \"costs\": {\"measured\": %s, \"launch\": %.6g, \"copy\": %.6g, \"to_device\": "
               "%.6g, "
               "\"to_host\": %.6g, \"memory\": %.6g, \"operations\": %.6g}",
               c.measured ? "true" : "false", c.launch, c.copy, c.to_device, c.to_host, c.memory,
               c.operations);
}

static void show_costs(weft_device device)
{
    weft_costs c;
    if (weft_device_costs(device, &c) == WEFT_OK)
        printf(
            "          costs, %s: launch %.3g us, copy %.3g us, %.3g GB/s to it, %.3g GB/s back, "
            "kernels %.3g GB/s and %.3g G operations/s\n",
            c.measured ? "measured" : "guessed", 1e6 * c.launch, 1e6 * c.copy, 1e-9 * c.to_device,
            1e-9 * c.to_host, 1e-9 * c.memory, 1e-9 * c.operations);
}

static void show_device_json(weft_device device, const weft_device_info *info)
{
    const char *id = weft_device_id(device);
    static const char *const kinds[] = {"none", "cpu", "cuda", "opencl"};
    const struct {
        const char *key, *value;
    } texts[] = {{"id", id},
                 {"name", info->name},
                 {"kind", kinds[info->kind]},
                 {"driver", info->driver},
                 {"compiler", info->compiler},
                 {"same_bits_why", info->same_bits_why},
                 {"shared_memory_why", info->shared_memory_why}};
    printf("{");
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        printf("\"%s\": ", texts[k].key);
        json_text(texts[k].value);
        printf(", ");
    }
    printf("\"compute_units\": %d, \"memory_total\": %llu, \"memory_free\": %llu, "
           "\"unified_memory\": %s, \"same_bits\": %s, \"shared_memory\": %s, \"dtypes\": [",
           info->compute_units, (unsigned long long)info->memory_total,
           (unsigned long long)info->memory_free, info->unified_memory ? "true" : "false",
           info->same_bits ? "true" : "false", info->shared_memory ? "true" : "false");
    show_dtypes(info, true, "\"", "\"");
    printf("]");
    show_costs_json(device);
    printf("}");
}

static void show_device(weft_device device, const weft_device_info *info)
{
    const uint32_t all = (1u << WEFT_DTYPE_END) - 2;
    printf("%-9s %s\n", weft_device_id(device), info->name);
    printf("          %d compute units, %.1f of %.1f GiB free%s\n", info->compute_units,
           (double)info->memory_free / (1 << 30), (double)info->memory_total / (1 << 30),
           info->unified_memory ? ", one memory with the host" : "");
    printf("          driver %s, compiler %s\n", info->driver, info->compiler);
    if ((info->dtypes & all) != all) {
        printf("          without ");
        show_dtypes(info, false, "", "");
        printf("\n");
    }
    if (!info->same_bits)
        printf("          other bits than elsewhere: %s\n", info->same_bits_why);
    if (!info->shared_memory)
        printf("          memory of the kinds shared and host is the device's own: %s\n",
               info->shared_memory_why);
    show_costs(device);
}

static int show_devices(bool json)
{
    const int count = weft_device_count();
    for (int k = 0; k < count; k++) {
        weft_device_info info;
        const weft_device device = weft_device_at(k);
        if (weft_device_describe(device, &info) != WEFT_OK)
            return failed_call();
        if (json) {
            printf(k ? ", " : "");
            show_device_json(device, &info);
        } else
            show_device(device, &info);
    }
    return DONE;
}

/* A default that is wrong is an error, and the rest is what helps then. */
static int show_default(bool json)
{
    const weft_device usual = weft_device_default();
    const bool known = usual.kind > 0;
    const int code = known ? DONE : failed_call();
    const char *quote = json && known ? "\"" : "";
    printf(json ? "{\"version\": \"%s\", \"default\": %s%s%s, \"devices\": ["
                : "Weft %s, default device %s%s%s\n\n",
           weft_version(), quote,
           known  ? weft_device_id(usual)
           : json ? "null"
                  : "unknown",
           quote);
    return code;
}

static int show(bool json)
{
    missing list[3];
    const int usual = show_default(json), code = show_devices(json);
    const int count = code == DONE ? find_missing(list) : 0;
    printf(json ? "], \"missing\": [" : count ? "\nMissing:\n" : "");
    for (int k = 0; k < count; k++) {
        if (!json) {
            printf("  %s: %s\n", list[k].what, list[k].why);
            continue;
        }
        printf("%s{\"what\": ", k ? ", " : "");
        json_text(list[k].what);
        printf(", \"why\": ");
        json_text(list[k].why);
        printf("}");
    }
    printf(json ? "]}\n" : "");
    return code == DONE ? usual : code;
}

static int calibrate(void)
{
    const int count = weft_device_count();
    for (int k = 0; k < count; k++)
        if (weft_device_calibrate(weft_device_at(k)) != WEFT_OK)
            return failed_call();
    return DONE;
}

/* Measured for this process alone: nobody will see it. */
static int check_kept(void)
{
    weft_cache_info cache;
    if (weft_cache_describe(&cache) != WEFT_OK)
        return failed_call();
    if (!cache.folder[0])
        return failed("what was measured is not kept: WEFT_CACHE is off, or the environment has "
                      "no HOME");
    return access(cache.folder, W_OK | X_OK) == 0
               ? DONE
               : failed("what was measured is not kept: %s: %s", cache.folder, strerror(errno));
}

int command_info(int count, char **arguments)
{
    bool json = false, measure = false;
    for (int k = 0; k < count; k++) {
        if (is_help(arguments[k])) {
            fputs(help, stdout);
            return DONE;
        }
        if (strcmp(arguments[k], "--json") == 0)
            json = true;
        else if (strcmp(arguments[k], "--calibrate") == 0)
            measure = true;
        else
            return wrong_usage("info", "'%s' is neither --calibrate nor --json", arguments[k]);
    }
    int code = measure ? calibrate() : DONE;
    if (code == DONE)
        code = show(json);
    return code == DONE && measure ? check_kept() : code;
}
