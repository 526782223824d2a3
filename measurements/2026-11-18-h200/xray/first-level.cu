// What hits in the first level of an H200: n loads of each thread, 132 blocks of 256 threads, f32.
// nvcc -arch=sm_90 -o first-level first-level.cu && ncu --cache-control all --clock-control none --metrics l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,… ./first-level
#include <cstdio>
#define LD(v, p) asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory")
#define LDV(v, p) asm volatile("ld.volatile.global.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory")
#define LDCG(v, p) asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory")
#define LDCS(v, p) asm volatile("ld.global.cs.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory")
#define ST(p, v) asm volatile("st.global.f32 [%0], %1;" : : "l"(p), "f"(v) : "memory")
#define AT const int i = blockIdx.x * blockDim.x + threadIdx.x; float v = 0, w = 0; float* p = x + i; __syncthreads();
#define END __syncthreads(); if (v + w == 77) y[0] = v;
// what hits: of n loads by each thread
__global__ void load_load(float* x, float* y) { AT LD(v, p); __syncthreads(); if (v == 77) y[1] = v; LD(w, p); END }
__global__ void store_load(float* x, float* y) { AT ST(p, 1.f); __syncthreads(); LD(w, p); END }
__global__ void store_load_load(float* x, float* y) { AT ST(p, 1.f); __syncthreads(); LD(w, p); if (w == 77) y[1] = v; __syncthreads(); LD(v, p); END }
__global__ void load_store_load(float* x, float* y) { AT LD(v, p); if (v == 77) y[1] = v; __syncthreads(); ST(p, 1.f); __syncthreads(); LD(w, p); END }
__global__ void load_volatile(float* x, float* y) { AT LD(v, p); if (v == 77) y[1] = v; __syncthreads(); LDV(w, p); END }
__global__ void volatile_load(float* x, float* y) { AT LDV(v, p); if (v == 77) y[1] = v; __syncthreads(); LD(w, p); END }
__global__ void load_volatile_load(float* x, float* y) { AT LD(v, p); if (v == 77) y[1] = v; __syncthreads(); LDV(w, p); if (w == 77) y[1] = v; __syncthreads(); LD(v, p); END }
__global__ void load_cg(float* x, float* y) { AT LD(v, p); if (v == 77) y[1] = v; __syncthreads(); LDCG(w, p); END }
__global__ void cg_load(float* x, float* y) { AT LDCG(v, p); if (v == 77) y[1] = v; __syncthreads(); LD(w, p); END }
__global__ void cs_load(float* x, float* y) { AT LDCS(v, p); if (v == 77) y[1] = v; __syncthreads(); LD(w, p); END }
int main() {
    float *x, *y; cudaMalloc(&x, 1 << 20); cudaMalloc(&y, 64); cudaMemset(x, 0, 1 << 20);
#define K(k) k<<<132, 256>>>(x, y);
    K(load_load) K(store_load) K(store_load_load) K(load_store_load) K(load_volatile) K(volatile_load) K(load_volatile_load) K(load_cg) K(cg_load) K(cs_load)
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
