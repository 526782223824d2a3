// Types and functions that CUDA brings, for `cuda_emulator.h`: vectors, bits, mathematics.
#pragma once

// Read and written whole, as a GPU does it: a compiler would make an access of every part.
#define EMULATOR_WHOLE(name, parts, bytes)                                                          \
    typedef type_of_parts Whole __attribute__((vector_size(parts * sizeof(type_of_parts)), aligned(bytes), may_alias)); \
    name() = default;                                                                               \
    name(const name& other) { *reinterpret_cast<Whole*>(this) = *reinterpret_cast<const Whole*>(&other); } \
    name& operator=(const name& other) {                                                            \
        *reinterpret_cast<Whole*>(this) = *reinterpret_cast<const Whole*>(&other);                  \
        return *this;                                                                               \
    }
#define EMULATOR_VECTOR2(name, type, bytes)                                                         \
    struct alignas(bytes) name {                                                                    \
        typedef type type_of_parts;                                                                 \
        type x, y;                                                                                  \
        EMULATOR_WHOLE(name, 2, bytes)                                                              \
        name(type x, type y) : x(x), y(y) {}                                                        \
    };                                                                                              \
    static EMULATOR_RAW inline name make_##name(type x, type y) { return {x, y}; }
#define EMULATOR_VECTOR4(name, type, bytes)                                                         \
    struct alignas(bytes) name {                                                                    \
        typedef type type_of_parts;                                                                 \
        type x, y, z, w;                                                                            \
        EMULATOR_WHOLE(name, 4, bytes)                                                              \
        name(type x, type y, type z, type w) : x(x), y(y), z(z), w(w) {}                            \
    };                                                                                              \
    static EMULATOR_RAW inline name make_##name(type x, type y, type z, type w) { return {x, y, z, w}; }
EMULATOR_VECTOR2(float2, float, 8)
EMULATOR_VECTOR2(int2, int, 8)
EMULATOR_VECTOR2(uint2, unsigned, 8)
EMULATOR_VECTOR2(double2, double, 16)
EMULATOR_VECTOR2(longlong2, long long, 16)
EMULATOR_VECTOR2(ulonglong2, unsigned long long, 16)
EMULATOR_VECTOR4(float4, float, 16)
EMULATOR_VECTOR4(int4, int, 16)
EMULATOR_VECTOR4(uint4, unsigned, 16)
EMULATOR_VECTOR4(ushort4, unsigned short, 8)
EMULATOR_VECTOR4(uchar4, unsigned char, 4)
EMULATOR_VECTOR4(double4, double, 16)
struct float3 { float x, y, z; };
struct double3 { double x, y, z; };
struct int3 { int x, y, z; };
static EMULATOR_RAW inline float3 make_float3(float x, float y, float z) { return {x, y, z}; }
static EMULATOR_RAW inline double3 make_double3(double x, double y, double z) { return {x, y, z}; }
static EMULATOR_RAW inline int3 make_int3(int x, int y, int z) { return {x, y, z}; }
static EMULATOR_RAW inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }

template <typename T> static inline T __ldg(const T* p) { return *p; }
template <typename T> static inline T __ldca(const T* p) { return *p; }
#ifdef EMULATOR_XRAY
// They pass by the first level of cache, as volatile loads do.
template <typename T>
static inline T __ldcg(const T* p) {
    if constexpr (__is_class(T)) {
        T value;
        *reinterpret_cast<typename T::Whole*>(&value) = *reinterpret_cast<const volatile typename T::Whole*>(p);
        return value;
    } else return *const_cast<const volatile T*>(p);
}
template <typename T> static inline T __ldcv(const T* p) { return __ldcg(p); }
#else
template <typename T> static inline T __ldcg(const T* p) { return *p; }
template <typename T> static inline T __ldcv(const T* p) { return *p; }
#endif
template <typename T> static inline T __ldcs(const T* p) { return *p; }
template <typename T> static inline T __ldlu(const T* p) { return *p; }
template <typename T> static inline void __stwb(T* p, T value) { *p = value; }
template <typename T> static inline void __stcg(T* p, T value) { *p = value; }
template <typename T> static inline void __stcs(T* p, T value) { *p = value; }
template <typename T> static inline void __stwt(T* p, T value) { *p = value; }

static inline int __popc(unsigned v) { return __builtin_popcount(v); }
static inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline int __ffsll(long long v) { return __builtin_ffsll(v); }
static inline int __clz(int v) { return v == 0 ? 32 : __builtin_clz(unsigned(v)); }
static inline int __clzll(long long v) { return v == 0 ? 64 : __builtin_clzll((unsigned long long)v); }
static inline unsigned __brev(unsigned v) {
    unsigned reversed = 0;
    for (int bit = 0; bit < 32; ++bit) reversed |= ((v >> bit) & 1u) << (31 - bit);
    return reversed;
}
static inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned(((unsigned long long)a * b) >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
template <typename To, typename From>
static EMULATOR_RAW inline To emulator_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}
static inline unsigned __float_as_uint(float v) { return emulator_bits<unsigned>(v); }
static inline int __float_as_int(float v) { return emulator_bits<int>(v); }
static inline float __uint_as_float(unsigned v) { return emulator_bits<float>(v); }
static inline float __int_as_float(int v) { return emulator_bits<float>(v); }
static inline long long __double_as_longlong(double v) { return emulator_bits<long long>(v); }
static inline double __longlong_as_double(long long v) { return emulator_bits<double>(v); }

// Without <cmath>, which takes longer to compile than the kernel.
#define EMULATOR_MINMAX(type)                                                                       \
    static inline type min(type a, type b) { return b < a ? b : a; }                                \
    static inline type max(type a, type b) { return a < b ? b : a; }
EMULATOR_MINMAX(int)
EMULATOR_MINMAX(unsigned)
EMULATOR_MINMAX(long)
EMULATOR_MINMAX(unsigned long)
EMULATOR_MINMAX(long long)
EMULATOR_MINMAX(unsigned long long)
static inline unsigned min(int a, unsigned b) { return min(unsigned(a), b); }
static inline unsigned min(unsigned a, int b) { return min(a, unsigned(b)); }
static inline unsigned max(int a, unsigned b) { return max(unsigned(a), b); }
static inline unsigned max(unsigned a, int b) { return max(a, unsigned(b)); }
#define EMULATOR_MATH1(name)                                                                        \
    static inline double name(double a) { return __builtin_##name(a); }                             \
    static inline float name(float a) { return __builtin_##name##f(a); }                            \
    static inline float name##f(float a) { return __builtin_##name##f(a); }
#define EMULATOR_MATH2(name)                                                                        \
    static inline double name(double a, double b) { return __builtin_##name(a, b); }                \
    static inline float name(float a, float b) { return __builtin_##name##f(a, b); }                \
    static inline float name##f(float a, float b) { return __builtin_##name##f(a, b); }
EMULATOR_MATH1(sqrt)
EMULATOR_MATH1(fabs)
EMULATOR_MATH1(floor)
EMULATOR_MATH1(ceil)
EMULATOR_MATH1(round)
EMULATOR_MATH1(rint)
EMULATOR_MATH1(trunc)
EMULATOR_MATH1(exp)
EMULATOR_MATH1(exp2)
EMULATOR_MATH1(log)
EMULATOR_MATH1(log2)
EMULATOR_MATH1(sin)
EMULATOR_MATH1(cos)
EMULATOR_MATH1(tanh)
EMULATOR_MATH2(pow)
EMULATOR_MATH2(fmin)
EMULATOR_MATH2(fmax)
EMULATOR_MATH2(copysign)
EMULATOR_MATH2(fmod)
static inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
static inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
static inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline float __fadd_rn(float a, float b) { return a + b; }
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline double __dadd_rn(double a, double b) { return a + b; }
static inline double __dmul_rn(double a, double b) { return a * b; }
static inline double rsqrt(double a) { return 1.0 / __builtin_sqrt(a); }
static inline float rsqrt(float a) { return 1.0f / __builtin_sqrtf(a); }
static inline float rsqrtf(float a) { return 1.0f / __builtin_sqrtf(a); }
static inline float min(float a, float b) { return __builtin_fminf(a, b); }
static inline float max(float a, float b) { return __builtin_fmaxf(a, b); }
static inline double min(double a, double b) { return __builtin_fmin(a, b); }
static inline double max(double a, double b) { return __builtin_fmax(a, b); }
static inline int abs(int a) { return a < 0 ? -a : a; }
static inline float abs(float a) { return __builtin_fabsf(a); }
static inline double abs(double a) { return __builtin_fabs(a); }
static inline bool isnan(float a) { return __builtin_isnan(a); }
static inline bool isnan(double a) { return __builtin_isnan(a); }
