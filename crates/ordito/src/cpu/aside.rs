//! A thread leaves a core that another one needs.

/// The core that the calling thread runs on, where the system tells.
pub(crate) fn current_core() -> Option<usize> {
    #[cfg(all(target_os = "linux", not(miri)))]
    // SAFETY: it takes nothing and touches no memory of ours.
    return usize::try_from(unsafe { libc::sched_getcpu() }).ok();
    #[cfg(any(not(target_os = "linux"), miri))]
    None
}

/// The calling thread goes to another core than these, if it may use another; afterwards it may use all that it could before. A system
/// that does not obey leaves it where it is: nothing but speed depends on it.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn step_aside(from: &[usize]) {
    // SAFETY: a set of cores is plain bits, for which all zeros is a value; the system reads and writes as many bytes as it has, and
    // numbers beyond its size are left out.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of_val(&allowed), &mut allowed) != 0 {
            return;
        }
        let mut elsewhere = allowed;
        for &core in from.iter().filter(|&&core| core < libc::CPU_SETSIZE as usize) {
            libc::CPU_CLR(core, &mut elsewhere);
        }
        if libc::CPU_COUNT(&elsewhere) > 0
            && libc::sched_setaffinity(0, size_of_val(&elsewhere), &elsewhere) == 0
        {
            libc::sched_setaffinity(0, size_of_val(&allowed), &allowed);
        }
    }
}

#[cfg(any(not(target_os = "linux"), miri))]
pub(crate) fn step_aside(_from: &[usize]) {}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;
    use crate::cpu::info::logical_cores;
    use crate::cpu::pin::Cores;

    #[test]
    fn a_thread_goes_elsewhere_and_keeps_its_cores() {
        let before = format!("{:?}", Cores::allowed().unwrap());
        // The system may bring it back at once, but not every time.
        let goes = |_| {
            let here = current_core().unwrap();
            step_aside(&[here, usize::MAX]);
            current_core() != Some(here)
        };
        assert!(logical_cores() == 1 || (0..1000).any(goes));
        step_aside(&(0..libc::CPU_SETSIZE as usize).collect::<Vec<_>>()); // nowhere to go
        assert_eq!(format!("{:?}", Cores::allowed().unwrap()), before);
    }
}
