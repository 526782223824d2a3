//! What the commands that solve write, and how they end.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "common/command.rs"]
mod command;

use command::{json_lines, ordito};
use ordito::Dense;
use ordito::io::npy::{Conversion, read_npy_shape, write_npy_vector};
use ordito::io::{read_csr, read_npy, write_npy};
use ordito::matrix::random_dense;
use serde_json::Value;
use tempfile::TempDir;

fn read(folder: &TempDir, name: &str) -> Dense<f64> {
    read_npy(&folder.path().join(name), Conversion::Refuse).unwrap()
}

fn json(folder: &TempDir, name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder.path().join(name)).unwrap()).unwrap()
}

const NODES: usize = 40;

/// A path: the eigenvalues of its Laplacian are 2 − 2cos(πk/n).
fn write_path(folder: &TempDir) {
    let mut text =
        format!("%%MatrixMarket matrix coordinate pattern symmetric\n{NODES} {NODES} {}\n", NODES - 1);
    (1..NODES).for_each(|node| text += &format!("{} {node}\n", node + 1));
    std::fs::write(folder.path().join("path.mtx"), text).unwrap();
}

#[test]
fn vectors_history_and_page_are_written() {
    let folder = tempfile::tempdir().unwrap();
    write_path(&folder);
    let arguments = "eigen path.mtx --laplacian --count 2 -o x.npy --json found.json --page found.html";
    let output = ordito(&folder, &arguments.split(' ').collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("converged"), "the table is shown all the same");

    let found = json(&folder, "found.json");
    for field in ["schema", "op", "method", "matrix", "rows", "nnz", "dtype", "where", "threads", "seed"] {
        assert!(!found[field].is_null(), "{field}");
    }
    assert_eq!((&found["stopped"], &found["interrupted"]), (&"converged".into(), &false.into()));
    let second = found["results"][1]["value"].as_f64().unwrap();
    let expected = 2.0 - 2.0 * (std::f64::consts::PI / NODES as f64).cos();
    assert!((second - expected).abs() < 1e-9, "{second}");
    let steps = found["history"].as_array().unwrap();
    assert_eq!(
        steps.len() as u64,
        found["iterations"].as_u64().unwrap() + 1,
        "the first is where they began"
    );
    assert_eq!(steps[0]["residuals"].as_array().unwrap().len(), 2);

    // The second eigenvector is L's, and falls along the path, or rises.
    let x = read(&folder, "x.npy");
    assert_eq!(x.shape(), (NODES, 2));
    let column: Vec<f64> = (0..NODES).map(|row| x.view().row(row)[1]).collect();
    let first = column[0] - column[1];
    assert!((first - second * column[0]).abs() < 1e-7, "{column:?}");
    assert!(column.is_sorted() || column.iter().rev().is_sorted(), "{column:?}");

    let page = std::fs::read_to_string(folder.path().join("found.html")).unwrap();
    for part in ["verdict good", "Convergence", "Where the time went", "To repeat it", "default-src 'none'"] {
        assert!(page.contains(part), "{part}");
    }
    for outside in ["http:", "https:", " src=", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn json_on_standard_output_is_all_there_is() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["eigen", "stencil5:9", "--symmetrize", "--count", "2", "--json"][..],
        &["svd", "uniform:50x4", "--count", "2", "--json", "-"],
    ] {
        let output = ordito(&folder, arguments);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let lines = json_lines(&output);
        assert_eq!((lines.len(), lines[0]["results"].as_array().unwrap().len()), (1, 2));
    }
}

/// A·x = λ·B·x with B = 4: a quarter of the eigenvalues. And 1/aᵢᵢ changes no result.
#[test]
fn a_mass_and_jacobi_are_taken() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let head = "%%MatrixMarket matrix coordinate real symmetric\n";
    write("a.mtx", &format!("{head}3 3 5\n1 1 2\n2 1 -1\n2 2 2\n3 2 -1\n3 3 2\n"));
    write("b.mtx", &format!("{head}3 3 3\n1 1 4\n2 2 4\n3 3 4\n"));
    let values = |arguments: &str| -> Vec<f64> {
        let arguments = format!("eigen a.mtx --smallest --count 2 --json - {arguments}");
        let output = ordito(&folder, &arguments.split_whitespace().collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let results = json_lines(&output)[0]["results"].as_array().unwrap().clone();
        results.iter().map(|row| row["value"].as_f64().unwrap()).collect()
    };
    let (plain, with_mass) = (values(""), values("--mass b.mtx --jacobi"));
    for (one, quarter) in plain.iter().zip(&with_mass) {
        assert!((one - 4.0 * quarter).abs() < 1e-7, "{plain:?} {with_mass:?}");
    }
}

#[test]
fn a_matrix_is_nearly_the_product_of_its_singular_triplets() {
    let folder = tempfile::tempdir().unwrap();
    let output = ordito(&folder, &["svd", "uniform:12x3", "--count", "12", "-o", "parts"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(read_npy_shape(&folder.path().join("parts-s.npy")).unwrap(), [12]);
    let [u, s, vt] = ["u", "s", "vt"].map(|part| read(&folder, &format!("parts-{part}.npy")));
    let a = read_csr::<f64>("uniform:12x3").unwrap();
    for row in 0..12 {
        let mut expected = [0.0; 12];
        a.row(row).for_each(|(col, value)| expected[col] = value);
        for (col, expected) in expected.iter().enumerate() {
            let term = |k: usize| u.view().row(row)[k] * s.data()[k] * vt.view().row(k)[col];
            let found: f64 = (0..12).map(term).sum();
            assert!((found - expected).abs() < 1e-6, "({row}, {col}): {found} {expected}");
        }
    }
}

/// 2 on the diagonal of a path: B is A times what is expected.
#[test]
fn right_hand_sides_are_solved_for_and_keep_their_dimensions() {
    let folder = tempfile::tempdir().unwrap();
    let mut text =
        format!("%%MatrixMarket matrix coordinate real symmetric\n{NODES} {NODES} {}\n", 2 * NODES - 1);
    for node in 1..=NODES {
        text += &format!("{node} {node} 2.5\n");
        text += &if node < NODES { format!("{} {node} -1\n", node + 1) } else { String::new() };
    }
    std::fs::write(folder.path().join("a.mtx"), text).unwrap();
    let a = read_csr::<f64>(folder.path().join("a.mtx").to_str().unwrap()).unwrap();
    let expected = random_dense::<f64>(NODES, 3, 7).unwrap();
    let b = &a * &expected;
    write_npy(b.view(), &folder.path().join("b.npy")).unwrap();
    let first = Dense::from_rows(NODES, 1, (0..NODES).map(|row| b.view().row(row)[0]).collect()).unwrap();
    write_npy_vector(first.view(), &folder.path().join("one.npy")).unwrap();
    for (b, jacobi, shape) in [("b.npy", "", vec![NODES, 3]), ("one.npy", "--jacobi", vec![NODES])] {
        let arguments = format!("solve a.mtx --rhs {b} {jacobi} --tol 1e-12 -o x.npy --page x.html");
        let output = ordito(&folder, &arguments.split_whitespace().collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert_eq!(read_npy_shape(&folder.path().join("x.npy")).unwrap(), shape);
        let x = read(&folder, "x.npy");
        for row in 0..NODES {
            for (found, expected) in x.view().row(row).iter().zip(expected.view().row(row)) {
                assert!((found - expected).abs() < 1e-9, "{found} {expected}");
            }
        }
    }
}

/// Of a ring every node has the same rank; as node 3 sees it, 3 and those behind it come first.
#[test]
fn ranks_are_those_of_a_ring() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = "%%MatrixMarket matrix coordinate pattern general\n5 5 5\n".to_owned();
    (1..=5).for_each(|node| text += &format!("{node} {}\n", node % 5 + 1));
    std::fs::write(folder.path().join("ring.mtx"), text).unwrap();
    let run = |arguments: &str| {
        let output = ordito(&folder, &arguments.split_whitespace().collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        json_lines(&output)[0].clone()
    };
    run("pagerank ring.mtx -o ranks.npy --json -");
    assert_eq!(read_npy_shape(&folder.path().join("ranks.npy")).unwrap(), [5]);
    assert!(read(&folder, "ranks.npy").data().iter().all(|rank| (rank - 0.2).abs() < 1e-7));
    let found = run("pagerank ring.mtx --seed-nodes 3 --top 3 -o seen.npy --json -");
    let nodes: Vec<u64> =
        found["top"].as_array().unwrap().iter().map(|top| top["node"].as_u64().unwrap()).collect();
    assert_eq!(nodes, [3, 4, 5]);
    assert_eq!(read(&folder, "seen.npy").shape(), (5, 1));
}

#[test]
fn what_is_not_finite_is_told_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let text = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 nan\n2 2 1\n";
    std::fs::write(folder.path().join("nan.mtx"), text).unwrap();
    let output = ordito(&folder, &["eigen", "nan.mtx", "--count", "1", "-o", "x.npy", "--json", "x.json"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), message.lines().count()), (Some(2), 1), "{message}");
    assert!(!folder.path().join("x.npy").exists() && !folder.path().join("x.json").exists());
}

/// One that takes far longer than this test waits.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_iterations_and_keeps_what_there_is() {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().unwrap();
    let arguments = "eigen stencil5:400 --laplacian --unweighted --count 4 --tol 1e-14 --relative-to value \
                     --max-iterations 1000000 -o x.npy --json found.json --page found.html";
    let mut command = Command::new(env!("CARGO_BIN_EXE_ordito"));
    command.args(arguments.split_whitespace()).current_dir(&folder).env("CUDA_VISIBLE_DEVICES", "");
    // SAFETY: between fork and exec only a system call is made that may be made there: tests in the background of a shell ignore it.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            Ok(())
        })
    };
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_secs(5));
    assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("outcome   interrupted, not converged:"), "{text}");
    let found = json(&folder, "found.json");
    assert_eq!((&found["interrupted"], &found["stopped"]), (&true.into(), &"cancelled".into()));
    assert!(found["results"][3]["residual"].as_f64().unwrap() > 0.0);
    assert_eq!(read(&folder, "x.npy").shape(), (160_000, 4));
    assert!(std::fs::read_to_string(folder.path().join("found.html")).unwrap().contains("verdict neutral"));
}
