//! Blocks of many rows and few columns: what solvers do between two products.
//!
//! * [`gram`](gram()): G = XᵀY, a small matrix of inner products;
//! * [`combine`](combine()): Y = XC, and [`update`]: X ← XC + WD in place.
//!
//! Both read every row once, however many blocks take part: [X P W]ᵀ[W AW] is one pass. Inner products are added up over rows in an order
//! that depends on the shape only: the same bits on any number of threads.

pub mod combine;
#[cfg(any(feature = "cuda", feature = "emulator"))]
mod device_part;
#[cfg(all(feature = "solve", any(feature = "cuda", feature = "emulator")))]
mod draw;
pub mod gram;
#[cfg(any(feature = "cuda", feature = "emulator"))]
#[cfg_attr(all(not(test), not(feature = "solve")), expect(dead_code, reason = "solvers on a device use it"))]
mod on_device;
mod part;
#[cfg(any(feature = "cuda", feature = "emulator"))]
mod uploads;
#[cfg(any(feature = "cuda", feature = "emulator"))]
mod weigh_rows;

pub use combine::{combine, update};
#[cfg(all(feature = "solve", any(feature = "cuda", feature = "emulator")))]
pub(crate) use device_part::DevicePart;
pub use gram::{Sums, gram};
#[cfg(all(feature = "solve", any(feature = "cuda", feature = "emulator")))]
pub(crate) use on_device::TallSkinnyOnDevice;
pub(crate) use part::{Part, columns_of};

/// Kernels that solvers and ranks use on a device and that belong to no variant: for whoever compiles all there are.
#[doc(hidden)]
#[cfg(any(feature = "cuda", feature = "emulator"))]
pub fn kernels_of_no_variant<S: crate::Scalar>() -> Vec<crate::device::KernelSource> {
    let [gather, add] = crate::op::ListedRows::<S>::sources();
    vec![
        weigh_rows::WeighRows::<S>::source(),
        gather,
        add,
        #[cfg(feature = "solve")]
        draw::Draw::<S>::source(),
    ]
}
