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
    cargo clippy --all-targets --locked -- -D warnings

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
