/* Kernels that a user wrote in the language of a device: found by their text, or compiled. */
#ifndef WEFT_KERNEL_NATIVE_H
#define WEFT_KERNEL_NATIVE_H

#include "core/device.h"

/* The kernel `name` of a text, for a device. Until weft__native_leave it stays; failing, there is
 * nothing to leave. A warm call takes no lock. */
weft_status weft__native_enter(weft_device device, const char *name, const char *text,
                               weft__module **module);
void weft__native_leave(void);

#endif
