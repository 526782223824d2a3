"""Rows sorted by length beside rows as they stand, in f64, where A, X and Y exceed the caches: by turns, medians of five.

python sorted-from-memory.py K[,K] MATRIX…
"""

import sys
import time

import numpy as np
import ordito

columns = [int(k) for k in sys.argv[1].split(",")]
for name in sys.argv[2:]:
    auto = ordito.read(name)
    plain, by_length = (ordito.csr(auto.to_scipy(), variant=v) for v in ("csr-threads-nnz", "csr-threads-sorted"))
    for k in columns:
        x, y = np.random.default_rng(0).random((auto.shape[1], k)), np.empty((auto.shape[0], k))
        times = {plain: [], by_length: []}
        for matrix in times:
            matrix.matmul(x, y)
        for _ in range(5):
            for matrix, of_matrix in times.items():
                begin = time.perf_counter()
                matrix.matmul(x, y)
                of_matrix.append(time.perf_counter() - begin)
        as_they_stand, in_order = (np.median(of_matrix) for of_matrix in times.values())
        chosen = auto.prepare(k).kernel
        print(
            f"{name} K = {k}: as they stand {as_they_stand * 1e3:.1f} ms, sorted {in_order * 1e3:.1f} ms,"
            f" {as_they_stand / in_order:.2f} times as fast; auto takes {chosen}"
        )
