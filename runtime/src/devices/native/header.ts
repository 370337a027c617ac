/**
 * `kiln.h`: what the functions of native kernels are written in, for vectors of `LANES` elements
 * of 32 bits. GCC and Clang have operators of vectors; what they lack is here, once by what every
 * machine can do and where it matters once more by the machine's own instruction. No header of
 * intrinsics is included: reading it takes longer than compiling a kernel.
 *
 * Conversions are those of WebAssembly: out of range is the nearest, NaN is 0. Maximum and minimum
 * keep NaN, and −0 is less than 0. `lesser` and `greater` are its `pmin` and `pmax`.
 */
export const header = `#ifndef KILN_H
#define KILN_H
#include <math.h>
#include <stdint.h>
#include <string.h>

#define BYTES (4 * LANES)
typedef float vf __attribute__((vector_size(BYTES)));
typedef int32_t vi __attribute__((vector_size(BYTES)));
typedef uint32_t vu __attribute__((vector_size(BYTES)));
typedef double vd __attribute__((vector_size(BYTES)));
typedef int64_t vl __attribute__((vector_size(BYTES)));
typedef int16_t vs __attribute__((vector_size(BYTES)));
typedef float half_floats __attribute__((vector_size(BYTES / 2)));
typedef uint16_t vh __attribute__((vector_size(BYTES / 2)));
typedef uint8_t vb __attribute__((vector_size(BYTES / 4)));
typedef vf vf_memory __attribute__((aligned(1), may_alias));
typedef vh vh_memory __attribute__((aligned(1), may_alias));
typedef int16_t vsh_memory __attribute__((vector_size(2 * LANES), aligned(1), may_alias));
typedef vb vb_memory __attribute__((aligned(1), may_alias));
typedef double double_memory __attribute__((aligned(1), may_alias));
typedef int32_t int_memory __attribute__((aligned(1), may_alias));
typedef uint16_t half_memory __attribute__((aligned(1), may_alias));
#define INLINE static inline __attribute__((always_inline, unused))
#define UNUSED __attribute__((unused))
#define EACH(n) for (int i = 0; i < (n); i++)
#ifdef __clang__
#define SHUFFLE(a, b, ...) ((vi)__builtin_shufflevector((a), (b), __VA_ARGS__))
#else
#define SHUFFLE(a, b, ...) ((vi)__builtin_shuffle((a), (b), (vi){__VA_ARGS__}))
#endif

INLINE int32_t bits_of(float x) { int32_t b; memcpy(&b, &x, 4); return b; }
INLINE float float_of(int32_t b) { float x; memcpy(&x, &b, 4); return x; }

#if LANES == 16
#define ALL(x) {x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}
#define ALL_DOUBLES(x) {x, x, x, x, x, x, x, x}
#elif LANES == 8
#define ALL(x) {x, x, x, x, x, x, x, x}
#define ALL_DOUBLES(x) {x, x, x, x}
#else
#define ALL(x) {x, x, x, x}
#define ALL_DOUBLES(x) {x, x}
#endif
INLINE vi all_ints(int32_t x) { return (vi)ALL(x); }
INLINE vf all_floats(float x) { return (vf)ALL(x); }
INLINE vd all_doubles(double x) { return (vd)ALL_DOUBLES(x); }

INLINE vi shl_halves(vi x, long n) { return (vi)((vs)x << (int16_t)(n & 15)); }
INLINE vi shr_halves(vi x, long n) { return (vi)((vs)x >> (int16_t)(n & 15)); }
INLINE vi dot_halves(vi a, vi b) {
  return ((a << 16) >> 16) * ((b << 16) >> 16) + (a >> 16) * (b >> 16);
}
INLINE vi choose(vi a, vi b, vi mask) { return (a & mask) | (b & ~mask); }
INLINE vf choose_floats(vi mask, vf a, vf b) { return (vf)choose((vi)a, (vi)b, mask); }
INLINE vd choose_doubles(vl mask, vd a, vd b) { return (vd)(((vl)a & mask) | ((vl)b & ~mask)); }

#if defined(__AVX512F__) && LANES == 16 && !defined(__clang__)
#define ROUND(x, how) __builtin_ia32_rndscaleps_mask((x), (how), (x), -1, 4)
#define ROUND_DOUBLES(x, how) __builtin_ia32_rndscalepd_mask((x), (how), (x), -1, 4)
INLINE long any(vi x) { return __builtin_ia32_ptestmd512(x, x, -1) != 0; }
INLINE vf ceil_floats(vf x) { return ROUND(x, 2); }
INLINE vf floor_floats(vf x) { return ROUND(x, 1); }
INLINE vf trunc_floats(vf x) { return ROUND(x, 3); }
INLINE vf nearest_floats(vf x) { return ROUND(x, 0); }
INLINE vd trunc_doubles(vd x) { return ROUND_DOUBLES(x, 3); }
INLINE vd nearest_doubles(vd x) { return ROUND_DOUBLES(x, 0); }
INLINE vf sqrt_floats(vf x) { return __builtin_ia32_sqrtps512_mask(x, x, -1, 4); }
INLINE vf greater_floats(vf a, vf b) { return __builtin_ia32_maxps512_mask(b, a, a, -1, 4); }
INLINE vf lesser_floats(vf a, vf b) { return __builtin_ia32_minps512_mask(b, a, a, -1, 4); }
INLINE vd greater_doubles(vd a, vd b) { return __builtin_ia32_maxpd512_mask(b, a, a, -1, 4); }
INLINE vd lesser_doubles(vd a, vd b) { return __builtin_ia32_minpd512_mask(b, a, a, -1, 4); }
INLINE vf fma_floats(vf a, vf b, vf c) { return __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4); }
INLINE vf fnma_floats(vf a, vf b, vf c) { return __builtin_ia32_vfmaddps512_mask(-a, b, c, -1, 4); }
INLINE vi min_ints(vi a, vi b) { return __builtin_ia32_pminsd512_mask(a, b, a, -1); }
INLINE vi max_ints(vi a, vi b) { return __builtin_ia32_pmaxsd512_mask(a, b, a, -1); }
INLINE vu min_words(vu a, vu b) { return (vu)__builtin_ia32_pminud512_mask((vi)a, (vi)b, (vi)a, -1); }
INLINE vu max_words(vu a, vu b) { return (vu)__builtin_ia32_pmaxud512_mask((vi)a, (vi)b, (vi)a, -1); }
#elif defined(__AVX2__) && defined(__FMA__) && LANES == 8 && !defined(__clang__)
typedef long long vq __attribute__((vector_size(BYTES)));
INLINE long any(vi x) { return !__builtin_ia32_ptestz256((vq)x, (vq)x); }
INLINE vf ceil_floats(vf x) { return __builtin_ia32_roundps256(x, 2); }
INLINE vf floor_floats(vf x) { return __builtin_ia32_roundps256(x, 1); }
INLINE vf trunc_floats(vf x) { return __builtin_ia32_roundps256(x, 3); }
INLINE vf nearest_floats(vf x) { return __builtin_ia32_roundps256(x, 0); }
INLINE vd trunc_doubles(vd x) { return __builtin_ia32_roundpd256(x, 3); }
INLINE vd nearest_doubles(vd x) { return __builtin_ia32_roundpd256(x, 0); }
INLINE vf sqrt_floats(vf x) { return __builtin_ia32_sqrtps256(x); }
INLINE vf greater_floats(vf a, vf b) { return __builtin_ia32_maxps256(b, a); }
INLINE vf lesser_floats(vf a, vf b) { return __builtin_ia32_minps256(b, a); }
INLINE vd greater_doubles(vd a, vd b) { return __builtin_ia32_maxpd256(b, a); }
INLINE vd lesser_doubles(vd a, vd b) { return __builtin_ia32_minpd256(b, a); }
INLINE vf fma_floats(vf a, vf b, vf c) { return __builtin_ia32_vfmaddps256(a, b, c); }
INLINE vf fnma_floats(vf a, vf b, vf c) { return __builtin_ia32_vfmaddps256(-a, b, c); }
INLINE vi min_ints(vi a, vi b) { return __builtin_ia32_pminsd256(a, b); }
INLINE vi max_ints(vi a, vi b) { return __builtin_ia32_pmaxsd256(a, b); }
INLINE vu min_words(vu a, vu b) { return (vu)__builtin_ia32_pminud256((vi)a, (vi)b); }
INLINE vu max_words(vu a, vu b) { return (vu)__builtin_ia32_pmaxud256((vi)a, (vi)b); }
#else
INLINE long any(vi x) {
  int32_t all = 0;
  EACH(LANES) all |= x[i];
  return all != 0;
}
#define BY_LANE(name, type, n, f) INLINE type name(type x) { EACH(n) x[i] = f(x[i]); return x; }
BY_LANE(ceil_floats, vf, LANES, __builtin_ceilf)
BY_LANE(floor_floats, vf, LANES, __builtin_floorf)
BY_LANE(trunc_floats, vf, LANES, __builtin_truncf)
BY_LANE(nearest_floats, vf, LANES, __builtin_rintf)
BY_LANE(sqrt_floats, vf, LANES, __builtin_sqrtf)
BY_LANE(trunc_doubles, vd, LANES / 2, __builtin_trunc)
BY_LANE(nearest_doubles, vd, LANES / 2, __builtin_rint)
INLINE vf greater_floats(vf a, vf b) { return choose_floats(a < b, b, a); }
INLINE vf lesser_floats(vf a, vf b) { return choose_floats(b < a, b, a); }
INLINE vd greater_doubles(vd a, vd b) { return choose_doubles(a < b, b, a); }
INLINE vd lesser_doubles(vd a, vd b) { return choose_doubles(b < a, b, a); }
#ifdef FP_FAST_FMAF
INLINE vf fma_floats(vf a, vf b, vf c) { EACH(LANES) c[i] = __builtin_fmaf(a[i], b[i], c[i]); return c; }
INLINE vf fnma_floats(vf a, vf b, vf c) { return fma_floats(-a, b, c); }
#else
INLINE vf fma_floats(vf a, vf b, vf c) { return a * b + c; }
INLINE vf fnma_floats(vf a, vf b, vf c) { return c - a * b; }
#endif
INLINE vi min_ints(vi a, vi b) { return choose(a, b, a < b); }
INLINE vi max_ints(vi a, vi b) { return choose(a, b, a > b); }
INLINE vu min_words(vu a, vu b) { return (vu)choose((vi)a, (vi)b, (vi)(a < b)); }
INLINE vu max_words(vu a, vu b) { return (vu)choose((vi)a, (vi)b, (vi)(a > b)); }
#endif

/* Equal numbers differ in the sign of zeros alone: the lesser has it if either does. */
INLINE vf min_floats(vf a, vf b) {
  const vf unequal = choose_floats(a < b, a, b);
  const vf least = choose_floats(a == b, (vf)((vi)a | (vi)b), unequal);
  return choose_floats(a != a, a, least);
}
INLINE vf max_floats(vf a, vf b) {
  const vf unequal = choose_floats(a > b, a, b);
  const vf most = choose_floats(a == b, (vf)((vi)a & (vi)b), unequal);
  return choose_floats(a != a, a, most);
}
INLINE double least_double(double a, double b) {
  if (a != a || b != b) return a + b;
  return a == b ? (__builtin_signbit(a) ? a : b) : a < b ? a : b;
}
INLINE double greatest_double(double a, double b) {
  if (a != a || b != b) return a + b;
  return a == b ? (__builtin_signbit(a) ? b : a) : a > b ? a : b;
}
INLINE vi abs_ints(vi x) {
  const vi sign = x >> 31;
  return (vi)(((vu)x ^ (vu)sign) - (vu)sign);
}

/* 2147483520 is the greatest f32 below 2^31. */
INLINE vi whole_ints(vf x) {
  const vi high = x >= 2147483648.0f, low = x <= -2147483648.0f, number = x == x;
  const vf inside = (vf)((vi)x & number & ~high & ~low);
  const vi whole = __builtin_convertvector(inside, vi);
  return choose(all_ints(INT32_MAX), choose(all_ints(INT32_MIN), whole, low), high);
}
INLINE vu whole_words(vf x) {
  const vi upper = x >= 2147483648.0f, positive = x > 0.0f, high = x >= 4294967296.0f;
  const vf less = x - (vf)((vi)all_floats(2147483648.0f) & upper);
  const vi whole = __builtin_convertvector((vf)((vi)less & positive & ~high), vi);
  return (vu)choose(all_ints(-1), whole ^ (upper & INT32_MIN), high);
}
INLINE int32_t whole_signed(double x) {
  if (!(x == x)) return 0;
  return x >= 2147483647.0 ? INT32_MAX : x <= -2147483648.0 ? INT32_MIN : (int32_t)x;
}
INLINE uint32_t whole_unsigned(double x) {
  if (!(x > 0)) return 0;
  return x >= 4294967295.0 ? UINT32_MAX : (uint32_t)x;
}

INLINE vd low_doubles(vf x) {
  half_floats low;
  memcpy(&low, &x, sizeof low);
  return __builtin_convertvector(low, vd);
}
INLINE vf low_floats(vd x) {
  const half_floats low = __builtin_convertvector(x, half_floats);
  vf out = {0};
  memcpy(&out, &low, sizeof low);
  return out;
}

INLINE vf load_floats(const char *at) { return *(const vf_memory *)at; }
INLINE vi load_halves(const char *at) { return __builtin_convertvector(*(const vh_memory *)at, vi); }
INLINE vi load_signed_halves(const char *at) { return __builtin_convertvector(*(const vsh_memory *)at, vi); }
INLINE vi load_bytes(const char *at) { return __builtin_convertvector(*(const vb_memory *)at, vi); }
INLINE int32_t load_int(const char *at) { return *(const int_memory *)at; }
INLINE uint16_t load_half(const char *at) { return *(const half_memory *)at; }
INLINE uint8_t load_byte(const char *at) { return *(const uint8_t *)at; }
INLINE double load_double(const char *at) { return *(const double_memory *)at; }
INLINE vi load_same(const char *at) { return all_ints(load_int(at)); }
INLINE vi load_first(const char *at) { return (vi){load_int(at)}; }
INLINE void store_floats(char *at, vf x) { *(vf_memory *)at = x; }
/* The first n lanes, which are not all. */
#if defined(__AVX512F__) && LANES == 16
INLINE void store_some(char *at, vf x, long n) {
  __builtin_ia32_storeups512_mask((float *)at, x, (uint16_t)((1u << n) - 1));
}
#elif defined(__AVX2__) && LANES == 8
INLINE void store_some(char *at, vf x, long n) {
  const vi lane = {0, 1, 2, 3, 4, 5, 6, 7};
  __builtin_ia32_maskstoreps256((vf *)at, lane < (int32_t)n, x);
}
#else
INLINE void store_some(char *at, vf x, long n) {
  EACH(LANES) if (i < n) *(int_memory *)(at + 4 * i) = ((vi)x)[i];
}
#endif
INLINE void store_halves(char *at, vi x) { *(vh_memory *)at = __builtin_convertvector(x, vh); }
INLINE void store_bytes(char *at, vi x) { *(vb_memory *)at = __builtin_convertvector(x, vb); }
INLINE void store_int(char *at, long x) { *(int_memory *)at = (int32_t)x; }
INLINE void store_half(char *at, long x) { *(half_memory *)at = (uint16_t)x; }
INLINE void store_byte(char *at, long x) { *(uint8_t *)at = (uint8_t)x; }
INLINE void store_double(char *at, double x) { *(double_memory *)at = x; }
INLINE vi with_int(vi v, int lane, int32_t x) { v[lane] = x; return v; }
INLINE vf with_float(vf v, int lane, float x) { v[lane] = x; return v; }

void sort_i32(char *mem, long keys, long order, long spare, long n, long count, long flip);
void sort_f64(char *mem, long keys, long order, long spare, long n, long count, long flip);
#endif
`;
