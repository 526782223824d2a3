//! How long upload, kernels and download of one product took: by events on a GPU, where nothing is waited for in between,
//! by the wall clock in the emulator, where everything is done at once.

#[cfg(feature = "cuda")]
use crate::device::gpu::Event;
use crate::device::{Device, DeviceError};
use crate::op::Phases;
#[cfg(feature = "emulator")]
use std::time::Instant;

/// Marks before, between and behind the three phases.
#[cfg(feature = "cuda")]
const MARKS: usize = 4;

pub(crate) enum PhaseClock {
    #[cfg(feature = "cuda")]
    Events(Vec<Event>),
    #[cfg(feature = "emulator")]
    Wall(Vec<Instant>),
}

impl PhaseClock {
    pub(crate) fn new(device: &Device) -> Result<Self, DeviceError> {
        Ok(match device {
            #[cfg(feature = "cuda")]
            Device::Cuda(gpu) => {
                PhaseClock::Events((0..MARKS).map(|_| Event::new(gpu)).collect::<Result<_, _>>()?)
            }
            #[cfg(feature = "emulator")]
            Device::Emulator(_) => PhaseClock::Wall(Vec::new()),
        })
    }

    /// The mark of this number, 0 to 3, in this order.
    pub(crate) fn mark(&mut self, device: &Device, number: usize) -> Result<(), DeviceError> {
        match self {
            #[cfg(feature = "cuda")]
            PhaseClock::Events(events) => match (events.get(number), device.gpu()) {
                (Some(event), Some(gpu)) => event.record(gpu.stream()),
                _ => Ok(()),
            },
            #[cfg(feature = "emulator")]
            PhaseClock::Wall(moments) => {
                let _ = device; // only a GPU has marks of its own
                moments.truncate(number);
                moments.push(Instant::now());
                Ok(())
            }
        }
    }

    /// The phases between the marks, waiting for the last one.
    pub(crate) fn phases(&self) -> Result<Phases, DeviceError> {
        let between = |number: usize| match self {
            #[cfg(feature = "cuda")]
            PhaseClock::Events(events) => Event::elapsed_ns(&events[number], &events[number + 1]).map(Some),
            #[cfg(feature = "emulator")]
            PhaseClock::Wall(moments) => {
                let pair = moments.get(number).zip(moments.get(number + 1));
                Ok(pair.map(|(start, end)| (*end - *start).as_nanos() as f64))
            }
        };
        Ok(Phases {
            upload_ns: between(0)?,
            run_ns: between(1)?,
            download_ns: between(2)?,
            ..Phases::default()
        })
    }
}
