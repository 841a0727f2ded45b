/* The command weft: what its files share. */
#ifndef WEFT_TOOLS_COMMAND_H
#define WEFT_TOOLS_COMMAND_H

#include <stdio.h>
#include <weft/weft.h>

enum { DONE = 0, FAILED = 1, WRONG_USAGE = 2 }; /* exit codes */
enum { OPERANDS_MAX = 128, OUTPUTS_MAX = 64, STATEMENTS_MAX = 256, NAME_ROOM = 64 };

int command_eval(int count, char **arguments);
int command_info(int count, char **arguments);
int command_explain(int count, char **arguments);
int command_bench(int count, char **arguments);
int command_cache(int count, char **arguments);
int command_trace(int count, char **arguments);

/* Messages go to the error stream; each returns the exit code that belongs to it. */
int wrong_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
int failed(const char *format, ...) __attribute__((format(printf, 1, 2)));
int failed_call(void); /* what the library says */
bool is_help(const char *argument);

/* The value of an option: "--device cpu" or "--device=cpu". NULL if *at is another argument; if the
 * value is missing, "" is no value and *missing says so. */
const char *option_value(int count, char **arguments, int *at, const char *name, bool *missing);

/* JSON. */
void json_text(const char *text);
/* dtype, shape and, of few elements, values; false if those could not be read. */
bool json_array(weft_array *array);

/* An operand as the user named it. */
typedef struct operand {
    char name[NAME_ROOM];
    weft_operand value;
    bool mapped; /* its memory is a file */
    bool random; /* an array that is not there before it is asked for: see operand_array */
    weft_dtype dtype;
    weft_shape shape;
    weft_random generator;
} operand;

typedef struct operands {
    int count;
    operand list[OPERANDS_MAX];
} operands;

/* "a=x.npy", "a=x.npz:member", "x.npz", "a=2.5", "a=f32[3,4]". With `types` nothing is computed or
 * read: arrays have the type and shape, and no memory; without code, zeros. Of "x.npz" those are
 * taken that the code names; without code, all that have a name. Returns an exit code. */
int operand_add(operands *all, const char *command, const char *argument, const char *code,
                bool types);
void operands_free(operands *all);
weft_shape operand_shape(const operand *o); /* of an array */
size_t operand_bytes(const operand *o);     /* 0 for a number */
/* The array, random ones made now and kept; NULL is an error. */
weft_array *operand_array(operand *o);
/* A part of a random one, as a line: the elements that the whole has there. */
weft_array *operand_part(const operand *o, int64_t begin, int64_t count);
const operand *operand_find(const operands *all, const char *name);
bool is_name(const char *text, size_t length);

/* What the tool must know of a program: its statements and the names in them. */
typedef struct statement {
    size_t begin, end;    /* in the text, without the semicolon */
    size_t value;         /* where the right side begins */
    char name[NAME_ROOM]; /* that is assigned */
    bool plain;           /* "=", not "+=" */
} statement;

typedef struct program {
    char *text;
    int count;
    statement list[STATEMENTS_MAX];
} program;

/* An expression at the end is given the name "result". False if there is too much of it. */
bool program_open(program *p, const char *code);
void program_close(program *p);
bool program_assigns(const program *p, const char *name);
/* Whether a right side, or an assignment as "+=", has the name. */
bool program_reads(const program *p, const char *name);
/* Whether the name stands anywhere in the text. */
bool text_names(const char *text, size_t length, const char *name);
/* The first function in the text that looks beyond one element, or NULL. */
const char *program_far_call(const char *text, size_t length);

/* What an evaluation gives. */
typedef struct result {
    char name[NAME_ROOM];
    const char *file; /* where it goes, or NULL: it is shown */
    weft_array *array;
} result;

typedef struct evaluation {
    program program;
    operands operands;
    int count;
    result results[OUTPUTS_MAX];
    weft_device device;
    bool json, compress;
} evaluation;

/* In pieces, with bounded memory. NULL if it can be, else why not. */
const char *stream_refuses(const evaluation *e);
int stream_run(evaluation *e);
/* How many bytes of arrays it reads. */
uint64_t stream_bytes(const evaluation *e);

/* Functions of a C file. */
enum { FUNCTIONS_MAX = 256, SOURCE_MAX = 16 << 20, HOSTS_MAX = 64 };
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
typedef struct source {
    const char *path;
    char *text;
    weft_function functions[FUNCTIONS_MAX];
    int count;
    size_t unfinished; /* the line of the first that is none, from 1; or 0 */
} source;
int source_open(source *s, const char *path); /* returns an exit code; close it also then */
void source_close(source *s);

/* What is asked about them. */
typedef struct explanation {
    operands operands;
    const char *function;         /* or NULL: all */
    const char *hosts[HOSTS_MAX]; /* "name=read, both" */
    int hosts_count;
    weft_device device; /* the context of calls, or none */
    weft_explain_form form;
    bool called;             /* one had operands for all its parameters */
    char lacking[NAME_ROOM]; /* … and a parameter that has none */
} explanation;
int explain_file(const char *path, explanation *e);

/* A bar on the error stream, if that is a terminal. */
typedef struct progress {
    bool shown;
    double began, last;
} progress;
void progress_begin(progress *p);
void progress_show(progress *p, double part, double bytes);
void progress_end(progress *p, double bytes);
void progress_stop(const progress *p); /* before the end, for a message */
double seconds_now(void);

#endif
