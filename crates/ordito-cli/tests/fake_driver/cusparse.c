// A cuSPARSE that computes nothing and cannot look at matrices beforehand.
#include <stddef.h>
static int handle;
int cusparseGetProperty(int which, int* value) { *value = (int[]){12, 6, 3}[which]; return 0; }
const char* cusparseGetErrorString(int status) { return "a sentence of the library"; }
int cusparseCreate(void** made) { *made = &handle; return 0; }
int cusparseCreateCsr(void** made) { *made = &handle; return 0; }
int cusparseCreateDnMat(void** made) { *made = &handle; return 0; }
int cusparseSpMM_bufferSize(void* h, int opa, int opb, const void* alpha, void* a, void* x, const void* beta, void* y,
                            int type, int algorithm, size_t* bytes) {
    *bytes = 1000;
    return 0;
}
int cusparseSpMM_preprocess() { return 10; }
int cusparseCreateDnVec(void** made) { *made = &handle; return 0; }
int cusparseSpMV_bufferSize(void* h, int op, const void* alpha, void* a, void* x, const void* beta, void* y, int type,
                            int algorithm, size_t* bytes) {
    *bytes = 500;
    return 0;
}
