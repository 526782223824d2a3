//! Elements in the memory of a device.

use crate::device::argument::Argument;
use crate::device::backend::{DeviceError, Memory};
use bytemuck::Pod;
use std::marker::PhantomData;
use std::sync::Arc;

/// Elements of one type in the memory of a device.
#[derive(Debug)]
pub struct Buffer<T> {
    name: String,
    /// Shared with recorded work that reads or writes it.
    memory: Arc<dyn Memory>,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    /// `len` elements in memory that has room for them.
    pub(crate) fn new(name: String, memory: Arc<dyn Memory>, len: usize) -> Self {
        Buffer { name, memory, len, element: PhantomData }
    }
    /// How many elements.
    pub fn len(&self) -> usize {
        self.len
    }
    /// None at all?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// What it holds, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The same memory once more, to be read: nobody may write it any longer.
    pub(crate) fn shared(&self) -> Self {
        Buffer { name: self.name.clone(), memory: self.memory.clone(), len: self.len, element: PhantomData }
    }
    pub(crate) fn memory(&self) -> &Arc<dyn Memory> {
        &self.memory
    }
    /// Its address on the device, for libraries that take one.
    pub fn address(&self) -> u64 {
        self.memory.address()
    }

    /// Host to device, as the driver does it; the lengths must be equal. [`Device::write_into`](crate::device::Device::write_into) is
    /// quicker for much memory that is not pinned.
    pub fn write(&mut self, from: &[T]) -> Result<(), DeviceError> {
        self.check_length(from.len())?;
        self.memory.write(0, bytemuck::cast_slice(from))
    }
    /// Device to host; the lengths must be equal.
    pub fn read(&self, into: &mut [T]) -> Result<(), DeviceError> {
        self.check_length(into.len())?;
        self.memory.read(0, bytemuck::cast_slice_mut(into))
    }
    /// Host to device, from element `first` on.
    pub fn write_from(&mut self, first: usize, from: &[T]) -> Result<(), DeviceError> {
        let first_byte = self.check_range(first, from.len())?;
        self.memory.write(first_byte, bytemuck::cast_slice(from))
    }
    /// Device to host, from element `first` on.
    pub fn read_from(&self, first: usize, into: &mut [T]) -> Result<(), DeviceError> {
        let first_byte = self.check_range(first, into.len())?;
        self.memory.read(first_byte, bytemuck::cast_slice_mut(into))
    }
    /// Every byte.
    pub fn fill_bytes(&mut self, value: u8) -> Result<(), DeviceError> {
        self.memory.fill(0, self.len * size_of::<T>(), value)
    }
    /// Device to device; the lengths must be equal.
    pub fn copy_from(&mut self, other: &Buffer<T>) -> Result<(), DeviceError> {
        self.check_length(other.len)?;
        self.memory.copy_from(&*other.memory, self.len * size_of::<T>())
    }

    /// The first byte of `len` elements from element `first` on, where the buffer has so many.
    pub(crate) fn check_range(&self, first: usize, len: usize) -> Result<usize, DeviceError> {
        match first.checked_add(len).filter(|&end| end <= self.len) {
            Some(_) => Ok(first * size_of::<T>()),
            None => Err(DeviceError::Length {
                buffer: self.name.clone(),
                has: self.len,
                wanted: first.saturating_add(len),
            }),
        }
    }

    pub(crate) fn check_length(&self, wanted: usize) -> Result<(), DeviceError> {
        if wanted == self.len {
            return Ok(());
        }
        Err(DeviceError::Length { buffer: self.name.clone(), has: self.len, wanted })
    }
}

impl<T: Pod> From<&Buffer<T>> for Argument {
    fn from(buffer: &Buffer<T>) -> Self {
        Argument::of(buffer.address())
    }
}

impl<T: Pod> From<&mut Buffer<T>> for Argument {
    fn from(buffer: &mut Buffer<T>) -> Self {
        Argument::of(buffer.address())
    }
}
