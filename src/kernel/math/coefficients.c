/* Polynomials for the functions, made by scripts/math/coefficients.py. */
#include "kernel/math/coefficients.h"

static const double exp_f32[] = {
    0x1p-1, 0x1.555488p-3, 0x1.5554e2p-5, 0x1.123fdep-7, 0x1.6d5406p-10,
};
static const double exp_f64[] = {
    0x1.000000000000cp-1,  0x1.555555555555cp-3,  0x1.555555554fd34p-5,  0x1.111111110e9a7p-7,
    0x1.6c16c1864f803p-10, 0x1.a01a01b478c92p-13, 0x1.a01994c552399p-16, 0x1.71ddedcf837b8p-19,
    0x1.28b1fb58fcae6p-22, 0x1.af6fc6d5cdfdcp-26,
};
const weft__polynomial weft__polynomial_exp = {exp_f32, exp_f64, 5, 10};

static const double expm1_f32[] = {
    0x1p-1, 0x1.555556p-3, 0x1.5554e2p-5, 0x1.110feep-7, 0x1.6d5406p-10, 0x1.a273ap-13,
};
static const double expm1_f64[] = {
    0x1p-1,
    0x1.555555555555cp-3,
    0x1.5555555555558p-5,
    0x1.111111110e9a7p-7,
    0x1.6c16c16c14fdcp-10,
    0x1.a01a01b478c92p-13,
    0x1.a01a01ad92e0dp-16,
    0x1.71ddedcf837b8p-19,
    0x1.27e4cbd2f1ffbp-22,
    0x1.af6fc6d5cdfdcp-26,
    0x1.1f8c58490b9fep-29,
};
const weft__polynomial weft__polynomial_expm1 = {expm1_f32, expm1_f64, 6, 11};

static const double exp2_f32[] = {
    0x1.62e43p-1, 0x1.ebfbep-3, 0x1.c6af72p-5, 0x1.3b2a48p-7, 0x1.5f0dccp-10, 0x1.4424bp-13,
};
static const double exp2_f64[] = {
    0x1.62e42fefa39efp-1,  0x1.ebfbdff82c58fp-3,  0x1.c6b08d704a183p-5,  0x1.3b2ab6fba4d8p-7,
    0x1.5d87fe7888b62p-10, 0x1.430912f8a93b7p-13, 0x1.ffcbfcdbb0815p-17, 0x1.62c021635f524p-20,
    0x1.b524224fbe196p-24, 0x1.e4d2017c60869p-28, 0x1.eafe8868eac99p-32, 0x1.c0e2e02dac2bfp-36,
};
const weft__polynomial weft__polynomial_exp2 = {exp2_f32, exp2_f64, 6, 12};

static const double log_f32[] = {
    0x1.555546p-2,  -0x1p-2,       0x1.99a546p-3,  -0x1.555f16p-3, 0x1.232fe8p-3,
    -0x1.fbc1e6p-4, 0x1.e6f4eep-4, -0x1.e04a3ap-4, 0x1.16babcp-4,
};
static const double log_f64[] = {
    0x1.5555555555572p-2, -0x1.ffffffffffebap-3, 0x1.9999999993f1p-3,  -0x1.55555555670bdp-3,
    0x1.24924927b4f44p-3, -0x1.fffffff6e53a6p-4, 0x1.c71c700e0faf8p-4, -0x1.999999f62c801p-4,
    0x1.745d5bef15926p-4, -0x1.55558abcb6e59p-4, 0x1.3b0d528a8955cp-4, -0x1.2487e8780cb75p-4,
    0x1.116a5717940fap-4, -0x1.00dddd0cc59dap-4, 0x1.dcb1091a8816cp-5, -0x1.b3ca333ae2241p-5,
    0x1.ba984853fdfbdp-5, -0x1.0176879cea49ep-4, 0x1.d63706bdfd425p-5, -0x1.927cc31f1d9fp-6,
};
const weft__polynomial weft__polynomial_log = {log_f32, log_f64, 9, 20};

static const double sin_f32[] = {
    0x1.55554p-3,
    -0x1.11052ap-7,
    0x1.989178p-13,
};
static const double sin_f64[] = {
    0x1.555555555553dp-3,   -0x1.111111110e681p-7, 0x1.a01a0199de513p-13,
    -0x1.71de3399b7116p-19, 0x1.ae5cf87a85374p-26, -0x1.5d2b83addc8f5p-33,
};
const weft__polynomial weft__polynomial_sin = {sin_f32, sin_f64, 3, 6};

static const double cos_f32[] = {
    0x1.555546p-5,
    -0x1.6c09cep-10,
    0x1.994196p-16,
};
static const double cos_f64[] = {
    0x1.5555555555542p-5,   -0x1.6c16c16c13d2ep-10, 0x1.a01a019ac3691p-16,
    -0x1.27e4f6adf7da4p-22, 0x1.1ee9057589861p-29,  -0x1.8f3a6465b7ca6p-37,
};
const weft__polynomial weft__polynomial_cos = {cos_f32, cos_f64, 3, 6};

static const double asin_f32[] = {
    0x1.5555cap-3, 0x1.3301acp-4, 0x1.74808cp-5, 0x1.8c2538p-6, 0x1.59652cp-5,
};
static const double asin_f64[] = {
    0x1.5555555555577p-3, 0x1.333333332e1d7p-4, 0x1.6db6db72067c3p-5, 0x1.f1c71a9a612bcp-6,
    0x1.6e8bde357e3ffp-6, 0x1.1c49fd309612cp-6, 0x1.ca1e4bde65f16p-7, 0x1.759020e3f57d1p-7,
    0x1.60fff6c6f49f2p-7, 0x1.e995aa7ea282cp-9, 0x1.627f8e45fcf05p-6, -0x1.5667f5d274d99p-6,
    0x1.0ac783d4e1577p-5,
};
const weft__polynomial weft__polynomial_asin = {asin_f32, asin_f64, 5, 13};

static const double atan_f32[] = {
    -0x1.55553cp-2, 0x1.99917ep-3,  -0x1.241cdp-3, 0x1.c069bp-4,    -0x1.57adeep-4,
    0x1.d90e88p-5,  -0x1.fb7a72p-6, 0x1.6229f6p-7, -0x1.d01aa8p-10,
};
static const double atan_f64[] = {
    -0x1.555555555554cp-2,  0x1.9999999998b43p-3, -0x1.2492492453831p-3,  0x1.c71c71b56c452p-4,
    -0x1.745d15c2a649ap-4,  0x1.3b139b27f4b3ap-4, -0x1.11102cbb81addp-4,  0x1.e1d43e3b82b16p-5,
    -0x1.aed8f06ab5664p-5,  0x1.84af263535c22p-5, -0x1.5f15131c27296p-5,  0x1.38e1c6e214756p-5,
    -0x1.0c558792bc6c7p-5,  0x1.abc5c237b3655p-6, -0x1.30326c247ae79p-6,  0x1.7182f4733ae39p-7,
    -0x1.6e0d17d8f20f1p-8,  0x1.1852aeeb98241p-9, -0x1.349c22b732ee5p-11, 0x1.b004f7d50642bp-14,
    -0x1.1f9e8f6e535cbp-17,
};
const weft__polynomial weft__polynomial_atan = {atan_f32, atan_f64, 9, 21};

static const double sinh_f32[] = {
    0x1.555556p-3,
    0x1.1110ecp-7,
    0x1.a01adp-13,
    0x1.76ac86p-19,
};
static const double sinh_f64[] = {
    0x1.5555555555555p-3,  0x1.111111111117cp-7,  0x1.a01a01a00dbafp-13, 0x1.71de3a609a725p-19,
    0x1.ae644b4bc34dcp-26, 0x1.612aab540f0a1p-33, 0x1.aac7adbc70edcp-41, 0x1.3e9107333b361p-48,
};
const weft__polynomial weft__polynomial_sinh = {sinh_f32, sinh_f64, 4, 8};

static const double tanh_f32[] = {
    -0x1.55554ap-2, 0x1.110dp-3, -0x1.b92356p-5, 0x1.59187cp-6, -0x1.9a784p-8,
};
static const double tanh_f64[] = {
    -0x1.555555555554fp-2,  0x1.1111111110798p-3,  -0x1.ba1ba1b97d61cp-5,  0x1.664f48596edd2p-6,
    -0x1.226e2f14c4574p-7,  0x1.d6d29bae82f35p-9,  -0x1.7d8fd5335229ap-10, 0x1.3483bc6cbfde5p-11,
    -0x1.e97056c549a7ep-13, 0x1.5d75f156ee88ap-14, -0x1.4714c296bfb8cp-16,
};
const weft__polynomial weft__polynomial_tanh = {tanh_f32, tanh_f64, 5, 11};

static const double atanh_f32[] = {
    0x1.999a04p-3,
    0x1.24511cp-3,
    0x1.dfdcf2p-4,
};
static const double atanh_f64[] = {
    0x1.9999999999995p-3, 0x1.2492492493157p-3, 0x1.c71c71c562da7p-4, 0x1.745d183ecf8dcp-4,
    0x1.3b135fb7f4126p-4, 0x1.11211ebc97ff1p-4, 0x1.de240aae6feb7p-5, 0x1.eb88bb74a01f7p-5,
};
const weft__polynomial weft__polynomial_atanh = {atanh_f32, atanh_f64, 3, 8};

static const double erf_f32[] = {
    0x1.06eba8p-3, -0x1.81274p-2,   0x1.ce2d5p-4,   -0x1.b7fe8ep-6,
    0x1.542deep-8, -0x1.a5099ep-11, 0x1.4c2f4cp-14,
};
static const double erf_f64[] = {
    0x1.06eba8214db69p-3,  -0x1.812746b037a02p-2,  0x1.ce2f21a043b39p-4,  -0x1.b82ce312c904p-6,
    0x1.565bcd17e78b1p-8,  -0x1.c02db5bf44215p-11, 0x1.f9a35d6154cf9p-14, -0x1.f4d6e39d4c49fp-17,
    0x1.ba29d078221cbp-20, -0x1.622465af90574p-23, 0x1.11289c19070a9p-26, -0x1.fbaaf1883688p-30,
    0x1.46d476713e659p-32, -0x1.371953252d2fdp-35,
};
const weft__polynomial weft__polynomial_erf = {erf_f32, erf_f64, 7, 14};

static const double log_erfc_f32[] = {
    -0x1.d97fcp+0, -0x1.51c9ap+1,   -0x1.afae42p-1, -0x1.53d538p-5,
    0x1.43f616p-7, -0x1.e500c4p-10, 0x1.b928f4p-13, -0x1.d04452p-18,
};
const weft__polynomial weft__polynomial_log_erfc_f32 = {log_erfc_f32, NULL, 8, 0};

static const double log_erfc_f64[] = {
    -0x1.d97fbf27aa2a1p+0,  -0x1.51c9b0006c24p+1,   -0x1.afabc11a28dc5p-1,  -0x1.5477f09cbb62bp-5,
    0x1.48c9d40d8022ep-7,   -0x1.033f6993c3dc6p-9,  0x1.f1b4b0acf2235p-13,  0x1.b8c06844ce6eap-16,
    -0x1.c760b7ffb4f65p-16, 0x1.4178830e57ab2p-17,  -0x1.0f9595c80dd85p-19, 0x1.cf099286f3562p-24,
    0x1.087c8ad18b64ep-23,  -0x1.1c28de332a943p-24, 0x1.6444914a9c95dp-26,  -0x1.3e26be26bc97bp-28,
    0x1.9bbbc8ca5fbe9p-31,  -0x1.7154a6dc396ffp-34, 0x1.9b58fcaeeaca8p-38,  -0x1.abe721454e24ap-43,
};
const weft__polynomial weft__polynomial_log_erfc_f64 = {NULL, log_erfc_f64, 0, 20};

static const double gamma_f64[] = {
    0x1.c5bf891b4ef6bp-1,  0x1.08ea88ee5619bp-5,   0x1.a8c4dba620c6cp-2,  -0x1.b77ac1ca2dc4ap-4,
    0x1.283bd374f6927p-3,  -0x1.3d88cfe5691b6p-4,  0x1.e022b73b35d62p-5,  -0x1.374fd5a7bbad7p-5,
    0x1.a752c841080c4p-6,  -0x1.1a2c3113cd262p-6,  0x1.7991af04bc822p-7,  -0x1.f7fa6ddf120aep-8,
    0x1.5051f87bf1f5cp-8,  -0x1.c0c96d968964p-9,   0x1.2b0b8d765237ap-9,  -0x1.8cef0ac5a259dp-10,
    0x1.0ac7673e586c1p-10, -0x1.746cb10fabd04p-11, 0x1.d8f6fe2ad716dp-12, -0x1.bb30fb0fa3af9p-13,
    0x1.7250480d4bc98p-13, -0x1.11629e4ff4246p-12, 0x1.38ea2d9bf733cp-13,
};
const weft__polynomial weft__polynomial_gamma = {NULL, gamma_f64, 0, 23};

static const double stirling_f64[] = {
    0x1.40d931ff62706p+1,   0x1.abcc42a9d7e3ap-3,  0x1.1d32d72164f57p-7,  -0x1.b879324ddf2afp-8,
    -0x1.2d8f93f0692afp-11, 0x1.018a9ba6662abp-9,  0x1.7a9e05d73f964p-13, -0x1.93ee04b9846e2p-10,
    0x1.19a9c334d5ebap-12,  0x1.e96a6279a62ap-15,  0x1.033f9db59d601p-7,  -0x1.ae45903d02628p-6,
    0x1.59b0c687aebb4p-5,   -0x1.2f03e0bb12cedp-5, 0x1.d41e720552908p-7,
};
const weft__polynomial weft__polynomial_stirling = {NULL, stirling_f64, 0, 15};

static const double lgamma_f64[] = {
    0x1.b0ee6072093cep-2,   -0x1.9ae6509ea109ep-4,  0x1.0e0c9df2935fap-5,  -0x1.95ce223a9d1dap-7,
    0x1.4797485392d45p-8,   -0x1.145121f95bce9p-9,  0x1.dfebcfa04096bp-11, -0x1.a96a4038ddb24p-12,
    0x1.7ed7301748583p-13,  -0x1.5c86af76da6p-14,   0x1.402f7fe1f82fbp-15, -0x1.285110dc9b995p-16,
    0x1.13db580338e19p-17,  -0x1.0222fa6befc5fp-18, 0x1.e649837daa7a9p-20, -0x1.cb4142c6946dep-21,
    0x1.a8bc2d624f895p-22,  -0x1.8fe946bf76212p-23, 0x1.c170038bd9d36p-24, -0x1.be0d1a96578e7p-25,
    0x1.7ae2c9598af96p-28,  -0x1.e34ede96ec5f1p-31, 0x1.1a36cbe8e8473p-26, -0x1.31d85655e73bcp-27,
    -0x1.2dd2c21220514p-28, 0x1.5127d86444929p-29,  0x1.b428bdf607d74p-30, -0x1.c0f8128e0273ep-31,
};
const weft__polynomial weft__polynomial_lgamma = {NULL, lgamma_f64, 0, 28};

static const double log_stirling_f64[] = {
    0x1.5555555555553p-4,  -0x1.6c16c16c03fb5p-9,  0x1.a01a01490dde4p-11, -0x1.3813526f17adep-11,
    0x1.b943a7ebe14c4p-11, -0x1.f54da3b9ec6ccp-10, 0x1.98c80de7b5f78p-8,  -0x1.a166c5d1f1c86p-6,
    0x1.b9e95df047c47p-4,  -0x1.8a9fe70ca80eep-2,  0x1.dfff5fb614341p-1,  -0x1.1aed033823fc7p+0,
};
const weft__polynomial weft__polynomial_log_stirling = {NULL, log_stirling_f64, 0, 12};

static const double sin_pi_f64[] = {
    -0x1.a51a6625307d3p+0, 0x1.9f9cb402bc42ep-1,  -0x1.86a8e4720a5fdp-3,  0x1.ac6805ccb2a12p-6,
    -0x1.338169a445116p-9, 0x1.3746a5921b90fp-13, -0x1.d3e7f7c060054p-18, 0x1.0759b9ce9109bp-22,
};
const weft__polynomial weft__polynomial_sin_pi = {NULL, sin_pi_f64, 0, 8};

const uint64_t weft__two_over_pi[20] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d,
};

const uint64_t weft__two_log_2_over_pi[20] = {
    0x70f7263dfa5a6eec, 0xb608582e55fef3dd, 0x8e13becd1d495c36, 0x1d72013aea9f8fca,
    0x76e866fc9b48be48, 0x15f5cb6fd8bee211, 0x0394db3020d6eb52, 0x30ffa9ae90cbc735,
    0x51358ced67c0db3c, 0x490d15bdd91a29f5, 0x682402af5e8f9c23, 0xbff15cbc71f05fed,
    0xfe0bb0622a8c8f67, 0x7309c45a7502282a, 0xead0c2435c5527bb, 0x759f345e2d0628e8,
    0xb1a563a253e62918, 0xea5ffdabeac0d479, 0xcfedb1b6fc78b439, 0xa333a25fdc77be31,
};
