//! What a kernel is given.

use bytemuck::Pod;

/// A kernel's argument, as the kernel's parameter lies in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument(Bytes);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Bytes {
    /// Those of a number, and how many.
    Few([u8; 8], usize),
    Many(Box<[u8]>),
}

impl Argument {
    /// A number: `u32`, `u64`, `f32`, `f64`, of exactly the type that the kernel declares.
    pub fn of<T: Pod>(value: T) -> Self {
        const { assert!(size_of::<T>() <= 8, "numbers have at most eight bytes") };
        let (mut bytes, size) = ([0; 8], size_of::<T>());
        bytes[..size].copy_from_slice(bytemuck::bytes_of(&value));
        Argument(Bytes::Few(bytes, size))
    }

    /// A struct of so many `T` side by side, by value. All arguments of a launch have at most 4 KB.
    pub fn list<T: Pod>(values: &[T]) -> Self {
        Argument(Bytes::Many(bytemuck::cast_slice(values).into()))
    }

    /// As it lies in memory.
    #[cfg(any(feature = "cuda", feature = "emulator"))]
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.0 {
            Bytes::Few(bytes, size) => &bytes[..*size],
            Bytes::Many(bytes) => bytes,
        }
    }
}
