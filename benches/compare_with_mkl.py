#!/usr/bin/env python3
"""How fast is `dense-threads-packed` beside MKL's dgemm and sgemm?

    python3 -m venv venv && venv/bin/pip install numpy mkl
    venv/bin/python benches/compare_with_mkl.py target/release/ordito [--threads 2] [--sizes 256,512,…] [--rounds 7]

MKL is looked for beside this Python (the PyPI wheel `mkl`) and on the loader's path. For every size and precision ours
and theirs take turns, a short process of `ordito bench gemm` and then as many calls of MKL as last as long, so that a
machine whose speed drifts treats both alike; each turn gives a median, and the table shows the median of the ratios
MKL's time / our time, turn by turn, with the smallest and the largest: above 1 we are faster. C = C + A·B on both sides.
Look at ratios only: the times of a shared machine mean little. Results are compared too: MKL must agree with NumPy.
"""
import argparse
import ctypes
import glob
import json
import os
import statistics
import subprocess
import sys
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ordito", help="the program, such as target/release/ordito")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--sizes", default="256,512,1024,2048,4096")
    parser.add_argument("--dtypes", default="f64,f32")
    parser.add_argument("--variant", default="dense-threads-packed")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each")
    parser.add_argument("--seconds", type=float, default=0.5, help="of each turn")
    return parser.parse_args()


def find_mkl():
    """MKL's one library that loads the rest, or how to get it."""
    beside = sorted(glob.glob(os.path.join(sys.prefix, "lib", "libmkl_rt.so*")))
    for name in [*beside, "libmkl_rt.so.2", "libmkl_rt.so"]:
        try:
            return ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue
    raise SystemExit("MKL was not found: python3 -m venv venv && venv/bin/pip install numpy mkl, then run with venv/bin/python")


ROW_MAJOR, NOT_TRANSPOSED = 101, 111


class Mkl:
    """C = C + A·B of one size, ready to be called."""

    def __init__(self, library, dtype, n):
        import numpy

        real, name = (ctypes.c_double, "cblas_dgemm") if dtype == "f64" else (ctypes.c_float, "cblas_sgemm")
        random = numpy.random.default_rng(n)
        self.a, self.b, self.c = (
            (2 * random.random((n, n)) - 1).astype(numpy.float64 if dtype == "f64" else numpy.float32) for _ in range(3)
        )
        function = getattr(library, name)
        function.restype = None
        pointer = lambda array: array.ctypes.data_as(ctypes.c_void_p)
        sizes = [ctypes.c_int(n)] * 3
        self.call = lambda: function(
            ROW_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, *sizes, real(1), pointer(self.a), ctypes.c_int(n),
            pointer(self.b), ctypes.c_int(n), real(1), pointer(self.c), ctypes.c_int(n),
        )
        expected = self.c + self.a @ self.b
        self.call()
        if not numpy.allclose(self.c, expected, rtol=0, atol=n * numpy.finfo(self.c.dtype).eps):
            raise SystemExit(f"MKL's {name} of {n} is not what NumPy says")

    def median_ns(self, seconds):
        """Median time of a call, of those that fit into so many seconds and at least three."""
        times, end = [], time.perf_counter() + seconds
        while len(times) < 3 or time.perf_counter() < end:
            start = time.perf_counter_ns()
            self.call()
            times.append(time.perf_counter_ns() - start)
        return statistics.median(times)


def ours_ns(args, dtype, n):
    """Median time of ours, verified, from a process of its own."""
    command = [args.ordito, "bench", "gemm", str(n), "--dtype", dtype, "--threads", str(args.threads), "--on", "cpu"]
    command += ["--variant", args.variant, "--time", str(args.seconds), "--json"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    record = json.loads(printed)
    if record["outcome"] != "passed":
        raise SystemExit(f"ours of {n}, {dtype}: {record}")
    return record["median_ns"]


def main():
    args = arguments()
    # Before MKL is loaded: it looks once.
    os.environ["MKL_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(args.threads)
    library = find_mkl()
    print(f"{args.variant} over MKL, {args.threads} threads, {args.rounds} turns each")
    print(f"{'dtype':<6}{'size':>6}{'ours':>12}{'MKL':>12}{'GFLOP/s':>9}{'ratio':>8}   smallest – largest", flush=True)
    for dtype in args.dtypes.split(","):
        for n in map(int, args.sizes.split(",")):
            mkl = Mkl(library, dtype, n)
            turns = []
            for _ in range(args.rounds):
                ours = ours_ns(args, dtype, n)
                turns.append((ours, mkl.median_ns(args.seconds)))
            ours, theirs = (statistics.median(column) for column in zip(*turns))
            ratios = sorted(theirs / ours for ours, theirs in turns)
            print(
                f"{dtype:<6}{n:>6}{ours / 1e6:>9.3f} ms{theirs / 1e6:>9.3f} ms{2 * n**3 / ours:>9.1f}"
                f"{statistics.median(ratios):>8.2f}   {ratios[0]:.2f} – {ratios[-1]:.2f}",
                flush=True,
            )


main()
