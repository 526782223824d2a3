//! What was measured: all that tells one record of a run from another, and makes records of two runs comparable.

use crate::report::record::Record;
use ordito::units;
use serde::Serialize;

/// Operation, input and setting of a record. Two records that agree in it measured the same thing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize)]
pub struct Setting {
    /// The operation.
    pub op: String,
    /// The variant's name.
    pub variant: String,
    /// Where it runs.
    #[serde(rename = "where")]
    pub place: String,
    /// The input's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix: Option<String>,
    /// Rows of the input: a name alone may stand for two matrices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Columns of the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cols: Option<u64>,
    /// Its stored entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nnz: Option<u64>,
    /// Columns of X.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<u64>,
    /// gemm: rows of A and C; gram and combine: rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// gemm: columns of A, rows of B; gram and combine: columns of X.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub m: Option<u64>,
    /// gemm: columns of B and C; gram and combine: columns of Y.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<u64>,
    /// gemm: β, where it is not 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<String>,
    /// Elements between the rows of dense operands, where there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pad: Option<u64>,
    /// transfer: bytes copied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// `f32` or `f64`.
    pub dtype: String,
    /// CPU threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u64>,
    /// Ranks that computed together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<u64>,
    /// What was chosen of the launch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geometry: Option<String>,
    /// Were the caches emptied before each run?
    pub cold: bool,
}

impl Setting {
    /// Of a record.
    pub fn of(record: &Record) -> Self {
        Setting {
            op: record.op.clone(),
            variant: record.variant.clone(),
            beta: record.beta.map(|beta| beta.to_string()),
            place: record.place.clone(),
            matrix: record.matrix.clone(),
            rows: record.rows,
            cols: record.cols,
            nnz: record.nnz,
            k: record.k,
            n: record.n,
            m: record.m,
            p: record.p,
            pad: record.pad,
            bytes: record.bytes,
            dtype: record.dtype.clone(),
            threads: record.threads,
            ranks: record.ranks,
            geometry: record.geometry.clone(),
            cold: record.cold,
        }
    }

    /// What all variants have in common that run in the same place, with as many threads, however they are launched.
    pub fn of_any_variant(record: &Record) -> Self {
        Setting { variant: String::new(), geometry: None, ..Setting::of(record) }
    }

    /// What all variants have in common, wherever they run.
    pub fn of_any_place(record: &Record) -> Self {
        Setting { place: String::new(), threads: None, ranks: None, ..Setting::of_any_variant(record) }
    }

    /// The input in a word: `stencil27:40`, `1 000 × 777 × 1 234, rows padded by 8`, `358 × 5 248`, `64.0 MB`.
    pub fn input(&self) -> String {
        match (&self.matrix, self.n, self.m, self.p) {
            (Some(matrix), ..) => matrix.clone(),
            (None, Some(n), Some(m), Some(p)) => {
                [n, m, p].map(units::count).join(" × ") + &behind_a_size(self.pad)
            }
            _ => {
                let sides = self.rows.zip(self.cols);
                let sides = sides.map(|(rows, cols)| {
                    [rows, cols].map(units::count).join(" × ") + &behind_a_size(self.pad)
                });
                sides.or(self.bytes.map(units::bytes)).unwrap_or_default()
            }
        }
    }

    /// All but the variant, in words: `stencil27:40, K = 8, f64, cpu, 2 threads`.
    pub fn words(&self) -> String {
        let parts = [
            Some(self.input()),
            self.k.map(|k| format!("K = {k}")),
            Some(self.dtype.clone()),
            Some(self.place.clone()),
            self.ranks.map(units::ranks),
            self.threads.map(units::threads),
            self.geometry.clone(),
            self.cold.then(|| "cold".to_owned()),
        ];
        parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }
}

/// `, rows padded by 8`, or nothing.
pub(crate) fn behind_a_size(pad: Option<u64>) -> String {
    pad.map_or(String::new(), |pad| format!(", rows padded by {pad}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::outcome::Outcome;

    #[test]
    fn inputs_have_a_word() {
        let mut record = Record::new("gemm", "dense-serial-loops", Outcome::Passed);
        (record.n, record.m, record.p) = (Some(1000), Some(777), Some(1234));
        assert_eq!(Setting::of(&record).input(), "1 000 × 777 × 1 234");
        let padded = Setting::of(&Record { pad: Some(8), ..record.clone() });
        assert_eq!(padded.input(), "1 000 × 777 × 1 234, rows padded by 8");
        assert_ne!(padded, Setting::of(&record));
        record.matrix = Some("stencil5:4".to_owned());
        assert_eq!(Setting::of(&record).input(), "stencil5:4");
        let columns = Record { rows: Some(358), cols: Some(5248), ..Record::default() };
        assert_eq!(Setting::of(&columns).input(), "358 × 5 248");
        let copy = Record { bytes: Some(64_000_000), ..Record::default() };
        assert_eq!(Setting::of(&copy).input(), "64.0 MB");
        assert_eq!((Setting::default().input(), Setting::default().words()), (String::new(), String::new()));
        (record.k, record.dtype, record.place, record.threads) =
            (Some(8), "f64".to_owned(), "cpu".to_owned(), Some(2));
        assert_eq!(Setting::of(&record).words(), "stencil5:4, K = 8, f64, cpu, 2 threads");
    }

    #[test]
    fn variants_and_places_can_be_left_out() {
        let mut record = Record::new("spmm", "csr-serial", Outcome::Passed);
        (record.place, record.threads, record.k) = ("cpu".to_owned(), Some(1), Some(8));
        let other = Record { variant: "csr-threads-nnz".to_owned(), threads: Some(2), ..record.clone() };
        assert_ne!(Setting::of_any_variant(&record), Setting::of_any_variant(&other));
        assert_eq!(Setting::of_any_place(&record), Setting::of_any_place(&other));
        let launched = Record { geometry: Some("block 64".to_owned()), ..other.clone() };
        assert_ne!(Setting::of(&launched), Setting::of(&other));
        assert_eq!(Setting::of_any_variant(&launched), Setting::of_any_variant(&other));
        let cold = Record { cold: true, ..other };
        assert_ne!(Setting::of_any_place(&record), Setting::of_any_place(&cold));
    }
}
