//! What tests of kernels share.

use crate::device::{Device, Emulator};
use std::io::Write;

/// Said aloud, and a failure with `ORDITO_REQUIRE_EMULATOR=1`.
pub(crate) fn emulator() -> Option<Device> {
    match Emulator::open() {
        Ok(emulator) => Some(Device::Emulator(emulator)),
        Err(refusal) => {
            let required = std::env::var("ORDITO_REQUIRE_EMULATOR").is_ok_and(|value| value == "1");
            assert!(!required, "ORDITO_REQUIRE_EMULATOR=1, but: {refusal}");
            let _ = writeln!(std::io::stderr(), "an emulator test is skipped: {refusal}");
            None
        }
    }
}
