#!/usr/bin/env python3
"""Is `ordito spmm A.mtx --x X.npy -o Y.npy` scipy's A @ X?

    python3 -m venv venv && venv/bin/pip install numpy scipy
    venv/bin/python benches/compare_with_scipy.py target/release/ordito MATRIX.mtx[.gz] ...

For every matrix: f32 and f64, X in C and in Fortran order, K = 1 (one-dimensional), 3 and 16. An element may differ
by 2·γ(row length)·Σ|a||x|, the rounding of two sums of that length; anything else is a failure (exit code 1).
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import scipy.io
import scipy.sparse


def compare(ordito, path, folder):
    """Largest error in units of its bound, over all layouts of one matrix; the number of products."""
    exact = scipy.sparse.csr_matrix(scipy.io.mmread(path))
    worst, products = 0.0, 0
    for dtype in (np.float32, np.float64):
        a = exact.astype(dtype)
        lengths = np.diff(a.indptr)[:, None] + 1
        unit = np.finfo(dtype).eps / 2
        for k in (1, 3, 16):
            x = np.random.default_rng(k).standard_normal((a.shape[1], k)).astype(dtype)
            for order in ("C", "F"):
                given = x[:, 0] if k == 1 else np.asarray(x, order=order)
                np.save(folder / "x.npy", given)
                subprocess.run(
                    [ordito, "spmm", path, "--x", folder / "x.npy", "-o", folder / "y.npy"],
                    check=True, stdout=subprocess.DEVNULL,
                )
                y = np.load(folder / "y.npy")
                shape = (a.shape[0],) if k == 1 else (a.shape[0], k)
                assert y.dtype == dtype and y.shape == shape, (y.dtype, y.shape)
                y = y.reshape(a.shape[0], k)
                expected = (a @ x).astype(np.float64)
                bound = 2 * lengths * unit * (abs(a).astype(np.float64) @ abs(x).astype(np.float64))
                error = np.abs(y.astype(np.float64) - expected)
                if not np.all(error <= bound):  # so written that NaN fails
                    raise SystemExit(f"{path} {dtype.__name__} K={k} {order}: differs from scipy by more than rounding")
                worst = max(worst, float(np.max(error / np.where(bound > 0, bound, 1), initial=0)))
                products += 1
    return worst, products


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    ordito, paths = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            worst, products = compare(ordito, path, pathlib.Path(folder))
            print(f"{pathlib.Path(path).name:<32} {products} products, largest error {worst:.3f} of the bound", flush=True)
    print(f"{len(paths)} passed, 0 failed")


main()
