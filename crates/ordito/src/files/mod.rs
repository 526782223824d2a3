//! Files that appear whole or not at all, and the folder for what can be made again.

mod atomic_file;
mod cache_dir;
mod key;
mod write_error;

pub use atomic_file::{remove_unfinished_files, write_atomically};
pub use cache_dir::cache_dir;
pub(crate) use key::Key;
pub use write_error::WriteError;
#[cfg(feature = "io")]
pub(crate) use write_error::printable;
