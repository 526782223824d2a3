//! Dense matrices column after column (Fortran order), and either order at the door of a product.

use crate::Scalar;
use crate::matrix::{Dense, DenseView, DenseViewMut, FormatError};

/// A dense column-major matrix in somebody else's memory: columns may lie farther apart than they are long.
///
/// ```
/// use ordito::{ColumnsView, DenseView};
/// let x = ColumnsView::new(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0], 2, 3, 2)?; // Fortran order
/// assert_eq!(x.column(1), &[2.0, 5.0]);
/// // The transposed of a row-major matrix, in the same memory.
/// let rows = DenseView::new(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2, 3, 3)?;
/// assert_eq!(ColumnsView::transposed(rows).column(1), &[4.0, 5.0, 6.0]);
/// # Ok::<(), ordito::FormatError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ColumnsView<'a, S> {
    /// Its transposed matrix, row by row: the same memory.
    transposed: DenseView<'a, S>,
}

/// A dense column-major matrix in somebody else's memory, to read and write.
#[derive(Debug)]
pub struct ColumnsViewMut<'a, S> {
    /// Its transposed matrix, row by row: the same memory.
    transposed: DenseViewMut<'a, S>,
}

impl<'a, S: Scalar> ColumnsView<'a, S> {
    /// Looks at `cols` columns of `rows` numbers that lie `leading_dimension` apart.
    pub fn new(
        data: &'a [S],
        rows: usize,
        cols: usize,
        leading_dimension: usize,
    ) -> Result<Self, FormatError> {
        let transposed = DenseView::new(data, cols, rows, leading_dimension).map_err(of_columns)?;
        Ok(ColumnsView { transposed })
    }

    /// The transposed of a row-major matrix: its rows are columns here.
    pub fn transposed(rows: DenseView<'a, S>) -> Self {
        ColumnsView { transposed: rows }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.transposed.cols()
    }
    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.transposed.rows()
    }
    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows(), self.cols())
    }
    /// Distance between the starts of two columns, in elements.
    pub fn leading_dimension(&self) -> usize {
        self.transposed.leading_dimension()
    }
    /// One column.
    #[inline(always)]
    pub fn column(&self, column: usize) -> &'a [S] {
        self.transposed.row(column)
    }
    /// A copy, row after row.
    pub(crate) fn to_rows(self) -> Result<Dense<S>, FormatError> {
        let mut rows = Dense::zeros(self.rows(), self.cols())?;
        self.pack_rows(0, rows.data_mut());
        Ok(rows)
    }
    /// Rows `first..` row after row without gaps, as many as `rows` has room for.
    pub(crate) fn pack_rows(&self, first: usize, rows: &mut [S]) {
        let cols = self.cols();
        if cols == 0 {
            return;
        }
        // Some rows at a time, so that what is written stays in the cache until all columns are there.
        for (block, rows) in rows.chunks_mut(PACKED_TOGETHER * cols).enumerate() {
            let from = first + block * PACKED_TOGETHER;
            let count = rows.len() / cols;
            for column in 0..cols {
                let numbers = &self.column(column)[from..from + count];
                for (row, &number) in rows.chunks_exact_mut(cols).zip(numbers) {
                    row[column] = number;
                }
            }
        }
    }
}

/// What is wrong with the transposed matrix, said of this one.
fn of_columns(error: FormatError) -> FormatError {
    match error {
        FormatError::LeadingDimension { leading_dimension, cols } => {
            FormatError::ColumnDistance { leading_dimension, rows: cols }
        }
        other => other,
    }
}

/// Rows that are packed, or brought into columns, at a time: 128 were no faster, and neither were squares of eight.
pub(crate) const PACKED_TOGETHER: usize = 32;

impl<'a, S: Scalar> ColumnsViewMut<'a, S> {
    /// Writes `cols` columns of `rows` numbers that lie `leading_dimension` apart; the gaps are never touched.
    pub fn new(
        data: &'a mut [S],
        rows: usize,
        cols: usize,
        leading_dimension: usize,
    ) -> Result<Self, FormatError> {
        let transposed = DenseViewMut::new(data, cols, rows, leading_dimension).map_err(of_columns)?;
        Ok(ColumnsViewMut { transposed })
    }

    /// The transposed of a row-major matrix: its rows are columns here.
    pub fn transposed(rows: DenseViewMut<'a, S>) -> Self {
        ColumnsViewMut { transposed: rows }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.transposed.cols()
    }
    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.transposed.rows()
    }
    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows(), self.cols())
    }
    /// Distance between the starts of two columns, in elements.
    pub fn leading_dimension(&self) -> usize {
        self.transposed.leading_dimension()
    }
    /// One column.
    pub fn column_mut(&mut self, column: usize) -> &mut [S] {
        self.transposed.row_mut(column)
    }
    /// The matrix, to read.
    pub fn as_view(&self) -> ColumnsView<'_, S> {
        ColumnsView { transposed: self.transposed.as_view() }
    }
    /// The matrix for a shorter time.
    pub fn reborrow(&mut self) -> ColumnsViewMut<'_, S> {
        ColumnsViewMut { transposed: self.transposed.reborrow() }
    }
    /// βY, by the rules of BLAS.
    pub(crate) fn scale(&mut self, beta: S) {
        self.transposed.scale(beta);
    }
    /// All numbers, from a matrix of the same shape.
    pub(crate) fn set_rows(&mut self, rows: DenseView<'_, S>) {
        for column in 0..self.cols() {
            let numbers = self.column_mut(column);
            numbers.iter_mut().enumerate().for_each(|(row, number)| *number = rows.row(row)[column]);
        }
    }
    /// The memory from the first column on.
    pub(crate) fn data_mut(&mut self) -> &mut [S] {
        self.transposed.data_mut()
    }
}

/// A block of vectors to read, row-major or column-major: what a product takes as X. Made of either view.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum BlockView<'a, S> {
    /// Row after row (C order).
    Rows(DenseView<'a, S>),
    /// Column after column (Fortran order).
    Columns(ColumnsView<'a, S>),
}

/// A block of vectors to read and write, row-major or column-major: what a product takes as Y. Made of either view.
#[derive(Debug)]
#[non_exhaustive]
pub enum BlockViewMut<'a, S> {
    /// Row after row (C order).
    Rows(DenseViewMut<'a, S>),
    /// Column after column (Fortran order).
    Columns(ColumnsViewMut<'a, S>),
}

impl<'a, S: Scalar> BlockView<'a, S> {
    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            BlockView::Rows(view) => view.shape(),
            BlockView::Columns(view) => view.shape(),
        }
    }

    /// The transposed matrix, in the same memory.
    pub(crate) fn transposed(self) -> Self {
        match self {
            BlockView::Rows(view) => BlockView::Columns(ColumnsView::transposed(view)),
            BlockView::Columns(view) => BlockView::Rows(view.transposed),
        }
    }

    /// One column is the same in either order: a product takes it row by row.
    pub(crate) fn by_rows_if_one_column(self) -> Self {
        match self {
            BlockView::Columns(view) if view.cols() == 1 => {
                BlockView::Rows(DenseView::compact(view.column(0), view.rows(), 1))
            }
            view => view,
        }
    }
}

impl<'a, S: Scalar> BlockViewMut<'a, S> {
    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        match self {
            BlockViewMut::Rows(view) => view.shape(),
            BlockViewMut::Columns(view) => view.shape(),
        }
    }

    /// The transposed matrix, in the same memory.
    pub(crate) fn transposed(self) -> Self {
        match self {
            BlockViewMut::Rows(view) => BlockViewMut::Columns(ColumnsViewMut::transposed(view)),
            BlockViewMut::Columns(view) => BlockViewMut::Rows(view.transposed),
        }
    }

    /// One column is the same in either order: a product takes it row by row.
    pub(crate) fn by_rows_if_one_column(self) -> Self {
        match self {
            BlockViewMut::Columns(view) if view.cols() == 1 => {
                let rows = view.rows();
                let column = &mut view.transposed.into_data()[..rows];
                BlockViewMut::Rows(DenseViewMut::compact(column, rows, 1))
            }
            view => view,
        }
    }
}

impl<'a, S> From<DenseView<'a, S>> for BlockView<'a, S> {
    fn from(view: DenseView<'a, S>) -> Self {
        BlockView::Rows(view)
    }
}

impl<'a, S> From<ColumnsView<'a, S>> for BlockView<'a, S> {
    fn from(view: ColumnsView<'a, S>) -> Self {
        BlockView::Columns(view)
    }
}

impl<'a, S> From<DenseViewMut<'a, S>> for BlockViewMut<'a, S> {
    fn from(view: DenseViewMut<'a, S>) -> Self {
        BlockViewMut::Rows(view)
    }
}

impl<'a, S> From<ColumnsViewMut<'a, S>> for BlockViewMut<'a, S> {
    fn from(view: ColumnsViewMut<'a, S>) -> Self {
        BlockViewMut::Columns(view)
    }
}
