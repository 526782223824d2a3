//! Threads that stay on one core each, where that is asked for: a thread that the system moves finds its caches empty.

use crate::cpu::thread_error::ThreadError;

/// The cores that this process may use.
#[cfg(target_os = "linux")]
#[derive(Debug, Clone)]
pub(crate) struct Cores(Vec<usize>);

/// Only Linux is asked: elsewhere nobody has them.
#[cfg(not(target_os = "linux"))]
#[derive(Debug, Clone)]
pub(crate) enum Cores {}

impl Cores {
    /// Asks the system.
    #[cfg(target_os = "linux")]
    pub(crate) fn allowed() -> Result<Self, ThreadError> {
        // SAFETY: a set of cores is plain bits, for which all zeros is a value.
        let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: the system writes as many bytes as the set has.
        let failed = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &mut set) } != 0;
        if failed {
            return Err(ThreadError::Pin(format!(
                "threads cannot be pinned: the system does not tell which cores there are ({})",
                std::io::Error::last_os_error()
            )));
        }
        // SAFETY: every number is below the size of the set.
        Ok(Cores(
            (0..libc::CPU_SETSIZE as usize).filter(|&core| unsafe { libc::CPU_ISSET(core, &set) }).collect(),
        ))
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn allowed() -> Result<Self, ThreadError> {
        Err(ThreadError::Pin("threads can be pinned to cores on Linux only".into()))
    }

    /// From now on the calling thread runs on the core of its number; threads beyond the cores share them in turn. A system
    /// that does not obey leaves it where it is: nothing but speed depends on it.
    #[cfg(target_os = "linux")]
    pub(crate) fn pin(&self, thread: usize) {
        let Some(&core) = self.0.get(thread % self.0.len().max(1)) else { return };
        // SAFETY: as above; the number came from a set of this size.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(core, &mut set);
            libc::sched_setaffinity(0, size_of_val(&set), &set);
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn pin(&self, _thread: usize) {
        match *self {}
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_may_use_one_core() {
        let cores = Cores::allowed().unwrap();
        let count = cores.0.len();
        assert!(count >= 1);
        for thread in [0, 1, 7] {
            let mine = cores.clone();
            let left = std::thread::spawn(move || {
                mine.pin(thread);
                Cores::allowed().unwrap().0
            });
            assert_eq!(left.join().unwrap(), [cores.0[thread % count]]);
        }
    }
}
