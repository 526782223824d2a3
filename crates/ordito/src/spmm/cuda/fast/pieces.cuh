// A piece of work: whole rows, or a part of one that is too long for one group of lanes.
#pragma once
#include "few.cuh"

// In `to`: the sums are not a row of Y but a part, to be added up with others.
constexpr u32 PART = 1u << 31;
// Or nothing: lanes without a row.
constexpr u32 NOTHING = ~0u;

struct Piece {
    u64 start;   // its first nonzero
    u32 length;  // nonzeros
    u32 to;      // row of Y, or part

    __device__ __forceinline__ Piece() : start(0), length(0), to(0) {}
    __device__ __forceinline__ Piece(const uint4& words) : start(words.x | u64(words.y) << 32), length(words.z), to(words.w) {}
    __device__ __forceinline__ bool is_part() const { return to & PART; }
};
