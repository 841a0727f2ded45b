/* libLLVM ends the process where it can make no code of something. It asks a function first, which
 * may leave it by a jump: what it held is lost, and the program goes on without that code. */
#include "codegen/llvm/fatal.h"
#include "core/status.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

/* A call of libLLVM's that can be left, one at most in each thread. */
typedef struct attempt {
    jmp_buf back;
    char *message;
    size_t room;
} attempt;

static WEFT__THREAD_LOCAL attempt *current;

/* To return is to end the process. */
static void leave(const char *reason)
{
    attempt *left = current;
    if (left == NULL) {
        (void)fprintf(stderr, "LLVM ERROR: %s\n", reason);
        return;
    }
    (void)snprintf(left->message, left->room, "%s", reason);
    longjmp(left->back, 1);
}

static void forget(void) { weft__llvm.ResetFatalErrorHandler(); }

/* libLLVM stays where this library is unloaded. */
void weft__llvm_survive(void)
{
    if (atexit(forget) == 0)
        weft__llvm.InstallFatalErrorHandler(leave);
}

bool weft__llvm_emit(weft__llvm_machine machine, weft__llvm_module module, int kind,
                     weft__llvm_buffer *buffer, char *message, size_t room, bool *lost)
{
    attempt here = {.message = message, .room = room};
    char *text = NULL;
    *lost = true;
    if (setjmp(here.back) != 0) {
        current = NULL;
        return false;
    }
    current = &here;
    const bool failed =
        weft__llvm.TargetMachineEmitToMemoryBuffer(machine, module, kind, &text, buffer) != 0;
    current = NULL;
    *lost = false;
    if (failed) {
        (void)snprintf(message, room, "%s", text);
        weft__llvm.DisposeMessage(text);
    }
    return !failed;
}
