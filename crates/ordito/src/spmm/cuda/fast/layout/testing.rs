//! For tests of layouts: the emulator, which checks every access of the kernels that make them.

use crate::device::{Buffer, Device, Emulator};
use bytemuck::Pod;

/// Said aloud where there is none, and a failure with `ORDITO_REQUIRE_EMULATOR=1`.
pub(crate) fn emulated() -> Option<Device> {
    match Emulator::open() {
        Ok(emulator) => Some(Device::Emulator(emulator)),
        Err(refusal) => {
            let required = std::env::var("ORDITO_REQUIRE_EMULATOR").is_ok_and(|value| value == "1");
            assert!(!required, "ORDITO_REQUIRE_EMULATOR=1, but: {refusal}");
            None
        }
    }
}

/// What is there.
pub(crate) fn read<T: Pod>(buffer: &Buffer<T>) -> Vec<T> {
    let mut read = vec![T::zeroed(); buffer.len()];
    buffer.read(&mut read).unwrap();
    read
}
