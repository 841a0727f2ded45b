/* weft trace: runs a program with a timeline. */
#include "command.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char help[] =
    "usage: weft trace FILE -- PROGRAM [ARGUMENT...]\n"
    "\n"
    "Runs a program that uses Weft and writes its timeline: every kernel, copy, wait, allocation\n"
    "and compilation, with its stream, bytes, rate and source.\n"
    "  out.json   for https://ui.perfetto.dev and chrome://tracing\n"
    "  out.html   the same as a page that needs nothing else; open it in a browser\n"
    "FILE names either; the other one is beside it. %p in it is the number of the process.\n"
    "\n"
    "The exit code is the program's; 128 and the number of the signal that ended it; 127 if there\n"
    "is no such program, 126 if it cannot be run; 1 if FILE cannot be written: then it does not "
    "run.\n"
    "WEFT_TRACE=FILE does the same without weft trace.\n";

enum { PATH_ROOM = 4096, NO_PROGRAM = 127, NOT_RUN = 126, BY_SIGNAL = 128 };

/* Where the program writes, and what was there before. */
typedef struct files {
    char json[PATH_ROOM], page[PATH_ROOM];
    bool there;
    struct stat before;
} files;

static bool ends(const char *path, const char *with)
{
    const size_t length = strlen(path), own = strlen(with);
    return length > own && strcmp(path + length - own, with) == 0;
}

/* From here on: the program may go to another folder before it computes. */
static bool find_files(const char *file, files *f)
{
    char folder[PATH_ROOM] = "";
    const bool known = ends(file, ".json") || ends(file, ".html");
    const int stem = (int)strlen(file) - (known ? 5 : 0);
    if (file[0] != '/' && !getcwd(folder, sizeof folder))
        return false;
    const char *slash = file[0] == '/' ? "" : "/";
    const int json = snprintf(f->json, sizeof f->json, "%s%s%.*s%s", folder, slash, stem, file,
                              known ? ".json" : "");
    const int page = snprintf(f->page, sizeof f->page, "%s%s%.*s.html", folder, slash, stem, file);
    f->there = stat(f->json, &f->before) == 0;
    return json < PATH_ROOM && page < PATH_ROOM;
}

/* What would make the run useless. NULL: nothing. */
static const char *trouble(const files *f)
{
    char folder[PATH_ROOM];
    const bool special = f->there && !S_ISREG(f->before.st_mode);
    (void)snprintf(folder, sizeof folder, "%s", f->json);
    *strrchr(folder, '/') = 0;
    if (special && S_ISDIR(f->before.st_mode))
        return strerror(EISDIR);
    if (strstr(folder, "%p"))
        return NULL;
    const int refused =
        special ? access(f->json, W_OK) : access(*folder ? folder : "/", W_OK | X_OK);
    return refused ? strerror(errno) : NULL;
}

static bool is_new(const files *f)
{
    struct stat now;
    return stat(f->json, &now) == 0 && (!f->there || now.st_ino != f->before.st_ino ||
                                        now.st_mtim.tv_sec != f->before.st_mtim.tv_sec ||
                                        now.st_mtim.tv_nsec != f->before.st_mtim.tv_nsec);
}

static int run_program(const files *f, char **command)
{
    setenv("WEFT_TRACE", f->json, 1);
    execvp(command[0], command);
    const int code = errno == ENOENT ? NO_PROGRAM : NOT_RUN;
    failed("'%s' cannot be run: %s", command[0], strerror(errno));
    return code;
}

static pid_t running;

static void pass_on(int number) { (void)kill(running, number); }

/* What the terminal sends, it sends to the program too, which decides; what others send to us is
 * meant for it. */
static void listen_for(pid_t child)
{
    running = child;
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    signal(SIGTERM, pass_on);
    if (signal(SIGHUP, pass_on) == SIG_IGN) /* nohup */
        signal(SIGHUP, SIG_IGN);
}

static int wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return failed("waiting for the program: %s", strerror(errno));
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    failed("the program was ended by signal %d (%s)", WTERMSIG(status),
           strsignal(WTERMSIG(status)));
    return BY_SIGNAL + WTERMSIG(status);
}

static void tell(const files *f)
{
    if (strstr(f->json, "%p"))
        fprintf(stderr, "weft: the timelines are %s and %s\n", f->json, f->page);
    else if (is_new(f))
        fprintf(stderr, "weft: the timeline is %s; open %s in a browser\n", f->json, f->page);
    else
        failed("there is no timeline: the program did not use Weft, did not end by exit or "
               "return, or could not write it");
}

static int trace(const char *file, char **command)
{
    files f;
    if (!find_files(file, &f))
        return failed("'%.60s' is too long a name, or this folder has none", file);
    const char *why = trouble(&f);
    if (why)
        return failed("'%.300s' cannot be written: %s; the program was not run", file, why);
    (void)fflush(stdout);
    sigset_t ending, before; /* held back until the program is known */
    (void)sigemptyset(&ending);
    (void)sigaddset(&ending, SIGTERM);
    (void)sigaddset(&ending, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &ending, &before);
    const pid_t child = fork();
    if (child < 0)
        return failed("no process can be started: %s", strerror(errno));
    if (child > 0)
        listen_for(child);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    if (child == 0)
        _exit(run_program(&f, command));
    const int code = wait_for(child);
    if (code != NO_PROGRAM && code != NOT_RUN)
        tell(&f);
    return code;
}

int command_trace(int count, char **arguments)
{
    if (count > 0 && is_help(arguments[0])) {
        fputs(help, stdout);
        return DONE;
    }
    if (count == 0 || arguments[0][0] == '-' || !*arguments[0])
        return wrong_usage("trace", "a file for the timeline was expected, as out.json%s%s",
                           count ? ", not " : "", count ? arguments[0] : "");
    if (count < 3 || strcmp(arguments[1], "--") != 0)
        return wrong_usage("trace", "after %s, -- and a program with its arguments were expected",
                           arguments[0]);
    return trace(arguments[0], arguments + 2);
}
