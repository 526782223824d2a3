//! Data flow one way: a crate uses only crates below it, a room only rooms that stand before it in its list, and in no
//! folder do imports run in a circle.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A crate, and the crates of this house that it may use.
const CRATES: &[(&str, &[&str])] = &[
    ("ordito", &[]),
    ("ordito-chart", &["ordito"]),
    ("ordito-bench", &["ordito", "ordito-chart"]),
    ("ordito-eeg", &["ordito", "ordito-chart"]),
    ("ordito-mpi", &["ordito"]),
    ("ordito-cli", &["ordito", "ordito-chart", "ordito-bench", "ordito-eeg", "ordito-mpi"]),
    ("ordito-python", &["ordito", "ordito-mpi"]),
];

/// A folder, and its rooms: each uses only those before it.
const FOLDERS: &[(&str, &str)] = &[
    (
        "ordito/src",
        "text units simd scalar precision cpu files format_error refusal matrix io device machine op spmm gemm column_stats tall_skinny solve \
         interop",
    ),
    ("ordito/src/spmm", "product operands reference analysis cpu cuda multiply select plan registry"),
    ("ordito/src/spmm/cuda", "device device_csr device_ell ladder fast cusparse"),
    (
        "ordito/src/device",
        "spent geometry launch source argument backend buffer kernel kernel_cache view gpu emulator handle in_order host_copies \
         dense pinned_dense csr",
    ),
    (
        "ordito/src/device/emulator/xray",
        "trace notes counts coalesce banks caches gpus converge collector memory_system instructions report cost described tracer assemble \
         launch",
    ),
    ("ordito/src/gemm", "product operands reference cpu cuda select plan registry"),
    (
        "ordito/src/column_stats",
        "student statistics reduction operands reference cpu cuda select plan registry",
    ),
    ("ordito/src/tall_skinny", "part device_part weigh_rows draw uploads gram combine on_device"),
    ("ordito/src/tall_skinny/gram", "contract operands reference cpu cuda select registry"),
    ("ordito/src/tall_skinny/combine", "contract operands reference cpu cuda select registry"),
    (
        "ordito/src/solve",
        "error history control vectors shared operator together small directions blocks host_blocks device_blocks workspace preconditioned \
         orthonormal bounds eigenpairs singular transposed scaled lobpcg krylov lanczos svds randomized_svd chebyshev cg pagerank",
    ),
    ("ordito-bench/src", "check sample convert transfer catalogue report workbench"),
    ("ordito-mpi/src/ranks", "buffer wait one threads collective machines mpi"),
    (
        "ordito-mpi/src/ranks/mpi",
        "abi launched search functions library requests failures world at_exit exchange",
    ),
    ("ordito-bench/src/workbench", "case pattern yardstick select_error wanted select any_case verify bench"),
];

/// Folders whose files belong together so closely that they are one room: circles inside of them are their own affair.
const ONE_ROOM: &[&str] = &[
    "ordito/src/device/emulator",
    "ordito/src/device/gpu",
    "ordito/src/device/gpu/cusparse",
    "ordito/src/io/text_matrix",
    "ordito/src/simd",
    "ordito/src/simd/avx512",
    "ordito-chart/src",
];

/// Files that hold the rooms of their folder together, and may use all of them.
const DOORS: [&str; 4] = ["lib", "main", "mod", "error"];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// A file that only tests use: `tests.rs`, `testing.rs`, or one in a folder `tests`.
fn is_test(file: &Path) -> bool {
    file.ends_with("tests.rs")
        || file.ends_with("testing.rs")
        || file.components().any(|part| part.as_os_str() == "tests")
}

/// Only what ships: tests of a room may use anything, and so may prose.
fn shipped(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// A file of a crate: its module as a path from the crate's root, and the paths that it uses, seen from there too.
struct File {
    name: String,
    module: Vec<String>,
    uses: Vec<Vec<String>>,
}

/// All files of a crate that ship.
fn files_of(name: &str) -> Vec<File> {
    let root = crates().join(name).join("src");
    let inside = rust_files(&root).into_iter().filter(|file| !is_test(file.strip_prefix(&root).unwrap()));
    inside
        .map(|file| {
            let below = file.strip_prefix(&root).unwrap();
            let parts = below.with_extension("");
            let module: Vec<String> = parts.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
            let uses = uses(&module, &shipped(&fs::read_to_string(&file).unwrap()));
            File { name: format!("{name}/src/{}", below.display()), module, uses }
        })
        .collect()
}

/// Every path that the code of a module uses, from the crate's root on.
fn uses(module: &[String], code: &str) -> Vec<Vec<String>> {
    let is_door = module.last().is_some_and(|name| DOORS[..3].contains(&name.as_str()));
    let module = &module[..module.len() - usize::from(is_door)];
    let absolute = |path: Vec<&str>| {
        let up = path.iter().take_while(|&&part| part == "super").count();
        let is_full = path[0] == "crate";
        let start = if is_full { &[] } else { &module[..module.len().saturating_sub(up)] };
        let rest = path[up + usize::from(is_full)..].iter().map(|&part| part.to_owned());
        start.iter().cloned().chain(rest).collect()
    };
    // A folder's door names its rooms without more: `pub use plan::Plan`.
    let starts = if is_door { &["crate::", "super::", "use "][..] } else { &["crate::", "super::"] };
    paths(code, starts).into_iter().map(absolute).collect()
}

/// Every path that begins so, written out: `crate::{cpu, op::{Op, Variant}}` is three of them.
fn paths<'a>(code: &'a str, starts: &[&str]) -> Vec<Vec<&'a str>> {
    let mut found = Vec::new();
    for start in starts {
        for (at, _) in code.match_indices(start) {
            if !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':') {
                let behind = if *start == "use " { at + start.len() } else { at };
                let path = &code[behind..];
                if behind == at || !(path.starts_with("crate::") || path.starts_with("super::")) {
                    read_tree(path, &mut Vec::new(), &mut found);
                }
            }
        }
    }
    found.retain(|path| !path.is_empty());
    found
}

/// Reads the path or tree of paths that the text begins with, behind those parts that were read already; what follows it.
fn read_tree<'a>(mut text: &'a str, path: &mut Vec<&'a str>, found: &mut Vec<Vec<&'a str>>) -> &'a str {
    let depth = path.len();
    loop {
        text = text.trim_start();
        if let Some(inside) = text.strip_prefix('{') {
            text = inside;
            while !text.trim_start().starts_with('}') {
                text = read_tree(text, path, found);
                let next = text.find([',', '}']).unwrap_or(text.len());
                text = text[next..].trim_start_matches(',');
                if text.is_empty() {
                    break;
                }
            }
            text = text.trim_start().trim_start_matches('}');
            break;
        }
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        path.extend((end > 0).then_some(&text[..end]));
        match text[end..].strip_prefix("::") {
            Some(rest) if end > 0 => text = rest,
            _ => {
                text = &text[end..];
                found.push(path.clone());
                break;
            }
        }
    }
    path.truncate(depth);
    text
}

/// Who in a folder uses whom, and the files that do. A name that the folder's door passes on is its room's.
fn imports(files: &[File], folder: &[String]) -> BTreeMap<(String, String), BTreeSet<String>> {
    let below = |path: &[String]| path.strip_prefix(folder).and_then(<[String]>::first).cloned();
    let is_room = |name: &String| !DOORS.contains(&name.as_str());
    let rooms: BTreeSet<String> =
        files.iter().filter_map(|file| below(&file.module)).filter(is_room).collect();
    let door = files.iter().find(|file| {
        file.module.len() == folder.len() + 1
            && file.module.starts_with(folder)
            && DOORS[..3].contains(&file.module[folder.len()].as_str())
    });
    let mut passed_on = BTreeMap::new();
    for used in door.iter().flat_map(|door| &door.uses) {
        if let (Some(room), Some(name)) = (below(used), used.last())
            && rooms.contains(&room)
            && *name != room
        {
            passed_on.insert(name.clone(), room);
        }
    }
    let mut imports = BTreeMap::<_, BTreeSet<String>>::new();
    for file in files {
        let Some(user) = below(&file.module).filter(is_room) else { continue };
        for name in file.uses.iter().filter_map(|path| below(path)) {
            let used = if rooms.contains(&name) { Some(&name) } else { passed_on.get(&name) };
            if let Some(used) = used.filter(|used| **used != user) {
                imports.entry((user.clone(), used.clone())).or_default().insert(file.name.clone());
            }
        }
    }
    imports
}

/// Imports of a folder that run backwards, and rooms that have no place.
fn faults(files: &[File], folder: &[String], rooms: &[&str]) -> Vec<String> {
    let place = |name: &str| rooms.iter().position(|room| *room == name);
    let mut faults = Vec::new();
    for file in files {
        if let Some(name) = file.module.strip_prefix(folder).and_then(<[String]>::first)
            && !DOORS.contains(&name.as_str())
            && place(name).is_none()
        {
            faults.push(format!("{} stands in no room", file.name));
        }
    }
    for ((user, used), files) in imports(files, folder) {
        if place(&used) > place(&user) {
            faults.push(format!("{user} uses {used}, which stands behind it: {files:?}"));
        }
    }
    faults
}

/// Rooms that use each other, over however many between them.
fn in_circles(imports: &BTreeMap<(String, String), BTreeSet<String>>) -> Vec<&(String, String)> {
    let mut left: Vec<&(String, String)> = imports.keys().collect();
    loop {
        // Nobody is in a circle who uses nobody, or is used by nobody.
        let (users, all_used): (BTreeSet<&String>, BTreeSet<&String>) =
            left.iter().map(|(user, used)| (user, used)).unzip();
        let before = left.len();
        left.retain(|(user, used)| users.contains(used) && all_used.contains(user));
        if left.len() == before {
            return left;
        }
    }
}

fn module_of(folder: &str) -> (&str, Vec<String>) {
    let (name, inside) = folder.split_once("/src").unwrap();
    (name, inside.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect())
}

#[test]
fn rooms_use_only_rooms_before_them() {
    for (folder, rooms) in FOLDERS {
        let (name, module) = module_of(folder);
        let (files, rooms) = (files_of(name), rooms.split_whitespace().collect::<Vec<_>>());
        for room in &rooms {
            let is_there = |file: &File| {
                file.module
                    .strip_prefix(&module[..])
                    .is_some_and(|rest| rest.first().is_some_and(|r| r == room))
            };
            assert!(files.iter().any(is_there), "{folder} has no {room}");
        }
        let faults = faults(&files, &module, &rooms);
        assert!(faults.is_empty(), "{folder}:\n{}", faults.join("\n"));
    }
}

#[test]
fn imports_run_in_no_circle() {
    let mut told = Vec::new();
    for (name, _) in CRATES {
        let files = files_of(name);
        let folders: BTreeSet<&[String]> =
            files.iter().flat_map(|file| (0..file.module.len()).map(|depth| &file.module[..depth])).collect();
        for folder in folders {
            if ONE_ROOM.iter().any(|room| module_of(room) == (*name, folder.to_vec())) {
                continue;
            }
            let imports = imports(&files, folder);
            for edge in in_circles(&imports) {
                told.push(format!("{name} {folder:?}: {} -> {}: {:?}", edge.0, edge.1, imports[edge]));
            }
        }
    }
    assert!(told.is_empty(), "circles of\n{}", told.join("\n"));
}

#[test]
fn crates_use_only_crates_below_them() {
    for (name, below) in CRATES {
        let manifest = fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
        for (other, _) in CRATES {
            let asks = dependencies.lines().any(|line| line.starts_with(&format!("{other} =")));
            assert!(!asks || below.contains(other), "{name} depends on {other}");
        }
        for file in rust_files(&crates().join(name).join("src")) {
            let code = shipped(&fs::read_to_string(&file).unwrap());
            for (other, _) in CRATES.iter().filter(|(other, _)| other != name && !below.contains(other)) {
                let path = format!("{}::", other.replace('-', "_"));
                let used = code
                    .match_indices(&path)
                    .any(|(at, _)| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'));
                assert!(!used, "{} uses {other}", file.display());
            }
        }
    }
    let known: Vec<&str> = CRATES.iter().map(|(name, _)| *name).collect();
    for entry in fs::read_dir(crates()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(known.contains(&name.as_str()), "crates/{name} has no place in this test");
    }
}

/// A file as it would be found.
fn file(module: &str, code: &str) -> File {
    let module: Vec<String> = module.split('/').map(str::to_owned).collect();
    File { name: module.join("/"), uses: uses(&module, &shipped(code)), module }
}

#[test]
fn every_way_to_write_a_path_is_seen() {
    let seen = |module, code| {
        let paths: Vec<String> = file(module, code).uses.iter().map(|path| path.join("::")).collect();
        paths.join(" ")
    };
    assert_eq!(seen("op/mod", "use crate::cpu::Pool;"), "cpu::Pool");
    assert_eq!(
        seen(
            "op/mod",
            "use crate::{Scalar, op::{Op as O, Variant,}, spmm::*};\nfn f() { crate::io::load::<S>() }"
        ),
        "Scalar op::Op op::Variant spmm io::load"
    );
    assert_eq!(
        seen("spmm/plan/tune", "use super::replay::Graph; use super::super::cpu::A;"),
        "spmm::plan::replay::Graph spmm::cpu::A"
    );
    assert_eq!(seen("spmm/plan/mod", "use super::select;"), "spmm::select");
    assert_eq!(seen("op/mod", "/// crate::spmm\n#[cfg(test)]\nmod tests { use crate::spmm; }"), "");
}

#[test]
fn a_wrong_import_is_a_fault() {
    let folder = ["spmm".to_owned()];
    let wrong = |code: &str| {
        let files = [
            file("spmm/mod", "pub use plan::{Plan, Record};"),
            file("spmm/plan/mod", "use crate::spmm::cpu::Kernel;"),
            file("spmm/cpu/mod", code),
        ];
        let circle = !in_circles(&imports(&files, &folder)).is_empty();
        assert_eq!(circle, !faults(&files, &folder, &["cpu", "plan"]).is_empty());
        circle
    };
    assert!(!wrong("use crate::matrix::Csr;"));
    assert!(wrong("use crate::spmm::plan::tune;"));
    assert!(wrong("use super::plan::tune;"));
    assert!(wrong("use crate::spmm::Plan;"), "passed on by the folder's door");
    assert!(wrong("fn f() -> crate::spmm::Plan {}"));
}
