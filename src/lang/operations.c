/* The table of operations, and finding functions by name. */
#include "lang/operations.h"
#include <string.h>

const weft__lang_facts weft__lang_operations[WEFT__LANG_OPERATION_END] = {
#define OPERATION_FACTS(name, least, most, kinds, result, group, text)                             \
    {#name, text, least, most, WEFT__KINDS_##kinds, WEFT__RESULT_##result, WEFT__GROUP_##group},
    WEFT__LANG_OPERATION_LIST(OPERATION_FACTS)
#undef OPERATION_FACTS
};

weft__lang_operation weft__lang_function_named(const char *name, size_t length)
{
    for (int i = 0; i < WEFT__LANG_OPERATION_END; i++) {
        const weft__lang_facts *facts = &weft__lang_operations[i];
        if (facts->group != WEFT__GROUP_operator && !strncmp(facts->name, name, length) &&
            !facts->name[length])
            return (weft__lang_operation)i;
    }
    return WEFT__LANG_OPERATION_END;
}
