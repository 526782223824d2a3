//! What is asked for by `--variant` and `--tile`, and the names under which kernels have long been known.

use crate::workbench::select::{SelectError, glob};
use ordito::device::DeviceLimits;
use ordito::op::{Op, Variant};
use ordito::refusal::Refusal;

/// Patterns of names and tile widths. Of neither: everything there is.
///
/// ```
/// use ordito::spmm::Spmm;
/// use ordito_bench::workbench::{Selected, Side, Wanted, select};
/// let wanted = Wanted::variants(["csr-threads-*", "auto"]);
/// let selected = select::<Spmm<f64>>(&wanted, Side::Cpu)?;
/// let names: Vec<String> = selected.iter().map(Selected::name).collect();
/// assert_eq!(names, ["csr-threads-rows", "csr-threads-nnz", "csr-threads-sorted", "csr-threads-clustered", "auto"]);
/// # Ok::<(), ordito_bench::workbench::SelectError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Names, patterns, historic names, `auto`; none of them: all variants and `auto`. With `!` in front: but not those.
    pub patterns: Vec<String>,
    /// Of the variants that have tiles, only those with these widths; none of them: all widths.
    pub tiles: Vec<u32>,
}

impl Wanted {
    /// Every variant, and `auto`.
    pub fn all() -> Self {
        Wanted::default()
    }

    /// Whatever these patterns mean, with tiles of any width.
    pub fn variants<P: Into<String>>(patterns: impl IntoIterator<Item = P>) -> Self {
        Wanted { patterns: patterns.into_iter().map(Into::into).collect(), tiles: Vec::new() }
    }

    /// Sees that every width asked for is one of these variants', or one that no kernel can have; the latter.
    pub(crate) fn oversized_tiles<O: Op>(
        &self,
        variants: impl Iterator<Item = &'static dyn Variant<O>>,
    ) -> Result<Vec<u32>, SelectError> {
        if self.tiles.is_empty() {
            return Ok(Vec::new());
        }
        let mut widths: Vec<u32> = variants.filter_map(tile_width).collect();
        widths.sort_unstable();
        widths.dedup();
        if widths.is_empty() {
            return Err(SelectError::NoTiles { op: O::NAME });
        }
        let mut oversized = Vec::new();
        for &tile in self.tiles.iter().filter(|tile| !widths.contains(tile)) {
            if oversized_tile(tile).is_none() {
                return Err(SelectError::NoSuchTile { tile, widths });
            }
            if !oversized.contains(&tile) {
                oversized.push(tile);
            }
        }
        Ok(oversized)
    }

    /// Is this variant one of those that `--tile` leaves?
    pub(crate) fn keeps_tile<O: Op>(&self, variant: &'static dyn Variant<O>) -> bool {
        self.tiles.is_empty() || tile_width(variant).is_none_or(|width| self.tiles.contains(&width))
    }
}

/// The width of a variant's tiles, where it has some.
fn tile_width<O: Op>(variant: &'static dyn Variant<O>) -> Option<u32> {
    variant.params().into_iter().find_map(|(name, width)| (name == "tile").then_some(width))
}

/// Why there is no kernel with tiles so wide: it has a thread for every element of a tile. No CUDA device allows more
/// threads per block than this one.
pub(crate) fn oversized_tile(tile: u32) -> Option<Refusal> {
    let (threads, limit) = (u64::from(tile).pow(2), u64::from(DeviceLimits::h200().threads_per_block));
    (threads > limit).then_some(Refusal::Launch { what: "threads per block", asked: threads, limit })
}

/// A name of old, the operation it belongs to, and the pattern of today.
pub(crate) struct Historic {
    pub(crate) op: &'static str,
    pub(crate) name: &'static str,
    pub(crate) pattern: &'static str,
}

const fn historic(op: &'static str, name: &'static str, pattern: &'static str) -> Historic {
    Historic { op, name, pattern }
}

/// Names under which the CUDA kernels have long been known, as patterns of ours.
pub(crate) const HISTORIC: &[Historic] = &[
    historic("spmm", "csr", "csr-cuda-thread-per-element"),
    historic("spmm", "csr_scalar", "csr-cuda-thread-*"),
    historic("spmm", "csr_vector", "csr-cuda-warp-per-element"),
    historic("spmm", "csr_vector_sub_warp", "csr-cuda-lanes*-per-element"),
    historic("spmm", "csr_vector_by_row", "csr-cuda-warp-per-row"),
    historic("spmm", "csr_adaptive", "csr-cuda-adaptive-column"),
    historic("spmm", "csr_adaptive_sub_block", "csr-cuda-adaptive-sub-blocks*"),
    historic("spmm", "csr_adaptive_sub_blocks", "csr-cuda-adaptive-sub-blocks*"),
    historic("spmm", "ellpack", "ell-*-cuda-thread-per-element"),
    historic("spmm", "ellpack_kernel", "ell-*-cuda-thread-per-element"),
    historic("spmm", "ellpack_sw", "ell-*-cuda-lanes*-per-element"),
    historic("spmm", "ellpack_sub_warp", "ell-*-cuda-lanes*-per-element"),
    historic("gemm", "kernel1", "dense-cuda-element-by-row-*"),
    historic("gemm", "kernel2", "dense-cuda-tile-by-row-*"),
    historic("gemm", "MatrixMulKernel", "dense-cuda-element-by-column-*"),
    historic("gemm", "MatrixMulNewKernel", "dense-cuda-tile-by-column-*"),
];

/// The entry of a historic name, in whatever case it is written.
pub(crate) fn find_historic(name: &str) -> Option<&'static Historic> {
    HISTORIC.iter().find(|historic| historic.name.eq_ignore_ascii_case(name))
}

/// Does `--variant pattern` mean this variant?
pub fn is_called(variant: &str, pattern: &str) -> bool {
    let pattern = find_historic(pattern).map_or(pattern, |historic| historic.pattern);
    glob(pattern).is_ok_and(|matcher| matcher.is_match(variant))
}
