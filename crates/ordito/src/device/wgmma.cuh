// What only sm_90a has (H100, H200), for kernels that name this header: bulk copies that report to a barrier in shared
// memory, and products by four warps together that read B from there. The emulator knows none of it.
#pragma once
#include "ordito.cuh"

// ---- barriers in shared memory ---------------------------------------------------------------------------------------------
//
// A barrier is a u64 in shared memory, known by its 32-bit address there. A phase ends when as many threads have arrived
// as it was made for and all announced bytes have come; waiting names the parity of the phase, 0 for the first.

__device__ __forceinline__ u32 shared_address(const void* pointer) { return u32(__cvta_generic_to_shared(pointer)); }

__device__ __forceinline__ void barrier_make(u32 barrier, u32 arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// After all are made, before a bulk copy may use one of them.
__device__ __forceinline__ void barriers_made() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void barrier_arrive(u32 barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// Arrives, and announces bytes that copies will bring.
__device__ __forceinline__ void barrier_expect(u32 barrier, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ __forceinline__ void barrier_wait(u32 barrier, u32 parity) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}\n" ::"r"(barrier), "r"(parity) : "memory");
}

// Starts a copy of so many bytes, a multiple of 16, from global to shared memory; `barrier` hears when they have come.
__device__ __forceinline__ void copy_bulk(u32 to_shared, const void* from, u32 bytes, u32 barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to_shared),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

// ---- registers ---------------------------------------------------------------------------------------------------------------

// This warp group gives registers back, or takes them from those that did: all its threads, a multiple of 8.
template <u32 Registers>
__device__ __forceinline__ void shrink_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <u32 Registers>
__device__ __forceinline__ void grow_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}

// ---- tensor cores: C += A · B by the four warps of a group --------------------------------------------------------------------
//
// A is 64 × 8 in registers: warp w of the group holds its rows 16w .. 16w + 15 laid out as multiply_16x8x8's (ptx.cuh).
// B is 8 × 128 in shared memory, column after column in rows of 128 bytes (32 numbers of TF32), the 16-byte chunks of row
// r exchanged by r mod 8 (chunk c lies at c ^ (r mod 8)); a matrix starts at a multiple of 1024 bytes.
// C is 64 × 128: c[4j + i] is element i of the 16 × 8 tile in columns 8j .. 8j + 7, laid out as there.

// Where B lies: 8 rows are 1024 bytes, exchanged in groups of 128 bytes. The next eight k are 32 bytes on: + 2.
__device__ __forceinline__ u64 describe_shared(u32 address) {
    return u64(1) << 62 | u64(1024 >> 4) << 32 | u64(1) << 16 | (address & 0x3FFFF) >> 4;
}

// Before the first product, and after registers of A or C were written by anything else.
__device__ __forceinline__ void products_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void products_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits for all products; only then A and C may be touched, and what is left of B overwritten.
__device__ __forceinline__ void products_wait(float (&c)[64]) {
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (u32 i = 0; i < 64; ++i) asm volatile("" : "+f"(c[i])::"memory");  // the compiler must not read them before
}

#define EIGHT_SUMS(i)                                                                                                   \
    "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3]), "+f"(c[i + 4]), "+f"(c[i + 5]), "+f"(c[i + 6]), "+f"(c[i + 7])

// C = A · B, or C += A · B with `add`. Only starts.
__device__ __forceinline__ void multiply_64x128x8(float (&c)[64], const u32 (&a)[4], u64 b, bool add) {
    asm volatile(
        "{\n"
        ".reg .pred add;\n"
        "setp.ne.b32 add, %69, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "{%64, %65, %66, %67}, %68, add, 1, 1;\n"
        "}\n"
        : EIGHT_SUMS(0), EIGHT_SUMS(8), EIGHT_SUMS(16), EIGHT_SUMS(24), EIGHT_SUMS(32), EIGHT_SUMS(40), EIGHT_SUMS(48),
          EIGHT_SUMS(56)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(int(add)));
}
#undef EIGHT_SUMS
