/* The real NVRTC behind the stand-in, if there is one. */
#ifndef WEFT_TESTS_BACKEND_STANDIN_REAL_H
#define WEFT_TESTS_BACKEND_STANDIN_REAL_H

/* 0 if there is none, or if it compiles the text; else its code, and a log to be freed. */
int standin_compile_really(const char *text, int count, const char *const *options, char **log);

#endif
