/* Macros that count their arguments and apply a macro to each; at most 32. */
#ifndef WEFT_EACH_H
#define WEFT_EACH_H

#define WEFT__CAT(a, b) WEFT__CAT_(a, b)
#define WEFT__CAT_(a, b) a##b
#define WEFT__TEXT(x) WEFT__TEXT_(x)
#define WEFT__TEXT_(x) #x

/* Of more, a name that says so in the compiler's message. */
#define WEFT__COUNT(...)                                                                           \
    WEFT__COUNT_(__VA_ARGS__, at_most_32, at_most_32, at_most_32, at_most_32, at_most_32,          \
                 at_most_32, at_most_32, at_most_32, at_most_32, at_most_32, at_most_32,           \
                 at_most_32, at_most_32, at_most_32, at_most_32, at_most_32, at_most_32,           \
                 at_most_32, at_most_32, at_most_32, at_most_32, at_most_32, at_most_32,           \
                 at_most_32, at_most_32, at_most_32, at_most_32, at_most_32, at_most_32,           \
                 at_most_32, at_most_32, at_most_32, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22,   \
                 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define WEFT__COUNT_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17,   \
                     a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32,    \
                     a33, a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47,    \
                     a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62,    \
                     a63, a64, count, ...)                                                         \
    count

/* m(x), m(y), … with commas between, and m(x) m(y) … without. */
#define WEFT__LIST(m, ...) WEFT__CAT(WEFT__LIST_, WEFT__COUNT(__VA_ARGS__))(m, __VA_ARGS__)
#define WEFT__EACH(m, ...) WEFT__CAT(WEFT__EACH_, WEFT__COUNT(__VA_ARGS__))(m, __VA_ARGS__)

#define WEFT__LIST_1(m, x) m(x)
#define WEFT__LIST_2(m, x, ...) m(x), WEFT__LIST_1(m, __VA_ARGS__)
#define WEFT__LIST_3(m, x, ...) m(x), WEFT__LIST_2(m, __VA_ARGS__)
#define WEFT__LIST_4(m, x, ...) m(x), WEFT__LIST_3(m, __VA_ARGS__)
#define WEFT__LIST_5(m, x, ...) m(x), WEFT__LIST_4(m, __VA_ARGS__)
#define WEFT__LIST_6(m, x, ...) m(x), WEFT__LIST_5(m, __VA_ARGS__)
#define WEFT__LIST_7(m, x, ...) m(x), WEFT__LIST_6(m, __VA_ARGS__)
#define WEFT__LIST_8(m, x, ...) m(x), WEFT__LIST_7(m, __VA_ARGS__)
#define WEFT__LIST_9(m, x, ...) m(x), WEFT__LIST_8(m, __VA_ARGS__)
#define WEFT__LIST_10(m, x, ...) m(x), WEFT__LIST_9(m, __VA_ARGS__)
#define WEFT__LIST_11(m, x, ...) m(x), WEFT__LIST_10(m, __VA_ARGS__)
#define WEFT__LIST_12(m, x, ...) m(x), WEFT__LIST_11(m, __VA_ARGS__)
#define WEFT__LIST_13(m, x, ...) m(x), WEFT__LIST_12(m, __VA_ARGS__)
#define WEFT__LIST_14(m, x, ...) m(x), WEFT__LIST_13(m, __VA_ARGS__)
#define WEFT__LIST_15(m, x, ...) m(x), WEFT__LIST_14(m, __VA_ARGS__)
#define WEFT__LIST_16(m, x, ...) m(x), WEFT__LIST_15(m, __VA_ARGS__)
#define WEFT__LIST_17(m, x, ...) m(x), WEFT__LIST_16(m, __VA_ARGS__)
#define WEFT__LIST_18(m, x, ...) m(x), WEFT__LIST_17(m, __VA_ARGS__)
#define WEFT__LIST_19(m, x, ...) m(x), WEFT__LIST_18(m, __VA_ARGS__)
#define WEFT__LIST_20(m, x, ...) m(x), WEFT__LIST_19(m, __VA_ARGS__)
#define WEFT__LIST_21(m, x, ...) m(x), WEFT__LIST_20(m, __VA_ARGS__)
#define WEFT__LIST_22(m, x, ...) m(x), WEFT__LIST_21(m, __VA_ARGS__)
#define WEFT__LIST_23(m, x, ...) m(x), WEFT__LIST_22(m, __VA_ARGS__)
#define WEFT__LIST_24(m, x, ...) m(x), WEFT__LIST_23(m, __VA_ARGS__)
#define WEFT__LIST_25(m, x, ...) m(x), WEFT__LIST_24(m, __VA_ARGS__)
#define WEFT__LIST_26(m, x, ...) m(x), WEFT__LIST_25(m, __VA_ARGS__)
#define WEFT__LIST_27(m, x, ...) m(x), WEFT__LIST_26(m, __VA_ARGS__)
#define WEFT__LIST_28(m, x, ...) m(x), WEFT__LIST_27(m, __VA_ARGS__)
#define WEFT__LIST_29(m, x, ...) m(x), WEFT__LIST_28(m, __VA_ARGS__)
#define WEFT__LIST_30(m, x, ...) m(x), WEFT__LIST_29(m, __VA_ARGS__)
#define WEFT__LIST_31(m, x, ...) m(x), WEFT__LIST_30(m, __VA_ARGS__)
#define WEFT__LIST_32(m, x, ...) m(x), WEFT__LIST_31(m, __VA_ARGS__)
#define WEFT__EACH_1(m, x) m(x)
#define WEFT__EACH_2(m, x, ...) m(x) WEFT__EACH_1(m, __VA_ARGS__)
#define WEFT__EACH_3(m, x, ...) m(x) WEFT__EACH_2(m, __VA_ARGS__)
#define WEFT__EACH_4(m, x, ...) m(x) WEFT__EACH_3(m, __VA_ARGS__)
#define WEFT__EACH_5(m, x, ...) m(x) WEFT__EACH_4(m, __VA_ARGS__)
#define WEFT__EACH_6(m, x, ...) m(x) WEFT__EACH_5(m, __VA_ARGS__)
#define WEFT__EACH_7(m, x, ...) m(x) WEFT__EACH_6(m, __VA_ARGS__)
#define WEFT__EACH_8(m, x, ...) m(x) WEFT__EACH_7(m, __VA_ARGS__)
#define WEFT__EACH_9(m, x, ...) m(x) WEFT__EACH_8(m, __VA_ARGS__)
#define WEFT__EACH_10(m, x, ...) m(x) WEFT__EACH_9(m, __VA_ARGS__)
#define WEFT__EACH_11(m, x, ...) m(x) WEFT__EACH_10(m, __VA_ARGS__)
#define WEFT__EACH_12(m, x, ...) m(x) WEFT__EACH_11(m, __VA_ARGS__)
#define WEFT__EACH_13(m, x, ...) m(x) WEFT__EACH_12(m, __VA_ARGS__)
#define WEFT__EACH_14(m, x, ...) m(x) WEFT__EACH_13(m, __VA_ARGS__)
#define WEFT__EACH_15(m, x, ...) m(x) WEFT__EACH_14(m, __VA_ARGS__)
#define WEFT__EACH_16(m, x, ...) m(x) WEFT__EACH_15(m, __VA_ARGS__)
#define WEFT__EACH_17(m, x, ...) m(x) WEFT__EACH_16(m, __VA_ARGS__)
#define WEFT__EACH_18(m, x, ...) m(x) WEFT__EACH_17(m, __VA_ARGS__)
#define WEFT__EACH_19(m, x, ...) m(x) WEFT__EACH_18(m, __VA_ARGS__)
#define WEFT__EACH_20(m, x, ...) m(x) WEFT__EACH_19(m, __VA_ARGS__)
#define WEFT__EACH_21(m, x, ...) m(x) WEFT__EACH_20(m, __VA_ARGS__)
#define WEFT__EACH_22(m, x, ...) m(x) WEFT__EACH_21(m, __VA_ARGS__)
#define WEFT__EACH_23(m, x, ...) m(x) WEFT__EACH_22(m, __VA_ARGS__)
#define WEFT__EACH_24(m, x, ...) m(x) WEFT__EACH_23(m, __VA_ARGS__)
#define WEFT__EACH_25(m, x, ...) m(x) WEFT__EACH_24(m, __VA_ARGS__)
#define WEFT__EACH_26(m, x, ...) m(x) WEFT__EACH_25(m, __VA_ARGS__)
#define WEFT__EACH_27(m, x, ...) m(x) WEFT__EACH_26(m, __VA_ARGS__)
#define WEFT__EACH_28(m, x, ...) m(x) WEFT__EACH_27(m, __VA_ARGS__)
#define WEFT__EACH_29(m, x, ...) m(x) WEFT__EACH_28(m, __VA_ARGS__)
#define WEFT__EACH_30(m, x, ...) m(x) WEFT__EACH_29(m, __VA_ARGS__)
#define WEFT__EACH_31(m, x, ...) m(x) WEFT__EACH_30(m, __VA_ARGS__)
#define WEFT__EACH_32(m, x, ...) m(x) WEFT__EACH_31(m, __VA_ARGS__)

#endif
