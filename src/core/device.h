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

/* The table of devices, the CPU first; complete once it is ready. */
extern weft__device weft__devices[];
extern _Atomic bool weft__devices_ready;

/* NULL, with the record set, if there is no such device. */
weft__device *weft__device_look_up(weft_device device);
static inline weft__device *weft__device_get(weft_device device)
{
    bool is_cpu = device.kind == WEFT_DEVICE_CPU && device.index == 0;
    if (is_cpu && atomic_load_explicit(&weft__devices_ready, memory_order_acquire))
        return &weft__devices[0];
    return weft__device_look_up(device);
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
