/* Measured costs in the cache folder. */
#ifndef WEFT_FUNCTION_COST_FILE_H
#define WEFT_FUNCTION_COST_FILE_H

#include <weft/function.h>

/* Replaces the costs by those that were measured for this very device; false if there are none. */
bool weft__cost_file_read(weft_device device, weft_costs *costs);
/* False if there is no folder, or it cannot be written to. */
bool weft__cost_file_write(weft_device device, const weft_costs *costs);

#endif
