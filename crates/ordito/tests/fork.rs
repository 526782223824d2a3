//! A child that `fork` made has one thread, and locks as they were at that moment. It works all the same: with what it
//! inherited, and with what it makes itself.
//!
//! One test alone in its process: nothing else runs here while it forks.

#![cfg(all(unix, feature = "io"))]
#![allow(clippy::unwrap_used, clippy::panic)] // in helpers of tests too

use ordito::io::matrix_market::WriteOptions;
use ordito::io::{ReadOptions, load, read_csr, read_matrix_market, write_matrix_market};
use ordito::spmm::{Plan, multiply};
use ordito::{Csr, Dense, Duplicates, Machine};
use std::collections::HashSet;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Enough entries for all threads to be woken.
const NAME: &str = "stencil27:20";
const K: usize = 8;
const PATIENCE: Duration = Duration::from_secs(30);

/// What a program has when it forks.
struct Program {
    machine: Arc<Machine>,
    pinned: Option<Arc<Machine>>,
    a: Arc<Csr<f64>>,
    plan: Plan<f64>,
    x: Dense<f64>,
    /// A·X as it was before any fork.
    y: Dense<f64>,
    files: Vec<PathBuf>,
    folder: PathBuf,
}

impl Program {
    /// Has used everything once.
    fn start(folder: &Path) -> Self {
        let a: Arc<Csr<f64>> = Arc::new(with_whole_numbers(read_csr(NAME).unwrap()));
        let machine = Machine::with_threads(3).unwrap();
        let x = (0..a.cols() * K).map(|i| (i % 17) as f64 - 8.0).collect();
        let x = Dense::from_rows(a.cols(), K, x).unwrap();
        let files = ["a.mtx", "a.mtx.gz"].map(|name| folder.join(name)).to_vec();
        for file in &files {
            write_matrix_market(&a.to_coo(), file, &WriteOptions::default()).unwrap();
        }
        let (pinned, y) = (machine.pinned().ok(), &*a * &x);
        let plan = Plan::new(a.clone(), &machine).unwrap();
        plan.prepare(K).unwrap();
        let mut program = Program { machine, pinned, a, plan, x, y, files, folder: folder.to_owned() };
        program.work();
        program
    }

    /// Everything that takes threads. The numbers are whole and small, so that sums in any order are the same.
    fn work(&mut self) {
        let (a, x, y) = (&*self.a, &self.x, &self.y);
        assert!(apply(&self.plan, x) == *y, "an old plan");
        for machine in [Some(&self.machine), self.pinned.as_ref()].into_iter().flatten() {
            assert!(apply(&Plan::new(self.a.clone(), machine).unwrap(), x) == *y, "a new plan");
        }
        assert!(a * x == *y, "a product without a plan");
        let shared = Machine::all_cores().unwrap();
        assert!(apply(&Plan::new(self.a.clone(), &shared).unwrap(), x) == *y, "a plan on all cores");
        let own = Machine::with_threads(2).unwrap();
        assert!(apply(&Plan::new(self.a.clone(), &own).unwrap(), x) == *y, "a machine of this process");

        assert!(a.transpose().transpose() == *a, "transposing");
        let triplets = load::<f64>(NAME, &ReadOptions::default()).unwrap().coo;
        let named = with_whole_numbers(Csr::from_coo(&triplets, Duplicates::Sum));
        assert!(named == *a, "a matrix by name");
        for file in &self.files {
            let read = read_matrix_market::<f64>(file, &ReadOptions::default()).unwrap();
            assert!(Csr::from_coo(&read.coo, Duplicates::Sum) == *a, "{}", file.display());
        }
        let copy = self.folder.join(format!("{}.mtx", std::process::id()));
        write_matrix_market(&a.to_coo(), &copy, &WriteOptions::default()).unwrap();
        assert_eq!(std::fs::read(&copy).unwrap(), std::fs::read(&self.files[0]).unwrap(), "writing");
        // A thread of a pool that forked is alone: rayon takes it for a thread of a pool that is gone.
        if rayon::current_thread_index().is_none() {
            self.count_threads();
        }
    }

    /// There are as many as were asked for.
    fn count_threads(&self) {
        for machine in [Some(&self.machine), self.pinned.as_ref()].into_iter().flatten() {
            let threads = machine.pool().broadcast(|_| std::thread::current().id());
            assert_eq!(threads.into_iter().collect::<HashSet<_>>().len(), machine.threads());
            assert_eq!(machine.team().threads(), machine.threads());
        }
        #[cfg(target_os = "linux")]
        if let Some(pinned) = &self.pinned {
            assert!(pinned.pool().broadcast(|_| cores_of_this_thread()).iter().all(|&cores| cores == 1));
        }
    }
}

fn with_whole_numbers(a: Csr<f64>) -> Csr<f64> {
    let ((rows, cols), (offsets, columns, mut values)) = (a.shape(), a.into_parts());
    values.iter_mut().enumerate().for_each(|(i, value)| *value = (i % 7) as f64 - 3.0);
    Csr::from_parts(rows, cols, offsets, columns, values).unwrap()
}

fn apply(plan: &Plan<f64>, x: &Dense<f64>) -> Dense<f64> {
    let mut y = Dense::filled(x.rows(), x.cols(), f64::NAN).unwrap();
    plan.apply(1.0, x.view(), 0.0, y.view_mut()).unwrap();
    y
}

#[cfg(target_os = "linux")]
fn cores_of_this_thread() -> libc::c_int {
    // SAFETY: a set of cores is plain bits, for which all zeros is a value; the system writes as many bytes as it has.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        assert_eq!(libc::sched_getaffinity(0, size_of_val(&set), &mut set), 0);
        libc::CPU_COUNT(&set)
    }
}

/// Forks. The child does `work`, and must end well and in time.
fn in_child(what: &str, work: impl FnOnce()) {
    // SAFETY: the child ends by `_exit`, without going back into what called this.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "{}", std::io::Error::last_os_error());
    if child == 0 {
        // SAFETY: asks for a signal that ends the child if nobody else does.
        unsafe { libc::alarm(2 * PATIENCE.as_secs() as libc::c_uint) };
        let worked = catch_unwind(AssertUnwindSafe(work));
        if let Err(said) = &worked {
            // The harness keeps what a panic says, for a parent that never sees it.
            let said =
                said.downcast_ref::<String>().map(String::as_str).or(said.downcast_ref::<&str>().copied());
            let _ = writeln!(std::io::stderr(), "{what}: a child panicked: {}", said.unwrap_or_default());
        }
        // SAFETY: ends the child, and lets nobody clean up who believes to be the parent.
        unsafe { libc::_exit(worked.is_err().into()) };
    }
    let (start, mut status) = (Instant::now(), 0);
    // SAFETY: of a child of this process, which nobody else waits for; the status is ours.
    while unsafe { libc::waitpid(child, &mut status, libc::WNOHANG) } == 0 {
        if start.elapsed() > PATIENCE {
            // SAFETY: as above: it has not been waited for, so that the number is still its own.
            unsafe {
                libc::kill(child, libc::SIGKILL);
                libc::waitpid(child, &mut status, 0);
            }
            panic!("{what}: a child hangs");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(
        libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
        "{what}: a child ended with {status:#x}"
    );
}

#[test]
#[cfg_attr(miri, ignore = "Miri knows no forks")]
fn a_child_works_with_what_it_inherited_and_with_its_own() {
    let folder = tempfile::tempdir().unwrap(); // outside of what children drop
    let mut program = Some(Program::start(folder.path()));
    in_child("while nobody works", || {
        let mut program = program.take().unwrap();
        program.work();
        in_child("a child of the child", || program.work());
        program.work();
        drop(program);
    });
    in_child("dropped at once", || drop(program.take()));

    let mut program = program.unwrap();
    let caller = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    caller.install(|| in_child("by a thread of a pool of the caller's", || program.work()));

    // Others work all the time, on the same threads: teams are busy, locks are held, pools start and end.
    let (stop, rounds) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (machine, a, x) = (program.machine.clone(), program.a.clone(), program.x.clone());
    let until_stopped = |work: &mut dyn FnMut()| {
        while !stop.load(Ordering::Relaxed) {
            work();
            rounds.fetch_add(1, Ordering::Relaxed);
        }
    };
    let multiply = || {
        let mut y = Dense::zeros(a.rows(), K).unwrap();
        let plan = Plan::new(a.clone(), &machine).unwrap();
        until_stopped(&mut || {
            plan.apply(1.0, x.view(), 0.0, y.view_mut()).unwrap();
            multiply(1.0, &*a, x.view(), 0.0, y.view_mut()).unwrap();
        });
    };
    let start_machines = || {
        let plan = Plan::new(a.clone(), &Machine::with_threads(2).unwrap()).unwrap();
        plan.prepare(K).unwrap();
    };
    std::thread::scope(|scope| {
        scope.spawn(multiply);
        scope.spawn(|| until_stopped(&mut || drop(a.transpose())));
        scope.spawn(|| until_stopped(&mut || start_machines()));
        let forked = catch_unwind(AssertUnwindSafe(|| {
            for _ in 0..8 {
                let before = rounds.load(Ordering::Relaxed);
                while rounds.load(Ordering::Relaxed) < before + 5 {
                    std::thread::yield_now();
                }
                in_child("while others work", || program.work());
            }
        }));
        stop.store(true, Ordering::Relaxed);
        forked.unwrap();
    });
    program.work();
}
