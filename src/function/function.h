/* Functions: what a body is parsed into, and what a call of it works on.
 *
 *     expand.c    calls of other functions, written out in the text, with walk.c and names.c
 *     parse.c     text -> statements, whose expressions are parts
 *     part.c      parts: the syntax of an expression, and evaluations of it for operands of certain
 *                 types; elements are operands beside the names
 *     integer.c   integers of parts, without kernels
 *     scalar.c    parts of numbers and elements, computed at once on the host
 *     region.c    parts with whole arrays in them
 *     fuse.c      neighbouring array statements as one
 *     join.c      neighbouring loops as one
 *     nest*.c     loops that may become kernels, whose texts emit.c and rows.c write
 *     extent.c    between which integers elements are that loops find others by
 *     serial*.c   loops that are not parallel and go round often, compiled
 *     task*.c     loops whose iterations are such programs, and independent of each other
 *     depend.c    whether the iterations of a loop need each other, by inequality.c
 *     choose.c    where a region runs, by the costs of cost.c, cost_file.c and calibrate.c
 *     variable.c  variables, and which copy of an array is valid where
 *     traced.c    running what was compiled, for timelines
 *     run.c       statements, one after another
 *     host.c      host functions by name
 *     open.c      functions from their texts
 *     call.c      calls: what each thread keeps of a function */
#ifndef WEFT_FUNCTION_FUNCTION_H
#define WEFT_FUNCTION_FUNCTION_H

#include "backend/backend.h"
#include "core/array.h"
#include "lang/error.h"
#include "lang/evaluate.h"
#include "lang/lexer.h"
#include "lang/portable.h"
#include <weft/function.h>

enum {
    WEFT__FUNCTION_DEPTH_MAX = 64, /* statements inside statements */
    WEFT__FUNCTION_VARIABLES_MAX = 4096,
    WEFT__FUNCTION_VERSIONS = 4 /* evaluations that a part keeps */
};

typedef enum weft__function_kind {
    WEFT__STATEMENT_ASSIGN,  /* part: name = …, or x(i) = … */
    WEFT__STATEMENT_DECLARE, /* `variable` gets `dtype`; part, if any: its value */
    WEFT__STATEMENT_ARRAY,   /* `variable` becomes zeros of `dtype`; parts: its sizes */
    WEFT__STATEMENT_STEP,    /* `variable` += delta */
    WEFT__STATEMENT_BLOCK,   /* child, and what follows it */
    WEFT__STATEMENT_IF,      /* part; child, other */
    WEFT__STATEMENT_WHILE,   /* part; child */
    WEFT__STATEMENT_FOR,     /* init, part (or none), step; child */
    WEFT__STATEMENT_RETURN,  /* parts */
    WEFT__STATEMENT_HOST,    /* `host`; parts: its arguments */
    WEFT__STATEMENT_TAKE, /* `variable` takes an array over, or a copy of a number; part: a name */
    WEFT__STATEMENT_GIVE, /* part, a name, gives the array that it took back to variable `delta` */
    WEFT__STATEMENT_BREAK,
    WEFT__STATEMENT_CONTINUE
} weft__function_kind;

/* Positions in the function's lists; -1: none. */
typedef struct weft__function_statement {
    uint8_t kind;
    uint8_t dtype; /* declared */
    int32_t variable;
    int32_t delta;
    int32_t part, parts_count;
    int32_t child, other, next;
    int32_t init, step;
    int32_t host;
    int32_t nest;
    int32_t group; /* that it is the first of */
    int32_t join;  /* the same, of loops */
    uint32_t column;
} weft__function_statement;

/* An element in a part, which is operand number names_count + its position. */
typedef struct weft__function_element {
    int32_t variable;
    uint32_t first, count; /* its subscripts: nodes, in the syntax's arguments */
    uint32_t column;
} weft__function_element;

/* A part compiled for operands of certain types. */
typedef struct weft__function_version {
    weft__lang_operand *types;
    bool as_value;                /* the target is not written: the value is asked for */
    weft__evaluation *evaluation; /* NULL: free */
    weft__image image;            /* of numbers and elements alone: runs at once … */
    weft__launch *launch;         /* … as this */
} weft__function_version;

typedef struct weft__function_part {
    uint32_t begin, end; /* in the code */
    bool value;          /* an expression; else an assignment */
    weft__lang_syntax *syntax;
    int32_t *variables; /* of the names */
    bool *whole;        /* of the names: read without subscripts */
    int names_count;
    weft__function_element *elements;
    int elements_count;
    int32_t target;         /* of an assignment: the operand */
    int32_t node;           /* the value */
    bool integer;           /* made of what integers can be computed of without a kernel */
    weft__lang_name single; /* the part is this name alone; or no text */
    weft__function_version versions[WEFT__FUNCTION_VERSIONS];
    int oldest;
} weft__function_part;

typedef struct weft__function_variable {
    weft__lang_name name;
    uint8_t dtype; /* declared, or WEFT_DTYPE_DEFAULT */
    bool parameter;
} weft__function_variable;

/* Neighbouring array statements that are one program. */
typedef struct weft__function_group {
    int32_t first, last;      /* statements */
    weft__function_part part; /* without variables that nothing reads afterwards */
    bool *needed;             /* of its names: read before it is assigned */
    bool *assigned;
    char why[120]; /* they are not; "" if they are */
} weft__function_group;

typedef struct weft__function_nest weft__function_nest;
typedef struct weft__function_join weft__function_join;

/* What a call did. */
typedef enum weft__function_did {
    WEFT__DID_REGION,    /* `what`: column; `bytes`: kernels */
    WEFT__DID_LOOP,      /* a loop as kernels; the same */
    WEFT__DID_LOOK,      /* at elements that are positions, before a loop: column; kernels */
    WEFT__DID_SERIAL,    /* a loop that was tried and ran serially: column */
    WEFT__DID_COMPILED,  /* a serial loop as compiled code: column */
    WEFT__DID_HOST,      /* a host call: column */
    WEFT__DID_TO_DEVICE, /* a copy: variable, -1 for a number that is read; bytes */
    WEFT__DID_TO_HOST,
    WEFT__EVENTS
} weft__function_did;
typedef struct weft__function_event {
    uint8_t did;
    bool at_host; /* of a region that was weighed: it ran on the host … */
    int32_t what;
    uint64_t bytes;
    double here, there; /* … with these costs, in seconds; 0: it was not weighed */
} weft__function_event;
enum { WEFT__FUNCTION_EVENTS = 64 };

/* An array as a call has it: on the host and where regions run. The two may be one. */
typedef enum weft__holding { WEFT__UNSET, WEFT__NUMBER, WEFT__ARRAY } weft__holding;

typedef struct weft__held {
    uint8_t holding; /* weft__holding */
    bool typed;      /* of a number: see weft__lang_operand; … */
    bool computed;   /* … this, too */
    bool input;      /* of an array: const */
    bool declared;   /* of an array: float t(n), which assigning writes */
    int taken;       /* how often it was taken over from other variables: assigning writes it */
    bool host_valid, device_valid;
    bool host_complete; /* the host has waited for it, and nothing was queued since */
    bool seen;          /* its elements, which are in `range` */
    weft__portable_range range;
    bool written;              /* an argument: something was assigned */
    weft_operand number;       /* of a number */
    weft_array *home;          /* of an argument, borrowed */
    weft_array *host, *device; /* retained, or NULL */
} weft__held;

typedef struct weft__function_look weft__function_look;
typedef struct weft__function_serial weft__function_serial;
typedef struct weft__function_source weft__function_source;
typedef struct weft__function_origin weft__function_origin;

typedef struct weft__function {
    const weft_function *key;
    char *text;
    char *expanded;                 /* the code, if it calls others … */
    weft__function_source *sources; /* … and what it is made of */
    weft__function_origin *origins;
    uint32_t sources_count, origins_count;
    uint64_t
        arrays[WEFT__LANG_OPERANDS_MAX / 64]; /* the parameters that are arrays, bit by bit … */
    bool asks_arrays;                         /* … if that decided about calls */
    uint64_t bindings; /* how often functions had been bound when it was opened */
    weft__lang_name name, parameters, body, code; /* code: inside the braces */
    weft__function_variable *variables;
    weft__function_statement *statements;
    weft__function_part *parts;
    weft__lang_name *hosts; /* names */
    weft__function_nest **nests;
    weft__function_group *groups;
    weft__function_join **joins;
    uint32_t variables_count, statements_count, parts_count, hosts_count, nests_count, groups_count;
    uint32_t variables_room, statements_room, parts_room, hosts_room, nests_room, groups_room;
    uint32_t joins_count, joins_room;
    int parameters_count;
    int32_t first;                   /* statement */
    int32_t *parents;                /* of the statements */
    weft__function_look *looks;      /* of each variable, or NULL */
    weft__function_serial **serials; /* of each statement, or NULL */
    weft__held *held;                /* of each variable, for a call */
    bool busy;                       /* a call is under way … */
    uint32_t at;                     /* … at the statement of this column; UINT32_MAX: at none */
    weft_function_options options;
    weft__function_event events[WEFT__FUNCTION_EVENTS]; /* the first ones of the last call */
    uint32_t events_count;
    uint64_t totals[WEFT__EVENTS], bytes[WEFT__EVENTS], kernels_at_host;
    weft_device called_on; /* by that call */
    bool called;
} weft__function;

/* A call under way. */
typedef struct weft__running {
    weft__function *function;
    weft__held *held;   /* of each variable */
    weft_device device; /* where regions run */
    weft_stream *stream;
    bool serial;
    const weft_result *results;
    int results_count;
    int loops; /* that are open */
    bool returned;
    bool shared; /* arguments share memory */
    /* choose.c */
    bool automatic;          /* regions that are cheaper on the host run there */
    bool at_host;            /* the present one does: device and stream are the host's … */
    weft_device away_device; /* … and these are the others */
    weft_stream *away_stream;
    double here_cost, there_cost; /* of the present region, in seconds; 0: nothing was weighed */
    double missed;                /* what the device would have saved so far, without copies */
} weft__running;

#define FUNCTION_FAIL(f, column, status, ...)                                                      \
    weft__lang_fail((f)->code, (column), (status), __VA_ARGS__)

/* open.c: the message of the error record, without the operation's name. */
const char *weft__function_reason(void);

/* parse.c, part.c */
weft_status weft__function_parse(weft__function *function);
/* Its names are the variables but those with `hidden`, which may be NULL. */
weft_status weft__function_part_parse(weft__function *function, weft__function_part *part,
                                      const bool *hidden);
void weft__function_part_free(weft__function_part *part);
int32_t weft__function_variable_named(const weft__function *function, const char *text,
                                      size_t length);
bool weft__function_assigns(weft__token_kind kind);
/* The version for operands of these types; makes it if need be. */
weft_status weft__function_version_get(weft__function *function, weft__function_part *part,
                                       const weft__lang_operand *types, bool as_value, bool scalar,
                                       weft__function_version **version);

/* flow.c: whether the value that a variable has after the statement may be read. */
bool weft__function_live_after(const weft__function *function, int32_t statement, int32_t variable);
/* Whether an iteration of the loop may read what the variable was before it. */
bool weft__function_carries(const weft__function *function, int32_t statement, int32_t variable);
/* Fills `parents`, of each statement. */
void weft__function_parents(const weft__function *function, int32_t *parents);

/* variable.c: what a use needs is copied first. */
weft_status weft__held_open(weft__running *r, const weft_operand *operands, int count);
void weft__held_close(weft__running *r);
/* Completes the caller's arrays. */
weft_status weft__held_return(weft__running *r);
/* Its copy on the host, complete; with `discard` nothing of it is needed. */
weft_status weft__held_host(weft__running *r, int32_t variable, bool discard, weft_array **array);
/* Its copy where regions run. */
weft_status weft__held_device(weft__running *r, int32_t variable, bool discard, weft_array **array);
/* Notes that one of the copies was written. */
void weft__held_wrote(weft__running *r, int32_t variable, bool on_device);
/* The variable becomes an array, whose reference it takes over, on the host or where regions run.
 */
void weft__held_set_array(weft__running *r, int32_t variable, weft_array *array);
/* It becomes nothing. */
void weft__held_unset(weft__running *r, int32_t variable);
void weft__held_set_number(weft__running *r, int32_t variable, const weft_operand *number,
                           bool typed);
/* Whether assigning to the variable writes its array. */
bool weft__held_is_fixed(const weft__held *held);
/* An array goes over to another variable, or back. */
void weft__held_move(weft__running *r, int32_t from, int32_t to, bool takes);
/* The shape and dtype that it has anywhere. */
const weft_array *weft__held_any(const weft__held *held);
/* Adds to the record of the call. */
void weft__function_note(weft__function *function, weft__function_did did, int32_t what,
                         uint64_t bytes);
/* The same for a region, with where it ran and why. */
void weft__function_note_region(weft__running *r, weft__function_did did, int32_t column,
                                uint64_t kernels);

/* call.c: this thread's stream for copies to and from a device; NULL if there is none. */
weft_stream *weft__function_copies(weft_device device);

/* integer.c */
/* The integer of a node that is made of integers; false if it takes more than that. */
bool weft__function_integer(weft__running *r, weft__function_part *part, int32_t node,
                            int64_t *value);
/* The address of an element of `base`, a copy of its array. */
weft_status weft__function_address(weft__running *r, weft__function_part *part, int element,
                                   const weft_array *base, char **address);
/* The same, of zeros if it is outside and its part does not look at it: behind && and || and ?. */
weft_status weft__function_read_address(weft__running *r, weft__function_part *part, int element,
                                        const weft_array *base, char **address);

/* scalar.c */
/* The types and values of a part's operands; arrays are not looked at. An error if a variable is
 * read before it is set. */
weft_status weft__function_types(weft__running *r, const weft__function_part *part, bool as_value,
                                 weft__lang_operand *types, weft_operand *operands);
/* A part of numbers and elements: computes and stores it, or its value. */
weft_status weft__function_scalar(weft__running *r, weft__function_part *part, weft_operand *value,
                                  bool *typed);
/* Whether the part has whole arrays in it. */
bool weft__function_has_arrays(const weft__running *r, const weft__function_part *part);
/* The value of a part that is a number. */
weft_status weft__function_number(weft__running *r, weft__function_part *part, weft_operand *value,
                                  bool *typed);

/* region.c: a part with whole arrays in it; *value is new, or NULL if the target was written. */
weft_status weft__function_region(weft__running *r, weft__function_part *part, bool as_value,
                                  weft_array **value);

/* traced.c: runs what was made of the code from `begin` to `end`; 0: of the loop that begins there.
 */
weft_status weft__function_evaluate(const weft__running *r, weft__evaluation *evaluation,
                                    const weft_operand *operands, uint32_t begin, uint32_t end,
                                    weft_array **value);

/* The same for something else that a loop becomes. */
weft_status weft__function_launch(const weft__running *r, uint32_t begin,
                                  weft_status (*launch)(void *context), void *context);

/* run.c */
/* A value of no dimensions as a number; takes the array over. */
weft_status weft__function_read(weft__running *r, uint32_t column, weft_array *array,
                                weft_operand *value, bool *typed);
/* A variable that is declared, or assigned a number. */
weft_status weft__function_declare(weft__running *r, const weft__function_statement *s);
/* Gives a variable a number, as what it was declared. */
void weft__function_set(weft__running *r, int32_t variable, const weft_operand *value, bool typed);
weft_status weft__function_run(weft__running *r);
/* The statements of one iteration of a loop, one after the other. */
weft_status weft__function_run_body(weft__running *r, int32_t first);

/* serial_run.c: runs a loop from its condition on as compiled code, if there is some, or if so many
 * more rounds that were interpreted make it worth it. *done is false if nothing was done. */
weft_status weft__serial_run(weft__running *r, int32_t statement, uint64_t rounds, bool *done);
void weft__serial_free(weft__function *function);

/* extent.c */
void weft__extent_free(weft__function *function);

/* nest.c, nest_run.c */
weft_status weft__function_nests(weft__function *function);
void weft__function_nest_free(weft__function_nest *nest);
/* Runs a loop as a kernel; *done is false if it must run serially. */
weft_status weft__function_nest_run(weft__running *r, int32_t nest, bool *done);

/* fuse.c */
weft_status weft__function_groups(weft__function *function);
void weft__function_group_free(weft__function_group *group);
/* Runs neighbouring statements as one; *done is false if they must run one by one. */
weft_status weft__function_group_run(weft__running *r, int32_t group, bool *done);

/* join.c */
weft_status weft__function_joins(weft__function *function);
void weft__function_join_free(weft__function_join *join);
/* Runs loops that follow each other as one; *last is the last of them, or -1 if they must run one
 * by one. */
weft_status weft__function_join_run(weft__running *r, int32_t join, int32_t *last);

/* host.c */
typedef struct weft__host {
    weft_host_function *function;
    const weft_function *body; /* or one of Weft's, which is written out */
    void *context;
    char access[WEFT__LANG_OPERANDS_MAX]; /* 'r', 'w' or 'b' */
} weft__host;
/* False if nothing is bound to the name. */
bool weft__host_find(weft__lang_name name, weft__host *host);
/* How often a function of Weft's has been bound: what others are made of may be another one now. */
uint64_t weft__host_bindings(void);

#endif
