/* Code of libLLVM's, in spite of what it holds to be fatal. */
#ifndef WEFT_CODEGEN_LLVM_FATAL_H
#define WEFT_CODEGEN_LLVM_FATAL_H

#include "codegen/llvm/library.h"

/* Once, when libLLVM is open: errors that it ends a process for come here, until this library is
 * unloaded. Those of threads that are not inside of the function below, as of another library that
 * uses the same libLLVM, are told on the standard error stream, as libLLVM does, and end the
 * process as before. libLLVM has one such function in a process: if another library gave it one
 * before, that is not called any more. */
void weft__llvm_survive(void);

/* As LLVMTargetMachineEmitToMemoryBuffer, with the message in a `room` of the caller's. `lost` says
 * that libLLVM gave up halfway: the module, its context and the machine must not be used or
 * disposed of any more. */
bool weft__llvm_emit(weft__llvm_machine machine, weft__llvm_module module, int kind,
                     weft__llvm_buffer *buffer, char *message, size_t room, bool *lost);

#endif
