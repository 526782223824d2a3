#[cfg(all(feature = "emulator", feature = "io"))]
mod on_device;
