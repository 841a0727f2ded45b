# The targets weft (shared) and weft_static, both made of the same objects.

file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*.c")
set(variant_source "${PROJECT_SOURCE_DIR}/src/codegen/interpreter/variant.c")
list(REMOVE_ITEM sources "${variant_source}")

# An object library with the flags that all code of the library has.
function(weft_add_objects target)
    add_library(${target} OBJECT ${ARGN})
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/include"
                                                 "${PROJECT_SOURCE_DIR}/src")
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
    target_compile_options(${target} PRIVATE ${WEFT_WARNINGS} -fno-semantic-interposition)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON
                                               C_VISIBILITY_PRESET hidden)
endfunction()

# Compiled kernels on disk are used only by a library that would make the same ones.
file(GLOB_RECURSE hashed CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/codegen/llvm/*.[ch]"
     "${PROJECT_SOURCE_DIR}/src/codegen/c_like/*.[ch]" "${PROJECT_SOURCE_DIR}/src/backend/kernel_text.[ch]")
list(APPEND hashed "${PROJECT_SOURCE_DIR}/src/codegen/skip.c" "${PROJECT_SOURCE_DIR}/src/codegen/llvm.h" "${PROJECT_SOURCE_DIR}/src/kernel/ir.h"
                   "${PROJECT_SOURCE_DIR}/src/backend/backend.h")
set(build_hash "${PROJECT_BINARY_DIR}/generated/kernel/build_hash.h")
add_custom_command(
    OUTPUT "${build_hash}"
    COMMAND ${CMAKE_COMMAND} "-DFILES=${hashed}" "-DOUTPUT=${build_hash}" -P
            "${PROJECT_SOURCE_DIR}/cmake/hash.cmake"
    DEPENDS ${hashed} "${PROJECT_SOURCE_DIR}/cmake/hash.cmake"
    VERBATIM)

# The page of a timeline is in the library.
set(trace_page "${PROJECT_BINARY_DIR}/generated/trace/page.h")
add_custom_command(
    OUTPUT "${trace_page}"
    COMMAND ${CMAKE_COMMAND} "-DFILE=${PROJECT_SOURCE_DIR}/src/trace/page.html" "-DOUTPUT=${trace_page}" -P
            "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
    DEPENDS "${PROJECT_SOURCE_DIR}/src/trace/page.html" "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
    VERBATIM)

weft_add_objects(weft_objects ${sources} "${build_hash}" "${trace_page}")
target_include_directories(weft_objects PRIVATE "${PROJECT_BINARY_DIR}/generated")
set(objects $<TARGET_OBJECTS:weft_objects>)

# The interpreter's inner loops are compiled once per instruction set and chosen at run time.
# They are always optimised, except under a sanitizer, which would lose what it looks for.
function(weft_add_variant name)
    if(NOT EXISTS "${variant_source}")
        return()
    endif()
    weft_add_objects(weft_variant_${name} "${variant_source}")
    target_compile_definitions(weft_variant_${name} PRIVATE WEFT__VARIANT=${name})
    target_compile_options(weft_variant_${name} PRIVATE ${ARGN})
    if(NOT WEFT_SANITIZE)
        target_compile_options(weft_variant_${name} PRIVATE -O3)
    endif()
    set(objects ${objects} $<TARGET_OBJECTS:weft_variant_${name}> PARENT_SCOPE)
endfunction()

weft_add_variant(baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
    weft_add_variant(avx2 -mavx2 -mfma -mf16c -mbmi2)
    weft_add_variant(avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c
                     -mprefer-vector-width=512)
endif()

function(weft_add_library target kind)
    add_library(${target} ${kind} ${objects})
    target_include_directories(
        ${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                         $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${target} PRIVATE m pthread dl)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME weft)
endfunction()

weft_add_library(weft SHARED)
set_target_properties(weft PROPERTIES VERSION ${PROJECT_VERSION}
                                      SOVERSION ${PROJECT_VERSION_MAJOR})
# Calls of public functions inside the library are direct.
target_link_options(weft PRIVATE -Wl,-Bsymbolic-functions)
if(NOT WEFT_SANITIZE)
    target_link_options(weft PRIVATE -Wl,-z,defs)
endif()
add_library(weft::weft ALIAS weft)

# For tests, which call internal functions, and for programs that carry the library in them.
weft_add_library(weft_static STATIC)
add_library(weft::weft_static ALIAS weft_static)

# The header repeats the version for users; the two must agree.
file(STRINGS "${PROJECT_SOURCE_DIR}/include/weft/version.h" version_lines
     REGEX "define WEFT_VERSION_(MAJOR|MINOR|PATCH) ")
list(TRANSFORM version_lines REPLACE ".* ([0-9]+).*" "\\1")
list(JOIN version_lines "." version_of_header)
if(NOT version_of_header STREQUAL PROJECT_VERSION)
    message(FATAL_ERROR "include/weft/version.h says version '${version_of_header}', "
                        "CMakeLists.txt says '${PROJECT_VERSION}'")
endif()
