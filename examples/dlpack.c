/* DLPack: memory of PyTorch or NumPy that Weft computes on, and memory of Weft's that they do,
 * without a copy. The other half is dlpack.py: cc -shared -fPIC dlpack.c $(pkg-config --cflags
 * --libs weft) -o libdlpack.so python3 dlpack.py ./libdlpack.so */
#include <weft/weft.h>

int rows_of_length_one(weft_dlpack_unversioned *tensor);
weft_dlpack_unversioned *circle(int count);
const char *message(void);

/* Scales each row of a 2-d tensor of floats, where it is. The tensor is taken over: its deleter is
 * called when nothing uses it any more. On a GPU weft_from_dlpack takes the producer's stream, too.
 */
int rows_of_length_one(weft_dlpack_unversioned *tensor)
{
    WEFT_AUTO weft_array *a = weft_from_dlpack_unversioned(tensor);
    return weft(a = a / sqrt(sum(a * a, axis = 1, keep = true)), a) != WEFT_OK ||
           weft_eval(a) != WEFT_OK;
}

/* Points on the unit circle, as a tensor that keeps their memory alive; NULL if it fails. */
weft_dlpack_unversioned *circle(int count)
{
    const double turn = 6.283185307179586;
    WEFT_AUTO weft_array *points = weft_empty(WEFT_SHAPE(count, 2), .dtype = WEFT_F64);
    WEFT_AUTO weft_array *x = weft_slice(points, WEFT_ALL, WEFT_AT(0));
    WEFT_AUTO weft_array *y = weft_slice(points, WEFT_ALL, WEFT_AT(1));
    WEFT_AUTO weft_array *angle = weft_linspace(0, turn, count, .dtype = WEFT_F64);
    if (weft(x = cos(angle); y = sin(angle), x, y, angle) != WEFT_OK)
        return NULL;
    return weft_to_dlpack_unversioned(points); /* waits for the points: no stream is given */
}

/* What went wrong. */
const char *message(void) { return weft_error_message(); }
