//! A block of epochs by itself: preprocessed, those that move too far left out, the others reduced to the statistics of their
//! columns, where they lie. No two blocks meet: any thread may take any of them.

use crate::arrangement::Arrangement;
use crate::error::ErpError;
use crate::groups::Groups;
use crate::layout_check;
use crate::preprocess::Preprocess;
use crate::reject::Rejected;
use crate::settings::Settings;
use ordito::Scalar;
use ordito::column_stats::Statistics;
use ordito::cpu::Pool;
use ordito::matrix::{DenseView, DenseViewMut};
use ordito::op::RunError;
use std::time::Instant;

/// Groups, and of how many rows in all.
pub(crate) type Grouping = (Groups, usize);

/// What is done to every block of a condition.
pub(crate) struct Steps<'a> {
    pub(crate) arrangement: &'a Arrangement,
    preprocess: Preprocess<'a>,
    pub(crate) grouping: Option<Grouping>,
    /// Are the first epochs asked whether their columns look ordered the other way?
    check_layout: bool,
}

/// What became of a block.
pub(crate) struct Part {
    /// Epochs before it.
    pub(crate) first: usize,
    /// Epochs that it had.
    pub(crate) rows: usize,
    /// Those that were kept; they are its first rows now.
    pub(crate) kept: usize,
    /// Those that were not, counted from 1 at the start of the condition.
    pub(crate) rejected: Vec<Rejected>,
    /// The smallest peak-to-peak amplitude of any epoch, where they are asked for.
    pub(crate) quietest: f64,
    /// Of those that were kept, if there are any.
    pub(crate) statistics: Option<Statistics>,
    /// The same, of the groups that have some here.
    pub(crate) groups: Vec<(usize, Statistics)>,
    /// A sentence that a person should read.
    pub(crate) warning: Option<String>,
    pub(crate) preprocess_ns: f64,
    pub(crate) statistics_ns: f64,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(
        settings: &Settings,
        arrangement: &'a Arrangement,
        grouping: Option<Grouping>,
        check_layout: bool,
    ) -> Self {
        Steps { arrangement, preprocess: Preprocess::new(settings, arrangement), grouping, check_layout }
    }

    /// Takes epochs that `first` others come before; `statistics` says how columns are reduced.
    pub(crate) fn take<S: Scalar>(
        &self,
        first: usize,
        epochs: &mut DenseViewMut<'_, S>,
        pool: &Pool,
        mut statistics: impl FnMut(DenseView<'_, S>) -> Result<Statistics, ErpError>,
    ) -> Result<Part, ErpError> {
        let rows = epochs.rows();
        let is_checked = self.check_layout && first == 0;
        let warning =
            if is_checked { layout_check::warning(self.arrangement, epochs.as_view()) } else { None };
        let (mut kept, mut rejected) = ((0..rows).collect::<Vec<_>>(), Vec::new());
        let (mut quietest, mut preprocess_ns) = (f64::INFINITY, 0.0);
        if self.preprocess.is_needed() {
            let start = Instant::now();
            let farthest = self.preprocess.apply(epochs, pool);
            kept.retain(|&row| farthest[row].as_ref().is_none_or(|found| self.preprocess.keeps(found)));
            for found in farthest.into_iter().flatten() {
                quietest = quietest.min(found.peak_to_peak);
                if !self.preprocess.keeps(&found) {
                    rejected.push(Rejected { epoch: first + found.epoch + 1, ..found });
                }
            }
            move_up(epochs, &kept);
            preprocess_ns = start.elapsed().as_nanos() as f64;
        }
        let start = Instant::now();
        let view = first_rows(epochs.as_view(), kept.len())?;
        let of_all = if kept.is_empty() { None } else { Some(statistics(view)?) };
        let groups = self.reduce_groups(view, first, &kept, &mut statistics)?;
        Ok(Part {
            first,
            rows,
            kept: kept.len(),
            rejected,
            quietest,
            statistics: of_all,
            groups,
            warning,
            preprocess_ns,
            statistics_ns: start.elapsed().as_nanos() as f64,
        })
    }

    /// The rows of every group, copied together: a group is a small share of all.
    fn reduce_groups<S: Scalar>(
        &self,
        view: DenseView<'_, S>,
        first: usize,
        kept: &[usize],
        statistics: &mut impl FnMut(DenseView<'_, S>) -> Result<Statistics, ErpError>,
    ) -> Result<Vec<(usize, Statistics)>, ErpError> {
        let Some((groups, total)) = self.grouping else { return Ok(Vec::new()) };
        let mut reduced = Vec::new();
        for group in 0..groups.count {
            let here = |row: usize| groups.of(first + row, total) == group;
            let places: Vec<usize> = (0..kept.len()).filter(|&place| here(kept[place])).collect();
            if places.is_empty() {
                continue;
            }
            let numbers: Vec<S> = places.iter().flat_map(|&place| view.row(place)).copied().collect();
            let gathered = DenseView::new(&numbers, places.len(), view.cols(), view.cols());
            reduced.push((group, statistics(gathered.map_err(RunError::from)?)?));
        }
        Ok(reduced)
    }
}

/// Moves the rows that are kept to the top, in order.
fn move_up<S: Scalar>(epochs: &mut DenseViewMut<'_, S>, kept: &[usize]) {
    let (cols, distance) = (epochs.cols(), epochs.leading_dimension());
    for (place, &row) in kept.iter().enumerate().filter(|(place, row)| place != *row) {
        epochs.data_mut().copy_within(row * distance..row * distance + cols, place * distance);
    }
}

/// The first rows of a matrix.
pub(crate) fn first_rows<S: Scalar>(
    matrix: DenseView<'_, S>,
    rows: usize,
) -> Result<DenseView<'_, S>, ErpError> {
    let view = DenseView::new(matrix.data(), rows, matrix.cols(), matrix.leading_dimension());
    Ok(view.map_err(RunError::from)?)
}
