//! A process that exits in the middle of things tells the others before. MPICH's `mpiexec` ends them otherwise, without a word and with exit code 0.

use crate::ranks::mpi::world::World;
use std::sync::{Arc, Mutex, Once, PoisonError, Weak};

static WORLDS: Mutex<Vec<Weak<World>>> = Mutex::new(Vec::new());

/// Looks after it until it is dropped.
pub(super) fn watch(world: &Arc<World>) {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(register);
    let mut worlds = WORLDS.lock().unwrap_or_else(PoisonError::into_inner);
    worlds.retain(|world| world.strong_count() > 0);
    worlds.push(Arc::downgrade(world));
}

#[cfg(unix)]
fn register() {
    // SAFETY: the function may run at any exit; it was registered after MPI's own, and so runs before them.
    unsafe { libc::atexit(tell) };
}

#[cfg(not(unix))]
fn register() {}

#[cfg(unix)]
extern "C" fn tell() {
    // The lock is let go: whoever is dropped here may want it.
    let worlds = std::mem::take(&mut *WORLDS.lock().unwrap_or_else(PoisonError::into_inner));
    for world in worlds.iter().filter_map(Weak::upgrade) {
        world.leave_in_the_middle();
        // What its owner holds is never dropped, and so nothing is here.
        std::mem::forget(world);
    }
}
