// Asynchronous copies, tensor cores and reads that spare the caches, for kernels that name this header
// (KernelSource::include): each instruction of the GPU, and right below it what the emulator does instead.
#pragma once
#include "ordito.cuh"

// ---- copies from global to shared memory that go on while the thread does -----------------------------------------------
//
// A thread starts copies, closes them into a group, and later waits until all but its `Pending` youngest groups have
// arrived. That covers its own copies only: what others copied may be read after their wait AND a barrier.

// Starts a copy of `valid_bytes` bytes; zeros fill the rest of `Bytes`. Both addresses are multiples of Bytes.
template <u32 Bytes>
__device__ __forceinline__ void copy_async(void* shared, const void* global, u32 valid_bytes) {
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "a copy moves 4, 8 or 16 bytes");
#ifndef ORDITO_EMULATOR
    const u32 to = u32(__cvta_generic_to_shared(shared));
    // 16 bytes go around the L1 cache, which would only be filled with what shared memory holds anyway; and whole lines
    // come into L2 at once, since tiles are read from end to end.
    if (Bytes == 16)
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(valid_bytes) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(global), "n"(Bytes == 16 ? 4 : Bytes), "r"(valid_bytes) : "memory");
#else
    emulator_copy(shared, global, Bytes, valid_bytes);
#endif
}

// The same where all bytes are valid: fewer instructions.
template <u32 Bytes>
__device__ __forceinline__ void copy_async(void* shared, const void* global) {
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "a copy moves 4, 8 or 16 bytes");
#ifndef ORDITO_EMULATOR
    const u32 to = u32(__cvta_generic_to_shared(shared));
    if (Bytes == 16)
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(global), "n"(Bytes == 16 ? 4 : Bytes) : "memory");
#else
    emulator_copy(shared, global, Bytes, Bytes);
#endif
}

// Has a cache line brought into L2, if it can; nobody waits for it.
__device__ __forceinline__ void prefetch_into_l2(const void* global) {
#ifndef ORDITO_EMULATOR
    asm volatile("prefetch.global.L2 [%0];" ::"l"(global));
#else
    (void)global;
#endif
}

// Closes the group of the copies that this thread has started since the last; it may be empty.
__device__ __forceinline__ void copy_async_commit() {
#ifndef ORDITO_EMULATOR
    asm volatile("cp.async.commit_group;" ::: "memory");
#else
    emulator_copy_commit();
#endif
}

// Waits for this thread's groups, except for the `Pending` youngest. Copies that were not committed are in no group.
template <u32 Pending>
__device__ __forceinline__ void copy_async_wait() {
#ifndef ORDITO_EMULATOR
    asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
#else
    emulator_copy_wait(Pending);
#endif
}

// ---- tensor cores: C += A · B by the 32 lanes of a warp together --------------------------------------------------------
//
// A is 16 × 8, B 8 × 8, C 16 × 8. Lane 4g + t (g < 8, t < 4) holds
//
//     a[i] = A[g + 8 (i mod 2)][t + 4 (i div 2)]      rows g and g + 8, columns t and t + 4
//     b[i] = B[t + 4 i][g]                            rows t and t + 4, column g
//     c[i] = C[g + 8 (i div 2)][2 t + i mod 2]        rows g and g + 8, columns 2t and 2t + 1
//
// All lanes must come by, none may have ended. The instructions are volatile since a compiler that moved one into a
// branch would leave lanes out.

#ifdef ORDITO_EMULATOR
// What a lane brings; T is the type in its registers, and `value` the number that the tensor core takes it for.
template <typename T>
struct EmulatorFragments {
    T a[4], b[2];
};
static EMULATOR_RAW double emulator_value(double bits) { return bits; }
static EMULATOR_RAW double emulator_value(u32 bits) { return emulator_bits<float>(bits & 0xffffe000u); }

// Element `i` of C as this lane holds it, plus the products in rising order of k.
template <typename T>
static EMULATOR_RAW double emulator_dot(const EmulatorFragments<T>* lanes, double sum, u32 i) {
    const u32 g = emulator.place->lane / 4, t = emulator.place->lane % 4, half = i / 2, column = 2 * t + i % 2;
    for (u32 k = 0; k < 8; ++k)
        sum += emulator_value(lanes[4 * g + k % 4].a[half + 2 * (k / 4)]) * emulator_value(lanes[4 * column + k % 4].b[k / 4]);
    return sum;
}
template <typename C>
struct EmulatorTile {
    C c[4];
};
template <typename C, typename T>
static EMULATOR_CALL EmulatorTile<C> emulator_multiply(u32 kind, EmulatorTile<C> tile, EmulatorFragments<T> mine) {
    const auto* lanes = static_cast<const EmulatorFragments<T>*>(emulator_gather(kind, &mine, sizeof mine, EMULATOR_HERE));
    for (u32 i = 0; i < 4; ++i) tile.c[i] = C(emulator_dot(lanes, tile.c[i], i));
    return tile;
}
#endif

// In double precision.
__device__ __forceinline__ void multiply_16x8x8(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
#ifndef ORDITO_EMULATOR
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
    // sm_80 multiplies 8 × 4 by 4 × 8: two halves of the rows, two of k.
    for (u32 k = 0; k < 2; ++k)
        for (u32 half = 0; half < 2; ++half)
            asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                         : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
                         : "d"(a[half + 2 * k]), "d"(b[k]));
#endif
#else
    const EmulatorTile<double> sum = emulator_multiply<double, double>(17, {c[0], c[1], c[2], c[3]}, {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}});
    for (u32 i = 0; i < 4; ++i) c[i] = sum.c[i];
#endif
}

#ifdef ORDITO_EMULATOR
// As NVRTC 13 does it for every architecture: infinities and NaN are not rounded, only cut. What is too large becomes infinite. So
// does a NaN of the 13 low bits alone, which no arithmetic makes.
static EMULATOR_RAW u32 emulator_tf32(float value) {
    const u32 bits = emulator_bits<u32>(value), finite = (bits & 0x7fffffffu) < 0x7f800000u;
    return (bits + (finite ? 0x1000u : 0u)) & 0xffffe000u;
}
#endif

// The nearest number of 10 explicit bits of mantissa (TF32), as bits; ties go away from zero.
__device__ __forceinline__ u32 to_tf32(float value) {
#ifndef ORDITO_EMULATOR
    u32 bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
    return bits;
#else
    return emulator_tf32(value);
#endif
}

// Operands in TF32, of which the 13 low bits are ignored; sums in single precision.
__device__ __forceinline__ void multiply_16x8x8(float (&c)[4], const u32 (&a)[4], const u32 (&b)[2]) {
#ifndef ORDITO_EMULATOR
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    // Products are exact in double precision; the sum is rounded once.
    const EmulatorTile<float> sum = emulator_multiply<float, u32>(18, {c[0], c[1], c[2], c[3]}, {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}});
    for (u32 i = 0; i < 4; ++i) c[i] = sum.c[i];
#endif
}

// ---- reading what is read once ------------------------------------------------------------------------------------------
//
// L2 gives such lines up first, so that they push out nothing that is read again. `read_once` leaves them out of L1 too;
// `read_soon_again` keeps them there for the next steps of the same lanes.

typedef u64 CachePolicy;

__device__ __forceinline__ CachePolicy evict_first() {
#ifndef ORDITO_EMULATOR
    CachePolicy policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    return policy;
#else
    return 0;
#endif
}

#ifndef ORDITO_EMULATOR
#define ORDITO_READS(type, width, letter)                                                                                        \
    __device__ __forceinline__ type read_once(const type* from, CachePolicy policy) {                                            \
        type value;                                                                                                              \
        asm("ld.global.nc.L1::no_allocate.L2::cache_hint." width " %0, [%1], %2;" : "=" letter(value) : "l"(from), "l"(policy)); \
        return value;                                                                                                            \
    }                                                                                                                            \
    __device__ __forceinline__ type read_soon_again(const type* from, CachePolicy policy) {                                      \
        type value;                                                                                                              \
        asm("ld.global.nc.L2::cache_hint." width " %0, [%1], %2;" : "=" letter(value) : "l"(from), "l"(policy));                 \
        return value;                                                                                                            \
    }
ORDITO_READS(u32, "b32", "r")
ORDITO_READS(float, "f32", "f")
ORDITO_READS(double, "f64", "d")
__device__ __forceinline__ uint4 read_once(const uint4* from, CachePolicy policy) {
    uint4 value;
    asm("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5;"
        : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
        : "l"(from), "l"(policy));
    return value;
}
__device__ __forceinline__ uint4 read_soon_again(const uint4* from, CachePolicy policy) {
    uint4 value;
    asm("ld.global.nc.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5;"
        : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
        : "l"(from), "l"(policy));
    return value;
}
#undef ORDITO_READS
// What other lanes of the warp read with this one, but no other warp of the block. Volatile, so that loads stay before what is computed:
// compilers would rather save registers (stencil27:100 on its diagonals, K = 32: 385 µs instead of 311 in f64, 155 instead of 159 in f32).
__device__ __forceinline__ u32 read_past_l1(const u32* from) {
    u32 value;
    asm volatile("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(value) : "l"(from));
    return value;
}
__device__ __forceinline__ uint2 read_past_l1(const uint2* from) {
    uint2 value;
    asm volatile("ld.global.nc.L1::no_allocate.v2.b32 {%0, %1}, [%2];" : "=r"(value.x), "=r"(value.y) : "l"(from));
    return value;
}
__device__ __forceinline__ uint4 read_past_l1(const uint4* from) {
    uint4 value;
    asm volatile("ld.global.nc.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
        : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
        : "l"(from));
    return value;
}
// A pair of numbers of a row that is read from end to end: L1 does not keep it, and the whole line comes into L2 at once.
__device__ __forceinline__ double2 read_along(const double2* from) {
    double2 pair;
    asm("ld.global.nc.L1::no_allocate.L2::128B.v2.f64 {%0, %1}, [%2];" : "=d"(pair.x), "=d"(pair.y) : "l"(from));
    return pair;
}
#else
template <typename T>
__device__ inline T read_past_l1(const T* from) {
    return *from;
}
template <typename T>
__device__ inline T read_along(const T* from) {
    return *from;
}
template <typename T>
__device__ inline T read_once(const T* from, CachePolicy) {
    return *from;
}
template <typename T>
__device__ inline T read_soon_again(const T* from, CachePolicy) {
    return *from;
}
#endif
