# `just` shows these; each is what it says.

# everything CI does
ci:
    bash .ci/run

# the README's test command
test:
    cargo test --release

# formatting and lints, as CI wants them
lint:
    cargo fmt --check
    cargo clippy --workspace --all-targets --locked -- -D warnings

# the first thing to try
demo:
    cargo run --release -- bench spmm stencil27:40 --k 8,32

# a variant that is wrong on purpose must be found out
wrong:
    cargo test --release --features wrong-variant --test wrong_variant

# our products against scipy's (needs python3 with numpy and scipy)
scipy +matrices:
    cargo build --release
    python3 benches/compare_with_scipy.py target/release/ordito {{matrices}}

# every command that writes, killed at many moments, on full disks, without permissions, with caches of others (python3)
faults moments="200":
    cargo build --release
    python3 crates/ordito-cli/tests/faults/faults.py target/release/ordito --moments {{moments}}

# By tree borrows, since rayon's crossbeam breaks the rules of stacked ones. Threads of a pool outlive the program: no leak.
# formats, sorts, threads and readers in Miri (needs a nightly with it)
miri:
    MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-tree-borrows -Zmiri-ignore-leaks" cargo +nightly miri test -p ordito --features emulator,serde --lib -- matrix:: cpu:: io:: spmm::cpu::formats spmm::plan scalar:: text::

# the Python package: a wheel in target/wheels, installed and tested (needs python3)
python *tests:
    bash .ci/python {{tests}}

# the package for an interpreter without a lock, and its tests there (needs one; CI builds none)
python-free-threaded interpreter="python3.14t":
    PYTHON={{interpreter}} bash .ci/python

# the same wheel for systems from 2014 on, linked by zig
wheel:
    ORDITO_WHEEL_TOOLS=ziglang ORDITO_WHEEL_ARGS="--zig --compatibility manylinux2014" bash .ci/python

# kernels for NEON under an emulator of the instruction set (the script says what it needs)
arm64:
    bash .ci/arm64

# kernels and readers under AddressSanitizer, at every vector level, with assertions (needs a nightly)
asan:
    #!/usr/bin/env bash
    set -euo pipefail
    # A test leaves behind what panics when it is dropped: no leaks are told.
    export RUSTFLAGS=-Zsanitizer=address ASAN_OPTIONS=detect_leaks=0
    export CARGO_TARGET_DIR=target/asan CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true
    for level in portable avx2 avx512; do
        # The emulator switches stacks, which the sanitizer takes for faults; it has checks of its own. Without a compiler it is not tried.
        CXX=none ORDITO_SIMD=$level cargo +nightly test --release --target x86_64-unknown-linux-gnu -p ordito -p ordito-bench \
            --features ordito/emulator,ordito/serde --lib --test conformance --test guard_pages \
            --test properties_io --test mutations --test corpus -- --skip emulator
    done
