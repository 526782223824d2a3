//! Empties the last-level cache of a GPU between samples, by reading something else.

use ordito::device::{Argument, Buffer, Device, DeviceError, Kernel, KernelSource, LaunchPlan};
use ordito::refusal::Refusal;
use std::sync::Mutex;

/// The buffer is so many times as large as the cache: a cache does not always throw out what was used longest ago.
const TIMES_THE_CACHE: u64 = 4;
/// What a thread reads at a time.
const WORD_BYTES: u64 = 16;
const THREADS_PER_BLOCK: u32 = 512;

/// A buffer larger than the device's last-level cache; reading it pushes everything else out and leaves nothing behind
/// that has to be written back while the next run is timed. Without a compiler for the kernel that reads, the buffer is
/// filled instead, and the run after it pays for some of that.
#[derive(Debug)]
pub struct DeviceFlush {
    buffer: Mutex<Buffer<u8>>,
    reading: Option<Reading>,
}

#[derive(Debug)]
struct Reading {
    kernel: Kernel,
    plan: LaunchPlan,
    never_written: Buffer<u32>,
}

impl Reading {
    fn new(device: &Device) -> Result<Self, Refusal> {
        let limits = device.limits();
        let blocks_per_multiprocessor = limits.threads_per_multiprocessor / THREADS_PER_BLOCK;
        let blocks = u64::from(limits.multiprocessors) * u64::from(blocks_per_multiprocessor.max(1));
        Ok(Reading {
            kernel: device.kernel(&DeviceFlush::kernel())?,
            plan: LaunchPlan::new(limits, [blocks, 1, 1], [THREADS_PER_BLOCK, 1, 1], 0)?,
            never_written: device.allocate("what the reading of the cache's buffer never writes", 1)?,
        })
    }

    fn read(&self, buffer: &Buffer<u8>) -> Result<(), DeviceError> {
        let words = Argument::of(buffer.len() as u64 / WORD_BYTES);
        let arguments = [Argument::from(buffer), words, Argument::from(&self.never_written)];
        // SAFETY: as the kernel declares them; it reads so many words of the buffer, which is given back after what is in its
        // stream.
        unsafe { self.kernel.launch(&self.plan, &arguments) }
    }
}

impl DeviceFlush {
    /// Four times the cache, every bit of it set.
    pub fn new(device: &Device) -> Result<Self, Refusal> {
        let bytes = device.limits().l2_bytes.saturating_mul(TIMES_THE_CACHE).next_multiple_of(WORD_BYTES);
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let mut buffer = device.allocate("the buffer that empties the cache", bytes)?;
        buffer.fill_bytes(0xFF).map_err(|error| Refusal::Device(error.to_string()))?;
        Ok(DeviceFlush { buffer: Mutex::new(buffer), reading: Reading::new(device).ok() })
    }

    /// The kernel that reads.
    pub fn kernel() -> KernelSource {
        KernelSource::new("read_all", "device_flush.cu", include_str!("device_flush.cu"))
    }

    /// Is the cache emptied by reading? Else by writing.
    pub fn reads(&self) -> bool {
        self.reading.is_some()
    }

    /// Enqueues it; should it fail, the run after it says so.
    pub fn flush(&self) {
        let Ok(mut buffer) = self.buffer.lock() else { return };
        let read = self.reading.as_ref().is_some_and(|reading| reading.read(&buffer).is_ok());
        if !read {
            let _ = buffer.fill_bytes(0xFF);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ordito::device::Emulator;
    use std::io::Write;

    /// A bit that is not set anywhere in the buffer is noticed: every word is read, by a grid that is smaller than it.
    #[test]
    fn every_word_is_read() {
        let device = match Emulator::open() {
            Ok(emulator) => Device::Emulator(emulator),
            Err(refusal) => {
                let required = std::env::var("ORDITO_REQUIRE_EMULATOR").is_ok_and(|value| value == "1");
                assert!(!required, "ORDITO_REQUIRE_EMULATOR=1, but: {refusal}");
                let _ = writeln!(std::io::stderr(), "an emulator test is skipped: {refusal}");
                return;
            }
        };
        let plan = LaunchPlan::new(device.limits(), [2, 1, 1], [32, 1, 1], 0).unwrap();
        let reading = Reading { plan, ..Reading::new(&device).unwrap() };
        let set = vec![0xFF_u8; 150 * 16];
        let read = |bytes: &[u8]| {
            reading.read(&device.upload("bytes", bytes).unwrap()).unwrap();
            let mut written = [0];
            reading.never_written.read(&mut written).unwrap();
            written[0]
        };
        assert_eq!(read(&set), u32::MAX);
        for at in [0, 7, 64 * 16 + 5, 128 * 16, set.len() - 1] {
            let mut bytes = set.clone();
            bytes[at] = 0xFE;
            assert_eq!(read(&bytes), u32::MAX - (1 << (at % 4 * 8)), "byte {at}");
        }
    }
}
