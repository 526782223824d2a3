//! Which rows belong together: METIS cuts the graph of a matrix so that little has to travel.

use crate::error::Error;
use ordito::{Csr, Scalar};

/// A rank for every row of a square matrix that lies here as a whole: about as many nonzeros for each, few links between them. Takes the graph of A + Aᵀ.
pub fn metis_owners<S: Scalar>(a: &Csr<S>, ranks: usize) -> Result<Vec<u32>, Error> {
    if a.rows() != a.cols() {
        return Err(Error::Asked(format!(
            "METIS cuts square matrices, and this one is {}×{}",
            a.rows(),
            a.cols()
        )));
    }
    if ranks <= 1 || a.rows() == 0 {
        return Ok(vec![0; a.rows()]);
    }
    let (offsets, neighbours) = links(a)?;
    let weights: Vec<metis::Idx> = a.row_lengths().map(|length| length as metis::Idx + 1).collect();
    let mut owners = vec![0; a.rows()];
    let failed = |error: &dyn std::fmt::Display| Error::Asked(format!("METIS: {error}"));
    let graph =
        metis::Graph::new(1, ranks as metis::Idx, &offsets, &neighbours).map_err(|error| failed(&error))?;
    graph.set_vwgt(&weights).part_kway(&mut owners).map_err(|error| failed(&error))?;
    Ok(owners.into_iter().map(|owner| owner as u32).collect())
}

/// Neighbours of every row in A + Aᵀ, without the row itself.
fn links<S: Scalar>(a: &Csr<S>) -> Result<(Vec<metis::Idx>, Vec<metis::Idx>), Error> {
    if a.nnz() > metis::Idx::MAX as usize / 2 {
        return Err(Error::Asked(format!(
            "METIS counts links in {} bits: too many",
            8 * size_of::<metis::Idx>()
        )));
    }
    let transposed = a.transpose();
    let (mut offsets, mut neighbours) = (vec![0], Vec::with_capacity(2 * a.nnz()));
    for row in 0..a.rows() {
        let start = neighbours.len();
        let both = a.row(row).chain(transposed.row(row)).map(|(column, _)| column);
        neighbours.extend(both.filter(|&column| column != row).map(|column| column as metis::Idx));
        neighbours[start..].sort_unstable();
        let mut kept = start;
        for at in start..neighbours.len() {
            if at == start || neighbours[at] != neighbours[at - 1] {
                neighbours[kept] = neighbours[at];
                kept += 1;
            }
        }
        neighbours.truncate(kept);
        offsets.push(kept as metis::Idx);
    }
    Ok((offsets, neighbours))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::Counts;
    use crate::{Partition, Teams};

    #[test]
    fn a_square_is_cut_into_squares() {
        let a: Csr<f64> = ordito::io::read_csr("stencil5:40").unwrap();
        let owners = metis_owners(&a, 16).unwrap();
        assert!(owners.iter().all(|&owner| owner < 16));
        let order = crate::predict::in_order_of(&a, &owners, 16).unwrap();
        let counts = Counts::of(&order.0, &order.1, &order.1, Teams::ALONE, 16);
        let strips = Partition::even(1600, 16);
        let of_strips = Counts::of(&a, &strips, &strips, Teams::ALONE, 16);
        assert!(
            counts.total() * 4 < of_strips.total() * 3,
            "{} against {}",
            counts.total(),
            of_strips.total()
        );
        assert!(counts.imbalance() < 1.1, "{}", counts.imbalance());
        assert!(metis_owners(&ordito::io::read_csr::<f64>("empty:3x5").unwrap(), 2).is_err());
    }
}
