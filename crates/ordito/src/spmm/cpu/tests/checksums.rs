//! Products keep their bits from one release to the next: a checksum for every variant, precision and instruction set.

use super::{Laid, Layout, cpu_variants, levels, machine, named, numbers, prepared};
use crate::Scalar;
use crate::cpu::SimdLevel;
use crate::op::Variant;
use crate::spmm::product::Spmm;

/// Lines of `level precision variant checksum`. Where bits are meant to change, the test says what to write instead.
const KEPT: &str = include_str!("checksums.txt");
const MATRICES: [&str; 5] =
    ["stencil27:12", "powerlaw:2000x12", "blocks:100x4x3", "band:500x9", "uniform:800x7"];
const KS: [usize; 8] = [1, 2, 3, 4, 8, 12, 17, 33];

/// FNV-1a over the bits of AX, for every matrix and number of columns.
fn checksum<S: Scalar>(level: SimdLevel, variant: &dyn Variant<Spmm<S>>) -> u64 {
    let machine = machine(level);
    let mut sum = 0xcbf2_9ce4_8422_2325u64;
    for name in MATRICES {
        let a = named::<S>(name);
        for k in KS {
            let layout = Layout { distance: k, behind_line: 0 };
            let x = Laid::new(&numbers::<S>(a.cols() * k, 7), a.cols(), k, layout);
            let mut y = Laid::new(&vec![S::POISON; a.rows() * k], a.rows(), k, layout);
            let mut product = prepared(variant, &machine, &a, k);
            product.apply(S::ONE, x.view(), S::ZERO, y.view_mut()).unwrap();
            for byte in y.bits().flat_map(u64::to_le_bytes) {
                sum = (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    sum
}

fn lines<S: Scalar>(level: SimdLevel) -> Vec<String> {
    let line = |variant: &dyn Variant<Spmm<S>>| {
        format!("{level} {} {} {:016x}", S::NAME, variant.name(), checksum(level, variant))
    };
    cpu_variants::<S>().map(line).collect()
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn products_have_the_bits_that_they_always_had() {
    let (mut found, mut kept) = (Vec::new(), Vec::new());
    for level in levels() {
        found.extend([lines::<f32>(level), lines::<f64>(level)].concat());
        let prefix = format!("{level} ");
        kept.extend(KEPT.lines().filter(|line| line.starts_with(&prefix)));
    }
    assert!(found == kept, "bits have changed; now they are\n{}", found.join("\n"));
}
