/* Pictures: what the parts of PNG share. */
#ifndef WEFT_FILE_PNG_H
#define WEFT_FILE_PNG_H

#include "file/file.h"

bool weft__colours_known(weft_colours colours);
/* `count` colours of a map that is not grey, three bytes each. */
void weft__colours_fill(weft_colours colours, int count, unsigned char *rgb);

#endif
