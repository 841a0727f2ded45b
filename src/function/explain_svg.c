/* The last call of a function as a picture: what ran on the host on the left, on the device on the
 * right, one below the other, and the copies as arrows between them. */
#include "function/explain.h"
#include <stdio.h>
#include <string.h>

enum { WIDTH = 860, TOP = 96, BOX = 34, GAP = 12, COPY = 30, LANE = 330, LEFT = 24, RIGHT = 506 };

static void write_escaped(weft__text *w, const char *text)
{
    for (size_t i = 0, length = strlen(text); i < length;) {
        size_t size = weft__lang_character(text + i, length - i);
        if (size == 1 && strchr("<>&\"'", text[i]))
            weft__text_add(w, "&#%d;", text[i]);
        else
            weft__text_add(w, "%.*s", size ? (int)size : 1, size ? text + i : "?");
        i += size ? size : 1;
    }
}

static void write_words(weft__text *w, int x, int y, const char *class, const char *text)
{
    weft__text_add(w, "<text x=\"%d\" y=\"%d\" class=\"%s\">", x, y, class);
    write_escaped(w, text);
    weft__text_add(w, "</text>\n");
}

/* Something that ran, on one of the sides. */
static void write_box(weft__text *w, bool host, int y, const char *class, const char *title,
                      const char *note)
{
    const int x = host ? LEFT : RIGHT;
    weft__text_add(w,
                   "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\" class=\"%s\"/>\n",
                   x, y, LANE, BOX, class);
    write_words(w, x + 10, y + 15, "code", title);
    write_words(w, x + 10, y + 28, "note", note);
}

static void write_copy(weft__text *w, const weft__function *f, const weft__function_event *e, int y)
{
    const bool up = e->did == WEFT__DID_TO_DEVICE;
    const int from = up ? LEFT + LANE : RIGHT, to = up ? RIGHT - 7 : LEFT + LANE + 7;
    char name[WEFT__EXPLAIN_PLACE], text[WEFT__EXPLAIN_PLACE + 40];
    weft__explain_variable(f, e->what, name);
    snprintf(text, sizeof text, "%s  %llu bytes", name, (unsigned long long)e->bytes);
    weft__text_add(w,
                   "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" class=\"copy\" "
                   "marker-end=\"url(#head)\"/>\n",
                   from, y + 18, to, y + 18);
    write_words(w, (LEFT + LANE + RIGHT) / 2, y + 12, "bytes", text);
}

static void write_event(weft__text *w, const weft__function *f, uint32_t event, int y)
{
    const weft__function_event *e = &f->events[event];
    const weft__function_statement *s = weft__explain_region(f, e);
    char code[WEFT__EXPLAIN_CODE] = "", place[WEFT__EXPLAIN_PLACE], note[160];
    if (weft__explain_is_copy(e)) {
        write_copy(w, f, e, y);
        return;
    }
    const bool region = weft__explain_is_region(e);
    const bool host = !region || e->at_host || f->called_on.kind == WEFT_DEVICE_CPU;
    weft__explain_position(f, (uint32_t)e->what, place);
    if (s)
        weft__explain_statement(f, s, code);
    if (region)
        snprintf(note, sizeof note, "column %s: %s, %llu kernel%s%s", place, weft__explain_kind(e),
                 (unsigned long long)e->bytes, e->bytes == 1 ? "" : "s",
                 e->at_host ? ", cheaper here" : "");
    else
        snprintf(note, sizeof note, "column %s: %s", place,
                 e->did == WEFT__DID_HOST       ? "host function"
                 : e->did == WEFT__DID_COMPILED ? "compiled, from here on"
                                                : "serial loop");
    write_box(w, host, y,
              region                     ? "region"
              : e->did == WEFT__DID_HOST ? "host"
                                         : "serial",
              code, note);
}

static int height_of(const weft__function *f)
{
    int height = TOP + 30;
    for (uint32_t i = 0; i < f->events_count; i++)
        height += weft__explain_is_copy(&f->events[i]) ? COPY : BOX + GAP;
    return height;
}

static void write_head(weft__text *w, const weft__function *f, int height)
{
    char title[200], device[64];
    weft__text_add(w,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                   "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\">\n",
                   WIDTH, height, WIDTH, height);
    weft__text_add(w, "<style>.code{font:12px monospace;fill:#111}.note{font-size:10px;fill:#555}"
                      ".title{font-size:16px;font-weight:bold;fill:#111}.lane{font-size:13px;fill:"
                      "#333}.bytes{font-size:11px;fill:#8a4b00;text-anchor:middle}.copy{stroke:"
                      "#c46a00;stroke-width:1.5}.region{fill:#dcefdc;stroke:#3a7d3a}.host{fill:"
                      "#e4e9f7;stroke:#4a64a8}.serial{fill:#f7e0e0;stroke:#a84a4a}.side{fill:none;"
                      "stroke:#ddd}</style>\n");
    weft__text_add(w, "<defs><marker id=\"head\" markerWidth=\"8\" markerHeight=\"8\" refX=\"1\" "
                      "refY=\"4\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#c46a00\"/>"
                      "</marker></defs>\n");
    weft__text_add(w, "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", WIDTH, height);
    snprintf(title, sizeof title, "%s%s", QUOTE(f->name.text, f->name.length),
             QUOTE(f->parameters.text, f->parameters.length));
    write_words(w, LEFT, 28, "title", title);
    snprintf(device, sizeof device, "device, %s", weft_device_id(f->called_on));
    write_words(w, LEFT, TOP - 14, "lane", "host");
    if (weft__explain_was_called(f) && f->called_on.kind != WEFT_DEVICE_CPU)
        write_words(w, RIGHT, TOP - 14, "lane", device);
}

static void write_totals(weft__text *w, const weft__function *f)
{
    char text[240];
    snprintf(text, sizeof text,
             "last call: %llu kernels, %llu bytes to the device in %llu copies, %llu bytes to the "
             "host in %llu",
             (unsigned long long)(weft__explain_kernels(f)),
             (unsigned long long)f->bytes[WEFT__DID_TO_DEVICE],
             (unsigned long long)f->totals[WEFT__DID_TO_DEVICE],
             (unsigned long long)f->bytes[WEFT__DID_TO_HOST],
             (unsigned long long)f->totals[WEFT__DID_TO_HOST]);
    write_words(w, LEFT, 48, "note",
                weft__explain_was_called(f) ? text : "not called yet by this thread");
}

void weft__explain_svg(weft__text *w, const weft__function *f)
{
    const int height = height_of(f);
    uint64_t all = 0;
    int y = TOP;
    for (int k = 0; k < WEFT__EVENTS; k++)
        all += f->totals[k];
    write_head(w, f, height);
    write_totals(w, f);
    for (uint32_t i = 0; i < f->events_count; i++) {
        write_event(w, f, i, y);
        y += weft__explain_is_copy(&f->events[i]) ? COPY : BOX + GAP;
    }
    if (all > f->events_count) {
        char text[64];
        snprintf(text, sizeof text, "and %llu more", (unsigned long long)(all - f->events_count));
        write_words(w, LEFT, y + 16, "note", text);
    }
    weft__text_add(w, "</svg>\n");
}
