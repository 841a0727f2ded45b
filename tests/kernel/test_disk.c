/* The disk cache: kept, found again, shared by processes, bounded; and entries that are not what
 * they seem are not used. */
#include "kernel/disk_folder.h"
#include "kernel/engines.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ELEMENTS = 100 };

/* A folder of the test's own. */
typedef struct folder {
    char path[64];
} folder;

static void empty_folder(const char *path)
{
    char name[512];
    DIR *files = opendir(path);
    for (struct dirent *file; files && (file = readdir(files));) {
        snprintf(name, sizeof name, "%s/%.300s", path, file->d_name);
        if (file->d_name[0] != '.' && unlink(name) != 0)
            rmdir(name);
    }
    if (files)
        closedir(files);
}

static void folder_end(folder *f)
{
    char inner[128];
    snprintf(inner, sizeof inner, "%s/inner", f->path);
    chmod(f->path, 0700);
    empty_folder(inner);
    empty_folder(f->path);
    rmdir(f->path);
}
#define AUTO_FOLDER __attribute__((cleanup(folder_end))) folder

static folder folder_new(void)
{
    folder f = {"/tmp/weft-test-XXXXXX"};
    if (!mkdtemp(f.path))
        f.path[0] = '\0';
    return f;
}

/* The name of the only file that ends with ".weft"; "" if there is none, or several. */
static void find_entry(const folder *f, char *path, size_t room)
{
    int found = 0;
    DIR *files = opendir(f->path);
    path[0] = '\0';
    for (struct dirent *file; files && (file = readdir(files));)
        if (strstr(file->d_name, ".weft")) {
            snprintf(path, room, "%s/%.200s", f->path, file->d_name);
            found++;
        }
    if (files)
        closedir(files);
    if (found != 1)
        path[0] = '\0';
}

static char *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    char *data = malloc(1 << 20);
    *bytes = file && data ? fread(data, 1, 1 << 20, file) : 0;
    if (file)
        fclose(file);
    return data;
}

static bool write_file(const char *path, const char *data, size_t bytes)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const bool good = file >= 0 && write(file, data, bytes) == (ssize_t)bytes;
    if (file >= 0)
        close(file);
    return good;
}

/* One run, after everything in memory was dropped: where its code came from. */
typedef struct fresh {
    const char *folder;
    weft__engine engine;
    weft_statistics before;
    uint64_t llvm, loaded;
} fresh;

static void around(bool begins, void *argument)
{
    fresh *made = argument;
    weft__background_wait();
    if (begins) {
        weft_device_reset(WEFT_CPU);
        weft__disk_choose(made->folder);
        weft__engine_choose((int)made->engine);
        made->before = counters();
        return;
    }
    made->llvm = counters().compilations_llvm - made->before.compilations_llvm;
    made->loaded = counters().compilations_loaded - made->before.compilations_loaded;
    weft__disk_choose(""); /* what copies operands and results has no part in this */
    weft__engine_choose(WEFT__ENGINE_INTERPRETER);
}

static bool run_fresh(const folder *f, weft__engine engine, int k, fresh *made)
{
    *made = (fresh){.folder = f->path, .engine = engine};
    weft__disk_choose("");
    weft__engine_choose(WEFT__ENGINE_INTERPRETER);
    return is_right_around(k, ELEMENTS, around, made);
}

TEST(what_was_made_quickly_is_not_kept)
{
    NEEDS_LLVM();
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_LLVM);
    AUTO_FOLDER f = folder_new();
    fresh made;
    weft_cache_info info;
    CHECK(run_fresh(&f, WEFT__ENGINE_QUICK, 30, &made));
    CHECK(made.llvm == 1 && made.loaded == 0);
    weft__disk_choose(f.path);
    CHECK_STATUS(weft_cache_describe(&info), WEFT_OK);
    CHECK_INT(info.entries, 0);
    CHECK(run_fresh(&f, WEFT__ENGINE_LLVM, 30, &made));
    CHECK(made.llvm == 1 && made.loaded == 0);
    CHECK(run_fresh(&f, WEFT__ENGINE_QUICK, 30, &made)); /* does not want what is there */
    CHECK(made.llvm == 1 && made.loaded == 0);
    CHECK(run_fresh(&f, WEFT__ENGINE_AUTO, 30, &made));
    CHECK(made.llvm == 0 && made.loaded == 1);
}

TEST(kept_and_found_again)
{
    NEEDS_LLVM();
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_LLVM);
    AUTO_FOLDER f = folder_new();
    fresh made;
    weft_cache_info info;
    for (int i = 0; i < 2; i++) {
        CHECK(run_fresh(&f, WEFT__ENGINE_LLVM, 5, &made));
        CHECK(made.llvm == 1 && made.loaded == 0);
        CHECK(run_fresh(&f, WEFT__ENGINE_AUTO, 5, &made)); /* at the first run */
        CHECK(made.llvm == 0 && made.loaded == 1);
        weft__disk_choose(f.path);
        CHECK_STATUS(weft_cache_describe(&info), WEFT_OK);
        CHECK_STR(info.folder, f.path);
        CHECK_INT(info.entries, 1);
        CHECK(info.bytes > 500 && info.bytes < info.limit);
        CHECK_STATUS(weft_cache_clear(), WEFT_OK);
        CHECK_STATUS(weft_cache_describe(&info), WEFT_OK);
        CHECK_INT(info.entries, 0);
        CHECK_INT(info.bytes, 0);
    }
}

/* Fills the folder with the entry of one kernel alone. */
static bool one_entry(const folder *f, char *path, size_t room)
{
    fresh made;
    CHECK_OR(run_fresh(f, WEFT__ENGINE_LLVM, 6, &made), false);
    find_entry(f, path, room);
    return path[0] != '\0';
}

/* Whether an entry on disk is used by a fresh start; the result is right in any case. */
static bool is_used(const folder *f, bool *right)
{
    fresh made;
    *right = run_fresh(f, WEFT__ENGINE_AUTO, 6, &made);
    return made.loaded != 0;
}

#define CHECK_USED(expected)                                                                       \
    do {                                                                                           \
        bool right_now;                                                                            \
        const bool used_now = is_used(&f, &right_now);                                             \
        CHECK(right_now);                                                                          \
        CHECK_INT(used_now, expected);                                                             \
    } while (0)

TEST(damaged_entries_are_not_used)
{
    char path[300];
    size_t bytes;
    NEEDS_LLVM();
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_LLVM);
    AUTO_FOLDER f = folder_new();
    CHECK(one_entry(&f, path, sizeof path));
    char *data = read_file(path, &bytes);
    bool written = true, wrong = false, used = false, right = true;
    for (size_t i = 0; i < bytes && written; i++) {
        data[i] ^= (char)(1 << i % 8);
        written = write_file(path, data, bytes);
        used |= is_used(&f, &right);
        wrong |= !right;
        data[i] ^= (char)(1 << i % 8);
    }
    for (size_t i = 0; i < bytes && written; i += i < 300 ? 1 : 97) {
        written = write_file(path, data, i);
        used |= is_used(&f, &right);
        wrong |= !right;
    }
    const bool whole = write_file(path, data, bytes) && is_used(&f, &right);
    data[bytes] = 0;
    const bool longer = write_file(path, data, bytes + 1) && is_used(&f, &right);
    free(data);
    CHECK(bytes > 500 && written);
    CHECK(!used && !wrong && right);
    CHECK(whole && !longer);
}

/* Sizes that lie, with a checksum that is right. */
TEST(hostile_entries_are_not_used)
{
    enum { KEY_BYTES = 80, OBJECT_BYTES = 88, CHECKSUM = 96 };
    static const uint64_t sizes[] = {0, 1, 1 << 20, UINT64_MAX, UINT64_MAX - 103, 1ull << 63};
    char path[300], other[320];
    size_t bytes;
    NEEDS_LLVM();
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_LLVM);
    AUTO_FOLDER f = folder_new();
    CHECK(one_entry(&f, path, sizeof path));
    char *data = read_file(path, &bytes), *changed = malloc(bytes);
    bool used = false, right = true, whole = false;
    for (int i = 0; changed && i < 12; i++) {
        memcpy(changed, data, bytes);
        memcpy(changed + (i % 2 ? KEY_BYTES : OBJECT_BYTES), &sizes[i / 2], sizeof *sizes);
        memset(changed + CHECKSUM, 0, 8);
        const uint64_t checksum = weft__hash(bytes, changed, bytes);
        memcpy(changed + CHECKSUM, &checksum, sizeof checksum);
        used |= !write_file(path, changed, bytes) || is_used(&f, &right) || !right;
    }
    if (changed) { /* the layout is as this test believes: it can make a good one */
        memcpy(changed, data, bytes);
        memset(changed + CHECKSUM, 0, 8);
        const uint64_t checksum = weft__hash(bytes, changed, bytes);
        memcpy(changed + CHECKSUM, &checksum, sizeof checksum);
        whole = write_file(path, changed, bytes) && is_used(&f, &right);
    }
    free(changed);
    free(data);
    CHECK(!used && right && whole);
    CHECK_INT(chmod(path, 0620), 0); /* others can write to it */
    CHECK_USED(false);
    CHECK_INT(chmod(path, 0600), 0);
    CHECK_USED(true);
    snprintf(other, sizeof other, "%s.other", path);
    CHECK_INT(rename(path, other), 0);
    CHECK_INT(symlink(other, path), 0);
    CHECK_USED(false);
    CHECK_INT(unlink(path), 0);
    CHECK_INT(mkfifo(path, 0600), 0);
    CHECK_USED(false);
    CHECK_INT(unlink(path), 0);
    CHECK_INT(mkdir(path, 0700), 0);
    CHECK_USED(false);
}

/* An entry under the name of another kernel's. */
TEST(entries_of_other_kernels_are_not_used)
{
    char path[300], other[300];
    size_t bytes;
    NEEDS_LLVM();
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_LLVM);
    AUTO_FOLDER f = folder_new();
    CHECK(one_entry(&f, path, sizeof path));
    char *data = read_file(path, &bytes);
    unlink(path);
    fresh made;
    const bool made_other = run_fresh(&f, WEFT__ENGINE_LLVM, 8, &made);
    find_entry(&f, other, sizeof other);
    const bool written = write_file(other, data, bytes);
    free(data);
    CHECK(made_other && written && strcmp(path, other) != 0);
    CHECK(run_fresh(&f, WEFT__ENGINE_AUTO, 8, &made));
    CHECK_INT(made.loaded, 0);
}

static void set_or_unset(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* Where the folder is, of one that is given, of XDG_CACHE_HOME and of a home. */
static bool is_below(const char *given, const char *cache, const char *home, const char *expected)
{
    char path[WEFT__DISK_PATH];
    set_or_unset("WEFT_CACHE_DIR", given);
    set_or_unset("XDG_CACHE_HOME", cache);
    set_or_unset("HOME", home);
    weft__disk_choose(NULL);
    return weft__disk_folder(path) ? expected && strcmp(path, expected) == 0 : expected == NULL;
}

/* A home that is not there is not made. */
TEST(where_the_folder_is)
{
    static const char *const names[] = {"WEFT_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "WEFT_CACHE"};
    char *kept[4], below[100], missing[100];
    AUTO_FOLDER f = folder_new();
    for (int k = 0; k < 4; k++)
        kept[k] = getenv(names[k]) ? strdup(getenv(names[k])) : NULL;
    snprintf(below, sizeof below, "%s/.cache/weft", f.path);
    snprintf(missing, sizeof missing, "%s/missing", f.path);
    unsetenv("WEFT_CACHE");
    const bool right = is_below(NULL, NULL, f.path, below) && is_below(NULL, NULL, missing, NULL) &&
                       is_below("/a", "/b", f.path, "/a") &&
                       is_below(NULL, "/b", missing, "/b/weft");
    for (int k = 0; k < 4; k++) {
        set_or_unset(names[k], kept[k]);
        free(kept[k]);
    }
    weft__disk_choose("");
    CHECK(right);
}

TEST(folders_that_cannot_be_used)
{
    fresh made;
    struct stat facts;
    NEEDS_LLVM();
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_LLVM);
    AUTO_FOLDER f = folder_new();
    folder inner = f, below = f, proc = {"/proc/weft"}, foreign = {"/sys/kernel"};
    strcat(inner.path, "/inner");
    strcat(below.path, "/inner/a/b");
    CHECK(run_fresh(&inner, WEFT__ENGINE_LLVM, 3, &made)); /* is made, private to the user */
    CHECK_INT(stat(inner.path, &facts), 0);
    CHECK_INT(facts.st_mode & 0777, 0700);
    empty_folder(inner.path);
    rmdir(inner.path);
    CHECK(write_file(inner.path, "x", 1)); /* a file is in the way */
    const folder *const unusable[] = {&inner, &below, &proc, &foreign};
    for (int i = 0; i < 4; i++) {
        CHECK(run_fresh(unusable[i], WEFT__ENGINE_LLVM, 3, &made));
        CHECK_INT(made.llvm, 1);
    }
    CHECK_INT(weft_error_code(), WEFT_OK);
}

static int outcome(pid_t child)
{
    int status = 0;
    if (waitpid(child, &status, 0) != child)
        return -1000;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* As on a disk that is full. */
TEST(a_disk_that_takes_nothing)
{
    NEEDS_FORK();
    NEEDS_LLVM();
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_LLVM);
    AUTO_FOLDER f = folder_new();
    weft__disk_choose(f.path);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit none = {100, 100};
        signal(SIGXFSZ, SIG_DFL); /* would end the process */
        weft_cache_info info = {.entries = 1};
        bool good = setrlimit(RLIMIT_FSIZE, &none) == 0 && is_right(3, ELEMENTS);
        good = good && weft_error_code() == WEFT_OK;
        _exit(good && weft_cache_describe(&info) == WEFT_OK && !info.entries && !info.bytes ? 0
                                                                                            : 1);
    }
    CHECK_INT(outcome(child), 0);
}

TEST(several_processes_at_once)
{
    enum { PROCESSES = 4, KERNELS = 10 };
    NEEDS_FORK();
    NEEDS_LLVM();
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_LLVM);
    AUTO_FOLDER f = folder_new();
    pid_t children[PROCESSES];
    fresh made;
    weft__disk_choose(f.path);
    fflush(NULL);
    for (int i = 0; i < PROCESSES; i++) {
        if ((children[i] = fork()) != 0)
            continue;
        bool right = true;
        alarm(100);
        for (int k = 1; k <= KERNELS; k++)
            right = right && is_right(k, ELEMENTS);
        _exit(right ? 0 : 1);
    }
    int wrong = 0;
    for (int i = 0; i < PROCESSES; i++)
        wrong += outcome(children[i]) != 0;
    CHECK_INT(wrong, 0);
    for (int k = 1; k <= KERNELS; k++) {
        CHECK(run_fresh(&f, WEFT__ENGINE_AUTO, k, &made));
        CHECK_INT(made.loaded, 1);
        CHECK_INT(made.llvm, 0);
    }
    DIR *files = opendir(f.path);
    int temporary = 0;
    for (struct dirent *file; files && (file = readdir(files));)
        temporary += strstr(file->d_name, ".new") != NULL;
    closedir(files);
    CHECK_INT(temporary, 0);
}

TEST(the_oldest_go_first)
{
    enum { LIMIT = 60000 };
    char path[300];
    fresh made;
    weft_cache_info info;
    NEEDS_LLVM();
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_LLVM);
    AUTO_FOLDER f = folder_new();
    CHECK(one_entry(&f, path, sizeof path));
    const struct timespec long_ago[2] = {{1000, 0}, {1000, 0}};
    CHECK_INT(utimensat(AT_FDCWD, path, long_ago, 0), 0);
    weft__disk_limit(LIMIT);
    for (int k = 10; k < 40; k++) {
        CHECK(run_fresh(&f, WEFT__ENGINE_LLVM, k, &made));
        weft__disk_choose(f.path);
        CHECK_STATUS(weft_cache_describe(&info), WEFT_OK);
        CHECK(info.bytes <= LIMIT);
    }
    CHECK(info.entries > 3);
    CHECK(access(path, F_OK) != 0);
    CHECK(run_fresh(&f, WEFT__ENGINE_AUTO, 39, &made));
    CHECK(made.loaded > 0);
}

TEST(a_use_makes_an_entry_young)
{
    char path[300];
    struct stat facts;
    NEEDS_LLVM();
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_LLVM);
    AUTO_FOLDER f = folder_new();
    CHECK(one_entry(&f, path, sizeof path));
    const struct timespec long_ago[2] = {{1000, 0}, {1000, 0}};
    CHECK_INT(utimensat(AT_FDCWD, path, long_ago, 0), 0);
    CHECK_USED(true);
    CHECK_INT(stat(path, &facts), 0);
    CHECK(facts.st_mtime > 1000000);
}

TEST(a_fresh_process_needs_no_libllvm)
{
    NEEDS_LLVM();
    AUTO_ENGINE setting = engine_begin(WEFT__ENGINE_LLVM);
    AUTO_FOLDER f = folder_new();
    char path[300];
    CHECK(one_entry(&f, path, sizeof path));
    setenv("WEFT_TEST_FOLDER", f.path, 1);
    setenv("WEFT_LLVM", "/no/such/libLLVM.so", 1);
    const bool passes = test_passes_alone("alone_from_disk");
    unsetenv("WEFT_LLVM");
    unsetenv("WEFT_TEST_FOLDER");
    CHECK(passes);
}

TEST(alone_from_disk)
{
    const char *path = getenv("WEFT_TEST_FOLDER");
    if (!test_alone() || !path)
        SKIP("is run by a_fresh_process_needs_no_libllvm");
    fresh made;
    folder f = {""};
    snprintf(f.path, sizeof f.path, "%.60s", path);
    CHECK(run_fresh(&f, WEFT__ENGINE_LLVM, 6, &made)); /* fails if it must compile */
    CHECK_INT(made.loaded, 1);
    CHECK(weft__llvm_version() == NULL);
}

#define NO_FAULTS "another process has no part in the count of allocations"

TEST_MAIN(TEST_OF(what_was_made_quickly_is_not_kept), TEST_OF(kept_and_found_again),
          TEST_NO_FAULTS(damaged_entries_are_not_used, "goes through thousands of entries"),
          TEST_NO_FAULTS(hostile_entries_are_not_used, "goes through many entries"),
          TEST_OF(entries_of_other_kernels_are_not_used), TEST_OF(where_the_folder_is),
          TEST_OF(folders_that_cannot_be_used),
          TEST_NO_FAULTS(a_disk_that_takes_nothing, NO_FAULTS),
          TEST_NO_FAULTS(several_processes_at_once, NO_FAULTS),
          TEST_NO_FAULTS(the_oldest_go_first, "goes through many entries"),
          TEST_OF(a_use_makes_an_entry_young),
          TEST_NO_FAULTS(a_fresh_process_needs_no_libllvm, NO_FAULTS),
          TEST_NO_FAULTS(alone_from_disk, NO_FAULTS));
