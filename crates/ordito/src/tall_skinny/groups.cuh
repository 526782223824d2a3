// Columns of a tall and skinny operand as kernels see them: groups of up to 8 that lie side by side in every row. Several blocks side by
// side are one list of groups.
#pragma once
#include "ordito.cuh"

struct Group {
    SCALAR* at;    // the first element
    u64 distance;  // from one row to the next, in elements
    u32 cols;
    u32 first;     // number of its first column among those of the whole operand
};

template <u32 Count>
struct Groups {
    Group of[Count];
};
