//! Tensor cores in three products of TF32: every f32 is split into two parts of 11 bits, and high·high + high·low + low·high
//! are added up in f32. Touches A and B once per tile, by asynchronous copies that run up to three slabs ahead; they are
//! split in registers. Loses where memory is the limit; and operands below 2⁻¹¹⁴ lose digits, those beyond
//! 2¹²⁸ − 2¹¹⁶ overflow, and an infinity becomes NaN (∞ − ∞ is its lower part).

use crate::gemm::cuda::fast::tiled::Tiled;
use crate::gemm::cuda::fast::tiling::Tiling;
use crate::op::{Description, Place};
use crate::source_file;

/// How much the bound γ_M·Σ|a||b| of a sum of M products in f32 has to be enlarged. With u = 2⁻²⁴:
///
/// *Splitting.* `high` is x rounded to 11 bits, so x − high is a multiple of x's last bit, at most 2¹² of it, and exact in
/// f32; `low` is that rounded to 11 bits, which loses at most one last bit. Hence |low| ≤ 2⁻¹¹|x| and x = high + low + e
/// with |e| ≤ 2⁻²³|x| = 2u|x|. What the three products leave out of ab is low·low + e·b + (a − e)·e′, at most
/// 2⁻²²|ab| + 2u|ab| + 2u(1 + 2u)|ab|: **8u** for every term.
///
/// *Adding in a tensor core.* Its products are exact; summands are aligned to the largest and cut off, and so is the sum
/// (Fasi, Higham, Mikaitis, Pranesh: Numerical behavior of NVIDIA tensor cores, 2021). Generations differ in how many bits
/// beyond 24 they keep, none is counted here; they take eight products at once, or four and four. A summand cut off at 24
/// bits loses less than 2u·S, as does the sum, where S is the sum of all magnitudes so far. With t ≤ 8 products that are
/// not 0 and at most min(2, t) sums, that is (2t + 2·min(2, t))·uS ≤ 4t·uS. Three such instructions are 12t·uS; of the first
/// three, that find only zeros to add to, the two with a `low` work on magnitudes of 2⁻¹⁰S, which leaves 4t·uS.
/// Tensor cores add within a slab of 32 terms only; one of T terms thus loses at most **12T − 8**, in uS.
///
/// *Adding slabs and slices.* One rounding by u for each but the first: (M − 1)/32 at most.
///
/// Together 8 + 12·min(M, 32) − 8 + (M − 1)/32 ≤ 13M, in uS. What was left out as small (magnitudes of high and low parts
/// exceed those of the numbers by 2⁻¹⁰, products of squares of u) is less than the way to 16, which is still far from
/// hiding a mistake: a product without one of its `low` parts is wrong by up to 2⁻¹¹ = 8192u.
pub(crate) const ERROR_FACTOR: f64 = 16.0;

const fn tensor(
    name: &'static str,
    about: &'static str,
    params: &'static [(&'static str, u32)],
    tiling: Tiling,
) -> Tiled {
    let file = source_file!("gemm/cuda/fast/dense_cuda_tensor_tf32x3.cu");
    let description =
        Description::new(name, about, Place::Cuda, file).params(params).error_factor(ERROR_FACTOR);
    Tiled {
        description,
        entry: "tensor_tf32x3",
        file: "dense_cuda_tensor_tf32x3.cu",
        f32: Some(tiling),
        f64: None,
    }
}

/// Slabs of 32 terms: a row of A is 128 bytes.
const COMMON: Tiling = Tiling {
    rows: 0,
    cols: 0,
    depth: 32,
    warp_rows: 0,
    warp_cols: 0,
    teams: 1,
    stages: 4,
    blocks_per_multiprocessor: 1,
    padding_bytes: 0,
    more: &[],
};

pub(crate) const TENSOR_TF32X3: [Tiled; 3] = [
    tensor(
        "dense-cuda-tensor-tf32x3-128x128",
        "f32 by three TF32 products on tensor cores: a block 128×128 elements, a warp 32×64",
        &[("rows", 128), ("cols", 128)],
        Tiling { rows: 128, cols: 128, warp_rows: 32, warp_cols: 64, ..COMMON },
    ),
    tensor(
        "dense-cuda-tensor-tf32x3-128x64",
        "f32 by three TF32 products on tensor cores: a block 128×64 elements, a warp 64×32",
        &[("rows", 128), ("cols", 64)],
        Tiling { rows: 128, cols: 64, warp_rows: 64, warp_cols: 32, blocks_per_multiprocessor: 2, ..COMMON },
    ),
    tensor(
        "dense-cuda-tensor-tf32x3-64x64",
        "f32 by three TF32 products on tensor cores: a block 64×64 elements, a warp 32×32",
        &[("rows", 64), ("cols", 64)],
        Tiling { rows: 64, cols: 64, warp_rows: 32, warp_cols: 32, blocks_per_multiprocessor: 3, ..COMMON },
    ),
];
