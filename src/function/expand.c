/* Calls of other functions: their texts are written where they are called, with names of their own,
 * so that everything after this sees one function. */
#include "core/allocate.h"
#include "function/expand_text.h"
#include "function/types.h"
#include "lang/launch.h"
#include "lang/parser.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 1 << 20, FRAMES_MAX = 24 };

static bool is_name(weft__lang_name name, const char *text, size_t length)
{
    return name.length == length && !memcmp(name.text, text, length);
}

weft_status weft__expand_failed(const weft__expander *x, const weft__expand_frame *frame,
                                uint32_t column, weft_status status)
{
    char text[sizeof weft_error_last()->message];
    (void)x, (void)column;
    if (!frame->caller || status == WEFT_ERROR_MEMORY)
        return status;
    snprintf(text, sizeof text, "%s", weft__function_reason());
    return weft__fail(status, NULL, "in '%s', which it calls: %s",
                      QUOTE(frame->name.text, frame->name.length), text);
}

/* Text of `length` bytes, which is that of the frame at the column. */
static weft_status put_bytes(weft__expander *x, const char *text, size_t length)
{
    if (x->dry)
        return WEFT_OK;
    if (x->length + length + 1 > x->room) {
        size_t room = 2 * x->room + length + 1024;
        char *grown = room > 4 * TEXT_MAX ? NULL : weft__reallocate(x->text, room);
        if (!grown)
            return room > 4 * TEXT_MAX ? FAIL(WEFT_ERROR_UNSUPPORTED,
                                              "with the functions that it calls it is too long")
                                       : WEFT_ERROR_MEMORY;
        x->text = grown;
        x->room = room;
    }
    memcpy(x->text + x->length, text, length);
    x->length += length;
    x->text[x->length] = 0;
    return WEFT_OK;
}

weft_status weft__expand_put(weft__expander *x, const char *format, ...)
{
    char text[3 * WEFT__EXPAND_NAME];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return put_bytes(x, text, length < (int)sizeof text ? (size_t)length : sizeof text - 1);
}

static weft_status note_origin(weft__expander *x, const weft__expand_frame *frame, uint32_t column)
{
    weft__function *f = x->f;
    if (x->dry)
        return WEFT_OK;
    TRY(weft__lang_room(&f->origins, f->origins_count, &x->origins_room, sizeof *f->origins));
    f->origins[f->origins_count++] =
        (weft__function_origin){(uint32_t)x->length, frame->source, column};
    return WEFT_OK;
}

/* A name that is no variable, of the language or of the host. */
static bool is_foreign(weft__lang_name name, weft__token_kind before, weft__token_kind next,
                       int depth)
{
    bool begins = !depth && before != WEFT__TOKEN_ASSIGN;
    return (depth > 0 && (next == WEFT__TOKEN_ASSIGN || before == WEFT__TOKEN_ASSIGN)) ||
           weft__is_reserved(name.text, name.length) ||
           weft__lang_is_type(name.text, name.length) ||
           (next == WEFT__TOKEN_OPEN &&
            (begins ||
             weft__lang_function_named(name.text, name.length) != WEFT__LANG_OPERATION_END));
}

static weft_status put_name(weft__expander *x, const weft__expand_frame *frame, weft__token token,
                            weft__token_kind before, weft__token_kind next, int depth)
{
    weft__lang_name name = {frame->code.text + token.at, token.length};
    if (weft__function_is_made(name.text, name.length))
        return EXPAND_FAIL(x, frame, token.at, WEFT_ERROR_SYNTAX,
                           "'%s': names that end in __ and a number are made by Weft where "
                           "functions are called",
                           QUOTE(name.text, name.length));
    if (!frame->number)
        return put_bytes(x, name.text, name.length);
    int parameter = weft__function_parameter(frame->parameters, name.text, name.length);
    if (parameter >= 0)
        return weft__expand_put(x, "%s", frame->arguments[parameter]);
    if (!weft__function_text_assigns(frame->code, name.text, name.length) &&
        is_foreign(name, before, next, depth))
        return put_bytes(x, name.text, name.length);
    TRY(put_bytes(x, name.text, name.length));
    return weft__expand_put(x, "__%d", frame->number);
}

static const weft__expand_call *call_at(const weft__expand_frame *frame, uint32_t at)
{
    for (uint32_t i = 0; i < frame->calls_count; i++)
        if (frame->calls[i].at == at)
            return &frame->calls[i];
    return NULL;
}

weft_status weft__expand_copy(weft__expander *x, weft__expand_frame *frame, uint32_t begin,
                              uint32_t end)
{
    weft__lexer lexer = {frame->code.text, end, begin};
    weft__token_kind before = WEFT__TOKEN_END;
    uint32_t behind = begin;
    int depth = 0;
    for (weft__token token = weft__lex(&lexer); token.kind != WEFT__TOKEN_END && !x->dry;
         token = weft__lex(&lexer)) {
        weft__lexer ahead = lexer;
        const weft__expand_call *call = call_at(frame, token.at);
        if (token.at > behind)
            TRY(put_bytes(x, " ", 1));
        depth += (token.kind == WEFT__TOKEN_OPEN) - (token.kind == WEFT__TOKEN_CLOSE);
        TRY(note_origin(x, frame, token.at));
        if (call) {
            TRY(weft__expand_put(x, "%s", call->name));
            lexer.at = call->end;
        } else if (token.kind == WEFT__TOKEN_NAME)
            TRY(put_name(x, frame, token, before, weft__lex(&ahead).kind, depth));
        else
            TRY(put_bytes(x, frame->code.text + token.at, token.length));
        before = token.kind;
        behind = call ? call->end : token.at + token.length;
    }
    return WEFT_OK;
}

/* Whether a call of a bound function begins there, or one of a function that is being written. */
static bool is_call(const weft__expander *x, const weft__expand_frame *frame, weft__token token,
                    weft__lexer lexer, weft__host *host)
{
    weft__lang_name name = {frame->code.text + token.at, token.length};
    memset(host, 0, sizeof *host);
    if (token.kind != WEFT__TOKEN_NAME || weft__lex(&lexer).kind != WEFT__TOKEN_OPEN)
        return false;
    bool open = is_name(x->f->name, name.text, name.length);
    if ((!weft__host_find(name, host) || !host->body) && !open)
        return false;
    return weft__function_parameter(frame->parameters, name.text, name.length) < 0 &&
           !weft__function_text_assigns(frame->code, name.text, name.length);
}

/* Where the parenthesis that was opened is closed; the end if it is not. */
static uint32_t close_of(weft__lexer lexer)
{
    int depth = 0;
    for (;;) {
        weft__token token = weft__lex(&lexer);
        depth += (token.kind == WEFT__TOKEN_OPEN) - (token.kind == WEFT__TOKEN_CLOSE);
        if (token.kind == WEFT__TOKEN_END || depth == 0)
            return token.at;
    }
}

bool weft__expand_has_calls(const weft__expander *x, const weft__expand_frame *frame,
                            uint32_t begin, uint32_t end)
{
    weft__lexer lexer = {frame->code.text, end, begin};
    weft__host host;
    for (weft__token token = weft__lex(&lexer); token.kind != WEFT__TOKEN_END;
         token = weft__lex(&lexer))
        if (is_call(x, frame, token, lexer, &host))
            return true;
    return false;
}

static weft_status check_recursion(const weft__expander *x, const weft__expand_frame *frame,
                                   weft__token token, const weft_function *key)
{
    weft__lang_name name = {frame->code.text + token.at, token.length};
    const weft__expand_frame *around = frame;
    while (around && around->key != key && !is_name(around->name, name.text, name.length))
        around = around->caller;
    if (!around && x->frames < FRAMES_MAX)
        return WEFT_OK;
    if (!around)
        return EXPAND_FAIL(x, frame, token.at, WEFT_ERROR_UNSUPPORTED,
                           "functions call each other more than %d deep", (int)FRAMES_MAX);
    return EXPAND_FAIL(x, frame, token.at, WEFT_ERROR_UNSUPPORTED,
                       around == frame
                           ? "'%s' calls itself; recursion is not possible, write a loop"
                           : "'%s' is called here by what it calls itself; recursion is not "
                             "possible, write a loop",
                       QUOTE(name.text, name.length));
}

typedef struct range {
    uint32_t begin, end;
} range;

/* What is between the commas. */
static weft_status split(const weft__expander *x, const weft__expand_frame *frame,
                         weft__lexer lexer, range *arguments, int *count)
{
    weft__token open = weft__lex(&lexer);
    int depth = 0;
    range now = {lexer.at, lexer.at};
    bool any = false;
    *count = 0;
    for (;;) {
        weft__token token = weft__lex(&lexer);
        bool ends = !depth && (token.kind == WEFT__TOKEN_COMMA || token.kind == WEFT__TOKEN_CLOSE);
        now.end = token.at;
        if (token.kind == WEFT__TOKEN_END || token.kind == WEFT__TOKEN_SEMICOLON)
            return EXPAND_FAIL(x, frame, open.at, WEFT_ERROR_SYNTAX,
                               "this parenthesis is not closed");
        if (*count == WEFT__EXPAND_ARGUMENTS)
            return EXPAND_FAIL(x, frame, token.at, WEFT_ERROR_UNSUPPORTED,
                               "a function that another one calls has at most %d parameters",
                               (int)WEFT__EXPAND_ARGUMENTS);
        if (ends && (any || token.kind == WEFT__TOKEN_COMMA || *count)) {
            arguments[(*count)++] = now;
            now.begin = lexer.at;
        }
        if (ends && token.kind == WEFT__TOKEN_CLOSE)
            return WEFT_OK;
        any |= !ends;
        depth += (token.kind == WEFT__TOKEN_OPEN) - (token.kind == WEFT__TOKEN_CLOSE);
    }
}

static weft_status check_call(const weft__expander *x, const weft__expand_frame *frame,
                              weft__token token, const weft__expand_frame *in, int count)
{
    int parameters = weft__function_parameters(in->parameters);
    if (count != parameters)
        return EXPAND_FAIL(
            x, frame, token.at, WEFT_ERROR_ARGUMENT,
            "'%s' has %d parameter%s, (%s), and %d argument%s given",
            QUOTE(in->name.text, in->name.length), parameters, parameters == 1 ? "" : "s",
            QUOTE(in->parameters.text, in->parameters.length), count, count == 1 ? " is" : "s are");
    if (in->serial && !frame->serial)
        return EXPAND_FAIL(x, frame, token.at, WEFT_ERROR_ARGUMENT,
                           "'%s' is marked serial, and the function that calls it is not; mark "
                           "both, or none",
                           QUOTE(in->name.text, in->name.length));
    return WEFT_OK;
}

/* The name that an argument consists of; false if it is more. */
static bool only_name(const weft__expand_frame *frame, range argument, weft__token *name)
{
    weft__lexer lexer = {frame->code.text, argument.end, argument.begin};
    *name = weft__lex(&lexer);
    return name->kind == WEFT__TOKEN_NAME && weft__lex(&lexer).kind == WEFT__TOKEN_END &&
           !weft__is_reserved(frame->code.text + name->at, name->length);
}

/* What a variable of the frame is called. */
static weft_status rename_variable(const weft__expander *x, const weft__expand_frame *frame,
                                   weft__token token, char *name)
{
    const char *text = frame->code.text + token.at;
    int parameter =
        frame->number ? weft__function_parameter(frame->parameters, text, token.length) : -1;
    if (token.length + 12 > WEFT__EXPAND_NAME)
        return EXPAND_FAIL(x, frame, token.at, WEFT_ERROR_UNSUPPORTED,
                           "this name is too long for a call of another function");
    if (parameter >= 0)
        memcpy(name, frame->arguments[parameter], WEFT__EXPAND_NAME);
    else if (frame->number)
        snprintf(name, WEFT__EXPAND_NAME, "%.*s__%d", (int)token.length, text, frame->number);
    else
        snprintf(name, WEFT__EXPAND_NAME, "%.*s", (int)token.length, text);
    return WEFT_OK;
}

/* The call that an argument consists of, or NULL. */
static const weft__expand_call *call_of(const weft__expand_frame *frame, range argument)
{
    weft__lexer lexer = {frame->code.text, argument.end, argument.begin};
    const weft__expand_call *call = call_at(frame, weft__lex(&lexer).at);
    lexer.at = call ? call->end : argument.end;
    return call && weft__lex(&lexer).kind == WEFT__TOKEN_END ? call : NULL;
}

/* Of the function's own parameters it is known which are arrays, and that they stay so. */
static bool is_array(const weft__expander *x, const char *name)
{
    int own = weft__function_parameter(weft__launch_inside(x->f->parameters, '(', ')'), name,
                                       strlen(name));
    x->f->asks_arrays |= own >= 0;
    return own >= 0 && (x->f->arrays[own / 64] >> own % 64 & 1);
}

/* What a parameter is another name for: a variable, or a literal. False if it has its own. */
static weft_status find_alias(const weft__expander *x, const weft__expand_frame *frame,
                              range argument, bool assigned, char *name, bool *found)
{
    weft__lexer lexer = {frame->code.text, argument.end, argument.begin};
    weft__token token, first = weft__lex(&lexer), second = weft__lex(&lexer);
    const weft__expand_call *call = call_of(frame, argument);
    *found = true;
    if (call) {
        memcpy(name, call->name, sizeof call->name);
        return WEFT_OK;
    }
    if (only_name(frame, argument, &token)) {
        TRY(rename_variable(x, frame, token, name));
        *found = !assigned || is_array(x, name);
        return WEFT_OK;
    }
    bool minus = first.kind == WEFT__TOKEN_MINUS && second.kind == WEFT__TOKEN_NUMBER;
    token = minus ? second : first;
    bool alone = minus ? weft__lex(&lexer).kind == WEFT__TOKEN_END
                       : first.kind == WEFT__TOKEN_NUMBER && second.kind == WEFT__TOKEN_END;
    *found = alone && !assigned && token.length + 4 < WEFT__EXPAND_NAME;
    if (*found)
        snprintf(name, WEFT__EXPAND_NAME, minus ? "(-%.*s)" : "%.*s", (int)token.length,
                 frame->code.text + token.at);
    return WEFT_OK;
}

/* A parameter is another name for what is given. If the function assigns to it, that must not
 * change a number of the caller's: it is lent (p :: a) and given back (p -> a). */
static weft_status bind_argument(weft__expander *x, weft__expand_frame *frame, range argument,
                                 weft__expand_frame *in, int position, weft__token parameter)
{
    const char *text = in->parameters.text + parameter.at;
    char *name = in->arguments[position];
    weft__token variable;
    bool found;
    if (parameter.length + 12 > WEFT__EXPAND_NAME)
        return EXPAND_FAIL(x, frame, argument.begin, WEFT_ERROR_UNSUPPORTED,
                           "the name of parameter %d is too long", position + 1);
    TRY(find_alias(x, frame, argument,
                   weft__function_text_assigns(in->code, text, parameter.length), name, &found));
    if (found)
        return WEFT_OK;
    in->lent[position] = only_name(frame, argument, &variable);
    snprintf(name, WEFT__EXPAND_NAME, "%.*s__%d", (int)parameter.length, text, in->number);
    TRY(note_origin(x, frame, argument.begin));
    TRY(weft__expand_put(x, in->lent[position] ? "%s :: " : "%s = ", name));
    TRY(weft__expand_copy(x, frame, argument.begin, argument.end));
    return weft__expand_put(x, "; ");
}

static weft_status give_back(weft__expander *x, weft__expand_frame *frame, range argument,
                             const weft__expand_frame *in, int position)
{
    if (!in->lent[position])
        return WEFT_OK;
    TRY(note_origin(x, frame, argument.begin));
    TRY(weft__expand_put(x, " %s -> ", in->arguments[position]));
    TRY(weft__expand_copy(x, frame, argument.begin, argument.end));
    return weft__expand_put(x, ";");
}

/* Takes arguments in, or gives them back. */
static weft_status bind_all(weft__expander *x, weft__expand_frame *frame, const range *arguments,
                            weft__expand_frame *in, bool back)
{
    weft__lexer lexer = {in->parameters.text, (uint32_t)in->parameters.length, 0};
    int position = 0;
    for (weft__token token = weft__lex(&lexer); token.kind != WEFT__TOKEN_END;
         token = weft__lex(&lexer)) {
        if (token.kind != WEFT__TOKEN_NAME)
            continue;
        TRY(back ? give_back(x, frame, arguments[position], in, position)
                 : bind_argument(x, frame, arguments[position], in, position, token));
        position++;
    }
    return WEFT_OK;
}

/* The texts are the function's own from now on. */
static weft_status add_source(weft__expander *x, const weft_function *key, int32_t caller,
                              uint32_t call, int32_t *made)
{
    weft__function *f = x->f;
    size_t name = strlen(key->name), body = strlen(key->body);
    TRY(weft__lang_room(&f->sources, f->sources_count, &x->sources_room, sizeof *f->sources));
    char *memory = weft__allocate(name + body + 2);
    if (!memory)
        return WEFT_ERROR_MEMORY;
    memcpy(memory, key->name, name + 1);
    memcpy(memory + name + 1, key->body, body + 1);
    weft__lang_name whole = {memory + name + 1, body};
    *made = (int32_t)f->sources_count;
    f->sources[f->sources_count++] = (weft__function_source){
        {memory, name}, weft__launch_inside(whole, '{', '}'), memory, caller, call};
    return WEFT_OK;
}

static weft_status open_frame(weft__expander *x, const weft__expand_frame *frame, weft__token token,
                              const weft_function *key, weft__expand_frame *in)
{
    weft__lang_name list = {key->parameters, strlen(key->parameters)};
    TRY(add_source(x, key, frame->source, token.at, &in->source));
    in->caller = frame;
    in->key = key;
    in->name = x->f->sources[in->source].name;
    in->code = x->f->sources[in->source].code;
    in->parameters = weft__launch_inside(list, '(', ')');
    in->serial = key->options.serial;
    in->number = x->number + 1;
    x->number += 2;
    if (in->name.length + 20 > WEFT__EXPAND_NAME)
        return EXPAND_FAIL(x, frame, token.at, WEFT_ERROR_UNSUPPORTED,
                           "this name is too long for a call");
    snprintf(in->result, sizeof in->result, "%s__%d", in->name.text, x->number);
    snprintf(in->left, sizeof in->left, "%s_left__%d", in->name.text, x->number);
    return WEFT_OK;
}

/* The body: once without writing, to see how it returns. */
static weft_status write_body(weft__expander *x, const weft__expand_frame *frame, weft__token token,
                              weft__expand_frame *in)
{
    x->dry = true;
    weft_status status = weft__expand_body(x, in);
    x->dry = false;
    TRY(status);
    if (in->value && !in->returns)
        return EXPAND_FAIL(x, frame, token.at, WEFT_ERROR_ARGUMENT,
                           "'%s' returns no value, and one is asked for",
                           QUOTE(in->name.text, in->name.length));
    if (in->flagged)
        TRY(weft__expand_put(x, "%s = 0; ", in->left));
    return weft__expand_body(x, in);
}

static weft_status expand_call(weft__expander *x, weft__expand_frame *frame, weft__token token,
                               weft__lexer lexer, const weft_function *key, bool value)
{
    range arguments[WEFT__EXPAND_ARGUMENTS];
    weft__expand_frame in = {.value = value};
    int count;
    TRY(check_recursion(x, frame, token, key));
    TRY(split(x, frame, lexer, arguments, &count));
    for (int k = 0; k < count; k++)
        TRY(weft__expand_calls(x, frame, arguments[k].begin, arguments[k].end, NULL));
    TRY(open_frame(x, frame, token, key, &in));
    TRY(check_call(x, frame, token, &in, count));
    TRY(bind_all(x, frame, arguments, &in, false));
    x->frames++;
    weft_status status = write_body(x, frame, token, &in);
    x->frames--;
    weft__free(in.calls);
    TRY(status);
    TRY(bind_all(x, frame, arguments, &in, true));
    TRY(weft__lang_room(&frame->calls, frame->calls_count, &frame->calls_room,
                        sizeof *frame->calls));
    weft__expand_call *call = &frame->calls[frame->calls_count++];
    call->at = token.at;
    call->end = close_of(lexer) + 1;
    memcpy(call->name, in.result, sizeof call->name);
    return weft__expand_put(x, " ");
}

weft_status weft__expand_calls(weft__expander *x, weft__expand_frame *frame, uint32_t begin,
                               uint32_t end, bool *whole)
{
    weft__lexer lexer = {frame->code.text, end, begin};
    weft__host host;
    if (whole)
        *whole = false;
    for (weft__token token = weft__lex(&lexer); token.kind != WEFT__TOKEN_END && !x->dry;
         token = weft__lex(&lexer)) {
        if (!is_call(x, frame, token, lexer, &host))
            continue;
        weft__lexer behind = lexer;
        uint32_t close = close_of(lexer);
        behind.at = close + 1 < end ? close + 1 : end;
        bool alone =
            whole && token.at == begin && weft__lex(&behind).kind == WEFT__TOKEN_END && close < end;
        TRY(expand_call(x, frame, token, lexer, host.body ? host.body : x->f->key, !alone));
        lexer.at = close + 1 < end ? close + 1 : end;
        if (whole)
            *whole = alone;
    }
    return WEFT_OK;
}

weft_status weft__function_expand(weft__function *f)
{
    weft__expander x = {.f = f};
    weft__expand_frame own = {.key = f->key,
                              .name = f->name,
                              .parameters = weft__launch_inside(f->parameters, '(', ')'),
                              .code = f->code,
                              .serial = f->options.serial};
    if (!weft__expand_has_calls(&x, &own, 0, (uint32_t)f->code.length))
        return WEFT_OK;
    weft_status status = add_source(&x, f->key, -1, 0, &own.source);
    own.code = status == WEFT_OK ? f->sources[0].code : own.code;
    if (status == WEFT_OK)
        status = weft__expand_body(&x, &own);
    weft__free(own.calls);
    f->expanded = x.text;
    if (status == WEFT_OK)
        f->code = (weft__lang_name){x.text ? x.text : "", x.length};
    return status;
}

void weft__function_sources_free(weft__function *f)
{
    for (uint32_t i = 0; i < f->sources_count; i++)
        weft__free(f->sources[i].memory);
    weft__free(f->sources);
    weft__free(f->origins);
    weft__free(f->expanded);
}

const weft__function_source *weft__function_origin_of(const weft__function *f, uint32_t *column)
{
    uint32_t low = 0, high = f->origins_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        *(f->origins[middle].at <= *column ? &low : &high) = middle;
    }
    if (!f->origins_count)
        return NULL;
    const weft__function_origin *origin = &f->origins[low];
    *column = origin->column;
    return &f->sources[origin->source];
}

/* Names as the user wrote them: without __ and the number. */
static void clean(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        size_t digits = from[0] == '_' && from[1] == '_' ? strspn(from + 2, "0123456789") : 0;
        if (digits && (from[2 + digits] == '\'' || from[2 + digits] == ' '))
            from += 1 + digits;
        else
            *to++ = *from;
    }
    *to = 0;
}

weft_status weft__function_relocate(const weft__function *f, weft_status status)
{
    char text[sizeof weft_error_last()->message];
    size_t at;
    if (!f->origins_count || !weft__lang_failed_at(f->code, &at))
        return status;
    uint32_t column = (uint32_t)at;
    const weft__function_source *source = weft__function_origin_of(f, &column);
    snprintf(text, sizeof text, "%s", weft__function_reason());
    text[strcspn(text, "\n")] = 0;
    clean(text);
    if (source->caller < 0)
        return weft__lang_fail(source->code, column, status, "%s", text);
    return weft__lang_fail(
        source->code, column, status, "in '%s', called at column %u of '%s': %s",
        QUOTE(source->name.text, source->name.length), source->call + 1,
        QUOTE(f->sources[source->caller].name.text, f->sources[source->caller].name.length), text);
}
