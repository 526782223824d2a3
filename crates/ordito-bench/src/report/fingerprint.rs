//! Where and with what something was measured: without it a time says nothing.

use crate::report::record::SCHEMA;
use crate::sample::{Ceilings, DeviceCeilings};
use ordito::cpu::CpuInfo;
use ordito::device::gpu::GpuFingerprint;
use serde::{Deserialize, Serialize};
use std::time::SystemTime;

/// The first line of `samples.json`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Fingerprint {
    /// Version of the fields.
    pub schema: u32,
    /// Always `fingerprint`: tells this line from a record.
    pub kind: String,
    /// Version of Ordito.
    pub version: String,
    /// When, in UTC (RFC 3339).
    pub date: String,
    /// The command, quoted so that a shell repeats it.
    pub command: String,
    /// Operating system.
    pub os: String,
    /// Architecture.
    pub arch: String,
    /// The processor and the memory.
    pub cpu: CpuInfo,
    /// Threads that may run at once.
    pub threads: usize,
    /// The compiler that built Ordito.
    pub compiler: String,
    /// `release` or `debug`: times of a debug build are worth nothing.
    pub profile: String,
    /// What the machine can do at best, one per number of threads that was used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ceilings: Vec<Ceilings>,
    /// The GPU, where one was used: its clocks and temperature before and after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<GpuFingerprint>,
    /// What the GPU can do at best, where one was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_ceilings: Option<DeviceCeilings>,
    /// Inputs of a suite that were not found, and so not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Was it ended before everything that was asked for had run?
    #[serde(skip_serializing_if = "is_false")]
    pub interrupted: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// The value of [`Fingerprint::kind`].
pub const KIND: &str = "fingerprint";

impl Fingerprint {
    /// Of this build on this machine, now.
    ///
    /// ```
    /// use ordito::cpu::CpuInfo;
    /// use ordito_bench::report::Fingerprint;
    /// let fingerprint = Fingerprint::new(&CpuInfo::detect(), ["ordito", "bench", "--variant", "csr-*"]);
    /// assert_eq!(fingerprint.command, "ordito bench --variant 'csr-*'");
    /// ```
    pub fn new<T: AsRef<str>>(cpu: &CpuInfo, arguments: impl IntoIterator<Item = T>) -> Self {
        Fingerprint::at(SystemTime::now(), cpu, arguments)
    }

    /// What was measured of the CPU with so many threads.
    pub fn ceilings_of(&self, threads: Option<u64>) -> Option<&Ceilings> {
        self.ceilings.iter().find(|ceilings| Some(ceilings.threads as u64) == threads)
    }

    /// The same at another moment, for tests.
    pub fn at<T: AsRef<str>>(
        moment: SystemTime,
        cpu: &CpuInfo,
        arguments: impl IntoIterator<Item = T>,
    ) -> Self {
        let words: Vec<String> = arguments.into_iter().map(|word| shell_word(word.as_ref())).collect();
        Fingerprint {
            schema: SCHEMA,
            kind: KIND.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            date: humantime::format_rfc3339_seconds(moment).to_string(),
            command: words.join(" "),
            os: cpu.os.clone(),
            arch: cpu.arch.clone(),
            cpu: cpu.clone(),
            threads: cpu.logical_cores,
            compiler: env!("ORDITO_RUSTC").to_owned(),
            profile: env!("ORDITO_PROFILE").to_owned(),
            ceilings: Vec::new(),
            gpu: None,
            device_ceilings: None,
            left_out: Vec::new(),
            interrupted: false,
        }
    }
}

/// In single quotes unless no shell would touch it.
fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+:,./@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_command_can_be_repeated() {
        for (word, expected) in [
            ("stencil27:100", "stencil27:100"),
            ("--k=8,32", "--k=8,32"),
            ("csr-*", "'csr-*'"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
            ("matrice è", "'matrice è'"),
        ] {
            assert_eq!(shell_word(word), expected);
        }
    }

    #[test]
    fn dates_are_utc_and_the_line_comes_back() {
        let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let cpu = CpuInfo { model: "Example".to_owned(), logical_cores: 4, ..CpuInfo::default() };
        let fingerprint = Fingerprint::at(moment, &cpu, ["ordito"]);
        assert_eq!(fingerprint.date, "2023-11-14T22:13:20Z");
        assert!(fingerprint.compiler.contains("rustc") && !fingerprint.profile.is_empty());
        let line = serde_json::to_string(&fingerprint).unwrap();
        assert!(line.starts_with(r#"{"schema":1,"kind":"fingerprint""#), "{line}");
        assert_eq!(serde_json::from_str::<Fingerprint>(&line).unwrap(), fingerprint);
    }
}
