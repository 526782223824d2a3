// Random numbers between -1 and 1, the same as the host draws (`matrix/random.rs`): a thread for every element, by its position among all.
// Writes every element once, and reads nothing. Loses up to half of its lanes where columns are no power of two: they are laid across and down as those.
#include "ordito.cuh"

constexpr u64 STEP = 0x9e3779b97f4a7c15ull;
constexpr u32 DIGITS = sizeof(SCALAR) == 4 ? 24 : 53;

__device__ __forceinline__ u64 mix(u64 bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ull;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebull;
    return bits ^ (bits >> 31);
}

extern "C" __global__ void draw(u64 rows, u64 cols, u64 start, u64 first_row, SCALAR* x, u64 x_distance) {
    for (u64 row = u64(blockIdx.x) * blockDim.y + threadIdx.y; row < rows; row += u64(gridDim.x) * blockDim.y) {
        for (u64 col = threadIdx.x; col < cols; col += blockDim.x) {
            const u64 position = (first_row + row) * cols + col;
            const u64 drawn = mix(start + (position + 1) * STEP) >> (64 - DIGITS);
            const long long odd = (long long)(2 * drawn + 1) - (1ll << DIGITS);
            x[row * x_distance + col] = SCALAR(double(odd) / double(1ull << DIGITS));
        }
    }
}
