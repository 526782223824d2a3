//! `ordito gemm A.npy B.npy [--c C.npy] [-o OUT.npy]`

use crate::args::{Dtype, MemoryArgs, parse_count, with_scalar};
use crate::console::Console;
use crate::operations::check_gemm_memory;
use crate::product;
use crate::product::{ProductArgs, note_plan, too_large};
use anyhow::Context;
use clap::Args;
use ordito::Scalar;
use ordito::gemm::{Gemm, Inputs, Plan, Shape};
use ordito::io::npy::{Conversion, NpyDtype, read_npy_shape, write_npy_scalar, write_npy_vector};
use ordito::io::{read_npy, read_npy_dtype, write_npy};
use ordito::machine::{Limits, Machine};
use ordito::matrix::Dense;
use ordito::op::Op;
use ordito_bench::check::Precision;
use ordito_bench::report::{Outcome, Record};
use ordito_bench::workbench::{Case, OracleLimits, Selected};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The product C = αAB + βC itself.
#[derive(Debug, Args)]
#[command(
    after_help = "A, B and C are .npy files, C or Fortran order. One dimension means what NumPy's matmul makes of it: A a row, B a
column, and the result has that dimension less. Without --dtype the product is computed in the precision of the files.

Examples:
  ordito gemm A.npy B.npy -o C.npy
  ordito gemm A.npy B.npy --c C.npy -o C.npy --check
  ordito gemm A.npy B.npy --c C.npy --alpha -0.5 --beta 2 -o D.npy --on cuda
  ordito gemm A.npy B.npy --variant dense-serial-blocked --json"
)]
pub(crate) struct GemmArgs {
    /// A, N×M
    #[arg(value_name = "A.npy")]
    a: PathBuf,
    /// B, M×P
    #[arg(value_name = "B.npy")]
    b: PathBuf,
    /// C, N×P, which the product is added to
    #[arg(long, value_name = "C.npy")]
    c: Option<PathBuf>,
    /// Where to write the result; without it only what it cost is told
    #[arg(short, long, value_name = "OUT.npy")]
    output: Option<PathBuf>,
    /// α
    #[arg(long, value_name = "X", default_value = "1", value_parser = parse_factor, allow_hyphen_values = true)]
    alpha: f64,
    /// β; with 0, C is not read [default: 1 with --c, 0 without]
    #[arg(long, value_name = "X", value_parser = parse_factor, allow_hyphen_values = true)]
    beta: Option<f64>,
    /// Precision, where the files' is not wanted or not one
    #[arg(long, value_enum)]
    dtype: Option<Dtype>,
    #[command(flatten)]
    product: ProductArgs,
    /// Most multiply-adds of a serial product [default: 2e10]
    #[arg(long, value_name = "STEPS", value_parser = parse_count)]
    work_limit: Option<u64>,
    #[command(flatten)]
    memory: MemoryArgs,
}

/// α and β: infinity and NaN would only spoil everything.
fn parse_factor(text: &str) -> Result<f64, String> {
    let factor = text.parse::<f64>().ok().filter(|factor| factor.is_finite());
    factor.ok_or_else(|| "a finite number such as 1, -0.5 or 2e-3".into())
}

pub(crate) fn run(args: &GemmArgs, console: &Console) -> anyhow::Result<u8> {
    let beta = args.beta.unwrap_or(if args.c.is_some() { 1.0 } else { 0.0 });
    anyhow::ensure!(
        args.c.is_some() || beta == 0.0,
        "--beta {beta}: there is no C to add to; name it with --c"
    );
    let dtype = match args.dtype {
        Some(dtype) => dtype,
        None => common_dtype(args)?,
    };
    with_scalar!(dtype, S => multiply::<S>(args, beta, console))
}

/// The precision that all files have.
fn common_dtype(args: &GemmArgs) -> anyhow::Result<Dtype> {
    let mut found = Vec::new();
    for path in [&args.a, &args.b].into_iter().chain(&args.c) {
        found.push(match read_npy_dtype(path)? {
            NpyDtype::F32 => (path.display(), Dtype::F32, "f32"),
            NpyDtype::F64 => (path.display(), Dtype::F64, "f64"),
            // Reading it says what is wrong.
            NpyDtype::Other(_) => {
                read_npy::<f64>(path, Conversion::Refuse).map(|_| (path.display(), Dtype::F64, "f64"))?
            }
        });
    }
    let (first, dtype, name) = &found[0];
    if let Some((other, _, other_name)) = found.iter().find(|(_, other, _)| other != dtype) {
        anyhow::bail!("{other} holds {other_name}, {first} {name}: --dtype f32 or --dtype f64 converts them");
    }
    Ok(*dtype)
}

fn multiply<S: Scalar>(args: &GemmArgs, beta: f64, console: &Console) -> anyhow::Result<u8> {
    let factor = |name: &str, value: f64| {
        let factor = S::from_f64(value);
        anyhow::ensure!(factor.is_finite(), "--{name} {value:e} is too large for {}", S::NAME);
        anyhow::ensure!(factor != S::ZERO || value == 0.0, "--{name} {value:e} is too small for {}", S::NAME);
        Ok(factor)
    };
    let (alpha, beta) = (factor("alpha", args.alpha)?, factor("beta", beta)?);
    product::check_output(args.output.as_deref())?;
    let (selected, accelerator) = args.product.select_one::<Gemm<S>>()?;
    let limits = Limits { work_steps: args.work_limit, ..args.memory.limits() };
    let machine = match args.product.machine(limits, accelerator, console)? {
        Ok(machine) => machine,
        Err(code) => return Ok(code),
    };
    let shapes = Shapes::read(args)?;
    let Shape { m: n, k: m, n: p } = shapes.product;
    let record = Record {
        n: Some(n as u64),
        m: Some(m as u64),
        p: Some(p as u64),
        dtype: S::NAME.into(),
        ..Record::new(Gemm::<S>::NAME, &selected.name(), Outcome::NotVerified)
    };
    let busy = console.busy(format!("multiplying {} and {}", args.a.display(), args.b.display()));
    let multiplied = Prepared::new(args, selected, &machine, shapes.product, (alpha, beta), record.clone())
        .and_then(|prepared| prepared.multiply(args, shapes.result, &machine));
    drop(busy);
    args.product.conclude(record, multiplied, console)
}

/// What the result is, as NumPy would have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dimensions {
    Matrix,
    Vector,
    Scalar,
}

/// What the headers of the files say, before a number is read.
struct Shapes {
    product: Shape,
    result: Dimensions,
}

impl Shapes {
    fn read(args: &GemmArgs) -> anyhow::Result<Self> {
        let (a, b) = (read_npy_shape(&args.a)?, read_npy_shape(&args.b)?);
        let (n, m) = match a[..] {
            [n, m] => (n, m),
            [m] => (1, m),
            _ => anyhow::bail!("{} is {}: no matrix and no vector", args.a.display(), shape_text(&a)),
        };
        let (rows_of_b, p) = match b[..] {
            [rows, p] => (rows, p),
            [rows] => (rows, 1),
            _ => anyhow::bail!("{} is {}: no matrix and no vector", args.b.display(), shape_text(&b)),
        };
        anyhow::ensure!(
            m == rows_of_b,
            "{} is {}, {} is {}: the columns of A must be as many as the rows of B, and {m} is not {rows_of_b}",
            args.a.display(),
            shape_text(&a),
            args.b.display(),
            shape_text(&b)
        );
        let (result, shape) = match (a.len(), b.len()) {
            (1, 1) => (Dimensions::Scalar, vec![]),
            (1, _) => (Dimensions::Vector, vec![p]),
            (_, 1) => (Dimensions::Vector, vec![n]),
            _ => (Dimensions::Matrix, vec![n, p]),
        };
        if let Some(path) = &args.c {
            let c = read_npy_shape(path)?;
            anyhow::ensure!(
                c == shape || c == [n, p],
                "{} is {}, but {} ({}) times {} ({}) is {}",
                path.display(),
                shape_text(&c),
                args.a.display(),
                shape_text(&a),
                args.b.display(),
                shape_text(&b),
                shape_text(&shape)
            );
        }
        Ok(Shapes { product: Shape { m: n, k: m, n: p }, result })
    }
}

/// `3×4`, `a vector of 4`, or `a number`.
fn shape_text(shape: &[usize]) -> String {
    match shape {
        [] => "a number".into(),
        [length] => format!("a vector of {length}"),
        lengths => lengths.iter().map(usize::to_string).collect::<Vec<_>>().join("×"),
    }
}

/// The file as a matrix of that shape, whatever dimensions it has.
fn read_as<S: Scalar>(
    path: &Path,
    rows: usize,
    cols: usize,
    conversion: Conversion,
) -> anyhow::Result<Dense<S>> {
    let read = read_npy::<S>(path, conversion)?;
    if (read.rows(), read.cols()) == (rows, cols) {
        return Ok(read);
    }
    // A vector, read as a column, may stand for a row.
    let lying = Dense::from_rows(rows, cols, read.data().to_vec());
    lying.with_context(|| format!("{} has changed while it was read", path.display()))
}

/// A plan with its operands.
struct Prepared<S: Scalar> {
    plan: Plan<S>,
    case: Case<Gemm<S>>,
}

impl<S: Scalar> Prepared<S> {
    /// Sees that everything fits, reads the operands and gets ready.
    fn new(
        args: &GemmArgs,
        selected: Selected,
        machine: &Arc<Machine>,
        shape: Shape,
        (alpha, beta): (S, S),
        mut record: Record,
    ) -> anyhow::Result<Self> {
        let limits = OracleLimits::default();
        let results = 1 + usize::from(args.c.is_some());
        check_gemm_memory::<S>(machine, shape, 0, results, args.product.check.then_some(limits))?;
        let start = Instant::now();
        let plan = match selected {
            Selected::Auto => Plan::new(shape, machine)?,
            other => Plan::with_variant(&other.name(), shape, machine)?,
        };
        record.prepare_ns = Some(start.elapsed().as_nanos() as f64);
        note_plan::<Gemm<S>>(&mut record, &selected, plan.choice(), plan.launches(), machine);
        let conversion = if args.dtype.is_some() { Conversion::Allow } else { Conversion::Refuse };
        let Shape { m: n, k: m, n: p } = shape;
        let a = Arc::new(read_as::<S>(&args.a, n, m, conversion)?);
        let b = Arc::new(read_as::<S>(&args.b, m, p, conversion)?);
        // With β = 0 there might as well be no C.
        let c = args.c.as_ref().filter(|_| beta != S::ZERO);
        let c = c.map(|path| read_as::<S>(path, n, p, conversion).map(Arc::new)).transpose()?;
        let inputs = Inputs { a, b, alpha, beta, c };
        Ok(Prepared { plan, case: Case::new(shape, inputs, Precision::of::<S>(), record, limits) })
    }

    /// The product, checked and written as asked.
    fn multiply(mut self, args: &GemmArgs, result: Dimensions, machine: &Machine) -> anyhow::Result<Record> {
        let (shape, inputs) = (self.case.subject, &self.case.inputs);
        let mut c = match &inputs.c {
            Some(c) => Dense::clone(c),
            None => Dense::filled(shape.m, shape.n, S::POISON).map_err(too_large(machine))?,
        };
        let start = Instant::now();
        self.plan.apply(inputs.alpha, inputs.a.view(), inputs.b.view(), inputs.beta, c.view_mut())?;
        let elapsed_ns = start.elapsed().as_nanos() as f64;
        let mut record = product::timed(&self.case, self.plan.phases(), elapsed_ns);
        if inputs.alpha == S::ZERO {
            record.gflops = None; // nothing was multiplied
        }
        if args.product.check {
            product::check(&self.case, self.plan.choice(), &c, &mut record)?;
        }
        if let Some(output) = &args.output {
            match result {
                Dimensions::Matrix => write_npy(c.view(), output)?,
                Dimensions::Vector => write_npy_vector(c.view(), output)?,
                Dimensions::Scalar => write_npy_scalar(c.view(), output)?,
            }
        }
        Ok(record)
    }
}
