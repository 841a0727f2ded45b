# cmake -DFILES=... -DOUTPUT=... -P hash.cmake: a header with a hash of the files.
set(hashes "")
foreach(file IN LISTS FILES)
    file(SHA256 "${file}" hash)
    string(APPEND hashes "${hash}\n")
endforeach()
string(SHA256 hash "${hashes}")
string(SUBSTRING "${hash}" 0 16 hash)
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT
     "/* A hash of the sources that compiled kernels depend on. */\n#define WEFT__BUILD_HASH \"${hash}\"\n")
