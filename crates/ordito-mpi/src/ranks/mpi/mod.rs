//! MPI, opened at run time as the libraries of GPUs are: one binary runs on Open MPI, on MPICH and those who descend from it, and on the standard ABI of MPI 5.
//!
//! `launched` tells from the environment alone whether there are other ranks. `search` and `library` find and open MPI, `abi` knows
//! what differs between MPIs, `functions` calls it. A `world` is begun and ended; `requests`, `exchange` and `failures` are messages in it;
//! `at_exit` tells the others where a process leaves it without a word.
//!
//! Calls are made by one thread at a time, whichever it is. Waiting goes through [`Patience`], but for four calls of MPI's own that may wait for ever where a
//! rank is lost: `MPI_Init_thread`, `MPI_Comm_dup`, `MPI_Comm_free`, `MPI_Finalize`. The last two are called only after all ranks have said that they come to the end.

mod abi;
mod at_exit;
mod exchange;
mod failures;
mod functions;
mod launched;
mod library;
mod requests;
mod search;
mod world;

pub use abi::{Flavour, ThreadLevel};
pub use launched::{Launched, Launcher, launched};
pub use library::LIBRARY_VARIABLE;

use crate::ranks::machines::refuse_unlike;
use crate::ranks::{Exchange, Message, Patience, Ranks, RanksError, Tag};
use exchange::{PIECE_BYTES, Rounds};
use library::Library;
use std::ffi::c_int;
use std::sync::Arc;
use std::time::Instant;
use world::World;

/// Ranks of MPI. While it or one of its exchanges is there, MPI stays initialised; with the last one it is ended, if it was begun here.
///
/// At the end ranks wait for each other, after a failure or a panic for a few seconds at most. Where one does not come, MPI is left as it is, for
/// the launcher to clean up. So what is to be said is said before. A process that exits while this is there is lost to the others, and
/// they are told: it belongs into `main`, not into a static.
pub struct Mpi {
    world: Arc<World>,
    piece_bytes: usize,
}

/// An MPI as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundMpi {
    /// Whose conventions it follows.
    pub flavour: Flavour,
    /// Its name and version.
    pub version: String,
    /// Its file.
    pub path: String,
}

impl Mpi {
    /// Which MPI would be used? It is opened, and not initialised.
    pub fn find() -> Result<FoundMpi, RanksError> {
        let library = Library::open()?;
        Ok(FoundMpi {
            flavour: library.abi.flavour,
            version: library.version.clone(),
            path: library.path.clone(),
        })
    }

    /// All ranks that were started together. Every one of them calls this.
    ///
    /// An MPI that was initialised before is used as it is. One that does not belong to who started this process is refused: every process would be alone in it.
    pub fn open(patience: Patience) -> Result<Self, RanksError> {
        let library = Library::open()?;
        let launched = launched();
        let refused = |launched| Err(RanksError::NoMpi(foreign(launched, library)));
        // Some abort the process when they are initialised under another's launcher.
        if let Some(launched) = launched.filter(|launched| library.is_foreign_to(launched.by))
            && !world::is_running(library)?
        {
            return refused(launched);
        }
        let world = World::new(library, patience, || library.abi.comm_world)?;
        match launched {
            Some(launched) if world.count == 1 => refused(launched),
            _ => Mpi::of(world),
        }
    }

    /// The ranks of a communicator, by its number in Fortran: `comm.py2f()` of mpi4py. Every one of its ranks calls this. The communicator is copied, and stays the caller's.
    pub fn from_fortran(communicator: i32, patience: Patience) -> Result<Self, RanksError> {
        let library = running()?;
        Mpi::of(World::new(library, patience, || library.communicator(communicator))?)
    }

    /// The ranks of a communicator, by its handle in C: `MPI._handleof(comm)` of mpi4py. Otherwise as [`from_fortran`](Mpi::from_fortran).
    ///
    /// # Safety
    /// It is the handle of a communicator of the MPI that [`find`](Mpi::find) finds.
    pub unsafe fn from_communicator(handle: usize, patience: Patience) -> Result<Self, RanksError> {
        Mpi::of(World::new(running()?, patience, || handle)?)
    }

    fn of(world: World) -> Result<Self, RanksError> {
        let mpi = Mpi { world: Arc::new(world), piece_bytes: PIECE_BYTES };
        at_exit::watch(&mpi.world);
        refuse_unlike(&mpi)?;
        Ok(mpi)
    }

    /// The same ranks; messages of more bytes are sent in pieces, on all ranks alike. For tests: nobody has gigabytes to spare there.
    #[doc(hidden)]
    pub fn in_pieces_of(&self, bytes: usize) -> Self {
        Mpi { world: self.world.clone(), piece_bytes: bytes.clamp(1, PIECE_BYTES) }
    }

    /// Its name and version.
    pub fn version(&self) -> &str {
        &self.world.library.version
    }

    /// Its file.
    pub fn path(&self) -> &str {
        &self.world.library.path
    }

    /// How many threads may call it. Here one does at a time.
    pub fn thread_level(&self) -> ThreadLevel {
        self.world.thread_level
    }

    /// Does it read and write memory of GPUs, as far as it says?
    pub fn is_cuda_aware(&self) -> bool {
        self.world.library.is_cuda_aware()
    }

    /// Has this rank failed, or another that has said so? Then these ranks do nothing together any more; others of the same communicator can be made.
    pub fn has_failed(&self) -> bool {
        self.world.has_failed()
    }

    /// For a process that exits while this is still there, before MPI is ended by whoever began it: ranks wait for each other for a few seconds; those that do not come, and wait for this one, are told why it left.
    /// Nothing is sent or received hereafter.
    pub fn leave(&self, why: Option<&str>) {
        Mpi::leave_all([self], why);
    }

    /// The same for several, which together wait no longer than one.
    pub fn leave_all<'a>(all: impl IntoIterator<Item = &'a Mpi>, why: Option<&str>) {
        let end = Instant::now() + world::PARTING;
        all.into_iter().for_each(|mpi| mpi.world.leave(why, end.saturating_duration_since(Instant::now())));
    }

    /// Ends all ranks at once, this one too.
    pub fn abort(&self, code: i32) -> ! {
        // SAFETY: our own communicator.
        let _ = unsafe { self.world.library.functions.abort(self.world.comm, code as c_int) };
        std::process::exit(code)
    }
}

/// MPI, if someone has initialised it: otherwise there is no communicator.
fn running() -> Result<&'static Library, RanksError> {
    let library = Library::open()?;
    match world::is_running(library)? {
        true => Ok(library),
        false => Err(RanksError::NoMpi(format!(
            "{} was not initialised: set {LIBRARY_VARIABLE} to the library that the communicator belongs to",
            library.in_words()
        ))),
    }
}

fn foreign(launched: Launched, library: &Library) -> String {
    let Launched { ranks, by, .. } = launched;
    let remedy = match by {
        Launcher::Slurm => {
            "try `srun --mpi=pmix` or `--mpi=pmi2`, or start it by that library's own mpiexec".to_owned()
        }
        _ => format!(
            "set {LIBRARY_VARIABLE} to the library of that mpiexec, or start it by that library's own"
        ),
    };
    format!(
        "{by} has started {ranks} ranks, but {} is another MPI, in which each would be alone: {remedy}",
        library.in_words()
    )
}

/// With the value 0: ranks of one computer send messages, as if each had its own.
pub const SHARED_MEMORY_VARIABLE: &str = "ORDITO_MPI_SHARED_MEMORY";

impl Ranks for Mpi {
    fn rank(&self) -> usize {
        self.world.rank
    }
    fn count(&self) -> usize {
        self.world.count
    }
    fn exchange(
        &self,
        tag: Tag,
        outgoing: &[Message],
        incoming: &[Message],
    ) -> Result<Box<dyn Exchange>, RanksError> {
        Ok(Box::new(Rounds::new(&self.world, tag, [outgoing, incoming], self.piece_bytes)?))
    }
    fn failure(&self) -> Option<RanksError> {
        self.world.failure()
    }
    fn fail(&self, why: &str) {
        self.world.fail(why);
    }
    fn patience(&self) -> &Patience {
        &self.world.patience
    }
    fn shares_memory(&self) -> bool {
        !matches!(std::env::var(SHARED_MEMORY_VARIABLE).as_deref(), Ok("0"))
    }
    fn host(&self) -> String {
        self.world.library.functions.processor_name().unwrap_or_default()
    }
    fn name(&self) -> String {
        format!("{} ranks of {}", self.world.count, self.world.library.version)
    }
}
