// CUDA's words for a C++ compiler, put before the text of a kernel. Every thread of a launch is a fiber; what
// needs more than one thread (barriers, collectives) and every check is done by the program, through `emulator`.
//
// The kernel is compiled with -fsanitize=thread and linked without that sanitizer: the calls that the compiler
// puts before every access to memory end in the functions at the end of this file.
#pragma once
#define ORDITO_EMULATOR 1

// Where a thread is followed from one basic block to the next, it is followed through the kernel only.
#ifdef __clang__
#define EMULATOR_UNTRACED no_sanitize("coverage")
#else
#define EMULATOR_UNTRACED no_sanitize_coverage
#endif
#define EMULATOR_RAW __attribute__((no_sanitize("thread"), no_sanitize("undefined"), EMULATOR_UNTRACED, unused))
// Not inlined, so that the return address is a place in the kernel.
#define EMULATOR_CALL __attribute__((no_sanitize("thread"), no_sanitize("undefined"), EMULATOR_UNTRACED, noinline, unused))
#define EMULATOR_HOOK extern "C" __attribute__((visibility("hidden"), no_sanitize("thread"), EMULATOR_UNTRACED, noinline, used))
#define EMULATOR_EXPORT extern "C" __attribute__((visibility("default"), no_sanitize("thread"), EMULATOR_UNTRACED, used))
#define EMULATOR_HERE __builtin_return_address(0)

// Functions become part of the kernel, where they are not recursive. What g++ copies to pass a struct of more than 16 bytes
// by value to a function that is called, no hook is told of.
#define __global__ __attribute__((flatten))
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__  // as above
#define __launch_bounds__(...)
#define __restrict__ __restrict
#define __align__(n) __attribute__((aligned(n)))  // unlike alignas it may stand behind __shared__
// Tables that kernels only read; initialised, so that they are not taken for shared memory.
#define __constant__ static const
// Shared memory is what is not initialised: the part of the library from __bss_start to _end. (A section of its
// own would be clearer, but compilers ignore that attribute in templates.)
// What nobody writes is a constant to a compiler, and a read of it gone before anybody could check it; not where it is `used`. Counting
// leaves out what a compiler for GPUs leaves out.
#ifdef EMULATOR_XRAY
#define __shared__ static
#else
#define __shared__ static __attribute__((used))
#endif
#define __grid_constant__
#define DYNAMIC_SHARED(type, name) type* const name = reinterpret_cast<type*>(emulator_dynamic_shared())

struct uint3 {
    unsigned x, y, z;
};
typedef uint3 dim3;

// ---- the program's side -------------------------------------------------------------------------------------

// As in access.rs. The compiler says UNALIGNED where the type promises no alignment.
enum EmulatorAccess : unsigned { EMULATOR_READ, EMULATOR_WRITE, EMULATOR_ATOMIC, EMULATOR_FLOAT_ATOMIC, EMULATOR_UNALIGNED, EMULATOR_FRESH = 8 };

// As in hooks.rs.
struct EmulatorThreadPosition {
    uint3 thread, block, block_size, grid_size;
    unsigned lane;
    void* dynamic_shared;
    const void* stack_floor;
};
// Aligned so that what follows it, the shared memory, begins where it seems to.
struct alignas(128) EmulatorTable {
    void* state;
    const EmulatorThreadPosition* place;
    void (*access)(void* state, const volatile void* address, unsigned long bytes, unsigned kind, const void* from);
    unsigned long long (*collective)(void* state, unsigned kind, unsigned mask, unsigned long long value,
                                     unsigned source, const void* from);
    unsigned (*barrier)(void* state, unsigned kind, unsigned value, const void* from);
    void (*fence)(void* state);
    void (*undefined)(void* state, const char* what, const char* file, unsigned line);
    const void* (*gather)(void* state, unsigned kind, const void* mine, unsigned bytes, const void* from);
    void (*copy)(void* state, void* shared, const void* global, unsigned bytes, unsigned valid, const void* from);
    void (*copy_commit)(void* state);
    void (*copy_wait)(void* state, unsigned pending);
    void (*move_bytes)(void* state, void* to, const void* from, unsigned long bytes, const void* caller);
    void (*fill_bytes)(void* state, void* to, unsigned char value, unsigned long bytes, const void* caller);
    void (*stack_is_full)(void* state, const void* from);
    void (*basic_block)(void* state, const void* from);
    struct EmulatorPage* page;
};
static __attribute__((section("emulator_table"))) EmulatorTable emulator;

// Word by word: memcpy is one of the functions that need the table.
EMULATOR_EXPORT void ordito_start(const EmulatorTable* table) {
    const unsigned long* from = reinterpret_cast<const unsigned long*>(table);
    volatile unsigned long* to = reinterpret_cast<unsigned long*>(&emulator);
    for (unsigned word = 0; word < sizeof emulator / sizeof *to; ++word) to[word] = from[word];
}

// A thread's place never changes, so a function may ask once. (Not inlined: the read is none of the kernel's.)
#define EMULATOR_CONSTANT static EMULATOR_CALL __attribute__((const))
EMULATOR_CONSTANT uint3 emulator_thread_index() { return emulator.place->thread; }
EMULATOR_CONSTANT uint3 emulator_block_index() { return emulator.place->block; }
EMULATOR_CONSTANT uint3 emulator_block_size() { return emulator.place->block_size; }
EMULATOR_CONSTANT uint3 emulator_grid_size() { return emulator.place->grid_size; }
EMULATOR_CONSTANT unsigned emulator_lane() { return emulator.place->lane; }
EMULATOR_CONSTANT void* emulator_dynamic_shared() { return emulator.place->dynamic_shared; }
#define threadIdx (emulator_thread_index())
#define blockIdx (emulator_block_index())
#define blockDim (emulator_block_size())
#define gridDim (emulator_grid_size())
#define warpSize 32

// ---- barriers and collectives: numbers as in collective.rs --------------------------------------------------

static EMULATOR_CALL void __syncthreads() { emulator.barrier(emulator.state, 0, 0, EMULATOR_HERE); }
static EMULATOR_CALL int __syncthreads_count(int p) { return int(emulator.barrier(emulator.state, 1, p != 0, EMULATOR_HERE)); }
static EMULATOR_CALL int __syncthreads_and(int p) { return int(emulator.barrier(emulator.state, 2, p != 0, EMULATOR_HERE)); }
static EMULATOR_CALL int __syncthreads_or(int p) { return int(emulator.barrier(emulator.state, 3, p != 0, EMULATOR_HERE)); }
static EMULATOR_CALL void __threadfence() { emulator.fence(emulator.state); }
static EMULATOR_CALL void __threadfence_system() { emulator.fence(emulator.state); }
// Orders a thread's own accesses within its block, and so nothing that could be seen here.
static EMULATOR_RAW void __threadfence_block() {}

static EMULATOR_CALL void __syncwarp(unsigned mask = 0xffffffffu) {
    emulator.collective(emulator.state, 0, mask, 0, 0, EMULATOR_HERE);
}

template <typename T>
static EMULATOR_RAW T emulator_shuffle(unsigned kind, unsigned mask, T value, unsigned source, const void* from) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles move 4 or 8 bytes");
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    bits = emulator.collective(emulator.state, kind, mask, bits, source, from);
    __builtin_memcpy(&value, &bits, sizeof(T));
    return value;
}
template <typename T>
static EMULATOR_CALL T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
    const unsigned lane = emulator.place->lane, inside = unsigned(width) - 1;
    return emulator_shuffle(1, mask, value, (lane & ~inside) | (unsigned(source) & inside), EMULATOR_HERE);
}
template <typename T>
static EMULATOR_CALL T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    const unsigned lane = emulator.place->lane, inside = unsigned(width) - 1;
    return emulator_shuffle(2, mask, value, (lane & inside) < delta ? lane : lane - delta, EMULATOR_HERE);
}
template <typename T>
static EMULATOR_CALL T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    const unsigned lane = emulator.place->lane, inside = unsigned(width) - 1;
    const bool beyond = delta > inside || (lane & inside) + delta > inside;
    return emulator_shuffle(3, mask, value, beyond ? lane : lane + delta, EMULATOR_HERE);
}
template <typename T>
static EMULATOR_CALL T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32) {
    const unsigned lane = emulator.place->lane, inside = unsigned(width) - 1, other = lane ^ unsigned(lanes);
    return emulator_shuffle(4, mask, value, other > (lane | inside) ? lane : other, EMULATOR_HERE);
}

#define EMULATOR_COLLECTIVE(result, name, kind, type)                                                        \
    static EMULATOR_CALL result name(unsigned mask, type value) {                                            \
        return result(emulator.collective(emulator.state, kind, mask, (unsigned long long)(value), 0, EMULATOR_HERE)); \
    }
static EMULATOR_CALL unsigned __ballot_sync(unsigned mask, int p) { return unsigned(emulator.collective(emulator.state, 5, mask, p != 0, 0, EMULATOR_HERE)); }
static EMULATOR_CALL int __any_sync(unsigned mask, int p) { return int(emulator.collective(emulator.state, 6, mask, p != 0, 0, EMULATOR_HERE)); }
static EMULATOR_CALL int __all_sync(unsigned mask, int p) { return int(emulator.collective(emulator.state, 7, mask, p != 0, 0, EMULATOR_HERE)); }
EMULATOR_COLLECTIVE(unsigned, __reduce_add_sync, 8, unsigned)
EMULATOR_COLLECTIVE(int, __reduce_add_sync, 8, int)
EMULATOR_COLLECTIVE(unsigned, __reduce_min_sync, 9, unsigned)
EMULATOR_COLLECTIVE(int, __reduce_min_sync, 10, int)
EMULATOR_COLLECTIVE(unsigned, __reduce_max_sync, 11, unsigned)
EMULATOR_COLLECTIVE(int, __reduce_max_sync, 12, int)
EMULATOR_COLLECTIVE(unsigned, __reduce_and_sync, 13, unsigned)
EMULATOR_COLLECTIVE(unsigned, __reduce_or_sync, 14, unsigned)
EMULATOR_COLLECTIVE(unsigned, __reduce_xor_sync, 15, unsigned)
#define EMULATOR_MATCH(type) EMULATOR_COLLECTIVE(unsigned, __match_any_sync, 16, type)
EMULATOR_MATCH(unsigned)
EMULATOR_MATCH(int)
EMULATOR_MATCH(unsigned long long)
EMULATOR_MATCH(long long)
// Lanes need not run together: that this one is alone is always a right answer, and the strictest.
static EMULATOR_RAW unsigned __activemask() { return 1u << emulator.place->lane; }

// ---- what ptx.cuh is made of ----------------------------------------------------------------------------------

// Brings `bytes` bytes to all lanes of the warp, which must all come; what the 32 brought, one after the other, until
// the next such call.
static EMULATOR_RAW const void* emulator_gather(unsigned kind, const void* mine, unsigned bytes, const void* from) {
    return emulator.gather(emulator.state, kind, mine, bytes, from);
}
static EMULATOR_CALL void emulator_copy(void* shared, const void* global, unsigned bytes, unsigned valid) {
#ifndef EMULATOR_CHECKS
    // The program moves the bytes; another sanitizer wants to see the kernel touch them.
    for (unsigned i = 0; i < valid; ++i) (void)static_cast<const volatile char*>(global)[i];
    for (unsigned i = 0; i < bytes; ++i) (void)static_cast<const volatile char*>(shared)[i];
#endif
    emulator.copy(emulator.state, shared, global, bytes, valid, EMULATOR_HERE);
}
static EMULATOR_CALL void emulator_copy_commit() { emulator.copy_commit(emulator.state); }
static EMULATOR_CALL void emulator_copy_wait(unsigned pending) { emulator.copy_wait(emulator.state, pending); }

// ---- atomics: one thread runs at a time; where launches are counted, blocks run on several cores ---------------

#ifdef EMULATOR_XRAY
#define EMULATOR_EXCHANGE(type, expression)                                                         \
    type old, to;                                                                                   \
    __atomic_load(address, &old, __ATOMIC_SEQ_CST);                                                 \
    do to = (expression);                                                                           \
    while (!__atomic_compare_exchange(address, &old, &to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
#else
#define EMULATOR_EXCHANGE(type, expression)                                                         \
    const type old = *address;                                                                      \
    *address = (expression)
#endif
#define EMULATOR_ATOMIC_OP(name, type, operand, kind, expression)                                   \
    static EMULATOR_CALL type name(type* address, operand value) {                                  \
        emulator.access(emulator.state, address, sizeof(type), kind, EMULATOR_HERE);                \
        EMULATOR_EXCHANGE(type, expression);                                                        \
        return old;                                                                                 \
    }
#define EMULATOR_ATOMICS(type, wide)                                                                \
    EMULATOR_ATOMIC_OP(atomicAdd, type, type, EMULATOR_ATOMIC, (type)((wide)old + (wide)value))      \
    EMULATOR_ATOMIC_OP(atomicSub, type, type, EMULATOR_ATOMIC, (type)((wide)old - (wide)value))      \
    EMULATOR_ATOMIC_OP(atomicMin, type, type, EMULATOR_ATOMIC, value < old ? value : old)           \
    EMULATOR_ATOMIC_OP(atomicMax, type, type, EMULATOR_ATOMIC, value > old ? value : old)           \
    EMULATOR_ATOMIC_OP(atomicExch, type, type, EMULATOR_ATOMIC, value)                              \
    EMULATOR_ATOMIC_OP(atomicAnd, type, type, EMULATOR_ATOMIC, old & value)                         \
    EMULATOR_ATOMIC_OP(atomicOr, type, type, EMULATOR_ATOMIC, old | value)                          \
    EMULATOR_ATOMIC_OP(atomicXor, type, type, EMULATOR_ATOMIC, old ^ value)                         \
    static EMULATOR_CALL type atomicCAS(type* address, type compare, type value) {                  \
        emulator.access(emulator.state, address, sizeof(type), EMULATOR_ATOMIC, EMULATOR_HERE);     \
        EMULATOR_EXCHANGE(type, old == compare ? value : old);                                      \
        return old;                                                                                 \
    }
EMULATOR_ATOMICS(int, unsigned)
EMULATOR_ATOMICS(unsigned, unsigned)
EMULATOR_ATOMICS(unsigned long long, unsigned long long)
EMULATOR_ATOMIC_OP(atomicInc, unsigned, unsigned, EMULATOR_ATOMIC, old >= value ? 0u : old + 1)
EMULATOR_ATOMIC_OP(atomicDec, unsigned, unsigned, EMULATOR_ATOMIC, old == 0 || old > value ? value : old - 1)
EMULATOR_ATOMIC_OP(atomicMin, long long, long long, EMULATOR_ATOMIC, value < old ? value : old)
EMULATOR_ATOMIC_OP(atomicMax, long long, long long, EMULATOR_ATOMIC, value > old ? value : old)
EMULATOR_ATOMIC_OP(atomicAdd, float, float, EMULATOR_FLOAT_ATOMIC, old + value)
EMULATOR_ATOMIC_OP(atomicAdd, double, double, EMULATOR_FLOAT_ATOMIC, old + value)
EMULATOR_ATOMIC_OP(atomicExch, float, float, EMULATOR_ATOMIC, value)

#include "cuda_functions.h"

// ---- calling the kernel ---------------------------------------------------------------------------------------

template <unsigned... I> struct EmulatorIndices {};
template <unsigned N, unsigned... I> struct EmulatorCount : EmulatorCount<N - 1, N - 1, I...> {};
template <unsigned... I> struct EmulatorCount<0, I...> { typedef EmulatorIndices<I...> Indices; };

template <typename... P, unsigned... I>
static EMULATOR_RAW void emulator_unpack(void (*kernel)(P...), void** arguments, EmulatorIndices<I...>) {
    kernel(*static_cast<P*>(arguments[I])...);
}
template <typename... P>
static EMULATOR_RAW void emulator_call(void (*kernel)(P...), void** arguments) {
    emulator_unpack(kernel, arguments, typename EmulatorCount<sizeof...(P)>::Indices());
}

// As in library.rs.
struct EmulatorDescription {
    const void *image, *shared_start, *shared_stop;
    const unsigned long* parameter_bytes;
    unsigned long parameters;
};
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start;
extern "C" __attribute__((visibility("hidden"))) char __bss_start, _end;

template <typename... P>
static EMULATOR_RAW void emulator_describe(void (*)(P...), EmulatorDescription* description) {
    static const unsigned long bytes[sizeof...(P) + 1] = {sizeof(P)..., 0};
    *description = {&__ehdr_start, &__bss_start, &_end, bytes, sizeof...(P)};
}

// ---- what the compiler calls before every access ---------------------------------------------------------------

#ifdef EMULATOR_XRAY
// As in trace.rs and notes.rs.
enum EmulatorPlace : unsigned char { EMULATOR_BLOCK };
enum EmulatorDoing : unsigned char { EMULATOR_LOAD, EMULATOR_FRESH_LOAD, EMULATOR_STORE };
struct EmulatorEvent {
    unsigned long address;
    unsigned site;
    unsigned short bytes;
    unsigned char place, doing;
};
struct EmulatorSeen {
    unsigned long start, bytes, origin;
    unsigned char place;
};
struct EmulatorPage {
    EmulatorEvent *next, *end;
    EmulatorSeen seen[64];
};
static_assert(sizeof(EmulatorEvent) == 16 && sizeof(EmulatorSeen) == 32 && sizeof(EmulatorPage) == 16 + 64 * 32, "as in trace.rs and notes.rs");
static EMULATOR_RAW unsigned emulator_site(const void* from) { return unsigned(static_cast<const char*>(from) - &__ehdr_start); }

// An aligned access to the part of memory that this one in the code went to last is noted here; everything else the program sees to. A kernel
// that is counted always has a page while it runs.
static EMULATOR_RAW __attribute__((always_inline)) inline void emulator_access(const void* p, unsigned long bytes, unsigned kind, const void* from) {
    EmulatorPage* const page = emulator.page;
    const unsigned site = emulator_site(from);
    const EmulatorSeen& seen = page->seen[site % 64];
    const unsigned long address = reinterpret_cast<unsigned long>(p), offset = address - seen.start;
    EmulatorEvent* const event = page->next;
    if (offset < seen.bytes && bytes <= seen.bytes - offset && address % bytes == 0 && event != page->end) {
        event->address = address - seen.origin;
        event->site = site;
        event->bytes = (unsigned short)bytes;
        event->place = seen.place;
        event->doing = kind == EMULATOR_READ ? EMULATOR_LOAD : kind == EMULATOR_WRITE ? EMULATOR_STORE : EMULATOR_FRESH_LOAD;
        page->next = event + 1;
        return;
    }
    emulator.access(emulator.state, p, bytes, kind, from);
}
static EMULATOR_RAW __attribute__((always_inline)) inline void emulator_basic_block(const void* from) {
    EmulatorPage* const page = emulator.page;
    if (!page) return;  // while the library is loaded
    EmulatorEvent* const event = page->next;
    if (event == page->end) return emulator.basic_block(emulator.state, from);
    event->address = 0;
    event->site = emulator_site(from);
    event->bytes = 0;
    event->place = EMULATOR_BLOCK;
    event->doing = EMULATOR_LOAD;
    page->next = event + 1;
}
#else
static EMULATOR_RAW __attribute__((always_inline)) inline void emulator_access(const void* p, unsigned long bytes, unsigned kind, const void* from) {
    emulator.access(emulator.state, p, bytes, kind, from);
}
static EMULATOR_RAW __attribute__((always_inline)) inline void emulator_basic_block(const void* from) {
    if (emulator.place) emulator.basic_block(emulator.state, from);  // not while the library is loaded
}
#endif

#ifdef EMULATOR_CHECKS
#define EMULATOR_ACCESS(bytes)                                                                                        \
    EMULATOR_HOOK void __tsan_read##bytes(void* p) { emulator_access(p, bytes, EMULATOR_READ, EMULATOR_HERE); }        \
    EMULATOR_HOOK void __tsan_write##bytes(void* p) { emulator_access(p, bytes, EMULATOR_WRITE, EMULATOR_HERE); }      \
    EMULATOR_HOOK void __tsan_unaligned_read##bytes(void* p) { emulator.access(emulator.state, p, bytes, EMULATOR_UNALIGNED | EMULATOR_READ, EMULATOR_HERE); }   \
    EMULATOR_HOOK void __tsan_unaligned_write##bytes(void* p) { emulator.access(emulator.state, p, bytes, EMULATOR_UNALIGNED | EMULATOR_WRITE, EMULATOR_HERE); } \
    EMULATOR_HOOK void __tsan_volatile_read##bytes(void* p) { emulator_access(p, bytes, EMULATOR_FRESH | EMULATOR_READ, EMULATOR_HERE); } \
    EMULATOR_HOOK void __tsan_volatile_write##bytes(void* p) { emulator_access(p, bytes, EMULATOR_WRITE, EMULATOR_HERE); }
EMULATOR_ACCESS(1)
EMULATOR_ACCESS(2)
EMULATOR_ACCESS(4)
EMULATOR_ACCESS(8)
EMULATOR_ACCESS(16)
// What is copied as bytes may lie anywhere.
EMULATOR_HOOK void __tsan_read_range(void* p, unsigned long bytes) { emulator.access(emulator.state, p, bytes, EMULATOR_UNALIGNED | EMULATOR_READ, EMULATOR_HERE); }
EMULATOR_HOOK void __tsan_write_range(void* p, unsigned long bytes) { emulator.access(emulator.state, p, bytes, EMULATOR_UNALIGNED | EMULATOR_WRITE, EMULATOR_HERE); }
EMULATOR_HOOK void __tsan_vptr_read(void**) {}
EMULATOR_HOOK void __tsan_vptr_update(void**, void*) {}
EMULATOR_HOOK void __tsan_func_entry(void*) {
    if (!emulator.place) return;  // while the library is loaded
    if (__builtin_frame_address(0) < emulator.place->stack_floor) emulator.stack_is_full(emulator.state, EMULATOR_HERE);
}
EMULATOR_HOOK void __tsan_func_exit() {}
EMULATOR_HOOK void __tsan_init() {}
EMULATOR_HOOK void __sanitizer_cov_trace_pc() { emulator_basic_block(EMULATOR_HERE); }
// Copies that kernels ask for, and those that the compiler makes of an assignment. The program moves the bytes.
#define EMULATOR_BYTES(name)                                                                        \
    EMULATOR_HOOK void* name##memcpy(void* to, const void* from, unsigned long bytes) {             \
        emulator.move_bytes(emulator.state, to, from, bytes, EMULATOR_HERE);                        \
        return to;                                                                                  \
    }                                                                                               \
    EMULATOR_HOOK void* name##memmove(void* to, const void* from, unsigned long bytes) {            \
        emulator.move_bytes(emulator.state, to, from, bytes, EMULATOR_HERE);                        \
        return to;                                                                                  \
    }                                                                                               \
    EMULATOR_HOOK void* name##memset(void* to, int value, unsigned long bytes) {                    \
        emulator.fill_bytes(emulator.state, to, (unsigned char)value, bytes, EMULATOR_HERE);        \
        return to;                                                                                  \
    }
EMULATOR_BYTES()
EMULATOR_BYTES(__tsan_)
#define __builtin_memcpy memcpy
#define __builtin_memmove memmove
#define __builtin_memset memset
// What -fsanitize=alignment,bounds,… calls when something is wrong. Whatever it is, this comes first:
struct EmulatorSourceLine {
    const char* file;
    unsigned line, column;
};
#define EMULATOR_UNDEFINED(name, what)                                                              \
    EMULATOR_HOOK void __ubsan_handle_##name(const EmulatorSourceLine* at, void*, void*) {          \
        emulator.undefined(emulator.state, what, at->file, at->line);                               \
    }
EMULATOR_UNDEFINED(type_mismatch_v1, "misaligned access: the address is no multiple of the type's alignment")
EMULATOR_UNDEFINED(out_of_bounds, "index beyond the bounds of an array")
EMULATOR_UNDEFINED(divrem_overflow, "integer division by zero, or overflow in a division")
EMULATOR_UNDEFINED(shift_out_of_bounds, "shift by a negative number or by more than there are bits")
EMULATOR_UNDEFINED(add_overflow, "overflow of signed integers in an addition")
EMULATOR_UNDEFINED(sub_overflow, "overflow of signed integers in a subtraction")
EMULATOR_UNDEFINED(mul_overflow, "overflow of signed integers in a multiplication")
EMULATOR_UNDEFINED(negate_overflow, "overflow of a signed integer when negated")
#endif
