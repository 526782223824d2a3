//! Files that appear whole or not at all, and the folder for what can be made again.

mod atomic_file;
mod cache_dir;
mod key;
mod own;
mod shared_file;
mod target;
mod temporary;
mod write_error;

pub use atomic_file::{write_atomically, write_own};
pub(crate) use cache_dir::cache_folder;
#[cfg(any(feature = "cuda", feature = "emulator"))]
pub(crate) use cache_dir::note_unused;
pub use cache_dir::{cache_dir, take_cache_notes};
pub(crate) use key::Key;
pub use own::read_own;
#[doc(hidden)] // for the crates of this workspace
pub use shared_file::{SharedFile, open_shared_file};
pub use target::check_writable;
pub use temporary::remove_unfinished_files;
#[cfg(feature = "emulator")]
pub(crate) use temporary::{TemporaryFolder, kernel_prefix};
pub use write_error::WriteError;
#[cfg(feature = "io")]
pub(crate) use write_error::printable;
