//! MKL's sparse products, opened at run time: nothing of it is needed to build.

use anyhow::{Context, bail};
use libloading::Library;
use ordito::Scalar;
use ordito::matrix::Csr;
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::sync::Arc;

/// Names the file, where it is not found by itself.
const VARIABLE: &str = "ORDITO_MKL";

// From mkl_spblas.h.
const SUCCESS: i32 = 0;
const INDEX_BASE_ZERO: i32 = 0;
const NON_TRANSPOSE: i32 = 10;
const ROW_MAJOR: i32 = 101;
/// What the optimizer is told to expect: enough that no preparation is too expensive.
const EXPECTED_CALLS: i32 = 1000;

#[repr(C)]
#[derive(Clone, Copy)]
struct Description {
    kind: i32,
    fill: i32,
    diagonal: i32,
}

/// A general matrix, for which the other two mean nothing.
const GENERAL: Description = Description { kind: 20, fill: 0, diagonal: 0 };

type Handle = *mut c_void;
type CreateCsr<S> =
    unsafe extern "C" fn(*mut Handle, i32, i32, i32, *const i32, *const i32, *const u32, *const S) -> i32;
type Mm<S> =
    unsafe extern "C" fn(i32, S, Handle, Description, i32, *const S, i32, i32, S, *mut S, i32) -> i32;
type Mv<S> = unsafe extern "C" fn(i32, S, Handle, Description, *const S, S, *mut S) -> i32;
type MmHint = unsafe extern "C" fn(Handle, i32, Description, i32, i32, i32) -> i32;
type MvHint = unsafe extern "C" fn(Handle, i32, Description, i32) -> i32;
type OfHandle = unsafe extern "C" fn(Handle) -> i32;
type SetNumber = unsafe extern "C" fn(i32);

/// The library.
pub(crate) struct Mkl {
    library: Library,
    /// Where it lies.
    pub(crate) path: PathBuf,
}

impl Mkl {
    /// Opens the file of `--mkl`, of `$ORDITO_MKL`, the one in an active Python environment, or what the loader finds.
    pub(crate) fn open(asked_for: Option<&Path>) -> anyhow::Result<Self> {
        let named = asked_for.map(Path::to_owned).or_else(|| std::env::var_os(VARIABLE).map(PathBuf::from));
        let candidates = match named {
            Some(path) => vec![path],
            None => beside_python()
                .into_iter()
                .chain(["libmkl_rt.so.3", "libmkl_rt.so.2"].map(PathBuf::from))
                .collect(),
        };
        let mut faults = Vec::new();
        for path in candidates {
            match open_with_threads(&path) {
                Ok(library) => return Ok(Mkl { library, path }),
                Err(error) => faults.push(error.to_string()),
            }
        }
        bail!(
            "no MKL to hold ours against: `pip install mkl` in a virtual environment and activate it, or name \
             libmkl_rt.so with --mkl or ${VARIABLE} ({})",
            faults.join("; ")
        )
    }

    fn function<F: Copy>(&self, name: &str) -> anyhow::Result<F> {
        // SAFETY: the types above are those of MKL's headers, with 32-bit integers, as `libmkl_rt` has by default.
        let symbol = unsafe { self.library.get::<F>(name.as_bytes()) };
        Ok(*symbol.with_context(|| format!("{} has no `{name}`", self.path.display()))?)
    }

    /// For all calls from now on.
    pub(crate) fn set_threads(&self, threads: usize) -> anyhow::Result<()> {
        let set: SetNumber = self.function("MKL_Set_Num_Threads")?;
        let dynamic: SetNumber = self.function("MKL_Set_Dynamic")?;
        // SAFETY: both take a number and keep it.
        unsafe {
            dynamic(0); // exactly so many, whatever it thinks of them
            set(i32::try_from(threads)?);
        }
        Ok(())
    }
}

/// Both need each other's functions, and the threads do not lie on the loader's path when MKL comes from PyPI.
fn open_with_threads(path: &Path) -> Result<Library, libloading::Error> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let _ = open_global(&folder.join("libiomp5.so")).map(std::mem::forget);
    }
    open_global(path)
}

#[cfg(unix)]
fn open_global(path: &Path) -> Result<Library, libloading::Error> {
    use libloading::os::unix;
    // SAFETY: MKL and its threads run nothing of consequence when they are loaded.
    unsafe { unix::Library::open(Some(path), unix::RTLD_NOW | unix::RTLD_GLOBAL) }.map(Library::from)
}

#[cfg(not(unix))]
fn open_global(path: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: MKL and its threads run nothing of consequence when they are loaded.
    unsafe { Library::new(path) }
}

/// `lib/libmkl_rt.so*` of the active Python environment.
fn beside_python() -> Vec<PathBuf> {
    let roots = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let files = roots.filter_map(|root| std::fs::read_dir(root.join("lib")).ok()).flatten().flatten();
    let is_it = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libmkl_rt.so"))
    };
    let mut found: Vec<PathBuf> = files.map(|file| file.path()).filter(is_it).collect();
    found.sort();
    found
}

/// How MKL is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// `mkl_sparse_?_mm`
    Mm,
    /// The same after a hint and `mkl_sparse_optimize`
    MmOptimized,
    /// `mkl_sparse_?_mv`, for one column
    Mv,
    /// The same after a hint and `mkl_sparse_optimize`
    MvOptimized,
}

impl Call {
    /// All that can compute a product with so many columns.
    pub(crate) fn all(k: usize) -> &'static [Call] {
        match k {
            1 => &[Call::Mm, Call::MmOptimized, Call::Mv, Call::MvOptimized],
            _ => &[Call::Mm, Call::MmOptimized],
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Call::Mm => "mkl-mm",
            Call::MmOptimized => "mkl-mm-optimized",
            Call::Mv => "mkl-mv",
            Call::MvOptimized => "mkl-mv-optimized",
        }
    }
}

/// A matrix made ready for one of the calls.
pub(crate) struct MklProduct<S> {
    mm: Mm<S>,
    mv: Mv<S>,
    destroy: OfHandle,
    handle: Handle,
    call: Call,
    k: i32,
    // MKL reads these for as long as the handle lives.
    a: Arc<Csr<S>>,
    _offsets: Vec<i32>,
}

impl<S: Scalar> MklProduct<S> {
    /// With the number of threads that was set last.
    pub(crate) fn new(mkl: &Mkl, a: &Arc<Csr<S>>, k: usize, call: Call) -> anyhow::Result<Self> {
        let letter = if S::NAME == "f32" { "s" } else { "d" };
        let create: CreateCsr<S> = mkl.function(&format!("mkl_sparse_{letter}_create_csr"))?;
        let offsets: Vec<i32> =
            a.view().offsets().iter().map(|&start| i32::try_from(start)).collect::<Result<_, _>>()?;
        let (rows, cols, k) = (i32::try_from(a.rows())?, i32::try_from(a.cols())?, i32::try_from(k)?);
        let mut handle = null_mut();
        // SAFETY: CSR of that many rows; columns are below `cols`, so their 32 bits mean the same with a sign. All arrays
        // are kept for as long as the handle.
        check("create_csr", unsafe {
            create(
                &mut handle,
                INDEX_BASE_ZERO,
                rows,
                cols,
                offsets.as_ptr(),
                offsets.as_ptr().add(1),
                a.view().columns().as_ptr(),
                a.view().values().as_ptr(),
            )
        })?;
        let product = MklProduct {
            mm: mkl.function(&format!("mkl_sparse_{letter}_mm"))?,
            mv: mkl.function(&format!("mkl_sparse_{letter}_mv"))?,
            destroy: mkl.function("mkl_sparse_destroy")?,
            handle,
            call,
            k,
            a: a.clone(),
            _offsets: offsets,
        };
        product.optimize(mkl)?;
        Ok(product)
    }

    fn optimize(&self, mkl: &Mkl) -> anyhow::Result<()> {
        match self.call {
            Call::Mm | Call::Mv => return Ok(()),
            Call::MmOptimized => {
                let hint: MmHint = mkl.function("mkl_sparse_set_mm_hint")?;
                // SAFETY: the handle is alive.
                check("set_mm_hint", unsafe {
                    hint(self.handle, NON_TRANSPOSE, GENERAL, ROW_MAJOR, self.k, EXPECTED_CALLS)
                })?;
            }
            Call::MvOptimized => {
                let hint: MvHint = mkl.function("mkl_sparse_set_mv_hint")?;
                // SAFETY: the handle is alive.
                check("set_mv_hint", unsafe { hint(self.handle, NON_TRANSPOSE, GENERAL, EXPECTED_CALLS) })?;
            }
        }
        let optimize: OfHandle = mkl.function("mkl_sparse_optimize")?;
        // SAFETY: the handle is alive.
        check("optimize", unsafe { optimize(self.handle) })
    }

    /// Y = A·X; both row after row without gaps.
    pub(crate) fn multiply(&self, x: &[S], y: &mut [S]) -> anyhow::Result<()> {
        let (a, k) = (&self.a, self.k as usize);
        anyhow::ensure!(x.len() == a.cols() * k && y.len() == a.rows() * k, "X or Y has another size");
        let (x, y, k) = (x.as_ptr(), y.as_mut_ptr(), self.k);
        // SAFETY: the handle is alive; X and Y have the sizes that MKL reads and writes, as was just seen.
        check(self.call.name(), unsafe {
            match self.call {
                Call::Mm | Call::MmOptimized => {
                    (self.mm)(NON_TRANSPOSE, S::ONE, self.handle, GENERAL, ROW_MAJOR, x, k, k, S::ZERO, y, k)
                }
                Call::Mv | Call::MvOptimized => {
                    (self.mv)(NON_TRANSPOSE, S::ONE, self.handle, GENERAL, x, S::ZERO, y)
                }
            }
        })
    }
}

impl<S> Drop for MklProduct<S> {
    fn drop(&mut self) {
        // SAFETY: the handle was made by `create_csr` and is used no more.
        unsafe { (self.destroy)(self.handle) };
    }
}

fn check(what: &str, status: i32) -> anyhow::Result<()> {
    anyhow::ensure!(status == SUCCESS, "MKL: {what} returned {status}");
    Ok(())
}
