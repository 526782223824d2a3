// A cuBLAS that computes, slowly, what it is asked for: column-major like the real one, after everything has been set,
// one handle at a time, and fussier about empty operands. GEMM replaces what a product returns.
#include <stddef.h>

#ifndef GEMM
#define GEMM 0
#endif

typedef long long count;
static int handle, alive;
static struct { void *stream, *workspace; int math, pointers; } set;

int cublasGetProperty(int which, int* value) { *value = (int[]){13, 0, 2}[which]; return 0; }
const char* cublasGetStatusString(int status) { return "a sentence of the library"; }
int cublasCreate_v2(void** made) {
    if (alive) return 3;
    alive = 1;
    set.stream = set.workspace = NULL;
    set.math = set.pointers = -1;
    *made = &handle;
    return 0;
}
int cublasDestroy_v2(void* h) { alive = 0; return h != &handle; }
int cublasSetStream_v2(void* h, void* stream) { set.stream = stream; set.workspace = NULL; return 0; }
int cublasSetWorkspace_v2(void* h, void* workspace, size_t bytes) {
    if ((size_t)workspace % 256 != 0 || bytes != 64 << 20) return 7;
    set.workspace = workspace;
    return 0;
}
int cublasSetMathMode(void* h, int mode) { set.math = mode; return 0; }
int cublasSetPointerMode_v2(void* h, int mode) { set.pointers = mode; return 0; }

static int ready(void* h) {
    return h == &handle && alive && set.stream && set.workspace && set.math == 0 && set.pointers == 0;
}

#define GEMM_PARAMETERS(T) \
    void *h, int opa, int opb, count m, count n, count k, const T *alpha, const T *a, count lda, const T *b, count ldb, \
        const T *beta, T *c, count ldc
#define GEMM_BODY(T) \
    if (!ready(h)) return 1; \
    if (opa || opb || m < 1 || n < 1 || k < 1 || lda < m || ldb < k || ldc < m) return 7; \
    for (count j = 0; j < n; j++) \
        for (count i = 0; i < m; i++) { \
            T sum = 0; \
            for (count l = 0; l < k; l++) sum += a[i + l * lda] * b[l + j * ldb]; \
            c[i + j * ldc] = *alpha * sum + (*beta == 0 ? 0 : *beta * c[i + j * ldc]); \
        } \
    return GEMM;
int cublasSgemm_v2_64(GEMM_PARAMETERS(float)) { GEMM_BODY(float) }
int cublasDgemm_v2_64(GEMM_PARAMETERS(double)) { GEMM_BODY(double) }

#define GEAM_PARAMETERS(T) \
    void *h, int opa, int opb, count m, count n, const T *alpha, const T *a, count lda, const T *beta, const T *b, \
        count ldb, T *c, count ldc
#define GEAM_BODY(T) \
    if (!ready(h)) return 1; \
    if (opa || opb || m < 1 || n < 1 || lda < m || ldb < m || ldc < m) return 7; \
    if ((c == a && ldc != lda) || (c == b && ldc != ldb)) return 7; \
    for (count j = 0; j < n; j++) \
        for (count i = 0; i < m; i++) { \
            T first = *alpha == 0 ? 0 : *alpha * a[i + j * lda]; \
            c[i + j * ldc] = first + (*beta == 0 ? 0 : *beta * b[i + j * ldb]); \
        } \
    return 0;
int cublasSgeam_64(GEAM_PARAMETERS(float)) { GEAM_BODY(float) }
int cublasDgeam_64(GEAM_PARAMETERS(double)) { GEAM_BODY(double) }
