/* Numbers of a function, as tagged values. */
#ifndef WEFT_FUNCTION_NUMBER_H
#define WEFT_FUNCTION_NUMBER_H

#include <weft/operand.h>

/* The number in memory of that dtype. Halves become f32. */
weft_operand weft__number_load(const void *from, weft_dtype dtype);
/* As a cast would: floats to integers are cut and kept in range, NaN is 0. Not from complex to
 * others. */
weft_operand weft__number_cast(const weft_operand *number, weft_dtype dtype);
/* To memory of that dtype. */
void weft__number_store(void *to, const weft_operand *number, weft_dtype dtype);
/* Whether it is a bool or an integer that fits into i64, and which. */
bool weft__number_integer(const weft_operand *number, int64_t *value);
static inline bool weft__number_is_complex(int32_t dtype)
{
    return dtype == WEFT_C64 || dtype == WEFT_C128;
}
/* a + b, and so on for `operation` (add, subtract, multiply, minimum, maximum), as variables of a
 * function are computed: integers are untyped, and so are floats that are not `typed`. Not of
 * complex numbers. */
weft_operand weft__number_combine(int operation, const weft_operand *a, bool a_typed,
                                  const weft_operand *b, bool b_typed, bool *typed);
bool weft__number_truth(const weft_operand *number);

#endif
