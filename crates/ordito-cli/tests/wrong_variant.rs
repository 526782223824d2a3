//! With a wrong kernel compiled in (`--features wrong-variant`), `ordito verify` names it and exits 1.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[cfg(feature = "wrong-variant")]
#[test]
fn a_wrong_variant_is_found_out() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_ordito"))
            .args(arguments)
            .current_dir(&folder)
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let matrix = ["stencil5:10", "--k", "3", "--threads", "2"];

    let (code, table) = run(&[&["verify", "spmm"], &matrix[..]].concat());
    assert_eq!(code, Some(1), "{table}");
    assert!(table.contains("2 incorrect"), "both precisions are wrong:\n{table}");

    let (code, lines) = run(&[&["verify", "spmm", "--json", "--dump", "failing"], &matrix[..]].concat());
    assert_eq!(code, Some(1));
    let wrong: Vec<&str> = lines.lines().filter(|line| line.contains(r#""outcome":"incorrect""#)).collect();
    assert_eq!(wrong.len(), 2);
    assert!(wrong.iter().all(|line| line.contains(r#""variant":"csr-serial-wrong""#)), "{wrong:?}");
    assert!(folder.path().join("failing/spmm-csr-serial-wrong-stencil5_10-k3-f64-t1/a.mtx").exists());

    let (code, lines) = run(&[&["bench", "spmm", "--json", "--samples", "3"], &matrix[..]].concat());
    assert_eq!(code, Some(1), "bench verifies first");
    let wrong = lines.lines().find(|line| line.contains("csr-serial-wrong")).unwrap();
    assert!(!wrong.contains("median_ns"), "what is wrong is not timed: {wrong}");

    let (code, _) = run(&[&["verify", "spmm", "--variant", "csr-threads-*"], &matrix[..]].concat());
    assert_eq!(code, Some(0), "the others are right");
}

#[cfg(not(feature = "wrong-variant"))]
#[test]
fn no_wrong_variant_is_in_a_normal_build() {
    use ordito::op::Op;
    use ordito::spmm::Spmm;
    assert!(Spmm::<f64>::variant("csr-serial-wrong").is_none());
}
