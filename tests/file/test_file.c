/* NPY and NPZ files: round trips in every dtype and layout, mapping, pieces, atomic writes. */
#include "file/zlib.h"
#include "support/arrays.h"
#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/weft.h>

enum { PATH_ROOM = 128 };

/* A file of this process; the runs of one test follow each other. */
static const char *path_of(const char *name)
{
    static char paths[8][PATH_ROOM];
    static int next;
    char *path = paths[next++ % 8];
    (void)snprintf(path, PATH_ROOM, "/tmp/weft-test-file-%ld-%s", (long)getpid(), name);
    return path;
}

static long size_of(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 ? (long)facts.st_size : -1;
}

static bool write_file(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    const bool written = file && fwrite(data, 1, bytes, file) == bytes;
    return file && fclose(file) == 0 && written;
}

/* A header of version 1 with the text as it is, and the data after it. */
static bool write_npy(const char *path, const char *text, const void *data, size_t bytes)
{
    char whole[2048] = "\x93NUMPY\x01";
    const size_t length = strlen(text);
    whole[8] = (char)(length & 255);
    whole[9] = (char)(length >> 8);
    memcpy(whole + 10, text, length);
    memcpy(whole + 10 + length, data, bytes);
    return write_file(path, whole, 10 + length + bytes);
}

/* 24 elements with every byte in use; a bool is 0 or 1. */
static void make_values(weft_dtype dtype, unsigned char *values)
{
    for (size_t k = 0; k < 24 * weft_dtype_size(dtype); k++)
        values[k] = (unsigned char)(dtype == WEFT_BOOL ? k * 7 % 3 == 0 : k * 37 % 113);
}

TEST(file_every_dtype_and_layout_comes_back)
{
    unsigned char values[24 * 16];
    const char *path = path_of("round.npy");
    for (int dtype = 1; dtype < WEFT_DTYPE_END; dtype++) {
        const size_t bytes = 24 * weft_dtype_size((weft_dtype)dtype);
        make_values((weft_dtype)dtype, values);
        WEFT_AUTO weft_array *a = from(values, bytes, WEFT_SHAPE(2, 3, 4), (weft_dtype)dtype);
        CHECK(a);
        for (int layout = 0; layout < LAYOUTS; layout++) {
            WEFT_AUTO weft_array *view = laid_out(a, layout);
            CHECK(view);
            CHECK_STATUS(weft_save(path, view), WEFT_OK);
            WEFT_AUTO weft_array *back = weft_load(path, .device = device());
            CHECK(back);
            CHECK_INT(weft_array_dtype(back), dtype);
            CHECK(weft_shape_equal(weft_array_shape(back), WEFT_SHAPE(2, 3, 4)));
            CHECK(weft_device_equal(weft_array_device(back), device()));
            CHECK(holds(back, values, bytes));
        }
    }
    CHECK_INT(unlink(path), 0);
}

TEST(file_shapes_without_elements_and_axes)
{
    const char *path = path_of("shapes.npy");
    const weft_shape shapes[] = {WEFT_SCALAR, WEFT_SHAPE(0), WEFT_SHAPE(3, 0, 2), WEFT_SHAPE(1),
                                 WEFT_SHAPE(1, 2, 1, 2, 1, 2, 1, 2)};
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        WEFT_AUTO weft_array *a = weft_full(shapes[k], 1.5, .dtype = WEFT_F64, .device = device());
        CHECK(a);
        CHECK_STATUS(weft_save(path, a), WEFT_OK);
        WEFT_AUTO weft_array *back = weft_load(path, .mapped = true);
        CHECK(back);
        CHECK(weft_shape_equal(weft_array_shape(back), shapes[k]));
        double first = 1.5;
        if (weft_array_count(back) > 0)
            CHECK_STATUS(weft_item(back, &first), WEFT_OK);
        CHECK(first == 1.5);
    }
    (void)unlink(path);
}

TEST(file_headers_as_others_write_them)
{
    const char *path = path_of("headers.npy");
    const unsigned char data[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const struct {
        const char *text;
        uint16_t expected[4]; /* in C order */
    } cases[] = {
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (2, 2), }\n", {513, 1027, 1541, 2055}},
        {"{'descr': '=u2', 'fortran_order': False, 'shape': (2, 2)}", {513, 1027, 1541, 2055}},
        {"{\"shape\":(2L,2L),\"descr\":\">u2\",\"fortran_order\":False}", {258, 772, 1286, 1800}},
        {" { 'descr' : '>u2' , 'fortran_order' : True , 'shape' : ( 2 , 2 , ) , }  \n",
         {258, 1286, 772, 1800}},
        {"{'descr': '<u2', 'fortran_order': True, 'shape': (2, 2), }", {513, 1541, 1027, 2055}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        CHECK(write_npy(path, cases[k].text, data, sizeof data));
        WEFT_AUTO weft_array *a = weft_load(path, .device = device());
        CHECK(a);
        CHECK_INT(weft_array_dtype(a), WEFT_U16);
        CHECK(holds(a, cases[k].expected, sizeof data));
    }
    CHECK(write_npy(path, "{'descr': '|b1', 'fortran_order': False, 'shape': (8,), }", data, 8));
    WEFT_AUTO weft_array *flags = weft_load(path, .mapped = true);
    CHECK(holds(flags, "\1\1\1\1\1\1\1\1", 8)); /* a bool is 0 or 1 */
    (void)unlink(path);
}

TEST(file_versions_2_and_3)
{
    const char *path = path_of("versions.npy");
    const char text[] = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }";
    const int32_t values[] = {-5, 77};
    for (int version = 1; version <= 4; version++) {
        char whole[128] = "\x93NUMPY";
        whole[6] = (char)version;
        whole[8] = (char)strlen(text);
        const size_t begin = version == 1 ? 10 : 12;
        memcpy(whole + begin, text, strlen(text));
        memcpy(whole + begin + strlen(text), values, sizeof values);
        CHECK(write_file(path, whole, begin + strlen(text) + sizeof values));
        weft_error_clear();
        WEFT_AUTO weft_array *a = weft_load(path);
        if (version < 4)
            CHECK(holds(a, values, sizeof values));
        else
            CHECK_ERROR(WEFT_ERROR_UNSUPPORTED, "version 4.0");
    }
    (void)unlink(path);
}

TEST(file_wrong_headers_are_errors)
{
    const char *path = path_of("wrong.npy");
    const struct {
        const char *text, *message;
        int code;
    } cases[] = {
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "Python objects",
         WEFT_ERROR_DTYPE},
        {"{'descr': '<U4', 'fortran_order': False, 'shape': (1,), }", "'<U4'", WEFT_ERROR_DTYPE},
        {"{'descr': '<f16', 'fortran_order': False, 'shape': (1,), }", "'<f16'", WEFT_ERROR_DTYPE},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "records",
         WEFT_ERROR_DTYPE},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "12 bytes, and 8 are there",
         WEFT_ERROR_ARGUMENT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, "
         "4611686018427387904), }",
         "", WEFT_ERROR_SHAPE},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
         "a size below", WEFT_ERROR_ARGUMENT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "a size below",
         WEFT_ERROR_ARGUMENT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }",
         "more than 8 dimensions", WEFT_ERROR_SHAPE},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2), }", "a tuple",
         WEFT_ERROR_ARGUMENT},
        {"{'descr': '<f4', 'fortran_order': False, }", "no shape", WEFT_ERROR_ARGUMENT},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "each once",
         WEFT_ERROR_ARGUMENT},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }", "True or False",
         WEFT_ERROR_ARGUMENT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } x", "the end",
         WEFT_ERROR_ARGUMENT},
        {"{'descr': '<f4", "a dtype", WEFT_ERROR_ARGUMENT},
        {"", "'{'", WEFT_ERROR_ARGUMENT}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        CHECK(write_npy(path, cases[k].text, "12345678", 8));
        CHECK_FAILS(weft_load(path), cases[k].code, cases[k].message);
    }
    CHECK(write_file(path, "hello\33[31m", 10));
    CHECK_FAILS(weft_load(path), WEFT_ERROR_ARGUMENT, "begins with 'hello?'");
    CHECK(write_file(path, "", 0));
    CHECK_FAILS(weft_load(path), WEFT_ERROR_ARGUMENT, "too short");
    CHECK_FAILS(weft_load("/tmp"), WEFT_ERROR_SYSTEM, "no plain file");
    CHECK_FAILS(weft_load("/nonexistent/a.npy"), WEFT_ERROR_SYSTEM, "No such file");
    CHECK_FAILS(weft_load(NULL), WEFT_ERROR_ARGUMENT, "path is NULL");
    (void)unlink(path);
}

TEST(file_pictures_are_no_files_of_numbers)
{
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(2, 3), .device = device());
    const char *path = path_of("numbers.png");
    CHECK(a);
    CHECK_STATUS(weft_save(path, a), WEFT_ERROR_ARGUMENT);
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "weft_save_png");
    CHECK(!weft_writer_new(path, WEFT_F32, WEFT_SHAPE(2)));
    CHECK_ERROR(WEFT_ERROR_ARGUMENT, "weft_save_png");
    const char *const name = "a";
    CHECK_STATUS(weft_save_all(path, 1, &name, &a, NULL), WEFT_ERROR_ARGUMENT);
    CHECK_STATUS(weft_save("/dev/null/numbers.PNG", a), WEFT_ERROR_ARGUMENT);
    CHECK_INT(size_of(path), -1);
}

TEST(file_npz_holds_several_arrays)
{
    const char *path = path_of("several.npz");
    const float a_values[] = {1, 2, 3}, b_values[] = {4, 5, 6, 7};
    WEFT_AUTO weft_array *a = from(a_values, sizeof a_values, WEFT_SHAPE(3), WEFT_F32);
    WEFT_AUTO weft_array *b = from(b_values, sizeof b_values, WEFT_SHAPE(2, 2), WEFT_F32);
    WEFT_AUTO weft_array *turned = weft_transpose(b);
    CHECK(a && turned);
    const float turned_values[] = {4, 6, 5, 7};
    const bool zlib = weft__zlib_get() != NULL; /* not for every processor that is emulated */
    for (int compress = 0; compress < (zlib ? 2 : 1); compress++) {
        const weft_save_options options = {.struct_size = sizeof options, .compress = compress};
        const char *names[] = {"a", "a b/\xc3\xa4"};
        weft_array *arrays[] = {a, turned};
        CHECK_STATUS(weft_save_all(path, 2, names, arrays, &options), WEFT_OK);
        WEFT_AUTO weft_array *one = weft_load(path, .name = "a", .device = device());
        WEFT_AUTO weft_array *two = weft_load(path, .name = names[1], .mapped = true);
        CHECK(holds(one, a_values, sizeof a_values));
        CHECK(holds(two, turned_values, sizeof turned_values));
        CHECK_FAILS(weft_load(path), WEFT_ERROR_ARGUMENT, "holds a, a b/??; say which with .name");
        CHECK_FAILS(weft_load(path, .name = "c"), WEFT_ERROR_ARGUMENT, "there is no 'c'");
        weft_file *file = weft_file_open(path);
        CHECK(file);
        weft_file_info info = {0};
        const bool described = weft_file_describe(file, 1, &info) == WEFT_OK;
        const bool fine = weft_file_count(file) == 2 && weft_file_is_npz(file) &&
                          strcmp(weft_file_name(file, 1), names[1]) == 0 && described &&
                          info.dtype == WEFT_F32 && info.fortran_order && info.bytes == 16 &&
                          info.compressed == compress && info.mappable == !compress &&
                          !weft_file_name(file, 2) &&
                          weft_file_describe(file, 2, &info) == WEFT_ERROR_ARGUMENT;
        weft_file_close(file);
        CHECK(fine);
    }
    CHECK_STATUS(weft_save(path, a, .name = "x", .compress = zlib), WEFT_OK);
    WEFT_AUTO weft_array *only = weft_load(path);
    CHECK(holds(only, a_values, sizeof a_values));
    CHECK_STATUS(weft_save_all(path, 0, NULL, NULL, NULL), WEFT_OK);
    CHECK_FAILS(weft_load(path), WEFT_ERROR_ARGUMENT, "no arrays");
    CHECK_STATUS(weft_save(path_of("x.npy"), a, .compress = true), WEFT_ERROR_ARGUMENT);
    const char *twice[] = {"a", "a"};
    weft_array *both[] = {a, b};
    CHECK_STATUS(weft_save_all(path, 2, twice, both, NULL), WEFT_ERROR_ARGUMENT);
    (void)unlink(path);
}

TEST(file_mapped_memory_is_private)
{
    const char *path = path_of("mapped.npy");
    const double values[] = {1, 2, 3, 4};
    WEFT_AUTO weft_array *a =
        weft_from_host(values, sizeof values, WEFT_SHAPE(4), .dtype = WEFT_F64);
    CHECK(a);
    CHECK_STATUS(weft_save(path, a), WEFT_OK);
    WEFT_AUTO weft_array *mapped = weft_load(path, .mapped = true);
    CHECK(mapped);
    CHECK(weft_device_equal(weft_array_device(mapped), WEFT_CPU));
    CHECK_STATUS(weft(mapped = mapped + a, mapped, a), WEFT_OK); /* it mixes with other arrays */
    CHECK(holds(mapped, ((double[]){2, 4, 6, 8}), sizeof values));
    WEFT_AUTO weft_array *again = weft_load(path, .mapped = true);
    CHECK(holds(again, values, sizeof values)); /* the file is as it was */
    WEFT_AUTO weft_array *view = weft_slice(again, WEFT_RANGE(1, 3));
    weft_array_release(again);
    again = NULL;
    CHECK_INT(unlink(path), 0);
    CHECK(holds(view, values + 1, 2 * sizeof values[0])); /* a view holds the mapping */
}

/* What is queued is done before it is saved. */
TEST(file_saving_waits)
{
    const char *path = path_of("waits.npy");
    (void)unlink(path);
    weft_stream *stream = weft_stream_new(device(), .async = true);
    CHECK(stream);
    WEFT_AUTO weft_array *a =
        weft_zeros(WEFT_SHAPE(1000, 100), .device = device(), .stream = stream);
    weft_status status = a ? WEFT_OK : weft_error_code();
    for (int k = 0; k < 20 && status == WEFT_OK; k++)
        status = weft(a = a + 1.0f, a);
    if (status == WEFT_OK)
        status = weft_save(path, a);
    weft_stream_release(stream);
    CHECK_STATUS(status, WEFT_OK);
    WEFT_AUTO weft_array *back = weft_load(path, .mapped = true);
    CHECK(back);
    const float *data = weft_array_data(back);
    for (int k = 0; k < 100000; k++)
        CHECK(data[k] == 20);
    (void)unlink(path);
}

TEST(file_pieces)
{
    const char *path = path_of("pieces.npy");
    (void)unlink(path);
    WEFT_AUTO weft_array *all = weft_arange(0, 12, 1, .dtype = WEFT_I32, .device = device());
    WEFT_AUTO weft_array *first = weft_slice(all, WEFT_RANGE(0, 5));
    WEFT_AUTO weft_array *rest = weft_slice(all, WEFT_RANGE(5, 12));
    CHECK(first && rest);
    weft_writer *writer = weft_writer_new(path, WEFT_I32, WEFT_SHAPE(3, 4));
    CHECK(writer);
    const bool added = weft_writer_add(writer, first) == WEFT_OK;
    const bool early = size_of(path) >= 0; /* nothing is there before it is whole */
    const bool more = weft_writer_add(writer, all) == WEFT_ERROR_SHAPE;
    const bool done = weft_writer_add(writer, rest) == WEFT_OK;
    CHECK_STATUS(weft_writer_finish(writer), added && done ? WEFT_OK : WEFT_ERROR_SHAPE);
    CHECK(added && !early && more && done);
    WEFT_AUTO weft_array *back = weft_load(path);
    WEFT_AUTO weft_array *shaped = weft_reshape(all, WEFT_SHAPE(3, 4));
    CHECK(back && shaped);
    int32_t expected[12];
    for (int k = 0; k < 12; k++)
        expected[k] = k;
    CHECK(holds(back, expected, sizeof expected));
    CHECK_INT(unlink(path), 0);
    writer = weft_writer_new(path, WEFT_I32, WEFT_SHAPE(3, 4));
    CHECK(writer);
    CHECK_STATUS(weft_writer_finish(writer), WEFT_ERROR_SHAPE);
    CHECK_INT(size_of(path), -1);
}

TEST(file_pieces_are_npy)
{
    const char *path = path_of("pieces.npz");
    (void)unlink(path);
    CHECK(!weft_writer_new(path, WEFT_I32, WEFT_SHAPE(3, 4)));
    CHECK_STATUS(weft_error_code(), WEFT_ERROR_UNSUPPORTED);
    CHECK(strstr(weft_error_message(), ".npy"));
    CHECK_INT(size_of(path), -1);
}

TEST(file_pieces_that_are_given_up)
{
    const char *path = path_of("given-up.npy");
    (void)unlink(path);
    WEFT_AUTO weft_array *line = weft_arange(0, 12, 1, .dtype = WEFT_I32, .device = device());
    CHECK(line);
    weft_writer *writer = weft_writer_new(path, WEFT_I32, WEFT_SHAPE(3, 4));
    CHECK(writer);
    const weft_status added = weft_writer_add(writer, line);
    weft_writer_cancel(writer);
    weft_writer_cancel(NULL);
    CHECK_STATUS(added, WEFT_OK);
    CHECK_INT(size_of(path), -1); /* though all of it had been written */
}

TEST(file_large_views_are_written_in_pieces)
{
    const char *path = path_of("large.npy");
    WEFT_AUTO weft_array *line =
        weft_arange(0, 3 * 1000 * 1000, 1, .dtype = WEFT_I32, .device = device());
    WEFT_AUTO weft_array *square = weft_reshape(line, WEFT_SHAPE(3, 1000, 1000));
    WEFT_AUTO weft_array *view = weft_slice(square, WEFT_REVERSED, WEFT_ALL, WEFT_REVERSED);
    CHECK(view);
    CHECK_STATUS(weft_save(path, view), WEFT_OK);
    WEFT_AUTO weft_array *back = weft_load(path, .mapped = true);
    CHECK(back);
    const int32_t *data = weft_array_data(back);
    for (int k = 0; k < 3 * 1000 * 1000; k++)
        if (data[k] != (2 - k / 1000000) * 1000000 + k / 1000 % 1000 * 1000 + 999 - k % 1000)
            CHECK_INT(data[k], k);
    (void)unlink(path);
}

/* A file that cannot grow beyond a few bytes, as a full disk: what was there stays. */
TEST(file_nothing_half_written_stays)
{
    const char *path = path_of("full.npy");
    struct rlimit old, small;
    WEFT_AUTO weft_array *little = weft_ones(WEFT_SHAPE(4));
    WEFT_AUTO weft_array *much = weft_ones(WEFT_SHAPE(100000));
    CHECK(little && much);
    CHECK_STATUS(weft_save(path, little), WEFT_OK);
    CHECK_INT(chmod(path, 0640), 0);
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 4096;
    (void)signal(SIGXFSZ, SIG_IGN);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &small), 0);
    const weft_status npy = weft_save(path, much);
    const weft_status npz = weft_save(path_of("full.npz"), much);
    (void)setrlimit(RLIMIT_FSIZE, &old);
    CHECK(npy != WEFT_OK && npz != WEFT_OK);
    CHECK(strstr(weft_error_message(), "cannot be written") || test_faults());
    CHECK_INT(size_of(path), 128 + 16);
    CHECK_INT(size_of(path_of("full.npz")), -1);
    WEFT_AUTO weft_array *back = weft_load(path);
    CHECK(back);
    CHECK_STATUS(weft_save(path, much), WEFT_OK);
    struct stat facts;
    CHECK_INT(stat(path, &facts), 0);
    CHECK_INT(facts.st_mode & 0777, 0640); /* a file that is replaced keeps its mode */
    CHECK_STATUS(weft_save("/dev/null/x.npy", much), WEFT_ERROR_SYSTEM);
    CHECK_STATUS(weft_save("/tmp", much), WEFT_ERROR_SYSTEM);
    CHECK_STATUS(weft_save("/dev/full", much), WEFT_ERROR_SYSTEM);
    CHECK_STATUS(weft_save("/dev/null", much), WEFT_OK);
    (void)unlink(path);
}

/* A piece that was written in part cannot be given again: the file would have it one and a half
 * times. */
TEST(file_a_broken_writer_makes_no_file)
{
    const char *path = path_of("broken.npy");
    struct rlimit old, small;
    WEFT_AUTO weft_array *piece = weft_ones(WEFT_SHAPE(100000));
    (void)unlink(path);
    CHECK(piece);
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 4096;
    (void)signal(SIGXFSZ, SIG_IGN);
    weft_writer *writer = weft_writer_new(path, WEFT_F32, WEFT_SHAPE(100000));
    CHECK(writer);
    (void)setrlimit(RLIMIT_FSIZE, &small);
    const weft_status first = weft_writer_add(writer, piece);
    (void)setrlimit(RLIMIT_FSIZE, &old);
    const weft_status again = weft_writer_add(writer, piece);
    const weft_status finished = weft_writer_finish(writer);
    CHECK(first != WEFT_OK && again != WEFT_OK && finished != WEFT_OK);
    CHECK_INT(size_of(path), -1);
}

TEST(file_links_are_followed)
{
    const char *path = path_of("target.npy"), *link = path_of("link.npy");
    struct stat facts;
    WEFT_AUTO weft_array *a = weft_ones(WEFT_SHAPE(4)), *b = weft_zeros(WEFT_SHAPE(8));
    CHECK(a && b);
    CHECK_STATUS(weft_save(path, a), WEFT_OK);
    (void)unlink(link);
    CHECK_INT(symlink(path, link), 0);
    const weft_status status = weft_save(link, b);
    const bool still = lstat(link, &facts) == 0 && S_ISLNK(facts.st_mode);
    const long size = size_of(path);
    (void)unlink(path); /* of a link that leads nowhere yet, too, and by the name of its folder */
    (void)unlink(link);
    CHECK_INT(symlink(strrchr(path, '/') + 1, link), 0);
    const weft_status again = weft_save(link, a);
    const bool stays = lstat(link, &facts) == 0 && S_ISLNK(facts.st_mode);
    const long other = size_of(path);
    (void)unlink(link);
    (void)unlink(path);
    CHECK_STATUS(status, WEFT_OK);
    CHECK_STATUS(again, WEFT_OK);
    CHECK(still && stays);
    CHECK_INT(size, 128 + 32);
    CHECK_INT(other, 128 + 16);
}

TEST_MAIN(TEST_OF(file_every_dtype_and_layout_comes_back),
          TEST_OF(file_shapes_without_elements_and_axes),
          TEST_OF(file_headers_as_others_write_them), TEST_OF(file_versions_2_and_3),
          TEST_OF(file_wrong_headers_are_errors), TEST_OF(file_npz_holds_several_arrays),
          TEST_OF(file_pictures_are_no_files_of_numbers), TEST_OF(file_mapped_memory_is_private),
          TEST_OF(file_saving_waits), TEST_OF(file_pieces), TEST_OF(file_pieces_are_npy),
          TEST_OF(file_pieces_that_are_given_up), TEST_OF(file_large_views_are_written_in_pieces),
          TEST_OF(file_nothing_half_written_stays), TEST_OF(file_a_broken_writer_makes_no_file),
          TEST_OF(file_links_are_followed));
