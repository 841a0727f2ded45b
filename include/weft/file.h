/* Files: arrays in NumPy's formats NPY and NPZ, and pictures in PNG. */
#ifndef WEFT_FILE_H
#define WEFT_FILE_H

#include <weft/create.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An NPY file holds one array, an NPZ file named ones; which of the two a file is, its content
 * says. Every dtype is read in either byte order. NumPy has no bf16: it is written as '<V2', which
 * is what NumPy makes of ml_dtypes.bfloat16, and read from that. What NumPy has and Weft has not
 * (strings, dates, records, objects, long double) is an error. A file is checked before it is
 * believed: nothing is allocated that it could not fill.
 *
 * Compressed NPZ files need zlib (libz.so.1), which is opened when the first of them is used. */

/* What weft_load can be told. */
typedef struct weft_load_options {
    size_t struct_size;
    const char *name;   /* of an NPZ file: which array; not needed where it has only one */
    weft_device device; /* default: as for new arrays */
    weft_memory memory; /* the kind of its memory; default: device */
    bool mapped;        /* on the CPU: the file itself, mapped into memory, where that can be */
} WEFT__NAMED weft_load_options;

/*     weft_load("a.npy")
 *     weft_load("many.npz", .name = "a", .device = gpu)
 * A new array, whose elements are in the order that the file has. With .mapped nothing is read
 * until it is used, writes stay in memory and never reach the file, and the file must not be
 * shortened or changed meanwhile; where that cannot be (bool, the other byte order, compressed,
 * misaligned, not for the CPU) it is read after all. The check sum of an array in an NPZ file is
 * compared when it is read, not when it is mapped. */
#define weft_load(...) WEFT__LOAD(__VA_ARGS__, )
#define WEFT__LOAD(path, ...) weft_load_with((path), WEFT__OPTIONS(weft_load_options, __VA_ARGS__))
WEFT_API weft_array *weft_load_with(const char *path, const weft_load_options *options);

/* A file that is open for reading. */
typedef struct weft_file weft_file;
/* An array in a file. */
typedef struct weft_file_info {
    weft_dtype dtype;   /* of the elements */
    weft_shape shape;   /* in the order of axes that the file has */
    uint64_t bytes;     /* of the elements */
    bool fortran_order; /* the first axis varies fastest */
    bool swapped;       /* in the other byte order than this machine's */
    bool compressed;    /* with zlib */
    bool mappable;      /* .mapped maps it */
} weft_file_info;
/* Opens an NPY or NPZ file and reads its headers; release it with weft_file_close. */
WEFT_API weft_file *weft_file_open(const char *path);
/* NULL is fine. */
WEFT_API void weft_file_close(weft_file *file);
/* How many arrays there are: 1 for NPY. */
WEFT_API int weft_file_count(const weft_file *file);
/* Whether it is an NPZ file, whose arrays have names. */
WEFT_API bool weft_file_is_npz(const weft_file *file);
/* The name of an array, "" for NPY; valid until the file is closed. NULL out of range. */
WEFT_API const char *weft_file_name(const weft_file *file, int position);
/* What an array in the file is, without reading it. */
#define weft_file_describe(file, position, info)                                                   \
    weft_file_describe_sized((file), (position), (info), sizeof(weft_file_info))
WEFT_API weft_status weft_file_describe_sized(weft_file *file, int position, weft_file_info *info,
                                              size_t info_size);
/* As weft_load; `.name` is not looked at. */
WEFT_API weft_array *weft_file_load(weft_file *file, int position,
                                    const weft_load_options *options);

/* What weft_save can be told. Saving waits for the array, wherever it is. The file is written
 * beside its place under another name and then renamed: there is the old file or the new one,
 * whole, and none that is half written, whatever fails. (What is no plain file, as a pipe, is
 * written directly.) An array in Fortran order is written as such; any other in C order. */
typedef struct weft_save_options {
    size_t struct_size;
    const char *name; /* of the array in an NPZ file; default "arr_0", as NumPy's */
    bool compress;    /* an NPZ file: with zlib */
} WEFT__NAMED weft_save_options;

/* weft_save("a.npy", a): as NPY, or as NPZ where the path ends with .npz. One that ends with .png
 * is an error: weft_save_png writes pictures. */
#define weft_save(...) WEFT__SAVE(__VA_ARGS__, )
#define WEFT__SAVE(path, ...) WEFT__SAVE_(path, __VA_ARGS__)
#define WEFT__SAVE_(path, array, ...)                                                              \
    weft_save_with((path), (array), WEFT__OPTIONS(weft_save_options, __VA_ARGS__))
WEFT_API weft_status weft_save_with(const char *path, weft_array *array,
                                    const weft_save_options *options);
/* Several arrays into one NPZ file: names[k] is the name of arrays[k]. */
WEFT_API weft_status weft_save_all(const char *path, int count, const char *const *names,
                                   weft_array *const *arrays, const weft_save_options *options);

/* Writes an NPY file piece by piece, for arrays that memory does not hold. Each piece has the next
 * elements in C order, of the file's dtype; its own shape does not matter. weft_writer_finish fails
 * if elements are missing, or a piece was written only in part; it and weft_writer_cancel free the
 * writer, finished or not, and cancel leaves no file behind. */
typedef struct weft_writer weft_writer;
/* A writer for an array of that dtype and shape. A path that ends in .npz or .png is an error. */
WEFT_API weft_writer *weft_writer_new(const char *path, weft_dtype dtype, weft_shape shape);
/* The next elements: waits for them. */
WEFT_API weft_status weft_writer_add(weft_writer *writer, weft_array *piece);
/* The file appears under its name. */
WEFT_API weft_status weft_writer_finish(weft_writer *writer);
/* No file. NULL is fine. */
WEFT_API void weft_writer_cancel(weft_writer *writer);

/* Colour maps of pictures. */
typedef enum weft_colours {
    WEFT_COLOURS_VIRIDIS,  /* dark blue, green, yellow: equal steps look equal */
    WEFT_COLOURS_GREY,     /* black to white */
    WEFT_COLOURS_MAGMA,    /* black, purple, orange, white */
    WEFT_COLOURS_DIVERGING /* blue, white, red: for values around a middle */
} weft_colours;
/* What weft_save_png can be told. */
typedef struct weft_png_options {
    size_t struct_size;
    weft_colours colours; /* default: viridis */
    double low, high;     /* the values at both ends of the colours */
} WEFT__NAMED weft_png_options;
/* A picture of a 2-D array of real numbers, the first row at the top:
 *     weft_save_png("u.png", u, .colours = WEFT_COLOURS_MAGMA, .low = 0, .high = 1)
 * What is below low or above high has the colour of low or high; where both are the same, they are
 * the least and the largest finite element. NaN is transparent, in grey black. Waits, and writes as
 * weft_save does. Without zlib the file is larger. */
#define weft_save_png(...) WEFT__SAVE_PNG(__VA_ARGS__, )
#define WEFT__SAVE_PNG(path, ...) WEFT__SAVE_PNG_(path, __VA_ARGS__)
#define WEFT__SAVE_PNG_(path, array, ...)                                                          \
    weft_save_png_with((path), (array), WEFT__OPTIONS(weft_png_options, __VA_ARGS__))
WEFT_API weft_status weft_save_png_with(const char *path, weft_array *array,
                                        const weft_png_options *options);

#ifdef __cplusplus
}
#endif
#endif
