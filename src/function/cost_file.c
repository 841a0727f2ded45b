/* Costs on disk: a text of a few lines for each device, by its name and driver, in whole numbers,
 * which every locale reads alike. What cannot be read is not there. */
#include "function/cost_file.h"
#include "core/status.h"
#include "kernel/disk_folder.h"
#include "kernel/key.h"
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME = 64, BYTES = 512 };
static const double UNIT = 1e-12; /* of seconds */

#define HEAD "weft costs 2\n"

/* Another device, driver or number of threads has another file. */
static bool name_of(weft_device device, char *name)
{
    weft_device_info info;
    weft_error saved = *weft_error_last();
    if (weft_device_describe(device, &info) != WEFT_OK) {
        weft__error_restore(&saved);
        return false;
    }
    uint64_t hash = weft__hash(7, info.name, strlen(info.name));
    hash = weft__hash(hash, info.driver, strlen(info.driver));
    hash = weft__hash(hash, &info.compute_units, sizeof info.compute_units);
    snprintf(name, NAME, "costs-%d-%d-%016llx.txt", (int)device.kind, (int)device.index,
             (unsigned long long)hash);
    return true;
}

/* Any process of the user's may have written it: numbers that cannot be are not believed. */
static bool is_sensible(const weft_costs *c)
{
    const double seconds[] = {c->launch, c->copy},
                 rates[] = {c->to_device, c->to_host, c->memory, c->operations};
    for (int i = 0; i < 2; i++)
        if (!isfinite(seconds[i]) || seconds[i] < 0 || seconds[i] > 10)
            return false;
    for (int i = 0; i < 4; i++)
        if (!isfinite(rates[i]) || rates[i] < 1e3 || rates[i] > 1e18)
            return false;
    return true;
}

static bool read_text(int folder, const char *name, char *text)
{
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat facts;
    ssize_t bytes = -1;
    if (file < 0)
        return false;
    if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid() &&
        (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0)
        bytes = read(file, text, BYTES - 1);
    close(file);
    text[bytes < 0 ? 0 : bytes] = 0;
    return bytes > 0;
}

bool weft__cost_file_read(weft_device device, weft_costs *costs)
{
    weft_costs found = {.measured = true};
    char name[NAME], text[BYTES];
    int folder = name_of(device, name) ? weft__disk_folder_open() : -1;
    if (folder < 0)
        return false;
    bool there = read_text(folder, name, text);
    close(folder);
    if (!there ||
        sscanf(text,
               HEAD "launch %lf\ncopy %lf\nto_device %lf\nto_host %lf\nmemory %lf\noperations %lf",
               &found.launch, &found.copy, &found.to_device, &found.to_host, &found.memory,
               &found.operations) != 6)
        return false;
    found.launch *= UNIT;
    found.copy *= UNIT;
    if (!is_sensible(&found))
        return false;
    *costs = found;
    return true;
}

bool weft__cost_file_write(weft_device device, const weft_costs *costs)
{
    char name[NAME], part[NAME + 24], text[BYTES];
    int folder = name_of(device, name) ? weft__disk_folder_open() : -1;
    if (folder < 0)
        return false;
    snprintf(part, sizeof part, ".%s.%ld", name, (long)getpid());
    int length = snprintf(
        text, sizeof text,
        HEAD "launch %.0f\ncopy %.0f\nto_device %.0f\nto_host %.0f\nmemory %.0f\noperations %.0f\n",
        costs->launch / UNIT, costs->copy / UNIT, costs->to_device, costs->to_host, costs->memory,
        costs->operations);
    int file = openat(folder, part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool written = file >= 0 && write(file, text, (size_t)length) == length;
    if (file >= 0)
        close(file);
    written = written && renameat(folder, part, folder, name) == 0;
    if (!written)
        unlinkat(folder, part, 0);
    close(folder);
    return written;
}
