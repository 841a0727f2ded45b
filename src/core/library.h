/* The library as a whole: what happens at its first use, around fork, and when it is unloaded. */
#ifndef WEFT_CORE_LIBRARY_H
#define WEFT_CORE_LIBRARY_H

/* Called once, when the devices are known. */
void weft__library_open(void);

#endif
