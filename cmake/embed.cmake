# cmake -DFILE=... -DOUTPUT=... -P embed.cmake: a header with the bytes of a file.
file(READ "${FILE}" bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n    " bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " bytes "${bytes}")
get_filename_component(name "${FILE}" NAME)
file(WRITE "${OUTPUT}" "/* The bytes of ${name}. */\nstatic const unsigned char embedded[] = {\n    ${bytes}0};\n")
