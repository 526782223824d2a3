//! One copy between host and device, pageable or pinned, up or down; the caller waits until it is over.
//! Touches every byte once on each side; pageable memory goes through the driver's own pinned buffers.
//! Loses when small: below about 100 kB the call costs more than the bytes.

use crate::transfer::{Arrived, Transfer};
use ordito::device::Buffer;
use ordito::device::gpu::PinnedBuffer;
use ordito::machine::Machine;
use ordito::op::{Description, Place, Prepared, RunError, SourceFile, Variant};
use ordito::refusal::Refusal;
use ordito::source_file;
use std::sync::Arc;

/// Memory of the host.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Host {
    /// As any program has it.
    Pageable,
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
        "host → device from memory as any program has it",
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
        "device → host into memory as any program has it",
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
            (Host::Pageable, _) => Memory::Pageable(vec![0; bytes]),
            (Host::Pinned, Some(gpu)) => Memory::Pinned(gpu.pinned(bytes)?),
            (Host::Pinned, None) => {
                return Err(Refusal::NotEmulated("the emulator's memory is the host's".into()));
            }
        };
        let on_device = device.allocate("the bytes to be copied", bytes)?;
        Ok(Box::new(Ready { direction: self.direction, host, on_device, loaded: None }))
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
    host: Memory,
    on_device: Buffer<u8>,
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
        match self.direction {
            Direction::Upload => self.on_device.write(self.host.bytes())?,
            Direction::Download => self.on_device.read(self.host.bytes_mut())?,
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
