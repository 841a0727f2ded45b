/* Stack for libLLVM, whose functions call each other deeply. */
#ifndef WEFT_CODEGEN_LLVM_STACK_H
#define WEFT_CODEGEN_LLVM_STACK_H

#include "core/status.h"

/* Calls the function with its argument: in this thread or, where its stack has little left, in one
 * that is started for it. What goes wrong is recorded in this thread. */
weft_status weft__llvm_with_stack(weft_status (*function)(void *argument), void *argument);

#endif
