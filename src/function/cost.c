/* Costs of devices: guesses from what a device is, replaced by what was measured and kept in the
 * cache folder. They change only when somebody measures, so that decisions can be repeated. */
#include "function/cost.h"
#include "core/device.h"
#include "function/cost_file.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { ENTRIES_MAX = 128 };

typedef struct entry {
    weft_device device;
    weft_costs costs;
} entry;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static entry entries[ENTRIES_MAX]; /* the last one of a device counts; those before it stay */
static _Atomic int entries_count;

static const weft_costs *find(weft_device device)
{
    for (int i = atomic_load_explicit(&entries_count, memory_order_acquire); i-- > 0;)
        if (weft_device_equal(entries[i].device, device))
            return &entries[i].costs;
    return NULL;
}

/* Seconds and rates of a usual device of the kind. */
static weft_costs guess(weft_device device)
{
    weft_device_info info = {.compute_units = 1};
    weft_error saved = *weft_error_last();
    if (weft_device_describe(device, &info) != WEFT_OK)
        weft__error_restore(&saved);
    const double units = info.compute_units < 1    ? 1
                         : info.compute_units > 16 ? 16
                                                   : info.compute_units;
    const weft_costs host = {false, 3e-7, 3e-7, 8e9, 8e9, 6e9 + 2e9 * units, 2e10 * units};
    if (device.kind == WEFT_DEVICE_CUDA)
        return (weft_costs){false, 6e-6, 8e-6, 1.2e10, 1.2e10, 1e12, 5e12};
    if (device.kind == WEFT_DEVICE_OPENCL && info.unified_memory)
        return (weft_costs){false, 4e-5, 3e-5, 8e9, 8e9, host.memory, host.operations};
    if (device.kind == WEFT_DEVICE_OPENCL)
        return (weft_costs){false, 1.5e-5, 1.5e-5, 1e10, 1e10, 3e11, 1e12};
    return host;
}

static bool add(weft_device device, const weft_costs *costs)
{
    const int count = atomic_load_explicit(&entries_count, memory_order_relaxed);
    if (count == ENTRIES_MAX)
        return false;
    entries[count] = (entry){device, *costs};
    atomic_store_explicit(&entries_count, count + 1, memory_order_release);
    return true;
}

const weft_costs *weft__costs_of(weft_device device)
{
    const weft_costs *found = find(device);
    if (found)
        return found;
    weft_costs costs = guess(device);
    weft__cost_file_read(device, &costs);
    pthread_mutex_lock(&mutex);
    if (!find(device))
        add(device, &costs);
    pthread_mutex_unlock(&mutex);
    found = find(device);
    return found ? found : &entries[0].costs;
}

bool weft__costs_set(weft_device device, const weft_costs *costs)
{
    pthread_mutex_lock(&mutex);
    const bool added = add(device, costs);
    pthread_mutex_unlock(&mutex);
    return added;
}

weft_status weft_device_costs_sized(weft_device device, weft_costs *costs, size_t costs_size)
{
    OPERATION("weft_device_costs");
    TRY(weft__check_result(costs, "costs"));
    if (!weft__device_get(device))
        return WEFT_ERROR_DEVICE;
    memcpy(costs, weft__costs_of(device),
           costs_size < sizeof(weft_costs) ? costs_size : sizeof(weft_costs));
    return WEFT_OK;
}
