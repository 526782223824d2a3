//! A group of MPI's ranks from its beginning to its end. Whoever uses it holds it, so that MPI is not ended before.

use crate::ranks::mpi::abi::{Handle, ThreadLevel};
use crate::ranks::mpi::failures::Failures;
use crate::ranks::mpi::library::Library;
use crate::ranks::mpi::requests::{Requests, Way};
use crate::ranks::{Patience, RanksError, Tag};
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// After a failure, so long others may take to come to their end too.
pub(super) const PARTING: Duration = Duration::from_secs(5);

/// Groups of this process that use MPI, and whether MPI was initialised for them.
static USERS: Mutex<Users> = Mutex::new(Users { count: 0, is_ours: false });

struct Users {
    count: usize,
    is_ours: bool,
}

/// What the guarded is after a panic, it was before.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A communicator of our own.
pub(super) struct World {
    pub(super) library: &'static Library,
    pub(super) comm: Handle,
    pub(super) rank: usize,
    pub(super) count: usize,
    pub(super) patience: Patience,
    pub(super) thread_level: ThreadLevel,
    /// None once it has ended.
    failures: Mutex<Option<Failures>>,
    /// A round was given up. Messages of it may be left at either end, and the communicator is not given back: MPICH crashes over them.
    is_entangled: AtomicBool,
}

/// Is MPI initialised, and not yet ended?
pub(super) fn is_running(library: &Library) -> Result<bool, RanksError> {
    let (mut began, mut ended) = (0, 0);
    // SAFETY: these may be asked at any time.
    unsafe {
        library.functions.initialized(&raw mut began)?;
        library.functions.finalized(&raw mut ended)?;
    }
    match (began != 0, ended != 0) {
        (_, true) => {
            Err(RanksError::NoMpi("MPI was ended already, and cannot begin again in this process".to_owned()))
        }
        (began, _) => Ok(began),
    }
}

/// Initialises MPI where nobody has, and counts its users.
fn begin(library: &Library) -> Result<ThreadLevel, RanksError> {
    let mut users = locked(&USERS);
    let mut provided = 0;
    if is_running(library)? {
        // SAFETY: MPI is initialised.
        unsafe { library.functions.query_thread(&raw mut provided)? };
    } else {
        // Any thread may hold an exchange; calls are made one at a time.
        let wanted = library.abi.thread_levels[ThreadLevel::Serialized as usize];
        let none = std::ptr::null_mut();
        // SAFETY: nobody has initialised it, and arguments may be left out.
        unsafe { library.functions.init_thread(none, none.cast(), wanted, &raw mut provided)? };
        users.is_ours = true;
    }
    users.count += 1;
    let level = library.abi.thread_level(provided);
    if level < ThreadLevel::Serialized {
        library.functions.funnel();
    }
    Ok(level)
}

/// One user less. The last one ends what was begun for it, if all others come to the end too.
fn end(library: &Library, all_come: bool) {
    let mut users = locked(&USERS);
    users.count -= 1;
    if users.count == 0 && users.is_ours && all_come {
        // SAFETY: memory of requests that are left is never given back. What MPI says about it changes nothing.
        let _ = unsafe { library.functions.finalize() };
    }
}

impl World {
    /// With the ranks of a communicator, which `of` finds once MPI is initialised.
    pub(super) fn new(
        library: &'static Library,
        patience: Patience,
        of: impl FnOnce() -> Handle,
    ) -> Result<Self, RanksError> {
        let thread_level = begin(library)?;
        World::with(library, patience, thread_level, of()).inspect_err(|_| end(library, true))
    }

    fn with(
        library: &'static Library,
        patience: Patience,
        thread_level: ThreadLevel,
        original: Handle,
    ) -> Result<Self, RanksError> {
        if original == library.abi.comm_null {
            return Err(RanksError::NoMpi("there is no such communicator in this MPI".to_owned()));
        }
        let (mut comm, mut rank, mut count, mut is_between_two) = (0, 0, 0, 0);
        let functions = &library.functions;
        // SAFETY: the communicator is MPI's own, or the caller has promised it. Failures of its copy are values.
        unsafe {
            functions.comm_test_inter(original, &raw mut is_between_two)?;
            if is_between_two != 0 {
                return Err(RanksError::NoMpi(
                    "a communicator between two groups is no group of ranks".to_owned(),
                ));
            }
            functions.comm_dup(original, &raw mut comm)?;
            functions.comm_set_errhandler(comm, library.abi.errors_return)?;
            functions.comm_rank(comm, &raw mut rank)?;
            functions.comm_size(comm, &raw mut count)?;
        }
        let failures = Failures::new(library, comm)?;
        Ok(World {
            library,
            comm,
            rank: rank as usize,
            count: count as usize,
            patience,
            thread_level,
            failures: Mutex::new(Some(failures)),
            is_entangled: AtomicBool::new(false),
        })
    }

    pub(super) fn failure(&self) -> Option<RanksError> {
        locked(&self.failures).as_mut().and_then(Failures::heard)
    }

    pub(super) fn fail(&self, why: &str) {
        if let Some(failures) = locked(&self.failures).as_mut() {
            failures.tell(self.library, self.comm, self.rank, self.count, why);
        }
    }

    /// Has this rank failed, or another that has said so?
    pub(super) fn has_failed(&self) -> bool {
        locked(&self.failures).as_mut().is_none_or(Failures::any)
    }

    /// The process exits: tells the others, and lets them hear it before the launcher ends them.
    pub(super) fn leave_in_the_middle(&self) {
        if self.library.functions.is_idle() && is_running(self.library).unwrap_or(false) {
            self.fail("has exited while others were waiting for it");
            if self.part(false, PARTING).is_some() {
                end(self.library, true);
            }
        }
    }

    /// The process comes to its end, and whoever began MPI will end it: nothing may be under way then. Others may still wait for this rank, for a reason
    /// that is given or not: they are told.
    pub(super) fn leave(&self, why: Option<&str>, limit: Duration) {
        if !is_running(self.library).unwrap_or(false) {
            return;
        }
        if let Some(why) = why {
            self.fail(why);
        }
        if !self.has_failed() && self.part(true, limit).is_none() {
            self.fail("has exited while others were waiting for it");
        }
        let _ = locked(&self.failures).take().is_none_or(Failures::stop);
    }

    /// A round was given up.
    pub(super) fn entangle(&self) {
        self.is_entangled.store(true, Ordering::Relaxed);
    }

    /// Waits for all others to come here, in rounds of doubling distance; MPI itself would wait for ever. Are all of them well? None where one
    /// did not come.
    fn part(&self, mut is_well: bool, limit: Duration) -> Option<bool> {
        let mut distance = 1;
        while distance < self.count {
            let mut bytes = Box::new([0, u8::from(is_well)]);
            let mut requests = Requests::new(self.library, self.comm, 2);
            let way = |rank: usize| Way { rank: rank as c_int, tag: c_int::from(Tag::PARTING.0) };
            let from = way((self.rank + self.count - distance) % self.count);
            let to = way((self.rank + distance) % self.count);
            let [into, out] = bytes.each_mut().map(std::ptr::from_mut);
            // SAFETY: the bytes stay until both are complete, or for ever.
            let began = unsafe { requests.receive(into, 1, from).and_then(|()| requests.send(out, 1, to)) };
            if began.is_err() || !requests.settle(limit) {
                std::mem::forget((bytes, requests));
                return None;
            }
            is_well &= bytes[0] != 0;
            distance *= 2;
        }
        Some(is_well)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let library = self.library;
        if !is_running(library).unwrap_or(false) {
            // Whoever began MPI has ended it: there is nothing that could be given back.
            std::mem::forget(locked(&self.failures).take());
            return end(library, false);
        }
        if std::thread::panicking() {
            self.fail("panicked");
        }
        let has_failed = locked(&self.failures).as_mut().is_some_and(Failures::any);
        let limit = if has_failed { PARTING } else { self.patience.limit };
        let was_well = !has_failed && !self.is_entangled.load(Ordering::Relaxed);
        let parted = self.part(was_well, limit);
        let is_quiet = locked(&self.failures).take().is_none_or(Failures::stop);
        if parted == Some(true) && is_quiet {
            // SAFETY: our own communicator, and nothing is under way in it.
            let _ = unsafe { library.functions.comm_free(&raw mut self.comm) };
        }
        end(library, parted.is_some());
    }
}
