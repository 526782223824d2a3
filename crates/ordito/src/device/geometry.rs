//! How kernels that are there to be studied are launched, where they leave that open.

use crate::refusal::Refusal;
use std::fmt;

/// What of a launch a variant leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adjustable {
    /// The number of threads of a block.
    ThreadsPerBlock,
    /// Rows and columns of the result that a block of threads computes.
    BlockShape,
    /// The most nonzeros that several rows of a row block have together.
    LocalSize,
}

/// What was chosen of it; the rest is as it was in the study that the kernel comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Geometry {
    /// Threads of a block.
    pub threads_per_block: Option<u32>,
    /// Rows and columns of the result that a block of threads computes.
    pub block_shape: Option<[u32; 2]>,
    /// The most nonzeros that several rows of a row block have together.
    pub local_size: Option<u32>,
}

const WARP: u32 = 32;
/// No CUDA device allows more in a block; what one of them allows is seen when a launch is planned.
const MOST_THREADS: u64 = 1024;

impl Geometry {
    /// Refuses what no kernel can have: their shared memory is laid out for whole warps.
    pub fn check(self) -> Result<Self, Refusal> {
        if let Some(threads) = self.threads_per_block {
            if threads == 0 || !threads.is_multiple_of(WARP) {
                let why = format!("blocks of {threads} threads: a multiple of {WARP} is needed");
                return Err(Refusal::Unsupported(why));
            }
            check_threads(threads.into())?;
        }
        if let Some([rows, cols]) = self.block_shape {
            if rows == 0 || cols == 0 {
                return Err(Refusal::Unsupported(format!("blocks of {rows}×{cols} threads: there are none")));
            }
            check_threads(u64::from(rows) * u64::from(cols))?;
        }
        match self.local_size {
            Some(0) => Err(Refusal::Unsupported("a local size of 0: no row fits".into())),
            Some(size) => check_threads(size.into()).map(|()| self), // a thread for each
            None => Ok(self),
        }
    }

    /// Only what a variant leaves open.
    pub fn of(self, adjustable: &[Adjustable]) -> Self {
        let is_open = |part| adjustable.contains(&part);
        Geometry {
            threads_per_block: self.threads_per_block.filter(|_| is_open(Adjustable::ThreadsPerBlock)),
            block_shape: self.block_shape.filter(|_| is_open(Adjustable::BlockShape)),
            local_size: self.local_size.filter(|_| is_open(Adjustable::LocalSize)),
        }
    }

    /// Was nothing chosen?
    pub fn is_default(self) -> bool {
        self == Geometry::default()
    }
}

fn check_threads(asked: u64) -> Result<(), Refusal> {
    if asked <= MOST_THREADS {
        return Ok(());
    }
    Err(Refusal::Launch { what: "threads per block", asked, limit: MOST_THREADS })
}

impl fmt::Display for Geometry {
    /// `block 256`, `block 16x32`, `block 256, local size 1024`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.threads_per_block.map(|threads| format!("block {threads}")),
            self.block_shape.map(|[rows, cols]| format!("block {rows}x{cols}")),
            self.local_size.map(|size| format!("local size {size}")),
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Geometry =
        Geometry { threads_per_block: Some(256), block_shape: Some([16, 32]), local_size: Some(1024) };

    #[test]
    fn a_variant_sees_what_it_leaves_open() {
        assert!(ALL.of(&[]).is_default());
        let both = ALL.of(&[Adjustable::ThreadsPerBlock, Adjustable::LocalSize]);
        assert_eq!(both.to_string(), "block 256, local size 1024");
        assert_eq!(ALL.of(&[Adjustable::BlockShape]).to_string(), "block 16x32");
        assert_eq!(Geometry::default().to_string(), "");
    }

    #[test]
    fn what_no_kernel_can_have_is_refused() {
        let refused = |geometry: Geometry| geometry.check().unwrap_err().to_string();
        let with = Geometry::default();
        assert!(ALL.check().is_ok() && with.check().is_ok());
        assert_eq!(
            refused(Geometry { threads_per_block: Some(100), ..with }),
            "blocks of 100 threads: a multiple of 32 is needed"
        );
        assert_eq!(
            refused(Geometry { threads_per_block: Some(2048), ..with }),
            "2048 threads per block, the limit is 1024"
        );
        assert_eq!(
            refused(Geometry { block_shape: Some([64, 32]), ..with }),
            "2048 threads per block, the limit is 1024"
        );
        for nothing in [
            Geometry { threads_per_block: Some(0), ..with },
            Geometry { block_shape: Some([0, 8]), ..with },
            Geometry { block_shape: Some([8, 0]), ..with },
            Geometry { local_size: Some(0), ..with },
            Geometry { local_size: Some(1025), ..with },
            Geometry { block_shape: Some([1 << 16, 1 << 16]), ..with },
        ] {
            refused(nothing);
        }
    }
}
