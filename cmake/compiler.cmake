# Compiler flags of every target: floating point rules, warnings, sanitizers.

# The same bits everywhere: nothing may contract, reassociate or assume finite values.
add_compile_options(-ffp-contract=off -fno-math-errno)

# __FILE__ is the path inside the project.
add_compile_options("-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")

if(WEFT_SANITIZE)
    add_compile_options(-fsanitize=${WEFT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${WEFT_SANITIZE})
endif()

set(WEFT_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes
                  -Wmissing-prototypes -Wvla)
# The sanitizer presets leave this off: their instrumentation makes gcc warn where nothing is wrong.
if(WEFT_WERROR)
    list(APPEND WEFT_WARNINGS -Werror)
endif()
