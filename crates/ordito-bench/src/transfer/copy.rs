//! One copy between host and device, up or down, from pageable memory as the driver does it, from pageable memory through our own
//! ring of pinned chunks (as all our products copy), or from pinned memory; the caller waits until it is over.
//! Touches every byte once on each side; what is not pinned is copied once more on its way.
//! Loses when small: below about 100 kB the call costs more than the bytes.

use crate::transfer::{Arrived, Transfer};
use ordito::device::gpu::PinnedBuffer;
use ordito::device::{Buffer, Device};
use ordito::machine::Machine;
use ordito::op::{Description, Place, Prepared, RunError, SourceFile, Variant};
use ordito::refusal::Refusal;
use ordito::source_file;
use std::sync::Arc;

/// Memory of the host.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Host {
    /// As any program has it; the driver stages it.
    Pageable,
    /// The same memory, staged by us.
    Staged,
    /// Fixed in place, so that the device reads and writes it itself.
    Pinned,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Upload,
    Download,
}

pub(crate) struct Copy {
    host: Host,
    direction: Direction,
    pub(crate) description: Description,
}

const FILE: SourceFile = source_file!("transfer/copy.rs");

pub(crate) const PAGEABLE_UPLOAD: Copy = Copy {
    host: Host::Pageable,
    direction: Direction::Upload,
    description: Description::new(
        "pageable-cuda-upload",
        "host → device from memory as any program has it, staged by the driver",
        Place::Cuda,
        FILE,
    ),
};
pub(crate) const STAGED_UPLOAD: Copy = Copy {
    host: Host::Staged,
    direction: Direction::Upload,
    description: Description::new(
        "staged-cuda-upload",
        "host → device from memory as any program has it, through our ring of pinned chunks",
        Place::Cuda,
        FILE,
    ),
};
pub(crate) const PINNED_UPLOAD: Copy = Copy {
    host: Host::Pinned,
    direction: Direction::Upload,
    description: Description::new(
        "pinned-cuda-upload",
        "host → device from pinned memory",
        Place::Cuda,
        FILE,
    ),
};
pub(crate) const PAGEABLE_DOWNLOAD: Copy = Copy {
    host: Host::Pageable,
    direction: Direction::Download,
    description: Description::new(
        "pageable-cuda-download",
        "device → host into memory as any program has it, staged by the driver",
        Place::Cuda,
        FILE,
    ),
};
pub(crate) const STAGED_DOWNLOAD: Copy = Copy {
    host: Host::Staged,
    direction: Direction::Download,
    description: Description::new(
        "staged-cuda-download",
        "device → host into memory as any program has it, through our ring of pinned chunks",
        Place::Cuda,
        FILE,
    ),
};
pub(crate) const PINNED_DOWNLOAD: Copy = Copy {
    host: Host::Pinned,
    direction: Direction::Download,
    description: Description::new(
        "pinned-cuda-download",
        "device → host into pinned memory",
        Place::Cuda,
        FILE,
    ),
};

impl Variant<Transfer> for Copy {
    fn describe(&self) -> &Description {
        &self.description
    }
    fn prepare(
        &self,
        machine: &Arc<Machine>,
        &bytes: &usize,
    ) -> Result<Box<dyn Prepared<Transfer>>, Refusal> {
        let device = machine.device()?;
        machine.check_memory(format!("{bytes} bytes on the host"), Some(bytes as u64))?;
        let host = match (self.host, device.gpu()) {
            (Host::Pageable | Host::Staged, _) => Memory::Pageable(vec![0; bytes]),
            (Host::Pinned, Some(gpu)) => Memory::Pinned(gpu.pinned(bytes)?),
            (Host::Pinned, None) => {
                return Err(Refusal::NotEmulated("the emulator's memory is the host's".into()));
            }
        };
        let on_device = device.allocate("the bytes to be copied", bytes)?;
        let is_staged = self.host == Host::Staged;
        Ok(Box::new(Ready { direction: self.direction, is_staged, host, on_device, device, loaded: None }))
    }
}

enum Memory {
    Pageable(Vec<u8>),
    Pinned(PinnedBuffer<u8>),
}

impl Memory {
    fn bytes(&self) -> &[u8] {
        match self {
            Memory::Pageable(bytes) => bytes,
            Memory::Pinned(bytes) => bytes.as_slice(),
        }
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Memory::Pageable(bytes) => bytes,
            Memory::Pinned(bytes) => bytes.as_mut_slice(),
        }
    }
}

struct Ready {
    direction: Direction,
    is_staged: bool,
    host: Memory,
    on_device: Buffer<u8>,
    device: Device,
    loaded: Option<Arc<Vec<u8>>>,
}

/// What was not copied shows, unless every byte of it was this one.
const POISON: u8 = 0xFF;

impl Prepared<Transfer> for Ready {
    fn load(&mut self, inputs: &Arc<Vec<u8>>) -> Result<(), RunError> {
        if inputs.len() != self.on_device.len() {
            let (found, expected) = (inputs.len().to_string(), self.on_device.len().to_string());
            return Err(RunError::Shape { what: "the number of bytes", found, expected });
        }
        match self.direction {
            Direction::Upload => self.host.bytes_mut().copy_from_slice(inputs),
            Direction::Download => self.on_device.write(inputs)?,
        }
        self.loaded = Some(inputs.clone());
        Ok(())
    }

    fn reset(&mut self) -> Result<(), RunError> {
        match self.direction {
            Direction::Upload => self.on_device.fill_bytes(POISON)?,
            Direction::Download => self.host.bytes_mut().fill(POISON),
        }
        Ok(())
    }

    fn run(&mut self) -> Result<(), RunError> {
        if self.loaded.is_none() {
            return Err(RunError::NotLoaded);
        }
        let (host, on_device) = (&mut self.host, &mut self.on_device);
        match (self.direction, self.is_staged) {
            (Direction::Upload, false) => on_device.write(host.bytes())?,
            (Direction::Upload, true) => self.device.write_into(host.bytes(), on_device)?,
            (Direction::Download, false) => on_device.read(host.bytes_mut())?,
            (Direction::Download, true) => self.device.read_into(on_device, host.bytes_mut())?,
        }
        Ok(())
    }

    fn fetch(&mut self) -> Result<Arrived, RunError> {
        match self.direction {
            Direction::Download => Ok(Arrived(self.host.bytes().to_vec())),
            Direction::Upload => {
                let mut arrived = vec![0; self.on_device.len()];
                self.on_device.read(&mut arrived)?;
                Ok(Arrived(arrived))
            }
        }
    }
}
