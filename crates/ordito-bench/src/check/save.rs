//! Operands and results as files.

use ordito::Scalar;
use ordito::column_stats;
use ordito::files::WriteError;
use ordito::gemm;
use ordito::io::matrix_market::WriteOptions;
use ordito::io::{write_matrix_market, write_npy};
use ordito::matrix::{Dense, DenseView};
use ordito::op::Op;
use ordito::spmm;
use ordito::tall_skinny::{combine, gram};
use std::path::Path;
use std::sync::Arc;

/// An operation whose failing cases can be looked at.
pub trait Save: Op {
    /// Writes operands and result into `folder`.
    fn save(
        subject: &Self::Subject,
        inputs: &Self::Inputs,
        output: &Self::Output,
        folder: &Path,
    ) -> Result<(), WriteError>;
}

impl<S: Scalar> Save for spmm::Spmm<S> {
    fn save(
        subject: &spmm::Subject<S>,
        inputs: &spmm::Inputs<S>,
        output: &Dense<S>,
        folder: &Path,
    ) -> Result<(), WriteError> {
        let triplets = subject.triplets.clone().unwrap_or_else(|| Arc::new(subject.a.to_coo()));
        write_matrix_market(&triplets, &folder.join("a.mtx"), &WriteOptions::default())?;
        write_npy(inputs.x.view(), &folder.join("x.npy"))?;
        if let Some(y) = &inputs.y {
            write_npy(y.view(), &folder.join("y_before.npy"))?;
        }
        write_npy(output.view(), &folder.join("y_found.npy"))
    }
}

impl<S: Scalar> Save for gemm::Gemm<S> {
    fn save(
        _: &gemm::Shape,
        inputs: &gemm::Inputs<S>,
        output: &Dense<S>,
        folder: &Path,
    ) -> Result<(), WriteError> {
        write_npy(inputs.a.view(), &folder.join("a.npy"))?;
        write_npy(inputs.b.view(), &folder.join("b.npy"))?;
        if let Some(c) = &inputs.c {
            write_npy(c.view(), &folder.join("c_before.npy"))?;
        }
        write_npy(output.view(), &folder.join("c_found.npy"))
    }
}

impl<S: Scalar> Save for column_stats::Columns<S> {
    fn save(
        _: &column_stats::Shape,
        data: &Arc<Dense<S>>,
        found: &column_stats::Statistics,
        folder: &Path,
    ) -> Result<(), WriteError> {
        write_npy(data.view(), &folder.join("data.npy"))?;
        for (name, values) in found.named() {
            let view = DenseView::new(values, values.len().min(1), values.len(), values.len());
            if let Ok(view) = view {
                write_npy(view, &folder.join(format!("{name}_found.npy")))?;
            }
        }
        Ok(())
    }
}

impl<S: Scalar> Save for gram::Gram<S> {
    fn save(
        shape: &gram::Shape,
        inputs: &gram::Inputs<S>,
        found: &Dense<f64>,
        folder: &Path,
    ) -> Result<(), WriteError> {
        write_npy(inputs.x.view(), &folder.join("x.npy"))?;
        if !shape.symmetric {
            write_npy(inputs.y.view(), &folder.join("y.npy"))?;
        }
        write_npy(found.view(), &folder.join("g_found.npy"))
    }
}

impl<S: Scalar> Save for combine::Combine<S> {
    fn save(
        _: &combine::Shape,
        inputs: &combine::Inputs<S>,
        found: &Dense<S>,
        folder: &Path,
    ) -> Result<(), WriteError> {
        write_npy(inputs.x.view(), &folder.join("x.npy"))?;
        write_npy(inputs.c.view(), &folder.join("c.npy"))?;
        write_npy(found.view(), &folder.join("y_found.npy"))
    }
}
