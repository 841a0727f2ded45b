/* Functions of the user's that work calls. */
#ifndef WEFT_BACKEND_CALL_H
#define WEFT_BACKEND_CALL_H

#include "backend/backend.h"

/* Calls the function of work that has one, for the parts [begin, end) if it is in parts. The record
 * of the thread is the function's to fill; if it succeeds the old one is back. */
weft_status weft__call_user(const weft__work *work, int64_t begin, int64_t end);

#endif
