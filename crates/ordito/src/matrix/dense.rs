//! Dense matrices, row-major, with a leading dimension: rows may lie farther apart than they are long.

use crate::Scalar;
use crate::matrix::{FormatError, check_dimensions, huge_pages};

/// A dense row-major matrix that owns its numbers.
///
/// Invariant: `leading_dimension >= cols` and `data.len() == rows · leading_dimension`.
///
/// ```
/// use ordito::Dense;
/// let x = Dense::from_rows(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// assert_eq!(x.view().row(1), &[4.0, 5.0, 6.0]);
/// let x = Dense::from_columns(2, 3, &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0])?; // Fortran order
/// assert_eq!(x.view().row(1), &[4.0, 5.0, 6.0]);
/// # Ok::<(), ordito::FormatError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dense<S> {
    rows: usize,
    cols: usize,
    leading_dimension: usize,
    data: Vec<S>,
}

/// A dense row-major matrix in somebody else's memory.
#[derive(Debug, Clone, Copy)]
pub struct DenseView<'a, S> {
    rows: usize,
    cols: usize,
    leading_dimension: usize,
    data: &'a [S],
}

/// A dense row-major matrix in somebody else's memory, to read and write.
#[derive(Debug)]
pub struct DenseViewMut<'a, S> {
    rows: usize,
    cols: usize,
    leading_dimension: usize,
    data: &'a mut [S],
}

/// Elements that `rows` rows need when the last one may end at its last column.
pub(crate) fn span(rows: usize, cols: usize, leading_dimension: usize) -> Result<usize, FormatError> {
    if leading_dimension < cols {
        return Err(FormatError::LeadingDimension { leading_dimension, cols });
    }
    // Nothing limits the sides of what has no elements, and loops over them would never end.
    if rows == 0 || cols == 0 {
        check_dimensions(rows, cols)?;
    }
    if rows == 0 {
        return Ok(0);
    }
    (rows - 1)
        .checked_mul(leading_dimension)
        .and_then(|n| n.checked_add(cols))
        .ok_or(FormatError::TooManyElements { what: "a dense matrix" })
}

impl<S: Scalar> Dense<S> {
    /// Takes `rows · cols` numbers, row after row.
    pub fn from_rows(rows: usize, cols: usize, data: Vec<S>) -> Result<Self, FormatError> {
        Dense::with_leading_dimension(rows, cols, cols, data)
    }

    /// Takes rows that lie `leading_dimension` elements apart.
    pub fn with_leading_dimension(
        rows: usize,
        cols: usize,
        leading_dimension: usize,
        data: Vec<S>,
    ) -> Result<Self, FormatError> {
        span(rows, cols, leading_dimension)?;
        let expected = rows
            .checked_mul(leading_dimension)
            .ok_or(FormatError::TooManyElements { what: "a dense matrix" })?;
        if data.len() != expected {
            return Err(FormatError::Length { what: "data", found: data.len(), expected });
        }
        Ok(Dense { rows, cols, leading_dimension, data })
    }

    /// Copies `rows · cols` numbers that stand column after column (Fortran order).
    pub fn from_columns(rows: usize, cols: usize, columns: &[S]) -> Result<Self, FormatError> {
        let mut dense = Dense::filled(rows, cols, S::ZERO)?;
        if columns.len() != dense.data.len() {
            let (found, expected) = (columns.len(), dense.data.len());
            return Err(FormatError::Length { what: "columns", found, expected });
        }
        transpose_into(columns, rows, cols, rows, &mut dense.data);
        Ok(dense)
    }

    /// Every element is 0.
    ///
    /// ```
    /// assert_eq!(ordito::Dense::<f64>::zeros(2, 3)?.data(), &[0.0; 6]);
    /// # Ok::<(), ordito::Error>(())
    /// ```
    pub fn zeros(rows: usize, cols: usize) -> Result<Self, FormatError> {
        Dense::filled(rows, cols, S::ZERO)
    }

    /// Every element is `value`.
    pub fn filled(rows: usize, cols: usize, value: S) -> Result<Self, FormatError> {
        span(rows, cols, cols)?;
        let what = "a dense matrix";
        let elements = rows.checked_mul(cols).ok_or(FormatError::TooManyElements { what })?;
        let bytes = (elements as u64).checked_mul(size_of::<S>() as u64);
        let mut data = Vec::new();
        data.try_reserve_exact(elements).map_err(|_| FormatError::NoMemory { what, bytes })?;
        huge_pages::advise(data.spare_capacity_mut());
        data.resize(elements, value);
        Ok(Dense { rows, cols, leading_dimension: cols, data })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }
    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }
    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }
    /// Distance between the starts of two rows, in elements.
    pub fn leading_dimension(&self) -> usize {
        self.leading_dimension
    }
    /// The memory itself, gaps included.
    pub fn into_data(self) -> Vec<S> {
        self.data
    }
    /// The memory, gaps included.
    pub fn data(&self) -> &[S] {
        &self.data
    }
    /// The memory, gaps included.
    pub fn data_mut(&mut self) -> &mut [S] {
        &mut self.data
    }

    /// To read.
    pub fn view(&self) -> DenseView<'_, S> {
        DenseView {
            rows: self.rows,
            cols: self.cols,
            leading_dimension: self.leading_dimension,
            data: &self.data,
        }
    }
    /// To write.
    pub fn view_mut(&mut self) -> DenseViewMut<'_, S> {
        DenseViewMut {
            rows: self.rows,
            cols: self.cols,
            leading_dimension: self.leading_dimension,
            data: &mut self.data,
        }
    }
}

impl<'a, S: Scalar> DenseView<'a, S> {
    /// Of `rows · cols` numbers without gaps.
    pub(crate) fn compact(data: &'a [S], rows: usize, cols: usize) -> Self {
        debug_assert_eq!(data.len(), rows * cols);
        DenseView { rows, cols, leading_dimension: cols, data }
    }

    /// Looks at `rows` rows of `cols` numbers that lie `leading_dimension` apart.
    pub fn new(
        data: &'a [S],
        rows: usize,
        cols: usize,
        leading_dimension: usize,
    ) -> Result<Self, FormatError> {
        let expected = span(rows, cols, leading_dimension)?;
        if data.len() < expected {
            return Err(FormatError::Length { what: "data", found: data.len(), expected });
        }
        Ok(DenseView { rows, cols, leading_dimension, data })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }
    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }
    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }
    /// Distance between the starts of two rows, in elements.
    pub fn leading_dimension(&self) -> usize {
        self.leading_dimension
    }
    /// The memory, gaps included.
    pub fn data(&self) -> &'a [S] {
        self.data
    }
    /// One row.
    #[inline(always)]
    pub fn row(&self, row: usize) -> &'a [S] {
        let start = row * self.leading_dimension;
        &self.data[start..start + self.cols]
    }

    /// A compact copy, column after column: column `k` stands at `k · rows`.
    pub fn to_columns(&self) -> Vec<S> {
        let mut columns = vec![S::ZERO; self.rows * self.cols];
        self.columns_into(&mut columns);
        columns
    }

    /// As [`to_columns`](Self::to_columns), into memory that is there already.
    ///
    /// # Panics
    /// When `columns` does not have `rows · cols` elements.
    pub fn columns_into(&self, columns: &mut [S]) {
        assert_eq!(columns.len(), self.rows * self.cols);
        transpose_into(self.data, self.cols, self.rows, self.leading_dimension, columns);
    }
}

impl<'a, S: Scalar> DenseViewMut<'a, S> {
    /// Of `rows · cols` numbers without gaps.
    pub(crate) fn compact(data: &'a mut [S], rows: usize, cols: usize) -> Self {
        debug_assert_eq!(data.len(), rows * cols);
        DenseViewMut { rows, cols, leading_dimension: cols, data }
    }

    /// Writes `rows` rows of `cols` numbers that lie `leading_dimension` apart; the gaps are never touched.
    pub fn new(
        data: &'a mut [S],
        rows: usize,
        cols: usize,
        leading_dimension: usize,
    ) -> Result<Self, FormatError> {
        let expected = span(rows, cols, leading_dimension)?;
        if data.len() < expected {
            return Err(FormatError::Length { what: "data", found: data.len(), expected });
        }
        Ok(DenseViewMut { rows, cols, leading_dimension, data })
    }

    /// βY, by the rules of BLAS: with β = 0 the old numbers are not read, so that NaN there does not spread.
    pub(crate) fn scale(&mut self, beta: S) {
        if beta == S::ONE {
            return;
        }
        for row in 0..self.rows {
            let row = self.row_mut(row);
            if beta == S::ZERO {
                row.fill(S::ZERO);
            } else {
                row.iter_mut().for_each(|y| *y = beta * *y);
            }
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }
    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }
    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }
    /// Distance between the starts of two rows, in elements.
    pub fn leading_dimension(&self) -> usize {
        self.leading_dimension
    }
    /// One row.
    #[inline(always)]
    pub fn row_mut(&mut self, row: usize) -> &mut [S] {
        let start = row * self.leading_dimension;
        &mut self.data[start..start + self.cols]
    }
    /// The matrix, to read.
    pub fn as_view(&self) -> DenseView<'_, S> {
        let DenseViewMut { rows, cols, leading_dimension, ref data } = *self;
        DenseView { rows, cols, leading_dimension, data }
    }
    /// The matrix for a shorter time: what is handed over can be used again afterwards.
    pub fn reborrow(&mut self) -> DenseViewMut<'_, S> {
        let DenseViewMut { rows, cols, leading_dimension, ref mut data } = *self;
        DenseViewMut { rows, cols, leading_dimension, data }
    }
    /// The memory from the first row on, gaps included.
    pub fn data_mut(&mut self) -> &mut [S] {
        self.data
    }
    /// The memory from the first row on, gaps included, for as long as it was borrowed.
    pub fn into_data(self) -> &'a mut [S] {
        self.data
    }

    /// Cuts the rows at `row`: what is above, what is below.
    ///
    /// # Panics
    /// When there are fewer than `row` rows.
    pub fn split_at_row(self, row: usize) -> (Self, Self) {
        assert!(row <= self.rows);
        let cut = (row * self.leading_dimension).min(self.data.len());
        let (above, below) = self.data.split_at_mut(cut);
        let (cols, leading_dimension) = (self.cols, self.leading_dimension);
        (
            DenseViewMut { rows: row, cols, leading_dimension, data: above },
            DenseViewMut { rows: self.rows - row, cols, leading_dimension, data: below },
        )
    }
}

/// Transposes a `cols × rows` matrix whose rows lie `leading_dimension` apart into a compact `rows × cols` one.
/// In squares of 16 × 16, so that every cache line that is fetched is used up while it is there.
fn transpose_into<S: Scalar>(
    data: &[S],
    rows: usize,
    cols: usize,
    leading_dimension: usize,
    transposed: &mut [S],
) {
    const SIDE: usize = 16;
    for row_start in (0..rows).step_by(SIDE) {
        for col_start in (0..cols).step_by(SIDE) {
            for row in row_start..rows.min(row_start + SIDE) {
                for col in col_start..cols.min(col_start + SIDE) {
                    transposed[row * cols + col] = data[col * leading_dimension + row];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_row_of_a_view_may_end_early() {
        let data = [1.0, 2.0, 9.0, 3.0, 4.0];
        let view = DenseView::new(&data, 2, 2, 3).unwrap();
        assert_eq!((view.row(0), view.row(1)), (&data[0..2], &data[3..5]));
        assert!(DenseView::new(&data[..4], 2, 2, 3).is_err());
        assert!(DenseView::new(&data, 1, 2, 1).is_err());
        assert!(DenseView::<f64>::new(&[], usize::MAX, 2, 4).is_err());
        assert!(Dense::filled(1 << 40, 1 << 21, 0.0).is_err());
    }

    #[test]
    fn splitting_keeps_every_row_once() {
        let mut data: Vec<f64> = (0..11).map(f64::from).collect(); // 3 rows of 3, leading dimension 4
        let view = DenseViewMut::new(&mut data, 3, 3, 4).unwrap();
        let (mut above, below) = view.split_at_row(1);
        assert_eq!(above.row_mut(0), &[0.0, 1.0, 2.0]);
        let (mut middle, end) = below.split_at_row(2);
        assert_eq!(middle.row_mut(1), &[8.0, 9.0, 10.0]);
        assert_eq!(end.rows(), 0);
    }

    #[test]
    fn columns_and_rows_are_each_others_transpose() {
        for (rows, cols) in [(0, 3), (1, 1), (17, 33), (33, 16)] {
            let numbers: Vec<f32> = (0..rows * cols).map(|i| i as f32).collect();
            let dense = Dense::from_rows(rows, cols, numbers).unwrap();
            let columns = dense.view().to_columns();
            assert!((0..rows).all(|r| (0..cols).all(|c| columns[c * rows + r] == dense.view().row(r)[c])));
            assert_eq!(Dense::from_columns(rows, cols, &columns).unwrap(), dense);
        }
    }
}
