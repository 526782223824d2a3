//! Tells the program which compiler and profile made it: times without them cannot be compared.

#![allow(clippy::print_stdout)] // how a build script speaks to cargo

use std::process::Command;

fn main() {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let rustc = variable("RUSTC");
    let version = Command::new(if rustc.is_empty() { "rustc" } else { &rustc }).arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    println!("cargo::rustc-env=ORDITO_RUSTC={}", version.unwrap_or_default());
    println!("cargo::rustc-env=ORDITO_PROFILE={}", variable("PROFILE"));
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC");
}
