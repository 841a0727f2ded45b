/* Versions of kernels: finding one, and where machine code comes from. */
#include "kernel/version.h"
#include "codegen/interpreter.h"
#include "core/allocate.h"
#include "core/traced.h"
#include "kernel/cache.h"
#include "kernel/disk.h"
#include <string.h>

enum {
    RUNS_WORTH = 2,         /* a kernel that runs this often is compiled … */
    BYTES_WORTH = 64 << 10, /* … and one that moves as much as this at once */
    CLASS_MOST = 1024       /* bytes of a class */
};

/* Linked in, and freed with the kernel. */
struct weft__version {
    weft__job job; /* first: a job is its version */
    weft__version *next;
    weft__versions *of;
    _Atomic(weft__module *) module;
    weft__module *replaced; /* the module that was there before: launches may be running it */
    _Atomic int state;      /* weft__version_state */
    _Atomic uint32_t runs;
    uint32_t source; /* weft__trace_source of the first launch */
    uint32_t class_count;
    const weft__launch *sample; /* in this block, as the class is */
    const uint8_t *class_bytes;
};

static weft__disk_key disk_key(const weft__version *version)
{
    return (weft__disk_key){&version->of->key, version->class_bytes, version->class_count};
}

static weft__version *find(weft__versions *versions, const uint8_t *class_bytes, uint32_t count)
{
    weft__version *version = atomic_load(&versions->first);
    while (version &&
           (version->class_count != count || memcmp(version->class_bytes, class_bytes, count) != 0))
        version = version->next;
    return version;
}

/* Takes the image over. From now on every launch of the class uses it. */
static weft_status publish(weft__version *version, weft__image *image)
{
    weft__device *device = version->of->device;
    weft__module *module;
    TRY(device->backend->module_load(device->id.index, image, &module));
    version->replaced = atomic_exchange(&version->module, module);
    atomic_fetch_add(&weft__generation, 1); /* after the module: see weft__cache_enter */
    return WEFT_OK;
}

static weft_status load(weft__version *version)
{
    const weft__disk_key key = disk_key(version);
    weft__object object = {0};
    weft__image image;
    if (weft__engine_get_maker() || !weft__disk_load(&key, &object))
        return WEFT_ERROR_UNSUPPORTED;
    weft_status status = weft__object_load(&object, &image);
    weft__object_free(&object);
    if (status == WEFT_OK)
        status = publish(version, &image);
    if (status != WEFT_OK)
        return status;
    COUNT(version->of->device->statistics.compilations_loaded, 1);
    atomic_store(&version->state, WEFT__VERSION_SETTLED);
    return WEFT_OK;
}

static void trace(const weft__version *version, const char *by, uint64_t begin)
{
    if (begin)
        weft__traced_compilation(version->of->device->id, by, version->source, begin);
}

/* Whether code was made without LLVM, if it need not be the best. */
static bool assemble(const weft__version *version, weft__effort *effort, weft__image *image)
{
    if (*effort == WEFT__EFFORT_FULL || !weft__engine_is_prepared() ||
        weft__interpreter_assemble(version->of->kernel, image) != WEFT_OK)
        return false;
    *effort = WEFT__EFFORT_QUICK;
    return true;
}

/* The object is what can be kept on disk; it may stay empty. */
static weft_status make(const weft__version *version, weft__effort *effort, weft__image *image,
                        weft__object *object)
{
    weft__engine_maker *maker = weft__engine_get_maker();
    if (maker)
        return maker(version->of->kernel, version->sample, effort, image);
    const uint64_t begin = weft__tracing() ? weft__trace_now() : 0;
    if (assemble(version, effort, image)) {
        trace(version, "machine code", begin);
        return WEFT_OK;
    }
    TRY(weft__engine_compile(version->of->kernel, version->sample, effort, object));
    const weft_status status = weft__object_load(object, image);
    trace(version, *effort == WEFT__EFFORT_FULL ? "LLVM" : "LLVM, quickly", begin);
    if (status != WEFT_OK)
        weft__object_free(object);
    return status;
}

/* Counts what is compiled twice once. Only optimized code is worth keeping on disk. */
static weft_status compile(weft__version *version, weft__effort *effort)
{
    const weft__disk_key key = disk_key(version);
    weft__object object = {0};
    weft__image image;
    TRY(make(version, effort, &image, &object));
    const weft_status status = publish(version, &image);
    if (status == WEFT_OK && !version->replaced)
        COUNT(version->of->device->statistics.compilations_llvm, 1);
    if (object.data && *effort == WEFT__EFFORT_FULL)
        weft__disk_store(&key, &object);
    weft__object_free(&object);
    return status;
}

static void end_waiting(weft__version *version, weft__version_state state)
{
    atomic_fetch_sub(&version->of->device->statistics.compilations_waiting, 1);
    atomic_store(&version->runs, 0);
    atomic_store(&version->state, (int)state);
    atomic_fetch_add(&weft__generation, 1);
}

/* What failed for another reason than the kernel may succeed another time. */
static bool run_job(weft__job *job)
{
    weft__version *version = (weft__version *)job;
    weft__effort effort = atomic_load(&version->module) ? WEFT__EFFORT_FULL : WEFT__EFFORT_FIRST;
    const weft_status status = compile(version, &effort);
    if (status == WEFT_OK && effort != WEFT__EFFORT_FULL)
        return true;
    const bool later = status == WEFT_ERROR_MEMORY || status == WEFT_ERROR_SYSTEM;
    end_waiting(version, later ? WEFT__VERSION_NEW : WEFT__VERSION_SETTLED);
    return false;
}

static void drop_job(weft__job *job) { end_waiting((weft__version *)job, WEFT__VERSION_NEW); }

static weft__version *new_version(weft__versions *versions, const weft__launch *launch,
                                  const uint8_t *class_bytes, uint32_t count)
{
    weft__version *version = weft__allocate_zeroed(sizeof *version + launch->bytes + count);
    if (!version)
        return NULL;
    char *sample = (char *)(version + 1);
    version->job = (weft__job){.run = run_job, .drop = drop_job, .device = versions->device->id};
    version->of = versions;
    version->source = weft__trace_source_or_operation();
    version->class_count = count;
    version->sample = memcpy(sample, launch, launch->bytes);
    version->class_bytes = memcpy(sample + launch->bytes, class_bytes, count);
    return version;
}

/* With the mutex held. An entry on disk is used from the first run on. */
static weft_status add(weft__versions *versions, const weft__launch *launch, weft__engine engine,
                       const uint8_t *class_bytes, uint32_t count, weft__version **added)
{
    if ((*added = find(versions, class_bytes, count)))
        return WEFT_OK;
    if (!(*added = new_version(versions, launch, class_bytes, count)))
        return WEFT_ERROR_MEMORY;
    if (versions->device->id.kind == WEFT_DEVICE_CPU && engine != WEFT__ENGINE_QUICK)
        (void)load(*added);
    (*added)->next = atomic_load(&versions->first);
    atomic_store(&versions->first, *added);
    return WEFT_OK;
}

/* With the mutex held. */
static weft_status compile_now(weft__version *version, weft__engine engine)
{
    const bool quick = engine == WEFT__ENGINE_QUICK;
    weft__effort effort = quick ? WEFT__EFFORT_QUICK : WEFT__EFFORT_FULL;
    if (atomic_load(&version->module))
        return WEFT_OK;
    const weft_status status = compile(version, &effort);
    if (status == WEFT_OK)
        atomic_store(&version->state, WEFT__VERSION_SETTLED);
    if (status == WEFT_ERROR_UNSUPPORTED && weft__engine_is_missing())
        return FAIL(status, "WEFT_ENGINE is %s, but there is no libLLVM to use: %.400s",
                    quick ? "quick" : "llvm", weft_error_message());
    return status;
}

static bool is_worth(weft__version *version, const weft__launch *launch)
{
    int64_t bytes;
    const uint32_t runs = atomic_fetch_add(&version->runs, 1) + 1;
    return runs >= RUNS_WORTH || __builtin_mul_overflow(launch->count, launch->cost, &bytes) ||
           bytes >= BYTES_WORTH;
}

/* Whether it is settled what will become of the version. */
static bool hand_over(weft__version *version, const weft__launch *launch)
{
    int expected = WEFT__VERSION_NEW;
    if (atomic_load(&version->state) != WEFT__VERSION_NEW)
        return true;
    if (weft__engine_is_missing() && !weft__engine_get_maker())
        return true;
    if (!is_worth(version, launch) ||
        !atomic_compare_exchange_strong(&version->state, &expected, WEFT__VERSION_WAITING))
        return false;
    COUNT(version->of->device->statistics.compilations_waiting, 1);
    const bool added = weft__background_add(&version->job);
    if (!added)
        end_waiting(version, WEFT__VERSION_NEW);
    return added;
}

static weft_status find_or_add(weft__versions *versions, const weft__launch *launch,
                               weft__engine engine, pthread_mutex_t *mutex, weft__version **found)
{
    uint8_t class_bytes[CLASS_MOST];
    weft_status status = WEFT_OK;
    const bool now = engine != WEFT__ENGINE_AUTO;
    const uint32_t count =
        weft__llvm_class(versions->kernel, launch, class_bytes, sizeof class_bytes);
    *found = count <= sizeof class_bytes ? find(versions, class_bytes, count) : NULL;
    if (count > sizeof class_bytes || (*found && atomic_load(&(*found)->module)))
        return WEFT_OK;
    if (*found && !now)
        return WEFT_OK;
    const weft_error before = *weft_error_last();
    pthread_mutex_lock(mutex);
    if (!*found)
        status = add(versions, launch, engine, class_bytes, count, found);
    if (status == WEFT_OK && now)
        status = compile_now(*found, engine);
    pthread_mutex_unlock(mutex);
    if (status != WEFT_OK && now)
        return status;
    weft__error_restore(&before); /* there is the interpreter: what went wrong is no failure */
    return WEFT_OK;
}

weft_status weft__version_find(weft__versions *versions, const weft__launch *launch,
                               weft__engine engine, pthread_mutex_t *mutex,
                               weft__version_found *found)
{
    weft__version *version;
    *found = (weft__version_found){NULL, false};
    TRY(find_or_add(versions, launch, engine, mutex, &version));
    if (!version)
        return WEFT_OK;
    found->module = atomic_load(&version->module);
    found->settled = hand_over(version, launch);
    return WEFT_OK;
}

/* A device that does not compute a dtype says so before its compiler does. */
static weft_status check_dtypes(const weft__versions *versions, const weft_device_info *info)
{
    const weft__kernel *kernel = versions->kernel;
    for (uint32_t i = 0; i < kernel->values_count; i++)
        if (!(info->dtypes >> kernel->values[i].dtype & 1))
            return FAIL(WEFT_ERROR_UNSUPPORTED, "%s does not compute %s, which this takes",
                        versions->device->name,
                        weft_dtype_name((weft_dtype)kernel->values[i].dtype));
    return WEFT_OK;
}

/* The machine code of a device is of one text, and made by one driver for one model. */
typedef struct device_key {
    uint8_t bytes[2 * sizeof(uint64_t) + 1 + sizeof(weft_device_info)];
    weft__disk_key key;
} device_key;

static void fill_key(const weft__version *version, const char *text, const weft_device_info *info,
                     device_key *to)
{
    const uint8_t kind = (uint8_t)info->kind;
    const size_t length = strlen(text);
    const uint64_t hashes[] = {weft__hash(1, text, length), weft__hash(2, text, length)};
    uint8_t *at = to->bytes;
    at = (uint8_t *)memcpy(at, hashes, sizeof hashes) + sizeof hashes;
    at = (uint8_t *)memcpy(at, &kind, sizeof kind) + sizeof kind;
    at = (uint8_t *)memcpy(at, info->name, sizeof info->name) + sizeof info->name;
    at = (uint8_t *)memcpy(at, info->driver, sizeof info->driver) + sizeof info->driver;
    at = (uint8_t *)memcpy(at, info->compiler, sizeof info->compiler) + sizeof info->compiler;
    to->key = (weft__disk_key){&version->of->key, to->bytes, (uint32_t)(at - to->bytes)};
}

/* Counts a module that was published, and keeps its machine code if that is new. `begin` is when it
 * was begun, if there is a trace. */
static void keep(weft__version *version, const device_key *key, uint64_t begin)
{
    weft__device *device = version->of->device;
    weft__object object = {0};
    const bool compiled =
        !device->backend->module_binary ||
        device->backend->module_binary(version->module, &object.data, &object.bytes);
    trace(version, compiled ? "its own compiler" : "from the disk", begin);
    COUNT(*(compiled ? &device->statistics.compilations : &device->statistics.compilations_loaded),
          1);
    if (object.data)
        weft__disk_store(&key->key, &object);
    weft__object_free(&object);
}

weft__dialect weft__version_dialect(const weft__device *device)
{
    if (device->id.kind == WEFT_DEVICE_CUDA)
        return WEFT__DIALECT_CUDA;
    return weft__c_like_is_as_gpu() || device->backend->device_is_gpu(device->id.index)
               ? WEFT__DIALECT_OPENCL
               : WEFT__DIALECT_OPENCL_CPU;
}

/* With the mutex held. */
static weft_status write_and_load(weft__version *version)
{
    weft__device *device = version->of->device;
    weft_device_info info = {0};
    weft__kernel_text text;
    weft__object object = {0};
    weft__image image;
    device_key key;
    if (atomic_load(&version->module))
        return WEFT_OK;
    const uint64_t begin = weft__tracing() ? weft__trace_now() : 0;
    const weft__dialect dialect = weft__version_dialect(device);
    TRY(device->backend->device_describe(device->id.index, &info));
    TRY(check_dtypes(version->of, &info));
    TRY(weft__c_like_write(version->of->kernel, version->sample, dialect, &text));
    fill_key(version, text.text, &info, &key);
    if (device->backend->module_binary && weft__disk_load(&key.key, &object)) {
        text.binary = object.data;
        text.binary_bytes = object.bytes;
    }
    TRY(weft__kernel_text_image(&text, &image));
    TRY(publish(version, &image));
    keep(version, &key, begin);
    return WEFT_OK;
}

weft_status weft__version_find_text(weft__versions *versions, const weft__launch *launch,
                                    pthread_mutex_t *mutex, weft__module **module)
{
    uint8_t class_bytes[CLASS_MOST];
    weft_status status = WEFT_OK;
    const uint32_t count =
        weft__c_like_class(versions->kernel, launch, weft__version_dialect(versions->device),
                           class_bytes, sizeof class_bytes);
    weft__version *version = find(versions, class_bytes, count);
    if (!version || !atomic_load(&version->module)) {
        pthread_mutex_lock(mutex);
        if (!version)
            status = add(versions, launch, WEFT__ENGINE_AUTO, class_bytes, count, &version);
        if (status == WEFT_OK)
            status = write_and_load(version);
        pthread_mutex_unlock(mutex);
    }
    if (status == WEFT_OK)
        *module = atomic_load(&version->module);
    return status;
}

bool weft__versions_idle(const weft__versions *versions)
{
    const weft__version *version = atomic_load(&versions->first);
    while (version && !weft__background_holds(&version->job))
        version = version->next;
    return !version;
}

void weft__versions_free(weft__versions *versions)
{
    const weft__backend *backend = versions->device->backend;
    for (weft__version *version = atomic_load(&versions->first), *next; version; version = next) {
        next = version->next;
        backend->module_release(version->replaced);
        backend->module_release(atomic_load(&version->module));
        weft__free(version);
    }
}
