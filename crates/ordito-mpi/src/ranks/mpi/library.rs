//! MPI's library: found, opened once per process, never closed. Nothing is initialised.

use crate::ranks::RanksError;
use crate::ranks::mpi::abi::{Abi, Flavour, Handle};
use crate::ranks::mpi::functions::{Functions, address, function};
use crate::ranks::mpi::launched::{Launcher, launcher};
use crate::ranks::mpi::search;
use std::ffi::c_int;
use std::sync::{Mutex, PoisonError};

/// Which MPI to use: a file, or a name that the loader knows.
pub const LIBRARY_VARIABLE: &str = "ORDITO_MPI";

/// What to do where there is none.
const REMEDY: &str = "`pip install mpich` into the active environment, or `apt install libopenmpi3 openmpi-bin`; ORDITO_MPI names the file of another";

/// An MPI that is open, with every function that is called.
pub(crate) struct Library {
    pub(crate) abi: Abi,
    pub(crate) functions: Functions,
    /// Its file, as the system mapped it; its name where that is not known.
    pub(crate) path: String,
    /// The first line of what it says of itself.
    pub(crate) version: String,
    /// Where it can be asked.
    cuda_support: Option<unsafe extern "C" fn() -> c_int>,
    /// A communicator of Fortran's, and of mpi4py's `py2f`.
    from_int: Option<unsafe extern "C" fn(c_int) -> Handle>,
}

impl Library {
    /// Finds and opens it; the same one ever after.
    pub(crate) fn open() -> Result<&'static Library, RanksError> {
        static OPENED: Mutex<Option<&Library>> = Mutex::new(None);
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(library) = *opened {
            return Ok(library);
        }
        let library = &*Box::leak(Box::new(find().map_err(RanksError::NoMpi)?));
        Ok(opened.insert(library))
    }

    /// Does it read and write memory of GPUs? MPI is initialised.
    pub(crate) fn is_cuda_aware(&self) -> bool {
        // SAFETY: it has no arguments, and MPI is initialised.
        self.cuda_support.is_some_and(|ask| unsafe { ask() } == 1)
    }

    /// The communicator that Fortran knows by this number.
    pub(crate) fn communicator(&self, number: c_int) -> Handle {
        match (self.abi.flavour, self.from_int) {
            // The same number in both languages.
            (Flavour::Mpich, _) => number as u32 as Handle,
            // SAFETY: a number that is none gives the null communicator.
            (_, Some(from_int)) => unsafe { from_int(number) },
            (_, None) => self.abi.comm_null,
        }
    }

    /// Does this launcher surely belong to another MPI?
    pub(crate) fn is_foreign_to(&self, launcher: Launcher) -> bool {
        match launcher {
            Launcher::OpenMpi => self.version.starts_with("MPICH"),
            Launcher::Mpich => self.version.starts_with("Open MPI"),
            Launcher::Pmi | Launcher::Slurm => false,
        }
    }

    /// "Open MPI v5.0.1, /lib/libmpi.so.40"
    pub(crate) fn in_words(&self) -> String {
        format!("{}, {}", self.version, self.path)
    }
}

fn find() -> Result<Library, String> {
    if !cfg!(all(target_os = "linux", target_pointer_width = "64", target_endian = "little")) {
        return Err("MPI is opened on 64-bit Linux only".to_owned());
    }
    if let Some(asked) = std::env::var_os(LIBRARY_VARIABLE) {
        let asked = asked.to_string_lossy();
        return open(&asked).map_err(|why| format!("{LIBRARY_VARIABLE} is {asked:?}: {why}"));
    }
    let launcher = launcher(|name| std::env::var(name).ok()).map(|launched| launched.by);
    let mut failure = None;
    for candidate in search::candidates(launcher) {
        match open(&candidate) {
            Ok(library) => return Ok(library),
            // The loader's sentence begins with the file that is missing: this one, or one that it needs.
            Err(why)
                if why.starts_with(&format!("{candidate}: cannot open shared object file: No such file")) => {
            }
            Err(why) => {
                failure.get_or_insert(why);
            }
        }
    }
    Err(match failure {
        Some(why) => format!("MPI cannot be used: {why} ({REMEDY})"),
        None => format!("no MPI was found: {REMEDY}"),
    })
}

fn open(name: &str) -> Result<Library, String> {
    let library = load(name)?;
    // It must not be closed: an MPI leaves threads and handlers of exit behind.
    let library: &'static libloading::Library = Box::leak(Box::new(library));
    let lacks = |function: &str| format!("{name} lacks {function}: it is no MPI, or older than MPI 3");
    let known = address(library, "MPI_Init_thread").ok_or_else(|| lacks("MPI_Init_thread"))?;
    // SAFETY: it has the function that every MPI has and nothing else; it is never closed.
    let functions = unsafe { Functions::new(library) }.map_err(lacks)?;
    let path = mapped_file(known).unwrap_or_else(|| name.to_owned());
    let version = functions.version().unwrap_or_default();
    let abi = Abi::of(|variable| address(library, variable), &path, &version).ok_or_else(|| {
        format!("{name} is neither Open MPI nor MPICH nor of the standard ABI: {}", first_line(&version))
    })?;
    // SAFETY: the types of these functions.
    let (cuda_support, from_int) = unsafe {
        let from_int = function(library, "MPI_Comm_fromint").or_else(|| function(library, "MPI_Comm_f2c"));
        (function(library, "MPIX_Query_cuda_support"), from_int)
    };
    Ok(Library { abi, functions, path, version: first_line(&version), cuda_support, from_int })
}

/// MPICH's first line is "MPICH Version:      5.0.2", Open MPI's "Open MPI v5.0.11, package: …".
fn first_line(version: &str) -> String {
    let line = version.lines().next().unwrap_or_default();
    let line = line.split(", package").next().unwrap_or_default().replace("Version:", "");
    ordito::text::for_one_line(&line.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}

/// Opens it for all: parts of Open MPI that it opens by itself look for its functions among those of the process.
#[cfg(unix)]
fn load(name: &str) -> Result<libloading::Library, String> {
    use libloading::os::unix;
    // SAFETY: the name is one of an MPI's, whose initialisers have no preconditions.
    let opened = unsafe { unix::Library::open(Some(name), unix::RTLD_NOW | unix::RTLD_GLOBAL) };
    opened.map(Into::into).map_err(|error| {
        let mut cause: &dyn std::error::Error = &error;
        while let Some(next) = cause.source() {
            cause = next;
        }
        cause.to_string()
    })
}

#[cfg(not(unix))]
fn load(name: &str) -> Result<libloading::Library, String> {
    Err(format!("{name} cannot be opened on this system"))
}

/// The file that this address is mapped from, as Linux tells.
fn mapped_file(address: usize) -> Option<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| {
        let (start, end) = line.split_whitespace().next()?.split_once('-')?;
        let within = usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?;
        let path = &line[line.find('/')?..];
        within.contains(&address).then(|| path.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_told_in_a_line() {
        assert_eq!(first_line("MPICH Version:      5.0.2\nMPICH Release date: x"), "MPICH 5.0.2");
        assert_eq!(first_line("Open MPI v5.0.11, package: Open MPI root@host"), "Open MPI v5.0.11");
        assert_eq!(first_line(""), "");
    }

    #[test]
    fn what_is_no_mpi_is_refused_by_name() {
        assert!(open("libm.so.6").err().unwrap().contains("libm.so.6 lacks MPI_Init_thread"));
        assert!(open("/nowhere/libmpi.so").err().unwrap().contains("/nowhere/libmpi.so: cannot open"));
    }
}
