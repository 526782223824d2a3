//! `ordito convert MATRIX -o OUT`

use crate::args::{Dtype, ReadArgs, with_scalar};
use crate::console::Console;
use crate::matrix_input::Matrix;
use clap::Args;
use ordito::Scalar;
use ordito::files::check_writable;
use ordito::io::matrix_market::{Layout, WriteOptions};
use ordito::io::{write_matrix_market, write_npy};
use ordito::matrix::{Csr, Dense};
use std::path::PathBuf;

/// Rewrite a matrix in another file format.
#[derive(Debug, Args)]
#[command(
    after_help = "The name of OUT says the format: .mtx, .mtx.gz (Matrix Market), .npy (dense NumPy array).

Examples:
  ordito convert bcsstk17.mtx.gz -o bcsstk17.mtx
  ordito convert stencil27:40 -o stencil.mtx.gz
  ordito convert my.mtx -o half.mtx --symmetric"
)]
pub(crate) struct ConvertArgs {
    /// A path, a bare name or a synthetic matrix
    matrix: String,
    /// Where to write
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Write only the lower triangle; the matrix must be symmetric
    #[arg(long, conflicts_with = "array")]
    symmetric: bool,
    /// Write every element, zeros too (Matrix Market array format)
    #[arg(long)]
    array: bool,
    /// Precision in which numbers are read and written
    #[arg(long, value_enum, default_value = "f64")]
    dtype: Dtype,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &ConvertArgs, console: &Console) -> anyhow::Result<u8> {
    with_scalar!(args.dtype, S => convert::<S>(args, console))
}

fn convert<S: Scalar>(args: &ConvertArgs, console: &Console) -> anyhow::Result<u8> {
    let name = args.output.to_string_lossy().to_lowercase();
    let npy = name.ends_with(".npy");
    anyhow::ensure!(
        npy || name.ends_with(".mtx") || name.ends_with(".mtx.gz"),
        "{}: the name must end in .mtx, .mtx.gz or .npy, which says the format",
        args.output.display()
    );
    anyhow::ensure!(!(npy && args.symmetric), "--symmetric: a .npy file always holds every element");
    check_writable(&args.output).map_err(|error| anyhow::anyhow!("{error}"))?;
    let busy = console.busy(format!("reading {}", args.matrix));
    let matrix = Matrix::<S>::load(&args.matrix, &args.read.options())?;
    let coo = &*matrix.triplets;
    let machine = args.read.machine(None)?;
    busy.say(format!("writing {}", args.output.display()));
    if npy {
        let elements = (coo.rows() as u64).checked_mul(coo.cols() as u64);
        let bytes = elements.and_then(|count| count.checked_mul(size_of::<S>() as u64));
        machine
            .holding(matrix.bytes())
            .check_memory(format!("a dense {}×{} matrix", coo.rows(), coo.cols()), bytes)?;
        let mut dense = Dense::filled(coo.rows(), coo.cols(), S::ZERO)?;
        let mut view = dense.view_mut();
        for (row, col, value) in coo.entries() {
            view.row_mut(row as usize)[col as usize] += value;
        }
        write_npy(dense.view(), &args.output)?;
    } else {
        let layout = match (args.symmetric, args.array) {
            (true, _) => Layout::Symmetric,
            (_, true) => Layout::Array,
            _ => Layout::General,
        };
        // The symmetric half is found by sorting and transposing: by rows, mirrored, and both as triplets.
        if layout != Layout::General {
            let by_rows = Csr::<S>::bytes_for(coo.rows().max(coo.cols()), coo.nnz());
            let bytes = by_rows.and_then(|bytes| bytes.checked_add(matrix.bytes())?.checked_mul(2));
            machine.holding(matrix.bytes()).check_memory("the matrix in order", bytes)?;
        }
        let options = WriteOptions { layout, ..WriteOptions::default() };
        write_matrix_market(coo, &args.output, &options)?;
    }
    drop(busy);
    console.note(&format!(
        "{}: {}×{}, {} entries, written",
        args.output.display(),
        coo.rows(),
        coo.cols(),
        coo.nnz()
    ));
    Ok(0)
}
