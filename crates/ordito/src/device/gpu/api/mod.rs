//! The binary interface of NVIDIA's libraries, as far as it is used here: functions, types and constants under the names
//! that they have in NVIDIA's headers. Each function is declared once; the declaration makes its place in the table of
//! pointers that [`Library::find`](crate::device::gpu::Library::find) fills, and the function that calls through it. Where
//! there is a choice, the version that older libraries have too is declared.

#![allow(non_snake_case, non_camel_case_types, clippy::too_many_arguments)] // NVIDIA's names and parameters

pub(crate) mod cublas;
pub(crate) mod cusparse;
pub(crate) mod driver;
pub(crate) mod nvrtc;

use std::ffi::{c_char, c_void};

/// What a function answers as long as its library has not been opened.
trait NotOpened {
    const NOT_OPENED: Self;
}

impl NotOpened for *const c_char {
    const NOT_OPENED: Self = std::ptr::null();
}

/// A function of a library, by its name.
///
/// # Safety
/// `F` is the type of a pointer to that function, and is not called after the library is closed.
unsafe fn function<F: Copy>(library: &libloading::Library, name: &str) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*const c_void>()) };
    // SAFETY: the caller's promise; as large as a pointer, and not null.
    address(library, name).map(|address| unsafe { std::mem::transmute_copy(&address) })
}

/// Where it begins. (Compiled once, not for every type of function.)
fn address(library: &libloading::Library, name: &str) -> Option<*const c_void> {
    // SAFETY: only the address is taken.
    let found = unsafe { library.get::<*const c_void>(name) }.ok().map(|symbol| *symbol);
    found.filter(|address| !address.is_null())
}

/// Declares the functions of a library: those that it must have, then those that only newer versions have.
macro_rules! functions {
    (
        $(fn $name:ident($($argument:ident: $type:ty),* $(,)?) -> $result:ty;)*
        $(optional fn $newer:ident($($newer_argument:ident: $newer_type:ty),* $(,)?) -> $newer_result:ty;)*
    ) => {
        /// What the library must have.
        pub(crate) const NAMES: &[&str] = &[$(stringify!($name)),*];

        struct Table {
            $($name: unsafe extern "C" fn($($type),*) -> $result,)*
            $($newer: Option<unsafe extern "C" fn($($newer_type),*) -> $newer_result>,)*
        }

        static TABLE: std::sync::OnceLock<Table> = std::sync::OnceLock::new();

        /// Looks up every function, once per process; else the name of the first that is missing.
        ///
        /// # Safety
        /// It is this library, of any version, and is never closed.
        pub(crate) unsafe fn load(library: &libloading::Library) -> Result<(), &'static str> {
            // SAFETY: the types below are those of NVIDIA's headers; never closed, the caller says.
            let table = unsafe {
                Table {
                    $($name: super::function(library, stringify!($name)).ok_or(stringify!($name))?,)*
                    $($newer: super::function(library, stringify!($newer)),)*
                }
            };
            TABLE.get_or_init(|| table);
            Ok(())
        }

        $(
            pub(crate) unsafe fn $name($($argument: $type),*) -> $result {
                match TABLE.get() {
                    // SAFETY: the caller's promise.
                    Some(table) => unsafe { (table.$name)($($argument),*) },
                    None => <$result as super::NotOpened>::NOT_OPENED,
                }
            }
        )*

        $(
            /// `None` where the library does not have it.
            pub(crate) unsafe fn $newer($($newer_argument: $newer_type),*) -> Option<$newer_result> {
                // SAFETY: the caller's promise.
                Some(unsafe { (TABLE.get()?.$newer?)($($newer_argument),*) })
            }
        )*
    };
}
use functions;

/// Numbers with names: what C declares as an `enum`. A library may answer with one that has no name here.
macro_rules! codes {
    ($($type:ident { $($name:ident = $value:literal),* $(,)? })*) => {
        $(
            #[derive(Debug, Clone, Copy, PartialEq, Eq)]
            #[repr(transparent)]
            pub(crate) struct $type(pub(crate) u32);

            impl $type {
                $(pub(crate) const $name: $type = $type($value);)*
            }
        )*
    };
}
use codes;

/// Pointers to what only the library knows.
macro_rules! handles {
    ($($type:ident = *$behind:ident;)*) => {
        $(
            #[derive(Debug)]
            pub(crate) enum $behind {}
            pub(crate) type $type = *mut $behind;
        )*
    };
}
use handles;
