//! What a kernel is given.

use bytemuck::Pod;

/// A kernel's argument: at most eight bytes, as the kernel's parameter lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument {
    bytes: [u8; 8],
    size: usize,
}

impl Argument {
    /// A number: `u32`, `u64`, `f32`, `f64`, of exactly the type that the kernel declares.
    pub fn of<T: Pod>(value: T) -> Self {
        const { assert!(size_of::<T>() <= 8, "arguments have at most eight bytes") };
        let (mut bytes, size) = ([0; 8], size_of::<T>());
        bytes[..size].copy_from_slice(bytemuck::bytes_of(&value));
        Argument { bytes, size }
    }

    /// As it lies in memory.
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.size]
    }
}
