/* What a region costs on the host and on the device: the choice between them. */
#ifndef WEFT_FUNCTION_COST_H
#define WEFT_FUNCTION_COST_H

#include "function/function.h"

/* The costs of a device, as they are known now; they stay valid. */
const weft_costs *weft__costs_of(weft_device device);
/* From now on they are these. False if there is no more room for changes. */
bool weft__costs_set(weft_device device, const weft_costs *costs);

/* What a region is about to do. Begin with zeros. */
typedef struct weft__burden {
    uint64_t bytes, operations; /* of its kernels */
    int kernels;
    uint64_t to_device, to_host; /* bytes that must be copied for it to run there … */
    int copies_to_device, copies_to_host;
    uint64_t back; /* … and those that come back if it runs on the device */
    int copies_back;
    bool there; /* an argument lives on the device */
} weft__burden;

/* Adds a variable that the region reads or writes. */
void weft__burden_add(weft__burden *work, const weft__held *held, bool reads, bool writes);
/* Adds its kernels. */
void weft__burden_kernels(weft__burden *work, const weft__evaluation *evaluation);
/* Adds a number that the host reads afterwards. */
void weft__burden_number(weft__burden *work);

/* Decides where the region runs: r->device and r->stream are there until weft__region_end. */
weft_status weft__region_begin(weft__running *r, const weft__burden *work);
void weft__region_end(weft__running *r);

#endif
