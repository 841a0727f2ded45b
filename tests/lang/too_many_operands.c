/* Does not compile, and the compiler's message says why: at most 32. */
#include <weft/weft.h>

int main(void)
{
    weft_array *a = NULL;
    const float x = 1;
    return weft(a = x, a, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x,
                x, x, x, x, x, x, x);
}
