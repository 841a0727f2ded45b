/* The devices of this machine, with what the library keeps for each. */
#ifndef WEFT_CORE_DEVICE_H
#define WEFT_CORE_DEVICE_H

#include "backend/backend.h"
#include "core/pool.h"
#include "core/statistics.h"
#include "core/status.h"

typedef struct weft__device {
    weft_device id;
    char name[24]; /* "cuda:0" */
    const weft__backend *backend;
    weft__statistics statistics;
    weft__pool pool;
    _Atomic(weft_stream *) default_stream; /* made at the first use; one reference is ours */
    pthread_mutex_t mutex;                 /* guards its making */
    _Atomic uint64_t resets;               /* how often it was reset */
} weft__device;

enum { WEFT__DEVICES_MAX = 64, WEFT__DEVICE_KINDS = 4 };

/* Those that were asked for so far, by kind and index; else NULL. */
extern _Atomic(weft__device *) weft__devices_known[WEFT__DEVICE_KINDS][WEFT__DEVICES_MAX];

/* NULL, with the record set, if there is no such device. */
weft__device *weft__device_look_up(weft_device device);
static inline weft__device *weft__device_get(weft_device device)
{
    weft__device *known = NULL;
    if ((unsigned)device.kind < WEFT__DEVICE_KINDS && (unsigned)device.index < WEFT__DEVICES_MAX)
        known = atomic_load_explicit(&weft__devices_known[device.kind][device.index],
                                     memory_order_acquire);
    return known ? known : weft__device_look_up(device);
}
/* The k-th device, or NULL, of those that were asked for so far: the CPU, or all. */
weft__device *weft__device_at(int position);
int weft__device_count(void);
/* Where a new array goes: the device given, else `like`, else context, default, CPU. An invalid
 * device is an error. */
weft_status weft__device_choose(weft_device given, weft_device like, weft_device *result);

/* The process default: what was set, else WEFT_DEVICE, else the CPU. */
weft_device weft__device_default(void);
/* Drops the caches of a device: kernels, memory. */
void weft__device_drop(weft__device *device);

/* Layers above register what drops their caches of a device's kernels; called at a reset. */
void weft__device_on_reset(void (*drop)(weft_device device));

#endif
