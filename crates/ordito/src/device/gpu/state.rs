//! How warm a GPU is and how fast it is clocked at a moment: a time means little without it. Neither CUDA nor its
//! libraries tell; `nvidia-smi`, which comes with the driver, does.

use crate::device::gpu::Gpu;
use crate::device::gpu::driver::GpuInfo;
use crate::device::gpu::libraries::Library;
use std::process::Command;

/// A GPU at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GpuState {
    /// Clock of the multiprocessors.
    pub sm_clock_mhz: f64,
    /// Clock of the memory.
    pub memory_clock_mhz: f64,
    /// Of the chip.
    pub temperature_celsius: f64,
    /// Drawn at the moment.
    pub power_watts: f64,
}

impl GpuState {
    /// Asks `nvidia-smi`; nothing where it is missing or does not know.
    pub fn now(gpu: &GpuInfo) -> Option<Self> {
        let query = "--query-gpu=clocks.sm,clocks.mem,temperature.gpu,power.draw";
        let answer = Command::new("nvidia-smi")
            .args([query, "--format=csv,noheader,nounits", "-i", &gpu.pci_bus_id])
            .output()
            .ok()
            .filter(|answer| answer.status.success())?;
        GpuState::parse(&String::from_utf8_lossy(&answer.stdout))
    }

    fn parse(line: &str) -> Option<Self> {
        let numbers: Vec<f64> = line.trim().split(',').map_while(|field| field.trim().parse().ok()).collect();
        let [sm_clock_mhz, memory_clock_mhz, temperature_celsius, power_watts] = numbers[..] else {
            return None;
        };
        Some(GpuState { sm_clock_mhz, memory_clock_mhz, temperature_celsius, power_watts })
    }
}

/// The GPU that something was measured on.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GpuFingerprint {
    /// Its name, its memory, where it is plugged in.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub gpu: GpuInfo,
    /// The newest CUDA that its driver knows.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub driver: Option<String>,
    /// The compiler of its kernels.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub nvrtc: Option<String>,
    /// Before anything ran.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub before: Option<GpuState>,
    /// After everything ran.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub after: Option<GpuState>,
}

impl GpuFingerprint {
    /// Of this GPU, now.
    pub fn new(gpu: &Gpu) -> Self {
        let version = |library: Library| library.find().ok()?.version.map(|version| version.to_string());
        GpuFingerprint {
            gpu: gpu.info().clone(),
            driver: version(Library::Cuda),
            nvrtc: version(Library::Nvrtc),
            before: GpuState::now(gpu.info()),
            after: None,
        }
    }

    /// This fingerprint, with the state of the GPU now as the one after.
    pub fn closed(&self) -> Self {
        GpuFingerprint { after: GpuState::now(&self.gpu), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_nvidia_smi_becomes_numbers() {
        let state = GpuState::parse("1980, 3201, 37, 121.45\n").unwrap();
        assert_eq!((state.sm_clock_mhz, state.memory_clock_mhz), (1980.0, 3201.0));
        assert_eq!((state.temperature_celsius, state.power_watts), (37.0, 121.45));
        assert_eq!(GpuState::parse("1980, [N/A], 37, 121\n"), None);
        assert_eq!(GpuState::parse(""), None);
    }
}
