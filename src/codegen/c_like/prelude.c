/* The words in which the dialects differ, and what both define with them. */
#include "codegen/c_like/write.h"

static const char cuda_words[] =
    "typedef signed char i8; typedef short i16; typedef int i32; typedef long long i64;\n"
    "typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32;\n"
    "typedef unsigned long long u64; typedef float f32; typedef double f64;\n"
    "#define KERNEL(group) extern \"C\" __global__ void __launch_bounds__(group)\n"
    "#define KERNEL_AT_ONCE(group, n) extern \"C\" __global__ void __launch_bounds__(group, n)\n"
    "#define FUNCTION static __device__ __forceinline__\n"
    "#define GLOBAL\n"
    "#define LOCAL __shared__\n"
    "#define LOCAL_POINTER\n"
    "#define ALIGNED __align__(16)\n"
    "#define OR ||\n"
    "#define UNROLL _Pragma(\"unroll\")\n"
    "#define ROLLED _Pragma(\"unroll 1\")\n"
    "#define UNROLL_EIGHT _Pragma(\"unroll 8\")\n"
    "#define WARPS_ALONE 1\n" /* may wait at other places of the text than others of the group */
    "#define WARP_BARRIER __syncwarp()\n"
    "#define BARRIER __syncthreads()\n"
    "#define GROUP_ID blockIdx.x\n"
    "#define LOCAL_ID threadIdx.x\n"
    "#define U64(x) x##ull\n"
    "#define AS_u32(x) __float_as_uint(x)\n"
    "#define AS_f32(x) __uint_as_float(x)\n"
    "#define AS_u64(x) (u64)__double_as_longlong(x)\n"
    "#define AS_f64(x) __longlong_as_double((i64)(x))\n"
    "#define FMA_f32(x, y, z) __fmaf_rn(x, y, z)\n"
    "#define FMA_f64(x, y, z) __fma_rn(x, y, z)\n"
    "#define DIV_f32(x, y) __fdiv_rn(x, y)\n"
    "#define DIV_f64(x, y) __ddiv_rn(x, y)\n"
    "#define SQRT_f32(x) __fsqrt_rn(x)\n"
    "#define SQRT_f64(x) __dsqrt_rn(x)\n"
    "#define ABS_f32(x) fabsf(x)\n"
    "#define ABS_f64(x) fabs(x)\n"
    "#define FLOOR_f32(x) floorf(x)\n"
    "#define FLOOR_f64(x) floor(x)\n"
    "#define CEIL_f32(x) ceilf(x)\n"
    "#define CEIL_f64(x) ceil(x)\n"
    "#define TRUNC_f32(x) truncf(x)\n"
    "#define TRUNC_f64(x) trunc(x)\n"
    "#define ROUND_f32(x) rintf(x)\n"
    "#define ROUND_f64(x) rint(x)\n"
    "#define HIGH_i32(x, y) __mulhi(x, y)\n"
    "#define HIGH_u32(x, y) __umulhi(x, y)\n"
    "#define HIGH_i64(x, y) __mul64hi(x, y)\n"
    "#define HIGH_u64(x, y) __umul64hi(x, y)\n"
    "#define BITS(x) __popc(x)\n";

/* As a product of u64 it would take more. */
static const char wide_words[] =
    "#if defined(__CUDACC_RTC__) || defined(NVIDIA_WORDS)\n"
    "FUNCTION u64 WIDE(u32 x, u32 y)\n"
    "{\n"
    "    u64 z;\n"
    "    asm(\"mul.wide.u32 %0, %1, %2;\" : \"=l\"(z) : \"r\"(x), \"r\"(y));\n"
    "    return z;\n"
    "}\n"
    "#else\n"
    "#define WIDE(x, y) ((u64)(x)*(y))\n"
    "#endif\n";

/* NVIDIA's compilers compare a last bit with 1, after an instruction to have it, unless they do not
 * see what it is; then they have one for all bits of a number that are looked at. */
static const char bit_words[] = "#if defined(__CUDACC_RTC__) || defined(NVIDIA_WORDS)\n"
                                "FUNCTION u32 LAST_BIT(u32 x)\n"
                                "{\n"
                                "    u32 y;\n"
                                "    asm(\"and.b32 %0, %1, 1;\" : \"=r\"(y) : \"r\"(x));\n"
                                "    return y;\n"
                                "}\n"
                                "#else\n"
                                "#define LAST_BIT(x) ((x)&1u)\n"
                                "#endif\n";

/* NVIDIA's compilers take 0 > x ? 0 : x, of an x that is widened, for x <= 0 ? 0 : x before that,
 * which is not the same for -0, unless they do not see it. */
static const char widening_words[] = "#if defined(__CUDACC_RTC__) || defined(NVIDIA_WORDS)\n"
                                     "FUNCTION f64 WIDENED(f32 x)\n"
                                     "{\n"
                                     "    f64 y;\n"
                                     "    asm(\"cvt.f64.f32 %0, %1;\" : \"=d\"(y) : \"f\"(x));\n"
                                     "    return y;\n"
                                     "}\n"
                                     "#else\n"
                                     "#define WIDENED(x) (f64)(x)\n"
                                     "#endif\n";

/* Loads of what is read once and written by nobody leave the first cache to others. */
static const char fetch_words[] =
    "#if defined(NVIDIA_WORDS) || \\\n"
    "    (defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 700 && __CUDACC_VER_MAJOR__ >= 12)\n"
    "#define FETCH_AS \"ld.global.nc.L1::no_allocate\"\n"
    "FUNCTION uint4 FETCH_16(GLOBAL const uint4 *p)\n"
    "{\n"
    "    u32 x, y, z, w;\n"
    "    uint4 all;\n"
    "    asm volatile(FETCH_AS \".v4.u32 {%0, %1, %2, %3}, [%4];\"\n"
    "        : \"=r\"(x), \"=r\"(y), \"=r\"(z), \"=r\"(w) : \"l\"(p));\n"
    "    all.x = x; all.y = y; all.z = z; all.w = w;\n"
    "    return all;\n"
    "}\n"
    "FUNCTION uint2 FETCH_8(GLOBAL const uint2 *p)\n"
    "{\n"
    "    u32 x, y;\n"
    "    uint2 all;\n"
    "    asm volatile(FETCH_AS \".v2.u32 {%0, %1}, [%2];\" : \"=r\"(x), \"=r\"(y) : \"l\"(p));\n"
    "    all.x = x; all.y = y;\n"
    "    return all;\n"
    "}\n"
    "FUNCTION u32 FETCH_4(GLOBAL const u32 *p)\n"
    "{\n"
    "    u32 x;\n"
    "    asm volatile(FETCH_AS \".u32 %0, [%1];\" : \"=r\"(x) : \"l\"(p));\n"
    "    return x;\n"
    "}\n"
    "#else\n"
    "#define FETCH_16(p) (*(p))\n"
    "#define FETCH_8(p) (*(p))\n"
    "#define FETCH_4(p) (*(p))\n"
    "#endif\n";

/* What one stage of a fold leaves to the next stays in the second cache until then, though much is
 * read in between: for results of 4 and of 8 bytes. */
static const char keeping_words[] =
    "#if defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 800 && __CUDACC_VER_MAJOR__ >= 12\n"
    "FUNCTION void KEEP_%d(u%d *p, u%d x)\n"
    "{\n"
    "u64 policy;\n"
    "asm(\"createpolicy.fractional.L2::evict_last.b64 %%0, 1.0;\" : \"=l\"(policy));\n"
    "asm volatile(\"st.global.L2::cache_hint.u%d [%%0], %%1, %%2;\"\n"
    ": : \"l\"(p), \"%c\"(x), \"l\"(policy) : \"memory\");\n"
    "}\n"
    "FUNCTION u%d KEPT_%d(const u%d *p)\n"
    "{\n"
    "u64 policy;\n"
    "u%d x;\n"
    "asm(\"createpolicy.fractional.L2::evict_first.b64 %%0, 1.0;\" : \"=l\"(policy));\n"
    "asm volatile(\"ld.global.L2::cache_hint.u%d %%0, [%%1], %%2;\"\n"
    ": \"=%c\"(x) : \"l\"(p), \"l\"(policy) : \"memory\");\n"
    "return x;\n"
    "}\n"
    "#else\n"
    "#define KEEP_%d(p, x) (*(p) = (x))\n"
    "#define KEPT_%d(p) (*(p))\n"
    "#endif\n";

/* Items of a warp give each other what they have, and agree: all are at one place of the text. */
static const char passing_words[] =
    "#if defined(__CUDACC_RTC__) || defined(NVIDIA_WORDS)\n"
    "#define PASSES\n"
    "FUNCTION bool ALL(const bool x)\n"
    "{\n"
    "    u32 y;\n"
    "    asm volatile(\"{.reg .pred p, q; setp.ne.u32 p, %1, 0;\"\n"
    "        \"vote.sync.all.pred q, p, 0xffffffff; selp.u32 %0, 1, 0, q;}\"\n"
    "        : \"=r\"(y) : \"r\"((u32)x));\n"
    "    return y != 0;\n"
    "}\n"
    "FUNCTION u32 PASSED_u32(const u32 x, const int by)\n"
    "{\n"
    "    u32 y;\n"
    "    asm volatile(\"shfl.sync.down.b32 %0, %1, %2, 31, 0xffffffff;\"\n"
    "        : \"=r\"(y) : \"r\"(x), \"r\"(by));\n"
    "    return y;\n"
    "}\n"
    "FUNCTION u64 PASSED_u64(const u64 x, const int by)\n"
    "{\n"
    "    const u32 low = PASSED_u32((u32)x, by);\n"
    "    return (u64)PASSED_u32((u32)(x >> 32), by) << 32 | low;\n"
    "}\n"
    "#define PASSED_i32(x, by) (i32)PASSED_u32((u32)(x), by)\n"
    "#define PASSED_f32(x, by) AS_f32(PASSED_u32(AS_u32(x), by))\n"
    "#define PASSED_i64(x, by) (i64)PASSED_u64((u64)(x), by)\n"
    "#define PASSED_f64(x, by) AS_f64(PASSED_u64(AS_u64(x), by))\n"
    "#endif\n";

/* Most of the time of a compiler such as PoCL's goes into reading the declarations of OpenCL's
 * thousands of functions. Where it can be told to leave them out, these are all that is used. */
static const char opencl_declarations[] =
    "#ifdef WEFT_DECLARES\n"
    "#define DECLARE __attribute__((overloadable))\n"
    "#define DECLARE_FLOAT(T) DECLARE T fma(T, T, T); DECLARE T sqrt(T); DECLARE T fabs(T); \\\n"
    "DECLARE T floor(T); DECLARE T ceil(T); DECLARE T trunc(T); DECLARE T rint(T);\n"
    "DECLARE size_t get_group_id(uint);\n"
    "DECLARE size_t get_local_id(uint);\n"
    "DECLARE __attribute__((convergent)) void barrier(cl_mem_fence_flags);\n"
    "DECLARE uint popcount(uint);\n"
    "DECLARE int mul_hi(int, int);\n"
    "DECLARE uint mul_hi(uint, uint);\n"
    "DECLARE long mul_hi(long, long);\n"
    "DECLARE ulong mul_hi(ulong, ulong);\n"
    "DECLARE_FLOAT(float)\n"
    "DECLARE float16 vload16(size_t, const __global float *);\n"
    "#ifdef cl_khr_fp64\n"
    "DECLARE_FLOAT(double)\n"
    "DECLARE double8 vload8(size_t, const __global double *);\n"
    "#endif\n"
    "#endif\n";

/* Where f32 divisions and roots are not correctly rounded, those of f64 are, and rounding them
 * again changes nothing: 53 bits are more than twice 24. Compilers know that too, and would make
 * f32 of it again; so the last bit of whatever is neither an f32 nor halfway between two is set. */
static const char opencl_words[] =
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "typedef char i8; typedef short i16; typedef int i32; typedef long i64;\n"
    "typedef uchar u8; typedef ushort u16; typedef uint u32; typedef ulong u64; typedef float "
    "f32;\n"
    "#ifdef cl_khr_fp64\n"
    "typedef double f64;\n"
    "#endif\n"
    "#define KERNEL(group) __kernel __attribute__((reqd_work_group_size(group, 1, 1))) void\n"
    "#define FUNCTION static inline\n"
    "#define GLOBAL __global\n"
    "#define LOCAL __local\n"
    "#define LOCAL_POINTER __local\n"
    "#define ALIGNED __attribute__((aligned(16)))\n"
    "#define OR | /* with ||, PoCL loses the sign of a zero that is widened afterwards */\n"
    "#define UNROLL\n"
    "#define ROLLED\n"
    "#define UNROLL_EIGHT\n"
    "#define WARPS_ALONE 0\n"
    "#define WARP_BARRIER BARRIER\n"
    "#define BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)\n"
    "#define GROUP_ID get_group_id(0)\n"
    "#define LOCAL_ID get_local_id(0)\n"
    "#define U64(x) x##ul\n"
    "#define AS_u32(x) as_uint(x)\n"
    "#define AS_f32(x) as_float(x)\n"
    "#define AS_u64(x) as_ulong(x)\n"
    "#define AS_f64(x) as_double(x)\n"
    "#define FMA_f32(x, y, z) fma(x, y, z)\n"
    "#define FMA_f64(x, y, z) fma(x, y, z)\n"
    "#define DIV_f64(x, y) ((x) / (y))\n"
    "#ifdef WEFT_BY_F64\n"
    "FUNCTION f32 ROUND_ONCE(f64 x)\n"
    "{\n"
    "    const u64 bits = AS_u64(x);\n"
    "    return (f32)AS_f64((bits & 0xffffffful) ? bits | 1ul : bits);\n"
    "}\n"
    "#define DIV_f32(x, y) ROUND_ONCE((f64)(x) / (f64)(y))\n"
    "#define SQRT_f32(x) ROUND_ONCE(sqrt((f64)(x)))\n"
    "#else\n"
    "#define DIV_f32(x, y) ((x) / (y))\n"
    "#define SQRT_f32(x) sqrt(x)\n"
    "#endif\n"
    "#define SQRT_f64(x) sqrt(x)\n"
    "#define ABS_f32(x) fabs(x)\n"
    "#define ABS_f64(x) fabs(x)\n"
    "#define FLOOR_f32(x) floor(x)\n"
    "#define FLOOR_f64(x) floor(x)\n"
    "#define CEIL_f32(x) ceil(x)\n"
    "#define CEIL_f64(x) ceil(x)\n"
    "#define TRUNC_f32(x) trunc(x)\n"
    "#define TRUNC_f64(x) trunc(x)\n"
    "#define ROUND_f32(x) rint(x)\n"
    "#define ROUND_f64(x) rint(x)\n"
    "#define HIGH_i64(x, y) mul_hi(x, y)\n"
    "#define HIGH_u64(x, y) mul_hi(x, y)\n"
    "#define BITS(x) (int)popcount(x)\n";

/* NVIDIA's compilers (NVRTC and ptxas 13.0, OpenCL's of driver 580) forget that -(-32768) is -32768
 * if they see both, that there is an integer whose absolute value is negative, and the sign of z in
 * min(x, min(y, -z)). They do not take this for a negation.
 */
static const char negations[] =
    "#if defined(__CUDACC_RTC__) || defined(__NV_CL_C_VERSION)\n"
    "FUNCTION i32 NEGATE_i32(i32 x)\n"
    "{\n"
    "    i32 y;\n"
    "    asm(\"{.reg .b32 t; add.s32 t, %1, -1; not.b32 %0, t;}\" : \"=r\"(y) : \"r\"(x));\n"
    "    return y;\n"
    "}\n"
    "FUNCTION i64 NEGATE_i64(i64 x)\n"
    "{\n"
    "    i64 y;\n"
    "    asm(\"{.reg .b64 t; add.s64 t, %1, -1; not.b64 %0, t;}\" : \"=l\"(y) : \"l\"(x));\n"
    "    return y;\n"
    "}\n"
    "#else\n"
    "#define NEGATE_i32(x) (i32)(0u - (u32)(x))\n"
    "#define NEGATE_i64(x) (i64)(0u - (u64)(x))\n"
    "#endif\n"
    "#define NEGATE_i16(x) (i16)NEGATE_i32(x)\n";

/* A compiler of NVIDIA's that refuses its words is told to do without. */
static const char gpu_words[] = "#if defined(__NV_CL_C_VERSION) && !defined(WEFT_PLAIN)\n"
                                "#define NVIDIA_WORDS\n"
                                "#undef WARPS_ALONE\n"
                                "#undef WARP_BARRIER\n"
                                "#define WARPS_ALONE 1\n"
                                "#define WARP_BARRIER \\\n"
                                "asm volatile(\"bar.warp.sync 0xffffffff;\" : : : \"memory\")\n"
                                "#endif\n"
                                "#define HIGH_i32(x, y) mul_hi(x, y)\n"
                                "#define HIGH_u32(x, y) mul_hi(x, y)\n";

/* Elements do not depend on each other, and whole lines of memory can be stored around the cache:
 * what compilers that are made of clang can be told.
 *
 * AVX-512 code takes a constant such as the canonical NaN from memory under a mask. As long as no
 * lane wants it, its page is never brought in, and each of these instructions takes a fault that is
 * suppressed: three times the time of a sum of two arrays. So each group touches the constants. */
static const char cpu_words[] =
    "#define HIGH_i32(x, y) (i32)((i64)(x)*(y) >> 32)\n" /* PoCL's mul_hi goes by halves */
    "#define HIGH_u32(x, y) (u32)((u64)(x)*(y) >> 32)\n"
    "#define LINED __attribute__((aligned(64)))\n"
    "#ifdef __clang__\n"
    "#define VECTORS _Pragma(\"clang loop vectorize(assume_safety) vectorize_width(VECTOR)\")\n"
    "#define UNROLLED _Pragma(\"unroll 4\")\n"
    "#define PREFETCH(p) __builtin_prefetch(p)\n"
    "#else\n"
    "#define VECTORS\n"
    "#define UNROLLED\n"
    "#define PREFETCH(p)\n"
    "#define __has_builtin(x) 0\n"
    "#endif\n"
    "#if __has_builtin(__builtin_nontemporal_store) && __has_builtin(__builtin_ia32_sfence)\n"
    "#define STREAMS 1\n"
    "#define STREAM(x, p) __builtin_nontemporal_store(x, p)\n"
    "#define STREAMED __builtin_ia32_sfence()\n"
    "#else\n"
    "#define STREAMS 0\n"
    "#define STREAM(x, p) (*(p) = (x))\n"
    "#define STREAMED\n"
    "#endif\n"
    "__constant const u32 touched = 0x7fc00000u;\n"
    "#define TOUCH (void)*(volatile __constant const u32 *)&touched\n";

/* The 16-bit floats. An f16's exponent, placed in an f32, is too small by 112; multiplying puts
 * that right and makes subnormals normal. In the other direction a subnormal is rounded by an
 * addition to 0.5, whose last bit is worth as much; a normal one by adding just under half of its
 * last bit. NVIDIA's devices have instructions, which give a NaN no sign: that is put right where
 * something can see it. */
static const char halves[] =
    "#if defined(__CUDACC_RTC__) || defined(__NV_CL_C_VERSION)\n"
    "FUNCTION f32 widen_f16(u16 x)\n"
    "{\n"
    "    f32 y;\n"
    "    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(y) : \"h\"(x));\n"
    "    return NAN_SIGNS == 0 || y == y ? y : AS_f32((x & 0x8000u) << 16 | (x & 0x7fffu) << 13 | "
    "0x7f800000u);\n"
    "}\n"
    "FUNCTION u16 narrow_f16(f32 x)\n"
    "{\n"
    "    u16 y;\n"
    "    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(y) : \"f\"(x));\n"
    "    return x != x ? (u16)0x7e00 : y;\n"
    "}\n"
    "#else\n"
    "FUNCTION f32 widen_f16(u16 x)\n"
    "{\n"
    "    const u32 magnitude = (x & 0x7fffu) << 13, sign = (x & 0x8000u) << 16;\n"
    "    const u32 finite = AS_u32(AS_f32(magnitude) * AS_f32(0x77800000u));\n"
    "    return AS_f32(sign | (magnitude < 0x0f800000u ? finite : magnitude | 0x7f800000u));\n"
    "}\n"
    "FUNCTION u16 narrow_f16(f32 x)\n"
    "{\n"
    "    const u32 bits = AS_u32(x), magnitude = bits & 0x7fffffffu;\n"
    "    const u32 small = AS_u32(AS_f32(magnitude) + 0.5f) - 0x3f000000u;\n"
    "    const u32 normal = (magnitude + (0xfffu - 0x38000000u) + (magnitude >> 13 & 1u)) >> 13;\n"
    "    const u32 finite = magnitude < 0x38800000u ? small : normal;\n"
    "    const u32 ordered = magnitude < 0x477ff000u ? finite : 0x7c00u;\n"
    "    return x != x ? (u16)0x7e00 : (u16)(ordered | (bits >> 16 & 0x8000u));\n"
    "}\n"
    "#endif\n"
    "FUNCTION f32 widen_bf16(u16 x) { return AS_f32((u32)x << 16); }\n"
    "FUNCTION u16 narrow_bf16(f32 x)\n"
    "{\n"
    "    const u32 bits = AS_u32(x);\n"
    "    return x != x ? (u16)0x7fc0 : (u16)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);\n"
    "}\n";

static bool uses_halves(const weft__kernel *kernel)
{
    for (uint32_t k = 0; k < kernel->operands_count; k++)
        if (kernel->operands[k].dtype == WEFT_F16 || kernel->operands[k].dtype == WEFT_BF16)
            return true;
    for (uint32_t k = 0; k < kernel->values_count; k++)
        if (kernel->values[k].op == WEFT__OP_round_f16 ||
            kernel->values[k].op == WEFT__OP_round_bf16)
            return true;
    return false;
}

/* Whether something of a NaN other than that it is one can make a difference. */
static bool sees_bits(const weft__kernel *kernel)
{
    for (uint32_t k = 0; k < kernel->values_count; k++)
        if (kernel->values[k].op == WEFT__OP_bitcast)
            return true;
    return false;
}

static bool looks_at_last_bits(const weft__kernel *kernel)
{
    for (uint32_t k = 0; k < kernel->values_count; k++)
        if (weft__is_last_bit(kernel, k))
            return true;
    return false;
}

bool weft__is_light(const weft__kernel *kernel)
{
    enum { LIGHT = 16 };
    return kernel->values_count <= LIGHT;
}

int weft__vector_of(const weft__kernel *kernel)
{
    for (uint32_t k = 0; k < kernel->values_count; k++)
        if (kernel->values[k].dtype == WEFT_F64)
            return 8;
    for (uint32_t k = 0; k < kernel->operands_count; k++)
        if (weft__part_bytes((weft_dtype)kernel->operands[k].dtype) > 4)
            return 8;
    return 16;
}

static void write_keeping_words(weft__writer *w, int bytes, char letter)
{
    const int bits = 8 * bytes;
    bool any = false;
    for (uint32_t k = 0; k < w->kernel->values_count; k++)
        any |= w->kernel->values[k].op == WEFT__OP_fold && weft__held_bytes(w, k) == bytes;
    if (any)
        weft__text_add(&w->text, keeping_words, bytes, bits, bits, bits, letter, bits, bytes, bits,
                       bits, bits, letter, bytes, bytes);
}

void weft__write_prelude(weft__writer *w)
{
    if (w->dialect == WEFT__DIALECT_CUDA)
        weft__text_add(&w->text, "%s", cuda_words);
    else
        weft__text_add(&w->text, "%s%s", opencl_declarations, opencl_words);
    if (w->dialect == WEFT__DIALECT_OPENCL)
        weft__text_add(&w->text, "%s", gpu_words);
    if (w->dialect == WEFT__DIALECT_OPENCL_CPU)
        weft__text_add(&w->text, "#define VECTOR %d\n%s", weft__vector_of(w->kernel), cpu_words);
    else
        weft__text_add(&w->text, "%s%s%s%s", wide_words, w->widens ? widening_words : "",
                       looks_at_last_bits(w->kernel) ? bit_words : "",
                       w->kernel->folds_count && w->shape.lanes > 1 ? fetch_words : "");
    if (weft__passes(w))
        weft__text_add(&w->text, "%s", passing_words);
    write_keeping_words(w, 4, 'r');
    write_keeping_words(w, 8, 'l');
    weft__text_add(&w->text, "%s", negations);
    if (uses_halves(w->kernel))
        weft__text_add(&w->text, "#define NAN_SIGNS %d\n%s", sees_bits(w->kernel), halves);
}
