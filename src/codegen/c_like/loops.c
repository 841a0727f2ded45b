/* Loops, as loops of C; elements by their numbers. */
#include "codegen/c_like/write.h"

/* All that is carried changes at once. */
static void write_end(weft__writer *w, uint32_t at)
{
    const weft__value *values = w->kernel->values;
    for (uint32_t k = at; k-- > 0 && values[k].op == WEFT__OP_next;)
        weft__text_add(&w->text, "v%d = n%u;\n", values[k].argument[0], k);
    weft__text_add(&w->text, "}\n");
}

void weft__write_flow(weft__writer *w, uint32_t at)
{
    const weft__value *value = &w->kernel->values[at];
    const char *type = weft__text_of_dtype((weft_dtype)value->dtype);
    switch ((weft__op)value->op) {
    case WEFT__OP_carry:
        weft__text_add(&w->text, "%s v%u = v%d;\n", type, at, value->argument[0]);
        break;
    case WEFT__OP_loop:
        weft__text_add(&w->text, "for (;;) {\n");
        break;
    case WEFT__OP_test:
        weft__text_add(&w->text, "if (!v%d)\nbreak;\n", value->argument[0]);
        break;
    case WEFT__OP_next:
        weft__text_add(&w->text, "const %s n%u = v%d;\n", type, at, value->argument[1]);
        break;
    default:
        write_end(w, at);
        break;
    }
}

void weft__write_gather(weft__writer *w, uint32_t at)
{
    const weft__value *value = &w->kernel->values[at];
    const weft_dtype memory = (weft_dtype)w->kernel->operands[value->slot].dtype;
    const char *type = weft__text_of_memory(memory);
    weft__text_add(&w->text, "const %s m%u = *(GLOBAL const %s *)(", type, at, type);
    weft__write_first(w, value->slot);
    weft__text_add(&w->text, " + v%d*%d + %d);\n", value->argument[0], (int)weft_dtype_size(memory),
                   value->part * weft__part_bytes(memory));
    weft__text_add(&w->text, "const %s v%u = ", weft__text_of_dtype(weft__value_dtype(memory)), at);
    weft__write_widened(w, at, memory);
    weft__text_add(&w->text, ";\n");
}

/* What a gather found goes back as it is, all else as in stores. */
void weft__write_scatter(weft__writer *w, uint32_t at)
{
    const weft__value *value = &w->kernel->values[at];
    const weft__kernel_operand *operands = w->kernel->operands;
    const weft__value *source = &w->kernel->values[value->argument[1]];
    const weft_dtype memory = (weft_dtype)operands[value->slot].dtype;
    const weft__value store = {
        .op = WEFT__OP_store, .slot = value->slot, .argument = {value->argument[1]}};
    weft__text_add(&w->text, "if (v%d)\n*(GLOBAL %s *)(", value->argument[2],
                   weft__text_of_memory(memory));
    weft__write_first(w, value->slot);
    weft__text_add(&w->text, " + v%d*%d) = ", value->argument[0], (int)weft_dtype_size(memory));
    if (source->op == WEFT__OP_gather &&
        operands[source->slot].dtype == operands[value->slot].dtype)
        weft__text_add(&w->text, "m%d", value->argument[1]);
    else
        weft__write_narrowed(w, &store);
    weft__text_add(&w->text, ";\n");
}
