/* From CUDA C to machine code for the device at hand, with NVRTC. */
#include "backend/cuda/cuda.h"
#include "core/allocate.h"
#include <stdio.h>
#include <string.h>

enum { ARCHITECTURES_MAX = 64, LOG = 400, LARGE_TEXT = 6000, INVALID_OPTION = 5 };

/* The newest that NVRTC knows and the device can run. */
static int architecture_for(int wanted)
{
    int count = 0, best = 0, all[ARCHITECTURES_MAX];
    if (weft__nvrtc.GetNumSupportedArchs(&count) != 0 || count > ARCHITECTURES_MAX ||
        weft__nvrtc.GetSupportedArchs(all) != 0)
        return wanted;
    for (int k = 0; k < count; k++)
        if (all[k] <= wanted && all[k] > best)
            best = all[k];
    return best;
}

static weft_status fail_compile(nvrtcProgram program, nvrtcResult code)
{
    char log[LOG] = "";
    size_t bytes = 0;
    weft__nvrtc.GetProgramLogSize(program, &bytes);
    char *whole = bytes ? weft__allocate_zeroed(bytes + 1) : NULL;
    if (whole && weft__nvrtc.GetProgramLog(program, whole) == 0)
        snprintf(log, sizeof log, "%s", whole);
    weft__free(whole);
    return FAIL(WEFT_ERROR_COMPILE, "NVRTC refused a kernel (%d): %s", code,
                log[0] ? log : "it does not say why");
}

/* Machine code for the architecture itself, else portable code that the driver compiles. */
static weft_status take(nvrtcProgram program, bool exact, char **image, size_t *bytes)
{
    nvrtcResult code =
        exact ? weft__nvrtc.GetCUBINSize(program, bytes) : weft__nvrtc.GetPTXSize(program, bytes);
    if (code != 0 || *bytes == 0)
        return fail_compile(program, code);
    if (!(*image = weft__allocate(*bytes)))
        return WEFT_ERROR_MEMORY;
    code = exact ? weft__nvrtc.GetCUBIN(program, *image) : weft__nvrtc.GetPTX(program, *image);
    if (code == 0)
        return WEFT_OK;
    weft__free(*image);
    return fail_compile(program, code);
}

/* Options that save time are those of newer versions: where they are refused, without them. They
 * are of use to our own texts, which need no more than the language. */
static nvrtcResult compile(nvrtcProgram program, const char *target, const weft__kernel_text *text)
{
    static _Atomic bool refused;
    const char *const options[] = {target, "--fmad=false", "-default-device",
                                   "-w",   "--minimal",    "--Ofast-compile=min"};
    const bool quick = !text->thorough && strlen(text->text) > LARGE_TEXT;
    const int few = 4, all = quick ? 6 : 5;
    if (text->name)
        return weft__nvrtc.CompileProgram(program, 1, options);
    if (atomic_load(&refused))
        return weft__nvrtc.CompileProgram(program, few, options);
    const nvrtcResult code = weft__nvrtc.CompileProgram(program, all, options);
    if (code != INVALID_OPTION)
        return code;
    atomic_store(&refused, true);
    return weft__nvrtc.CompileProgram(program, few, options);
}

weft_status weft__cuda_compile(const weft__cuda_device *device, const weft__kernel_text *text,
                               char **image, size_t *bytes)
{
    char target[48];
    nvrtcProgram program = NULL;
    TRY(weft__nvrtc_open());
    const int architecture = architecture_for(device->architecture);
    const bool exact = architecture == device->architecture;
    if (architecture == 0)
        return FAIL(WEFT_ERROR_UNSUPPORTED,
                    "NVRTC has no code for devices of capability %d.%d; another version may",
                    device->architecture / 10, device->architecture % 10);
    snprintf(target, sizeof target, "--gpu-architecture=%s_%d", exact ? "sm" : "compute",
             architecture);
    nvrtcResult code = weft__nvrtc.CreateProgram(&program, text->text, "weft.cu", 0, NULL, NULL);
    if (code != 0)
        return FAIL(WEFT_ERROR_COMPILE, "NVRTC does not take a kernel (%d)", code);
    code = compile(program, target, text);
    const weft_status status =
        code == 0 ? take(program, exact, image, bytes) : fail_compile(program, code);
    weft__nvrtc.DestroyProgram(&program);
    return status;
}
