/* Running what is rarely needed. */
#include "codegen/llvm/rare.h"
#include "codegen/llvm/survey.h"

#include <string.h>

bool weft__rare_primitive(const weft__rare_step *step, weft__primitive **primitive)
{
    const weft__variant *variant = weft__variant_chosen();
    const weft_dtype from = (weft_dtype)step->from, to = (weft_dtype)step->dtype;
    *primitive = NULL;
    switch ((weft__op)step->op) {
    case WEFT__OP_load:
    case WEFT__OP_constant:
        return true;
    case WEFT__OP_cast:
        *primitive = variant->cast[from][to];
        return *primitive != NULL || from == to;
    case WEFT__OP_bitcast:
        if (step->part == 0)
            *primitive = to == WEFT_BOOL ? variant->widen[WEFT_BOOL] : variant->canonical[from];
        return weft__memory_size(from) == weft__memory_size(to);
    default:
        *primitive = variant->primitive[step->op][from];
        return *primitive != NULL;
    }
}

static bool step_fits(const weft__rare_step *step, uint32_t number)
{
    const bool leaf = step->op == WEFT__OP_load || step->op == WEFT__OP_constant;
    const bool none = step->item == WEFT__RARE_NO_ITEM;
    bool fits = step->op < WEFT__OP_COUNT && step->dtype >= WEFT_BOOL && step->dtype <= WEFT_F64 &&
                step->from >= WEFT_BOOL && step->from <= WEFT_F64 &&
                (none ? step->op != WEFT__OP_load : step->item < WEFT__RARE_ITEMS);
    for (int k = 0; !leaf && k < 3; k++)
        fits &= step->argument[k] < number;
    return fits;
}

/* A value while a program runs: all lanes, or one that is meant for all. */
struct value {
    const void *data;
    bool uniform;
};

static struct value compute(const weft__rare_step *step, weft__primitive *primitive,
                            const struct value *values, int64_t lanes, void *room)
{
    const struct value *x[3];
    unsigned uniform = 0;
    const int arity = weft__op_arity((weft__op)step->op);
    for (int k = 0; k < 3; k++) {
        x[k] = &values[step->argument[k < arity ? k : 0]];
        uniform |= k < arity ? (unsigned)x[k]->uniform << k : 0;
    }
    if (primitive == NULL)
        return *x[0];
    const bool all = uniform == (1U << arity) - 1;
    primitive(room, x[0]->data, x[1]->data, x[2]->data, all ? 1 : lanes, all ? 0 : uniform);
    return (struct value){room, all};
}

static void put(const struct value *value, int size, int64_t lanes, char *item)
{
    for (int64_t k = 0; k < lanes; k++)
        memcpy(item + (k << size), (const char *)value->data + (value->uniform ? 0 : k << size),
               (size_t)1 << size);
}

static void run_rare(const weft__rares *rares, int64_t number, char *memory)
{
    _Alignas(64) char room[WEFT__RARE_LANES * WEFT__RARE_WIDEST];
    struct value values[WEFT__RARE_STEPS];
    const weft__rare *rare = &rares->rare[number];
    const int64_t lanes = rare->lanes;
    for (uint32_t k = 0; k < rare->count; k++) {
        const weft__rare_step *step = &rares->step[rare->first + k];
        const int64_t place = step->item == WEFT__RARE_NO_ITEM ? 0 : step->item;
        char *item = memory + place * lanes * WEFT__RARE_WIDEST;
        if (step->op == WEFT__OP_load) {
            values[k] = (struct value){item, false};
            continue;
        }
        values[k] = step->op == WEFT__OP_constant
                        ? (struct value){&step->bits, true}
                        : compute(step, rares->primitive[rare->first + k], values, lanes,
                                  room + k * lanes * WEFT__RARE_WIDEST);
        if (step->item != WEFT__RARE_NO_ITEM)
            put(&values[k], weft__memory_size((weft_dtype)step->dtype), lanes, item);
    }
}

bool weft__rares_begin(weft__rares *rares)
{
    rares->run = run_rare;
    for (uint32_t r = 0; r < rares->count; r++) {
        const weft__rare *rare = &rares->rare[r];
        if (rare->count > WEFT__RARE_STEPS || rare->lanes > WEFT__RARE_LANES ||
            rare->count * rare->lanes > WEFT__RARE_LANES || rare->first > rares->steps_count ||
            rare->count > rares->steps_count - rare->first)
            return false;
        for (uint32_t k = 0; k < rare->count; k++)
            if (!step_fits(&rares->step[rare->first + k], k) ||
                !weft__rare_primitive(&rares->step[rare->first + k],
                                      &rares->primitive[rare->first + k]))
                return false;
    }
    return true;
}
