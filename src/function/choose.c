/* Where a region runs: on the device, unless that costs more than it gains. */
#include "function/cost.h"

void weft__burden_add(weft__burden *work, const weft__held *held, bool reads, bool writes)
{
    const weft_array *any = weft__held_any(held);
    const uint64_t bytes =
        (uint64_t)weft__array_count(any) * weft_dtype_size((weft_dtype)any->dtype);
    const bool at_home = held->home && held->home == held->device && held->home != held->host;
    work->bytes += bytes * ((reads ? 1u : 0u) + (writes ? 1u : 0u));
    work->there |= held->home && held->home == held->device; /* shared memory too: it stays there */
    if (reads && !held->device_valid) {
        work->to_device += bytes;
        work->copies_to_device++;
    }
    if (reads && !held->host_valid) {
        work->to_host += bytes;
        work->copies_to_host++;
    }
    if (writes && held->home && !at_home && held->host_valid) {
        work->back += bytes;
        work->copies_back++;
    }
}

void weft__burden_kernels(weft__burden *work, const weft__evaluation *e)
{
    work->kernels = (int)e->kernels_count;
    for (uint32_t k = 0; k < e->kernels_count; k++) {
        const weft__lowered *lowered = &e->kernels[k];
        uint64_t points = 1;
        for (int i = 0; i < lowered->space.ndim; i++)
            points *= (uint64_t)lowered->space.size[i];
        work->operations += points * lowered->builder.kernel.values_count;
    }
}

void weft__burden_number(weft__burden *work)
{
    work->back += 8;
    work->copies_back++;
}

/* Seconds of the kernels: what takes longest, and the launches. */
static double computing(const weft__burden *work, const weft_costs *costs)
{
    const double moving = (double)work->bytes / costs->memory,
                 operating = (double)work->operations / costs->operations;
    return costs->launch * work->kernels + (moving > operating ? moving : operating);
}

static double there(const weft__burden *work, const weft_costs *device)
{
    return computing(work, device) + device->copy * (work->copies_to_device + work->copies_back) +
           (double)work->to_device / device->to_device + (double)work->back / device->to_host;
}

static double here(const weft__burden *work, const weft_costs *host, const weft_costs *device)
{
    return computing(work, host) + device->copy * work->copies_to_host +
           (double)work->to_host / device->to_host;
}

weft_status weft__region_begin(weft__running *r, const weft__burden *work)
{
    r->here_cost = r->there_cost = 0;
    if (!r->automatic || work->there)
        return WEFT_OK;
    const weft_costs *device = weft__costs_of(r->device), *host = weft__costs_of(WEFT_CPU);
    r->here_cost = here(work, host, device);
    r->there_cost = there(work, device);
    if (r->there_cost <= r->here_cost + r->missed)
        return WEFT_OK;
    weft_stream *stream = weft__stream_current(WEFT_CPU);
    if (!stream)
        return weft_error_code();
    /* What is lost here adds up, so that data that is used again and again moves in the end. */
    const double gain = r->here_cost - computing(work, device);
    r->missed += gain > 0 ? gain : 0;
    r->at_host = true;
    r->away_device = r->device;
    r->away_stream = r->stream;
    r->device = WEFT_CPU;
    r->stream = stream;
    return WEFT_OK;
}

void weft__region_end(weft__running *r)
{
    if (!r->at_host)
        return;
    r->at_host = false;
    r->device = r->away_device;
    r->stream = r->away_stream;
}
