/* Operands of a program as the user names them: files, numbers, types. */
#include "command.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int add_array(operands *all, const char *name, size_t length, weft_array *array, bool mapped)
{
    if (!array)
        return failed_call();
    operand *o = &all->list[all->count++];
    memcpy(o->name, name, length);
    o->name[length] = 0;
    o->value = WEFT_OPERAND(array);
    o->mapped = mapped;
    return DONE;
}

/* A whole number, or any other. */
static bool add_number(operands *all, const char *name, size_t length, const char *text)
{
    char *end, *end_of_float;
    errno = 0;
    const long long integer = strtoll(text, &end, 0);
    const bool whole = *end == 0 && errno == 0;
    const double number = strtod(text, &end_of_float);
    if (!*text || (!whole && *end_of_float))
        return false;
    operand *o = &all->list[all->count++];
    memcpy(o->name, name, length);
    o->name[length] = 0;
    o->value = whole ? WEFT_OPERAND(integer) : WEFT_OPERAND(number);
    return true;
}

/* "f32[3,4]": 1, 0 if it is something else, -1 if it is nearly that. */
static int read_type(const char *text, weft_dtype *dtype, weft_shape *shape)
{
    const char *bracket = strchr(text, '[');
    char name[16];
    if (!bracket || (size_t)(bracket - text) >= sizeof name)
        return 0;
    (void)snprintf(name, sizeof name, "%.*s", (int)(bracket - text), text);
    *dtype = weft_dtype_named(name);
    if (*dtype == WEFT_DTYPE_DEFAULT)
        return 0;
    *shape = WEFT_SCALAR;
    for (const char *at = bracket + 1; *at != ']'; at += *at == ',') {
        char *end;
        errno = 0;
        const long long size = strtoll(at, &end, 10);
        if (end == at || errno || size < 0 || shape->ndim == WEFT_NDIM_MAX ||
            (*end != ',' && *end != ']'))
            return -1;
        shape->size[shape->ndim++] = size;
        at = end;
    }
    return strcmp(strchr(text, ']'), "]") == 0 ? 1 : -1;
}

static weft_array *make_random(weft_dtype dtype, weft_shape shape, weft_random generator)
{
    if (dtype == WEFT_BOOL)
        return weft_random_integers(0, 2, shape, .dtype = dtype, .device = WEFT_CPU,
                                    .random = &generator);
    if (dtype < WEFT_F16)
        return weft_random_integers(0, 100, shape, .dtype = dtype, .device = WEFT_CPU,
                                    .random = &generator);
    return weft_random_uniform(0, 1, shape, .dtype = dtype, .device = WEFT_CPU,
                               .random = &generator);
}

static void unmap(void *context, void *data)
{
    (void)munmap(data, *(size_t *)context), free(context);
}

/* An array that nobody reads or writes: its memory is a range of addresses, whatever its size. */
static weft_array *make_type(weft_dtype dtype, weft_shape shape)
{
    int64_t count;
    size_t bytes;
    if (weft_shape_count(shape, &count) != WEFT_OK)
        return NULL;
    if (__builtin_mul_overflow((size_t)count, weft_dtype_size(dtype), &bytes) || bytes == 0)
        return weft_empty(shape, .dtype = dtype, .device = WEFT_CPU);
    size_t *length = malloc(sizeof *length);
    void *data = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    weft_array *array =
        length && data != MAP_FAILED
            ? weft_borrow(data, bytes, shape, dtype, .deleter = unmap, .deleter_context = length)
            : NULL;
    if (array) {
        *length = bytes;
        return array;
    }
    if (data != MAP_FAILED)
        (void)munmap(data, bytes);
    free(length);
    return weft_empty(shape, .dtype = dtype, .device = WEFT_CPU);
}

/* Each has a call of the generator for itself. */
static int add_random(operands *all, const char *name, weft_dtype dtype, weft_shape shape)
{
    int64_t count;
    if (weft_shape_count(shape, &count) != WEFT_OK)
        return failed_call();
    operand *o = &all->list[all->count++];
    *o = (operand){.random = true, .dtype = dtype, .shape = shape, .generator = weft_random_get()};
    (void)snprintf(o->name, sizeof o->name, "%s", name);
    o->value = WEFT_OPERAND((weft_array *)NULL);
    weft_random_set((weft_random){.seed = o->generator.seed, .call = o->generator.call + 1});
    return DONE;
}

weft_shape operand_shape(const operand *o)
{
    return o->random ? o->shape : weft_array_shape(o->value.value.array);
}

size_t operand_bytes(const operand *o)
{
    int64_t count = 0;
    if (o->value.tag != WEFT_OPERAND_ARRAY)
        return 0;
    if (!o->random)
        return weft_array_bytes(o->value.value.array);
    (void)weft_shape_count(o->shape, &count);
    return (size_t)count * weft_dtype_size(o->dtype);
}

weft_array *operand_array(operand *o)
{
    if (!o->value.value.array)
        o->value.value.array = make_random(o->dtype, o->shape, o->generator);
    return o->value.value.array;
}

weft_array *operand_part(const operand *o, int64_t begin, int64_t count)
{
    weft_random generator = o->generator;
    generator.offset = (uint64_t)begin;
    return make_random(o->dtype, WEFT_SHAPE(count), generator);
}

/* The array of a file that is meant, or -1: the only one, the one after the colon, the one with the
 * operand's name. */
static int find_member(const weft_file *file, const char *wanted, const char *name, size_t length)
{
    const int count = weft_file_count(file);
    if (!wanted && count == 1)
        return 0;
    for (int k = count; k-- > 0;) { /* of several with one name the last, as NumPy does */
        const char *member = weft_file_name(file, k);
        if (wanted ? strcmp(member, wanted) == 0
                   : strlen(member) == length && memcmp(member, name, length) == 0)
            return k;
    }
    return -1;
}

static int refuse_member(const weft_file *file, const char *path, const char *wanted)
{
    char text[400] = "";
    size_t at = 0;
    for (int k = 0; k < weft_file_count(file) && at + 80 < sizeof text; k++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%.60s", k ? ", " : "",
                               weft_file_name(file, k));
    return failed("%s: holds %s%s; %s%s%s", path, at ? text : "no arrays",
                  weft_file_is_npz(file) ? "" : "one array without a name",
                  wanted ? "there is no '" : "name one, as in a=", wanted ? wanted : path,
                  wanted ? "'" : ":NAME");
}

static int load(operands *all, const char *name, size_t length, weft_file *file, int position)
{
    const weft_load_options options = {
        .struct_size = sizeof options, .device = WEFT_CPU, .mapped = true};
    weft_file_info info;
    if (weft_file_describe(file, position, &info) != WEFT_OK)
        return failed_call();
    return add_array(all, name, length, weft_file_load(file, position, &options), info.mappable);
}

/* "path" or "path:member". */
static int add_file(operands *all, const char *name, size_t length, const char *argument)
{
    char path[4096];
    const char *wanted = NULL, *colon = strstr(argument, ".npz:");
    (void)snprintf(path, sizeof path, "%s", argument);
    if (colon && (size_t)(colon - argument) + 4 < sizeof path) {
        path[colon - argument + 4] = 0;
        wanted = colon + 5;
    }
    if (!strstr(path, ".np") && access(path, F_OK) != 0 && errno == ENOENT)
        return failed("%s: there is no such file, and this is no number and no type as f32[1024]",
                      path);
    weft_file *file = weft_file_open(path);
    if (!file)
        return failed_call();
    const int position = find_member(file, wanted, name, length);
    const int code =
        position < 0 ? refuse_member(file, path, wanted) : load(all, name, length, file, position);
    weft_file_close(file);
    return code;
}

static bool is_wanted(const char *name, const char *code)
{
    const size_t length = strlen(name);
    return is_name(name, length) && (!code || text_names(code, strlen(code), name));
}

/* The arrays of a file that the code names, under their own names. */
static int add_named(operands *all, const char *path, const char *code)
{
    weft_file *file = weft_file_open(path);
    const int before = all->count;
    int ending = file ? DONE : failed_call();
    if (file && !weft_file_is_npz(file))
        ending = failed("%s: holds one array without a name; give it one, as in a=%s", path, path);
    for (int k = 0; ending == DONE && k < weft_file_count(file); k++) {
        const char *name = weft_file_name(file, k);
        if (!is_wanted(name, code) || find_member(file, name, "", 0) != k)
            continue;
        if (operand_find(all, name) || all->count == OPERANDS_MAX)
            ending =
                failed("%s: there is an operand '%s' already, or there are too many", path, name);
        else
            ending = load(all, name, strlen(name), file, k);
    }
    if (ending == DONE && all->count == before)
        ending = refuse_member(file, path, NULL);
    weft_file_close(file);
    return ending;
}

const operand *operand_find(const operands *all, const char *name)
{
    for (int k = 0; k < all->count; k++)
        if (strcmp(all->list[k].name, name) == 0)
            return &all->list[k];
    return NULL;
}

int operand_add(operands *all, const char *command, const char *argument, const char *code,
                bool types)
{
    const char *equals = strchr(argument, '='), *text = equals ? equals + 1 : "";
    const size_t length = equals ? (size_t)(equals - argument) : 0;
    char name[NAME_ROOM];
    weft_dtype dtype;
    weft_shape shape;
    if (!equals && strstr(argument, ".npz:"))
        return wrong_usage(command, "'%s' needs a name, as in a=%s", argument, argument);
    if (!equals && strstr(argument, ".npz"))
        return add_named(all, argument, code);
    if (!equals || !is_name(argument, length) || !*text)
        return wrong_usage(command,
                           "'%s' is no operand; expected NAME=FILE, NAME=NUMBER, "
                           "NAME=f32[1024] or FILE.npz",
                           argument);
    (void)snprintf(name, sizeof name, "%.*s", (int)length, argument);
    if (operand_find(all, name))
        return wrong_usage(command, "operand '%s' is given twice", name);
    if (all->count == OPERANDS_MAX)
        return wrong_usage(command, "there are more than %d operands", OPERANDS_MAX);
    if (add_number(all, argument, length, text))
        return DONE;
    const int typed = read_type(text, &dtype, &shape);
    if (typed < 0)
        return wrong_usage(command, "'%s' is no type; expected one as f32[1024,1024]", text);
    if (typed && types)
        return add_array(all, argument, length,
                         code ? make_type(dtype, shape)
                              : weft_zeros(shape, .dtype = dtype, .device = WEFT_CPU),
                         false);
    if (typed)
        return add_random(all, name, dtype, shape);
    if (strchr(text, '[') && access(text, F_OK) != 0)
        return wrong_usage(command,
                           "'%s' is neither a file nor a type; a type is one of bool, i8 … i64, u8 "
                           "… u64, f16, bf16, f32, f64, c64, c128 and a shape, as f32[1024,1024]",
                           text);
    return add_file(all, argument, length, text);
}

void operands_free(operands *all)
{
    for (int k = 0; k < all->count; k++)
        if (all->list[k].value.tag == WEFT_OPERAND_ARRAY)
            weft_array_release(all->list[k].value.value.array);
    all->count = 0;
}
