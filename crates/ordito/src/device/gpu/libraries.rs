//! NVIDIA's libraries, found and opened at run time. Nothing is called before [`Library::find`] has seen the library and
//! every function in it that is needed.

use crate::device::gpu::loader::{address, by_name, file_of, loaders_words};
use crate::device::gpu::{api, search};
use crate::refusal::Refusal;
use std::ffi::c_int;
use std::fmt;
use std::path::Path;
use std::sync::OnceLock;

/// A library of NVIDIA's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Library {
    /// The driver.
    Cuda,
    /// The compiler of kernels.
    Nvrtc,
    /// Sparse matrices, to compare with.
    Cusparse,
    /// Dense matrices, to compare with.
    Cublas,
}

/// A library that was opened and has every function that is called.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Found {
    /// The file, as the system mapped it; its name where that is not known.
    pub path: String,
    /// Its version, where it tells.
    pub version: Option<Version>,
}

/// `13.0`, `12.6.3`: releases of CUDA for driver and compiler, a library's own count for the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Version {
    /// The first number.
    pub major: u32,
    /// The second.
    pub minor: u32,
    /// The third, where there is one.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub patch: Option<u32>,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        self.patch.map_or(Ok(()), |patch| write!(f, ".{patch}"))
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Some(version) => write!(f, "{version}, {}", self.path),
            None => write!(f, "version unknown, {}", self.path),
        }
    }
}

/// The oldest driver whose functions are relied on.
const OLDEST_DRIVER: Version = Version { major: 12, minor: 0, patch: None };

impl Library {
    /// All of them.
    pub const ALL: [Library; 4] = [Library::Cuda, Library::Nvrtc, Library::Cusparse, Library::Cublas];

    /// `libnvrtc.so`: as messages name it.
    pub fn file(self) -> &'static str {
        match self {
            Library::Cuda => "libcuda.so.1",
            Library::Nvrtc => "libnvrtc.so",
            Library::Cusparse => "libcusparse.so",
            Library::Cublas => "libcublas.so",
        }
    }

    /// The functions that it must have.
    pub fn functions(self) -> &'static [&'static str] {
        match self {
            Library::Cuda => api::driver::NAMES,
            Library::Nvrtc => api::nvrtc::NAMES,
            Library::Cusparse => api::cusparse::NAMES,
            Library::Cublas => api::cublas::NAMES,
        }
    }

    /// What to do where it is missing or too old.
    fn remedy(self) -> &'static str {
        match self {
            Library::Cuda => "install or update the NVIDIA driver (`nvidia-smi` must work)",
            Library::Nvrtc => "install the CUDA toolkit or `pip install nvidia-cuda-nvrtc`",
            Library::Cusparse => "install the CUDA toolkit or `pip install nvidia-cusparse`",
            Library::Cublas => "install the CUDA toolkit or `pip install nvidia-cublas`",
        }
    }

    fn refusal(self, why: String) -> Refusal {
        match self {
            Library::Cuda => Refusal::NoGpu(why),
            _ => Refusal::NoLibrary(why),
        }
    }

    /// Opens it, once per process, and looks for every function.
    pub fn find(self) -> Result<&'static Found, Refusal> {
        self.opened().map(|opened| &opened.found)
    }

    fn opened(self) -> Result<&'static Opened, Refusal> {
        static OPENED: [OnceLock<Result<Opened, Refusal>>; 4] = [const { OnceLock::new() }; 4];
        OPENED[self as usize].get_or_init(|| self.open()).as_ref().map_err(Clone::clone)
    }

    fn open(self) -> Result<Opened, Refusal> {
        let (library, name) = self.load().map_err(|why| self.refusal(why))?;
        let known = self.functions().iter().find_map(|function| address(&library, function));
        let path = known.and_then(file_of).unwrap_or(name);
        let found = Found { path, version: self.version(&library) };
        if self == Library::Cuda && found.version.is_some_and(|version| version < OLDEST_DRIVER) {
            return Err(self.refusal(format!(
                "the NVIDIA driver is for CUDA {found}; CUDA {OLDEST_DRIVER} or newer is needed: update the driver (525 or newer)"
            )));
        }
        // SAFETY: the library was found under its name, and lives in a static from here on.
        let loaded = unsafe {
            match self {
                Library::Cuda => api::driver::load(&library),
                Library::Nvrtc => api::nvrtc::load(&library),
                Library::Cusparse => api::cusparse::load(&library),
                Library::Cublas => api::cublas::load(&library),
            }
        };
        match loaded {
            Ok(()) => Ok(Opened { _library: library, found }),
            Err(missing) => {
                let (file, remedy) = (self.file(), self.remedy());
                Err(self.refusal(format!(
                    "{file} ({found}) is too old or damaged, it has no function {missing}; {remedy}"
                )))
            }
        }
    }

    fn load(self) -> Result<(libloading::Library, String), String> {
        let names = self.names();
        let mut failure = match by_name(&names) {
            Ok(found) => return Ok(found),
            Err(failure) => failure,
        };
        for folder in search::folders(self) {
            for path in names.iter().map(|name| folder.join(name)).filter(|path| path.is_file()) {
                self.load_companions(&folder);
                // SAFETY: the file has the name of a library of NVIDIA's, whose initialisers have no preconditions.
                match unsafe { libloading::Library::new(&path) } {
                    // Never unloaded: from now on the loader finds it by the name that it carries inside.
                    Ok(library) => std::mem::forget(library),
                    Err(error) => {
                        failure.get_or_insert_with(|| loaders_words(&error));
                        continue;
                    }
                }
                match by_name(&names) {
                    Ok(found) => return Ok(found),
                    Err(_) => failure = Some(format!("{} has an unknown version", path.display())),
                }
            }
        }
        let what = if self == Library::Cuda { "no NVIDIA driver: " } else { "" };
        let (file, places, remedy) = (self.file(), search::places(self), self.remedy());
        Err(match failure {
            Some(why) => format!("{file} is there but cannot be loaded ({why}); {remedy}"),
            None => format!("{what}{file} was not found {places}; {remedy}"),
        })
    }

    /// File names, in the order in which they are tried: first without a version, which is what the system prefers.
    fn names(self) -> Vec<String> {
        let stems: &[&str] = match self {
            Library::Cuda => &["cuda", "nvcuda"],
            Library::Nvrtc => &["nvrtc"],
            Library::Cusparse => &["cusparse"],
            Library::Cublas => &["cublas"],
        };
        let endings: &[&str] = if cfg!(windows) {
            &["", "64", "64_13", "64_130", "64_130_0", "64_12", "64_11", "64_10", "64_9"]
        } else {
            &["", ".13", ".12", ".11", ".10", ".9", ".1"]
        };
        let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
        let mut names = Vec::new();
        for stem in stems {
            names.extend(endings.iter().map(|ending| match cfg!(windows) {
                true => format!("{prefix}{stem}{ending}{suffix}"),
                false => format!("{prefix}{stem}{suffix}{ending}"),
            }));
        }
        names
    }

    /// Libraries that this one loads by name when it is used. Wheels do not say where they lie (NVRTC's has no run
    /// path to its built-ins), so they are loaded beforehand; what cannot be loaded is missed later, by name.
    fn load_companions(self, folder: &Path) {
        let (companion, elsewhere) = match self {
            Library::Cuda => return,
            Library::Nvrtc => ("libnvrtc-builtins.so", false), // must be of the same release
            Library::Cusparse => ("libnvJitLink.so", true),
            Library::Cublas => ("libcublasLt.so", true),
        };
        let mut folders = vec![folder.to_path_buf()];
        if elsewhere {
            folders.extend(search::folders(self));
        }
        if let Some(file) = folders.iter().find_map(|folder| search::entries(folder, companion).next()) {
            // SAFETY: as for the library itself.
            if let Ok(library) = unsafe { libloading::Library::new(file) } {
                std::mem::forget(library);
            }
        }
    }

    /// Asked before the other functions are looked for, so that a library too old to have them still tells.
    fn version(self, library: &libloading::Library) -> Option<Version> {
        type OneNumber = unsafe extern "C" fn(*mut c_int) -> u32;
        type TwoNumbers = unsafe extern "C" fn(*mut c_int, *mut c_int) -> u32;
        type Property = unsafe extern "C" fn(u32, *mut c_int) -> u32;
        let (mut first, mut second) = (0, 0);
        let number = |number: c_int| u32::try_from(number).ok();
        match self {
            // SAFETY: the function has had this type since CUDA 2, needs no initialisation and writes one number.
            Library::Cuda => unsafe {
                let ask = library.get::<OneNumber>("cuDriverGetVersion").ok()?;
                let code = ask(&mut first);
                let release = number(first).filter(|&release| code == 0 && release > 0)?;
                Some(Version { major: release / 1000, minor: release % 1000 / 10, patch: None })
            },
            // SAFETY: the function has had this type since CUDA 7 and writes two numbers.
            Library::Nvrtc => unsafe {
                let ask = library.get::<TwoNumbers>("nvrtcVersion").ok()?;
                let code = ask(&mut first, &mut second);
                let (major, minor) = (number(first)?, number(second)?);
                (code == 0).then_some(Version { major, minor, patch: None })
            },
            Library::Cusparse | Library::Cublas => {
                let name =
                    if self == Library::Cusparse { "cusparseGetProperty" } else { "cublasGetProperty" };
                let property = |which: u32| {
                    let mut value = 0;
                    // SAFETY: the function has had this type since CUDA 8, needs no handle and writes one number.
                    let code = unsafe { library.get::<Property>(name).ok()?(which, &mut value) };
                    number(value).filter(|_| code == 0)
                };
                Some(Version { major: property(0)?, minor: property(1)?, patch: property(2) })
            }
        }
    }
}

/// Never closed: lives in a static.
#[derive(Debug)]
struct Opened {
    _library: libloading::Library,
    found: Found,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_read_and_compare_as_numbers() {
        let version = |major, minor, patch| Version { major, minor, patch };
        assert_eq!(version(12, 6, Some(3)).to_string(), "12.6.3");
        assert!(version(11, 8, None) < OLDEST_DRIVER && version(12, 0, None) >= OLDEST_DRIVER);
    }

    #[test]
    fn what_is_missing_is_a_sentence_and_what_is_there_has_a_path() {
        for library in Library::ALL {
            match library.find() {
                Ok(found) => assert!(found.path.contains("lib"), "{found}"),
                Err(refusal) => assert!(refusal.to_string().contains("install"), "{refusal}"),
            }
        }
    }
}
