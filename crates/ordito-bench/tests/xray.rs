//! Kernels that are counted compute what they always do: on several cores, compiled in another way, every variant is right.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use ordito::device::Emulator;
use ordito::device::emulator::xray::{SM_90, XrayOptions};
use ordito::io::read_csr;
use ordito::machine::Machine;
use ordito::matrix::random_dense;
use ordito::spmm::{Inputs, Spmm, Subject};
use ordito_bench::check::Precision;
use ordito_bench::report::{Outcome, Record};
use ordito_bench::workbench::{Case, OracleLimits, Side, Wanted, Workbench, select};
use std::sync::Arc;

#[test]
fn counted_kernels_are_right() {
    let options = XrayOptions { gpu: &SM_90, most_blocks: None, cores: 2 };
    let emulator = match Emulator::counting(options) {
        Ok(emulator) => emulator,
        Err(refusal) => {
            assert!(std::env::var("ORDITO_REQUIRE_EMULATOR").as_deref() != Ok("1"), "{refusal}");
            println!("counted kernels are not tried: {refusal}");
            return;
        }
    };
    let machine = Machine::with_threads(1).unwrap().with_emulator(emulator.clone());
    let mut passed = 0;
    for name in ["stencil27:6", "powerlaw:300x9"] {
        let a = Arc::new(read_csr::<f64>(name).unwrap());
        let k = 8;
        let x = Arc::new(random_dense::<f64>(a.cols(), k, 7).unwrap());
        let subject = Subject { a, triplets: None, k };
        let record = Record { matrix: Some(name.into()), ..Record::default() };
        let limits = OracleLimits::default();
        let case =
            Case::<Spmm<f64>>::new(subject, Inputs::product(x), Precision::of::<f64>(), record, limits);
        let selected = select::<Spmm<f64>>(&Wanted::all(), Side::Device).unwrap();
        for record in Workbench::new(&machine).verify(&case, &selected) {
            match record.outcome {
                Outcome::Passed => passed += 1,
                Outcome::Refused => {}
                _ => panic!("{} on {name}: {:?} {:?}", record.variant, record.outcome, record.error),
            }
        }
    }
    assert!(passed > 40, "{passed} passed");
    let launches = emulator.take_xray();
    assert!(launches.len() >= 2 * passed, "every variant ran twice");
    // What is read is not thrown away: no kernel moves more than all of its sectors.
    for launch in &launches {
        let global = launch.global();
        assert!(global.sectors > 0 && global.used_bytes <= 32 * global.sectors, "{}", launch.kernel);
        assert!(global.l1_hits + global.l2_sectors == global.sectors, "{}", launch.kernel);
    }
}
