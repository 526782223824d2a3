#include <cuda_runtime.h>

// y = a x + y, one thread for each element.
__global__ void saxpy(int n, float a, const float* x, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

// The same without asking whether there is such an element.
__global__ void beyond(int n, float a, const float* x, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = a * x[i] + y[i];
}

// Every lane reads an element 32 further on.
__global__ void strided(int n, float a, const float* x, float* y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = a * x[32 * i % n];
}

// Sums of blocks; between the two steps a barrier is missing.
__global__ void racing(const float* x, float* y) {
    extern __shared__ float part[];
    part[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < blockDim.x; ++i) sum += part[i];
        y[blockIdx.x] = sum;
    }
}
