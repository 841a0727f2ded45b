/* Programs of OpenCL devices: built from text, or from what an earlier build left on disk. */
#include "backend/opencl/opencl.h"
#include "core/allocate.h"
#include "core/status.h"
#include <stdio.h>

/* Correctly rounded divisions and roots: by the device, where it can. */
static cl_int build_with(const weft__opencl_device *device, cl_program program, const char *more)
{
    char options[128];
    snprintf(options, sizeof options, "-cl-std=CL1.2%s%s",
             device->f32_config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT
                 ? " -cl-fp32-correctly-rounded-divide-sqrt"
             : device->f64_config ? " -DWEFT_BY_F64"
                                  : "",
             more);
    return weft__cl.BuildProgram(program, 1, &device->id, options, NULL, NULL);
}

/* Texts of our own: at first with what makes them quicker to build or to run, for which a compiler
 * may be too old, or not as it was. */
static cl_int build_own(const weft__opencl_device *device, cl_program program)
{
    const cl_int code =
        build_with(device, program, device->brief ? " -w -D_OPENCL_H_ -DWEFT_DECLARES" : " -w");
    return code == CL_SUCCESS ? code : build_with(device, program, " -w -DWEFT_PLAIN");
}

static weft_status fail_build(const weft__opencl_device *device, cl_program program)
{
    char log[400] = "";
    size_t bytes = 0;
    weft__cl.GetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
    char *whole = bytes ? weft__allocate_zeroed(bytes + 1) : NULL;
    if (whole && weft__cl.GetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, bytes,
                                              whole, NULL) == CL_SUCCESS)
        snprintf(log, sizeof log, "%s", whole);
    weft__free(whole);
    return FAIL(WEFT_ERROR_COMPILE, "the device's compiler refused a kernel: %s",
                log[0] ? log : "it does not say why");
}

/* NULL if the device does not take it: then the text is there. */
static cl_program build_binary(const weft__opencl_device *device, const weft__kernel_text *text)
{
    const unsigned char *binary = (const unsigned char *)text->binary;
    cl_int taken = CL_SUCCESS, code = CL_SUCCESS;
    if (!binary)
        return NULL;
    cl_program program = weft__cl.CreateProgramWithBinary(
        device->context, 1, &device->id, &text->binary_bytes, &binary, &taken, &code);
    if (!program || (code == CL_SUCCESS && taken == CL_SUCCESS &&
                     build_with(device, program, " -w") == CL_SUCCESS))
        return program;
    weft__cl.ReleaseProgram(program);
    return NULL;
}

static weft_status build_text(const weft__opencl_device *device, const weft__kernel_text *text,
                              cl_program *program)
{
    const char *source = text->text;
    cl_int code = CL_SUCCESS;
    *program = weft__cl.CreateProgramWithSource(device->context, 1, &source, NULL, &code);
    if (!*program)
        return weft__cl_fail("CreateProgramWithSource", code);
    code = text->name ? build_with(device, *program, "") : build_own(device, *program);
    return code == CL_SUCCESS ? WEFT_OK : fail_build(device, *program);
}

static cl_kernel make_kernel(const weft__kernel_text *text, cl_program program, cl_int *code)
{
    return weft__cl.CreateKernel(program, text->name ? text->name : "weft_kernel", code);
}

weft_status weft__opencl_program_build(const weft__opencl_device *device,
                                       const weft__kernel_text *text, weft__opencl_program *built)
{
    cl_int code = CL_SUCCESS;
    built->program = build_binary(device, text);
    built->kernel = built->program ? make_kernel(text, built->program, &code) : NULL;
    if ((built->loaded = built->kernel != NULL))
        return WEFT_OK;
    weft__opencl_program_release(built);
    TRY(build_text(device, text, &built->program));
    if ((built->kernel = make_kernel(text, built->program, &code)))
        return WEFT_OK;
    if (!text->name)
        return weft__cl_fail("CreateKernel", code);
    return FAIL(WEFT_ERROR_COMPILE, "the text has no kernel of the name '%s'", text->name);
}

void weft__opencl_program_release(weft__opencl_program *built)
{
    const bool usable = weft__opencl_usable();
    if (built->kernel && usable)
        weft__cl.ReleaseKernel(built->kernel);
    if (built->program && usable)
        weft__cl.ReleaseProgram(built->program);
    *built = (weft__opencl_program){0};
}

void weft__opencl_program_binary(const weft__opencl_program *built, void **data, size_t *bytes)
{
    size_t room = 0;
    *data = NULL;
    *bytes = 0;
    if (weft__cl.GetProgramInfo(built->program, CL_PROGRAM_BINARY_SIZES, sizeof room, &room,
                                NULL) != CL_SUCCESS ||
        room == 0)
        return;
    unsigned char *binary = weft__allocate(room);
    if (binary && weft__cl.GetProgramInfo(built->program, CL_PROGRAM_BINARIES, sizeof binary,
                                          &binary, NULL) == CL_SUCCESS) {
        *data = binary;
        *bytes = room;
    } else
        weft__free(binary);
}
