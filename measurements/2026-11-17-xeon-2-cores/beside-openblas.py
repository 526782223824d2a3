"""A sparse product and a dense one of OpenBLAS's, alone and by turns, on two threads each: medians of 300, in µs."""

import time

import numpy as np
import ordito

a = ordito.read("stencil27:20")
x, y = np.random.default_rng(0).random((a.shape[0], 8)), np.empty((a.shape[0], 8))
b, c = np.random.default_rng(1).random((400, 400)), np.empty((400, 400))


def median(*products):
    times = []
    for _ in range(320):
        begin = time.perf_counter()
        for product in products:
            product()
        times.append(time.perf_counter() - begin)
    return np.median(times[20:]) * 1e6


def sparse():
    a.matmul(x, y)


def dense():
    np.matmul(b, b, out=c)


print(f"sparse {median(sparse):.0f}, dense {median(dense):.0f}, by turns {median(sparse, dense):.0f}")
