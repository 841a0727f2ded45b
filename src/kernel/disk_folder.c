/* The folder of the disk cache: found from the environment, kept below its limit, shown and
 * emptied. */
#include "kernel/disk_folder.h"
#include "core/allocate.h"
#include "core/status.h"
#include "kernel/disk.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <weft/cache.h>

enum {
    LIMIT = 256 << 20,
    LOOK_EVERY = 64,        /* entries added between two looks at what others have added */
    ABANDONED_SECONDS = 600 /* a file that is still being written after this long never will be */
};

static const int64_t SECOND = 1000000000;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards all of this */
static char folder_path[WEFT__DISK_PATH];                 /* "": there is none */
static bool known;
static uint64_t limit = LIMIT, total; /* bytes in the folder, when it was looked at and since */
static int added_since = LOOK_EVERY;

/* Only what is absolute, or can be made so: the program may change its folder later. */
static void set_path(const char *folder, const char *below)
{
    char here[WEFT__DISK_PATH] = "";
    if (folder[0] != '/' && (*below || !getcwd(here, sizeof here - 1)))
        return;
    const int length = snprintf(folder_path, sizeof folder_path, "%s%s%s%s", here,
                                here[0] ? "/" : "", folder, below);
    if (length >= (int)sizeof folder_path)
        folder_path[0] = '\0';
}

static void find_folder(void)
{
    static const struct {
        const char *variable, *below;
        bool exists; /* a user without one is not given one */
    } places[] = {{"WEFT_CACHE_DIR", "", false},
                  {"XDG_CACHE_HOME", "/weft", false},
                  {"HOME", "/.cache/weft", true}};
    const char *wanted = secure_getenv("WEFT_CACHE");
    known = true;
    folder_path[0] = '\0';
    if (wanted && strcmp(wanted, "off") == 0)
        return;
    for (size_t k = 0; k < sizeof places / sizeof places[0] && !folder_path[0]; k++) {
        const char *text = secure_getenv(places[k].variable);
        if (text && *text && (!places[k].exists || access(text, F_OK) == 0))
            set_path(text, places[k].below);
    }
}

weft_status weft__disk_check(void)
{
    const char *text = getenv("WEFT_CACHE");
    if (!text || !*text || strcmp(text, "on") == 0 || strcmp(text, "off") == 0)
        return WEFT_OK;
    return FAIL_AT(WEFT_ERROR_ARGUMENT, "WEFT_CACHE",
                   "the environment variable WEFT_CACHE is '%.40s'; on or off was expected", text);
}

bool weft__disk_folder(char *path)
{
    pthread_mutex_lock(&mutex);
    if (!known)
        find_folder();
    memcpy(path, folder_path, strlen(folder_path) + 1);
    pthread_mutex_unlock(&mutex);
    return path[0] != '\0';
}

void weft__disk_choose(const char *folder)
{
    pthread_mutex_lock(&mutex);
    known = folder != NULL;
    folder_path[0] = '\0';
    if (folder && *folder)
        set_path(folder, "");
    added_since = LOOK_EVERY;
    pthread_mutex_unlock(&mutex);
}

void weft__disk_limit(uint64_t bytes)
{
    pthread_mutex_lock(&mutex);
    limit = bytes ? bytes : LIMIT;
    added_since = LOOK_EVERY;
    pthread_mutex_unlock(&mutex);
}

/* Makes the folders of a path that are missing. */
static bool make_folders(char *path)
{
    for (char *at = path + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        const bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *at = '/';
        if (!made)
            return false;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static int open_folder(const char *path)
{
    struct stat facts;
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0 && (fstat(folder, &facts) != 0 || facts.st_uid != geteuid())) {
        (void)close(folder);
        return -1;
    }
    return folder;
}

int weft__disk_folder_open(void)
{
    char path[WEFT__DISK_PATH];
    return weft__disk_folder(path) && make_folders(path) ? open_folder(path) : -1;
}

/* One file of ours. */
typedef struct item {
    char name[WEFT__DISK_NAME];
    bool finished; /* an entry, not one that is being written */
    uint64_t bytes;
    int64_t used; /* nanoseconds */
} item;

typedef struct item_list {
    item *items;
    size_t count, room;
    uint64_t bytes;
    bool cut_off; /* memory ran out */
} item_list;

static bool is_ours(const char *name, bool *finished)
{
    const size_t length = strlen(name);
    *finished =
        length == 37 && strspn(name, "0123456789abcdef") == 32 && strcmp(name + 32, ".weft") == 0;
    const bool temporary = length > 4 && strspn(name, "0123456789-") == length - 4 &&
                           strcmp(name + length - 4, ".new") == 0;
    return (*finished || temporary) && length < WEFT__DISK_NAME;
}

static bool grow(item_list *list)
{
    const size_t room = list->room ? 2 * list->room : 256;
    item *items = weft__reallocate(list->items, room * sizeof *items);
    if (items) {
        list->items = items;
        list->room = room;
    }
    list->cut_off = !items;
    return items != NULL;
}

static void add_item(item_list *list, int folder, const char *name)
{
    struct stat facts;
    bool finished;
    if (!is_ours(name, &finished) || fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
        S_ISDIR(facts.st_mode) || (list->count == list->room && !grow(list)))
        return;
    item *added = &list->items[list->count++];
    memcpy(added->name, name, strlen(name) + 1); /* is_ours has seen to its length */
    added->finished = finished;
    added->bytes = (uint64_t)facts.st_size;
    added->used = facts.st_mtim.tv_sec * SECOND + facts.st_mtim.tv_nsec;
    list->bytes += added->bytes;
}

/* What is in the folder, as far as memory goes. */
static item_list list_items(int folder)
{
    item_list list = {0};
    const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *files = again >= 0 ? fdopendir(again) : NULL;
    if (!files && again >= 0)
        (void)close(again);
    for (struct dirent *file; files && (file = readdir(files));)
        add_item(&list, folder, file->d_name);
    if (files)
        (void)closedir(files);
    return list;
}

static int compare_used(const void *a, const void *b)
{
    const item *x = a, *y = b;
    return (x->used > y->used) - (x->used < y->used);
}

/* Down to three quarters, so that it is not done again soon. */
static void remove_oldest(int folder, item_list *list, uint64_t limit_now)
{
    const int64_t now = time(NULL) * SECOND;
    const uint64_t most = list->bytes > limit_now ? limit_now / 4 * 3 : list->bytes;
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, compare_used);
    for (size_t k = 0; k < list->count; k++) {
        const item *old = &list->items[k];
        const bool abandoned = !old->finished && now - old->used > ABANDONED_SECONDS * SECOND;
        if ((abandoned || (list->bytes > most && old->finished)) &&
            unlinkat(folder, old->name, 0) == 0)
            list->bytes -= old->bytes;
    }
}

/* Whether it is time to look at the whole folder. */
static bool count_added(uint64_t bytes, uint64_t *limit_now)
{
    pthread_mutex_lock(&mutex);
    total += bytes;
    const bool look = ++added_since >= LOOK_EVERY || total > limit;
    if (look)
        added_since = 0;
    *limit_now = limit;
    pthread_mutex_unlock(&mutex);
    return look;
}

void weft__disk_added(int folder, uint64_t bytes)
{
    uint64_t limit_now;
    if (!count_added(bytes, &limit_now))
        return;
    item_list list = list_items(folder);
    remove_oldest(folder, &list, limit_now);
    weft__free(list.items);
    pthread_mutex_lock(&mutex);
    total = list.bytes;
    pthread_mutex_unlock(&mutex);
}

void weft__disk_fork(weft__fork_stage stage) { weft__mutex_fork(&mutex, stage); }

weft_status weft_cache_describe_sized(weft_cache_info *info, size_t info_size)
{
    weft_cache_info all = {0};
    OPERATION("weft_cache_describe");
    TRY(weft__check_result(info, "info"));
    TRY(weft__disk_check());
    all.limit = LIMIT;
    if (weft__disk_folder(all.folder)) {
        const int folder = open_folder(all.folder);
        item_list list = folder >= 0 ? list_items(folder) : (item_list){0};
        for (size_t k = 0; k < list.count; k++)
            all.entries += list.items[k].finished;
        all.bytes = list.bytes;
        weft__free(list.items);
        if (folder >= 0)
            (void)close(folder);
        if (list.cut_off)
            return WEFT_ERROR_MEMORY;
    }
    memset(info, 0, info_size);
    memcpy(info, &all, info_size < sizeof all ? info_size : sizeof all);
    return WEFT_OK;
}

static weft_status fail_removal(const char *path)
{
    return FAIL(WEFT_ERROR_SYSTEM, "entries of %.300s cannot be removed: %s", path,
                strerror(errno));
}

weft_status weft_cache_clear(void)
{
    char path[WEFT__DISK_PATH];
    weft_status status;
    OPERATION("weft_cache_clear");
    TRY(weft__disk_check());
    const int folder = weft__disk_folder(path) ? open_folder(path) : -1;
    if (folder < 0)
        return WEFT_OK;
    item_list list = list_items(folder);
    status = list.cut_off ? WEFT_ERROR_MEMORY : WEFT_OK;
    for (size_t k = 0; k < list.count; k++)
        if (unlinkat(folder, list.items[k].name, 0) != 0 && errno != ENOENT)
            status = fail_removal(path);
    weft__free(list.items);
    (void)close(folder);
    return status;
}
