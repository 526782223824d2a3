//! What a binary sees of an MPI besides its functions: handles, constants, sizes. There are three kinds.

use std::ffi::c_int;
use std::fmt;

/// A communicator, a datatype or a handler of errors, as it is passed to functions.
///
/// Open MPI and the standard ABI have pointers. MPICH has ints: they travel in the low half of the register that a pointer would fill, and
/// functions of 64-bit systems look at no more than that.
pub(crate) type Handle = usize;

/// Whose conventions a library follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// Open MPI 4 and 5, and what descends from it: handles are addresses of variables.
    OpenMpi,
    /// MPICH, Intel MPI, MVAPICH, Cray MPICH: handles are ints.
    Mpich,
    /// The standard ABI of MPI 5, `libmpi_abi.so`: handles are small numbers in pointers.
    Standard,
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Flavour::OpenMpi => "ABI of Open MPI",
            Flavour::Mpich => "ABI of MPICH",
            Flavour::Standard => "standard ABI",
        })
    }
}

/// How many threads may call MPI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThreadLevel {
    /// There is one thread.
    Single,
    /// Only the thread that initialised it.
    Funneled,
    /// Any, one at a time.
    Serialized,
    /// Any, at any time.
    Multiple,
}

impl fmt::Display for ThreadLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ThreadLevel::Single => "single",
            ThreadLevel::Funneled => "funneled",
            ThreadLevel::Serialized => "serialized",
            ThreadLevel::Multiple => "multiple",
        })
    }
}

/// The constants of one kind, under their names in `mpi.h`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Abi {
    pub(crate) flavour: Flavour,
    pub(crate) comm_world: Handle,
    pub(crate) comm_null: Handle,
    pub(crate) byte: Handle,
    pub(crate) errors_return: Handle,
    pub(crate) request_null: Handle,
    /// Of a request in an array of requests.
    pub(crate) request_bytes: usize,
    /// `MPI_STATUS_IGNORE`, and for several too.
    pub(crate) status_ignore: usize,
    pub(crate) any_source: c_int,
    /// From `MPI_THREAD_SINGLE` to `MPI_THREAD_MULTIPLE`.
    pub(crate) thread_levels: [c_int; 4],
}

/// Of MPICH since 3.1, agreed on by those who descend from it.
const MPICH: Abi = Abi {
    flavour: Flavour::Mpich,
    comm_world: 0x4400_0000,
    comm_null: 0x0400_0000,
    byte: 0x4c00_010d,
    errors_return: 0x5400_0001,
    request_null: 0x2c00_0000,
    request_bytes: 4,
    status_ignore: 1,
    any_source: -2,
    thread_levels: [0, 1, 2, 3],
};

/// Of MPI 5, chapter "Application Binary Interface".
const STANDARD: Abi = Abi {
    flavour: Flavour::Standard,
    comm_world: 0x101,
    comm_null: 0x100,
    byte: 0x247,
    errors_return: 0x143,
    request_null: 0x180,
    request_bytes: 8,
    status_ignore: 0,
    any_source: -1,
    thread_levels: [0, 1024, 2048, 4096],
};

/// What versions of libraries that have MPICH's ABI say of themselves.
const MPICH_NAMES: [&str; 3] = ["MPICH", "MVAPICH", "Intel(R) MPI"];

impl Abi {
    /// Which one a library has: `address` looks up its variables, `file` is where it lies, `version` what it says of itself.
    pub(crate) fn of(address: impl Fn(&str) -> Option<usize>, file: &str, version: &str) -> Option<Abi> {
        let is_standard = file.rsplit('/').next().is_some_and(|name| name.starts_with("libmpi_abi"));
        match () {
            () if is_standard => Some(STANDARD),
            () if address("ompi_mpi_comm_world").is_some() => Abi::of_open_mpi(address),
            () if MPICH_NAMES.iter().any(|name| version.contains(name)) => Some(MPICH),
            () => None,
        }
    }

    fn of_open_mpi(address: impl Fn(&str) -> Option<usize>) -> Option<Abi> {
        Some(Abi {
            flavour: Flavour::OpenMpi,
            comm_world: address("ompi_mpi_comm_world")?,
            comm_null: address("ompi_mpi_comm_null")?,
            byte: address("ompi_mpi_byte")?,
            errors_return: address("ompi_mpi_errors_return")?,
            request_null: address("ompi_request_null")?,
            request_bytes: 8,
            status_ignore: 0,
            any_source: -1,
            thread_levels: [0, 1, 2, 3],
        })
    }

    pub(crate) fn thread_level(&self, number: c_int) -> ThreadLevel {
        let levels = [ThreadLevel::Multiple, ThreadLevel::Serialized, ThreadLevel::Funneled];
        let reached = levels.into_iter().find(|&level| number >= self.thread_levels[level as usize]);
        reached.unwrap_or(ThreadLevel::Single)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_known_by_its_variables_file_and_words() {
        let none = |_: &str| None;
        let all = |_: &str| Some(4096);
        let flavour = |abi: Option<Abi>| abi.map(|abi| abi.flavour);
        assert_eq!(flavour(Abi::of(all, "/lib/libmpi.so.40", "Open MPI v5")), Some(Flavour::OpenMpi));
        assert_eq!(flavour(Abi::of(none, "/lib/libmpi.so.12", "MPICH Version: 5")), Some(Flavour::Mpich));
        assert_eq!(flavour(Abi::of(none, "/lib/libmpi_abi.so.1", "MPICH")), Some(Flavour::Standard));
        assert_eq!(flavour(Abi::of(none, "/lib/libmpi.so", "Some MPI")), None);
    }

    #[test]
    fn levels_of_threads_are_told_apart() {
        assert_eq!(MPICH.thread_level(2), ThreadLevel::Serialized);
        assert_eq!(STANDARD.thread_level(1024), ThreadLevel::Funneled);
        assert_eq!(STANDARD.thread_level(0), ThreadLevel::Single);
    }

    /// The number that a header gives to a name, the last of its line: `#define NAME ((TYPE)0x…)`, or `NAME = -1,`.
    fn number(header: &str, name: &str) -> i64 {
        let parsed = |text: &str| match text.strip_prefix("0x") {
            Some(digits) => i64::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        };
        let behind = |line: &str| {
            let line = line.trim_start_matches("#define").trim_start().split("/*").next()?;
            let rest = line.strip_prefix(name).filter(|rest| rest.starts_with([' ', '\t']))?;
            rest.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '-').find_map(parsed)
        };
        header.lines().find_map(behind).unwrap()
    }

    /// `.ci/mpi` sets the variable: the folder of MPICH's headers.
    #[test]
    fn constants_are_those_of_the_headers() {
        let Some(folder) = std::env::var_os("ORDITO_MPI_HEADERS") else { return };
        for (file, abi) in [("mpi.h", MPICH), ("mpi_abi.h", STANDARD)] {
            let header = std::fs::read_to_string(std::path::Path::new(&folder).join(file)).unwrap();
            let number = |name: &str| number(&header, name);
            let read = Abi {
                comm_world: number("MPI_COMM_WORLD") as usize,
                comm_null: number("MPI_COMM_NULL") as usize,
                byte: number("MPI_BYTE") as usize,
                errors_return: number("MPI_ERRORS_RETURN") as usize,
                request_null: number("MPI_REQUEST_NULL") as usize,
                status_ignore: number("MPI_STATUS_IGNORE") as usize,
                any_source: number("MPI_ANY_SOURCE") as c_int,
                thread_levels: ["SINGLE", "FUNNELED", "SERIALIZED", "MULTIPLE"]
                    .map(|level| number(&format!("MPI_THREAD_{level}")) as c_int),
                ..abi.clone()
            };
            assert_eq!(read, abi, "{file}");
        }
    }
}
