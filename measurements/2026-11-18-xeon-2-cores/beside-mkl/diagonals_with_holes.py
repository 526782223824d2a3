"""Square matrices on few diagonals, a chosen share of which is full: `python diagonals_with_holes.py FOLDER`."""
import os
import sys

import numpy as np
import scipy.io
import scipy.sparse as sp

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
random = np.random.default_rng(5)
for n in [1000, 6000]:
    for count in [3, 6, 12, 24]:
        for full in [0.4, 0.5, 0.6, 0.7, 0.8]:
            if n * count * full * 12 + 8 * n > 1 << 20:
                continue  # CSR above 1 MiB
            offsets = np.sort(random.choice(np.arange(-3 * count, 3 * count + 1), count, replace=False))
            rows, cols = [], []
            for offset in offsets:
                row = np.arange(max(0, -offset), min(n, n - offset))
                row = row[random.random(len(row)) < full]
                rows.append(row)
                cols.append(row + offset)
            row, col = np.concatenate(rows), np.concatenate(cols)
            matrix = sp.coo_matrix((random.standard_normal(len(row)), (row, col)), shape=(n, n))
            scipy.io.mmwrite(f"{folder}/{n}_{count}_{int(full * 100)}.mtx", matrix)
