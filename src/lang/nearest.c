/* The nearest name: what a user may have meant by one that does not exist. */
#include "lang/error.h"
#include <stdio.h>
#include <string.h>

enum { LONGEST = 48, STEP = 2, OTHER = 3 };

static int letter(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }

static int smaller(int a, int b) { return a < b ? a : b; }

/* An insertion, a removal, or two letters exchanged: 2; another letter: 3; another case: 1. */
static int distance(const char *a, int a_length, const char *b, int b_length)
{
    int rows[3][LONGEST + 1];
    int *last = rows[0], *row = rows[1], *before = rows[2];
    for (int j = 0; j <= b_length; j++)
        row[j] = STEP * j;
    for (int i = 1; i <= a_length; i++) {
        int *oldest = before;
        before = last;
        last = row;
        row = oldest;
        row[0] = STEP * i;
        for (int j = 1; j <= b_length; j++) {
            char x = a[i - 1], y = b[j - 1];
            int other = x == y ? 0 : letter(x) == letter(y) ? 1 : OTHER;
            row[j] = smaller(last[j - 1] + other, smaller(last[j], row[j - 1]) + STEP);
            if (i > 1 && j > 1 && x == b[j - 2] && y == a[i - 2])
                row[j] = smaller(row[j], before[j - 2] + STEP);
        }
    }
    return row[b_length];
}

void weft__lang_offer(weft__lang_nearest *nearest, const char *text, size_t length)
{
    size_t wanted = nearest->wanted.length;
    size_t longer = wanted > length ? wanted : length, shorter = wanted + length - longer;
    int limit = OTHER + STEP * (int)(longer / 4);
    if (longer > LONGEST || shorter == 0 || longer - shorter > LONGEST / 4 ||
        (wanted == 1 && length > 1)) /* i for pi */
        return;
    int d = distance(nearest->wanted.text, (int)wanted, text, (int)length);
    if (d > limit || d >= STEP * (int)longer || (nearest->best.text && d >= nearest->distance))
        return;
    nearest->best = (weft__lang_name){text, length};
    nearest->distance = d;
}

weft__lang_hint weft__lang_hint_of(const weft__lang_nearest *nearest)
{
    weft__lang_hint hint = {""};
    if (nearest->best.text)
        snprintf(hint.text, sizeof hint.text, "; did you mean '%s'?",
                 QUOTE(nearest->best.text, nearest->best.length));
    return hint;
}
