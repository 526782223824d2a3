// Copies an array of somebody else's, a thread for each element: numbers bit by bit, indices in the width that kernels take.
// Reads and writes every element once. What does not fit becomes the greatest there is, which is no index of any matrix.
// Loses to a plain copy where nothing changes its width; that takes a call of the driver that the emulator would have to know.
#include "ordito.cuh"

extern "C" __global__ void __launch_bounds__(THREADS) take_elements(u64 count, const FROM* __restrict__ from, TO* __restrict__ to) {
    const u64 i = thread_of_grid();
    if (i >= count) return;
    const u64 element = from[i], most = TO(~TO(0));
    to[i] = TO(element < most ? element : most);
}
