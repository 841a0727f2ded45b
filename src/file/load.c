/* Arrays from files: read, or mapped into memory. */
#include "core/allocate.h"
#include "core/device.h"
#include "core/view.h"
#include "file/file.h"
#include "ops/copy.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct weft_file {
    weft__disk_file source;
    weft__member *members;
    int count;
    bool npz;
    char path[]; /* source.path */
};

static weft_status list_members(weft_file *file)
{
    char begin[4] = {0};
    if (file->source.size >= sizeof begin)
        TRY(weft__disk_file_read(&file->source, 0, begin, sizeof begin));
    file->npz = memcmp(begin, "PK\3\4", 4) == 0 || memcmp(begin, "PK\5\6", 4) == 0;
    if (file->npz)
        return weft__zip_list(&file->source, &file->members, &file->count);
    file->members = weft__allocate_zeroed(sizeof *file->members);
    if (!file->members)
        return weft_error_code();
    file->members[0].stored = file->members[0].size = file->source.size;
    file->count = 1;
    return WEFT_OK;
}

static weft_file *open_file(const char *path)
{
    weft__disk_file source;
    TRY_NULL(weft__disk_file_open(&source, path));
    const size_t length = strlen(path) + 1;
    weft_file *file = weft__allocate_zeroed(sizeof *file + length);
    if (!file) {
        weft__disk_file_close(&source);
        return NULL;
    }
    memcpy(file->path, path, length);
    file->source = source;
    file->source.path = file->path;
    if (list_members(file) == WEFT_OK)
        return file;
    weft_file_close(file);
    return NULL;
}

weft_file *weft_file_open(const char *path)
{
    OPERATION("weft_file_open");
    return open_file(path);
}

void weft_file_close(weft_file *file)
{
    if (!file)
        return;
    for (int k = 0; k < file->count; k++)
        weft__free(file->members[k].name);
    weft__free(file->members);
    weft__disk_file_close(&file->source);
    weft__free(file);
}

int weft_file_count(const weft_file *file) { return file ? file->count : 0; }

bool weft_file_is_npz(const weft_file *file) { return file && file->npz; }

const char *weft_file_name(const weft_file *file, int position)
{
    if (!file || position < 0 || position >= file->count)
        return NULL;
    return file->npz ? file->members[position].name : "";
}

static weft_status check_position(const weft_file *file, int position)
{
    if (!file)
        return weft__fail_null("file");
    if (position < 0 || position >= file->count)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "position", "%.300s: has %d arrays, and none number %d",
                       file->path, file->count, position);
    return WEFT_OK;
}

static bool is_mappable(const weft__input *input, const weft__npy *npy)
{
    return !input->inflater && !npy->swapped && npy->dtype != WEFT_BOOL && npy->bytes > 0 &&
           input->at % weft__npy_part(npy->dtype) == 0;
}

weft_status weft_file_describe_sized(weft_file *file, int position, weft_file_info *info,
                                     size_t info_size)
{
    weft__input input;
    weft__npy npy = {.dtype = WEFT_DTYPE_DEFAULT};
    OPERATION("weft_file_describe");
    TRY(check_position(file, position));
    TRY(weft__check_result(info, "info"));
    TRY(weft__input_open(&input, &file->source, &file->members[position]));
    const weft_status status = weft__input_header(&input, &npy);
    const weft_file_info all = {.dtype = npy.dtype,
                                .shape = npy.shape,
                                .bytes = npy.bytes,
                                .fortran_order = npy.fortran,
                                .swapped = npy.swapped,
                                .compressed = input.inflater != NULL,
                                .mappable = is_mappable(&input, &npy)};
    if (status == WEFT_OK) {
        memset(info, 0, info_size);
        memcpy(info, &all, info_size < sizeof all ? info_size : sizeof all);
    }
    weft__input_close(&input);
    return status;
}

/* The shape as it lies in the file: C order. */
static weft_shape shape_in_file(const weft__npy *npy)
{
    weft_shape shape = npy->shape;
    for (int k = 0; npy->fortran && k < shape.ndim; k++)
        shape.size[k] = npy->shape.size[shape.ndim - 1 - k];
    return shape;
}

/* An array over a buffer, whose reference it takes over, with the order of the file. */
static weft_array *array_over(weft__buffer *buffer, const weft__npy *npy)
{
    int64_t strides[WEFT_NDIM_MAX] = {0}, turned[WEFT_NDIM_MAX] = {0};
    const weft_shape shape = shape_in_file(npy);
    const int ndim = shape.ndim;
    size_t bytes;
    if (weft__shape_strides(&shape, weft_dtype_size(npy->dtype), 1, strides, &bytes) != WEFT_OK) {
        weft__buffer_release(buffer);
        return NULL;
    }
    for (int k = 0; k < ndim; k++)
        turned[k] = strides[npy->fortran ? ndim - 1 - k : k];
    return weft__array_over(buffer, npy->dtype, &npy->shape, turned);
}

static void swap_bytes(char *data, size_t bytes, size_t part)
{
    for (char *at = data, *end = data + bytes; at < end; at += part)
        for (size_t k = 0; k < part / 2; k++) {
            const char kept = at[k];
            at[k] = at[part - 1 - k];
            at[part - 1 - k] = kept;
        }
}

/* What is read is in the order of this machine, and a bool is 0 or 1. */
static void make_native(char *data, const weft__npy *npy)
{
    if (npy->swapped)
        swap_bytes(data, npy->bytes, weft__npy_part(npy->dtype));
    if (npy->dtype == WEFT_BOOL)
        for (size_t k = 0; k < npy->bytes; k++)
            data[k] = data[k] != 0;
}

static weft_array *read_array(weft__input *input, const weft__npy *npy)
{
    const weft__request request = {.device = WEFT_CPU};
    weft__buffer *buffer = weft__buffer_new(npy->bytes, &request, NULL);
    if (!buffer)
        return NULL;
    if (weft__input_read(input, buffer->data, npy->bytes) != WEFT_OK ||
        weft__input_finish(input) != WEFT_OK) {
        weft__buffer_release(buffer);
        return NULL;
    }
    make_native(buffer->data, npy);
    return array_over(buffer, npy);
}

typedef struct mapping {
    void *base;
    size_t length;
} mapping;

static void unmap(void *context, void *data)
{
    mapping *mapped = context;
    (void)data;
    (void)munmap(mapped->base, mapped->length);
    weft__allocation_end();
    weft__free(mapped);
}

/* Private: what is written to the array stays in memory. NULL, without an error, if the system
 * refuses. */
static mapping *map_bytes(const weft__input *input, size_t bytes, size_t *offset)
{
    *offset = (size_t)(input->at % (uint64_t)sysconf(_SC_PAGESIZE));
    mapping *mapped = weft__allocate(sizeof *mapped);
    if (!mapped)
        return NULL;
    mapped->length = bytes + *offset;
    if (weft__allocation_begin(mapped->length)) {
        mapped->base =
            mmap(NULL, mapped->length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
                 input->source->descriptor, (off_t)(input->at - *offset));
        if (mapped->base != MAP_FAILED)
            return mapped;
        weft__allocation_end();
    }
    weft__free(mapped);
    return NULL;
}

/* Memory of the CPU as any other, but for where it comes from. */
static weft_array *map_array(const weft__input *input, const weft__npy *npy)
{
    size_t offset;
    mapping *mapped = map_bytes(input, npy->bytes, &offset);
    if (!mapped)
        return NULL;
    weft__buffer *buffer =
        weft__buffer_lent((char *)mapped->base + offset, npy->bytes, unmap, mapped);
    if (!buffer) {
        unmap(mapped, NULL);
        return NULL;
    }
    buffer->device = WEFT_CPU;
    buffer->memory = WEFT_MEMORY_DEVICE;
    return array_over(buffer, npy);
}

static weft_array *make_array(weft__input *input, const weft_load_options *options)
{
    weft__npy npy;
    weft_device device;
    TRY_NULL(weft__device_choose(options->device, WEFT_NO_DEVICE, &device));
    TRY_NULL(weft__input_header(input, &npy));
    const bool here = device.kind == WEFT_DEVICE_CPU && options->memory <= WEFT_MEMORY_DEVICE;
    weft_array *array =
        here && options->mapped && is_mappable(input, &npy) ? map_array(input, &npy) : NULL;
    if (!array)
        array = read_array(input, &npy);
    if (!array || here)
        return array;
    const weft_options wanted = {
        .struct_size = sizeof wanted, .device = device, .memory = options->memory};
    weft_array *copy = weft__copy_new(array, &wanted);
    weft_array_release(array);
    return copy;
}

static weft_array *load(weft_file *file, int position, const weft_load_options *options)
{
    weft__input input;
    weft_array *array = NULL;
    if (weft__input_open(&input, &file->source, &file->members[position]) == WEFT_OK)
        array = make_array(&input, options);
    weft__input_close(&input);
    return array;
}

weft_array *weft_file_load(weft_file *file, int position, const weft_load_options *given)
{
    weft_load_options options = {.struct_size = sizeof options};
    OPERATION("weft_file_load");
    weft__options_copy(&options, sizeof options, given);
    TRY_NULL(check_position(file, position));
    return load(file, position, &options);
}

/* The names in a file, for a message, as many as fit. */
static const char *list_names(const weft_file *file, char *text, size_t room)
{
    size_t length = 0;
    for (int k = 0; k < file->count && length + 80 < room; k++) {
        const char *name = file->members[k].name;
        length += (size_t)snprintf(text + length, room - length, "%s%s", k ? ", " : "",
                                   weft__quote_of(name, strlen(name)).text);
    }
    return file->count ? text : "no arrays";
}

/* The last of several with one name, which was added later; NumPy does so too. */
static weft_status find_member(const weft_file *file, const char *name, int *position)
{
    char text[300];
    *position = 0;
    if (!file->npz && name)
        return FAIL_AT(WEFT_ERROR_ARGUMENT, "name",
                       "%.200s: is an NPY file, whose one array has no name; '%.60s' was asked for",
                       file->path, name);
    if (!name && file->count == 1)
        return WEFT_OK;
    for (*position = file->count; name && --*position >= 0;)
        if (strcmp(file->members[*position].name, name) == 0)
            return WEFT_OK;
    return FAIL_AT(WEFT_ERROR_ARGUMENT, "name", "%.200s: holds %s; %s%.60s%s", file->path,
                   list_names(file, text, sizeof text),
                   name ? "there is no '" : "say which with .name", name ? name : "",
                   name ? "'" : "");
}

weft_array *weft_load_with(const char *path, const weft_load_options *given)
{
    weft_load_options options = {.struct_size = sizeof options};
    OPERATION("weft_load");
    weft__options_copy(&options, sizeof options, given);
    weft_file *file = open_file(path);
    weft_array *array = NULL;
    int position;
    if (file && find_member(file, options.name, &position) == WEFT_OK)
        array = load(file, position, &options);
    weft_file_close(file);
    return array;
}
