#!/usr/bin/env python3
"""How long from a text file to the mean of every column, beside NumPy, pandas, polars and pyarrow?

    python3 -m venv venv && venv/bin/pip install numpy pandas polars pyarrow
    venv/bin/python benches/compare_text_readers.py epochs.txt [--out DIR] [--rounds 5] -- target/release/ordito erp epochs.txt --sensors 64

What stands after `--` is our command; its time is that of the whole process, from start to exit. Theirs is loading and the
mean over the rows, imports not counted, each with the settings that were fastest and as many threads as `--threads` says.
All take turns, so that a machine whose speed drifts treats them alike; the file is in the system's cache. The table shows
medians and the ratio of each to ours: above 1 we are faster. A reader that is missing or fails is named and left out.
With `--out` (the folder that `ordito erp --out` wrote) `mean_target.npy` is compared with NumPy's means.
"""
import argparse
import os
import statistics
import subprocess
import sys
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="text with a row per line and blanks between the numbers, not compressed")
    parser.add_argument("--out", help="folder with mean_target.npy of the same file")
    parser.add_argument("--rounds", type=int, default=5, help="turns of each")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    # Ours is cut off first: its own options are not for this parser.
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    args = parser.parse_args(sys.argv[1:at])
    args.command = sys.argv[at + 1 :]
    return args


def numpy_loadtxt(path, threads):
    import numpy

    return lambda: numpy.loadtxt(path).mean(axis=0)


def columns_of(path):
    with open(path) as file:
        return len(file.readline().split())


def pandas_whitespace(path, threads):
    import pandas

    return lambda: pandas.read_csv(path, sep=r"\s+", header=None, engine="c").to_numpy().mean(axis=0)


def pandas_typed(path, threads):
    """One blank between numbers, the type given, their fast rounding (which may miss the last bit)."""
    import numpy
    import pandas

    names = range(columns_of(path))
    options = {"sep": " ", "header": None, "engine": "c", "dtype": numpy.float64, "names": names, "usecols": names}
    return lambda: pandas.read_csv(path, low_memory=False, **options).to_numpy().mean(axis=0)


def polars_csv(path, threads):
    import polars

    count = columns_of(path)
    schema = {f"c{column}": polars.Float64 for column in range(count)}
    options = {"separator": " ", "has_header": False, "schema": schema, "truncate_ragged_lines": True}
    return lambda: polars.read_csv(path, **options).mean().to_numpy()[0]


def pyarrow_csv(path, threads):
    import numpy
    import pyarrow
    import pyarrow.compute
    from pyarrow import csv

    pyarrow.set_cpu_count(threads)
    names = [f"c{column}" for column in range(columns_of(path))]
    read = csv.ReadOptions(column_names=names, block_size=8 << 20)
    parse = csv.ParseOptions(delimiter=" ")
    convert = csv.ConvertOptions(column_types={name: pyarrow.float64() for name in names})

    def run():
        table = csv.read_csv(path, read_options=read, parse_options=parse, convert_options=convert)
        return numpy.array([pyarrow.compute.mean(column).as_py() for column in table.columns])

    return run


PEERS = [
    ("numpy.loadtxt", numpy_loadtxt),
    ("pandas.read_csv, whitespace", pandas_whitespace),
    ("pandas.read_csv, typed", pandas_typed),
    ("polars.read_csv, typed", polars_csv),
    ("pyarrow.csv, typed", pyarrow_csv),
]


def largest_error(found, expected):
    """Of the means, as a share of the largest |mean|; infinite where the shape or a number is wrong."""
    import numpy

    if numpy.size(found) != expected.size:
        return float("inf")
    error = numpy.abs(numpy.ravel(found) - expected).max() / numpy.abs(expected).max()
    return error if error == error else float("inf")


def ready_peers(args, expected):
    """Peers that are installed and right, warmed up by one run."""
    for name, make in PEERS:
        try:
            run = make(args.file, args.threads)
            error = largest_error(run(), expected)
        except Exception as problem:  # whatever a library may raise
            print(f"{name} is left out: {type(problem).__name__}: {str(problem).splitlines()[0][:120]}")
            continue
        if not error <= 1e-12:
            print(f"{name} is left out: its means differ from NumPy's by {error:.1e} of the largest")
            continue
        yield name, run


def main():
    args = arguments()
    os.environ["POLARS_MAX_THREADS"] = str(args.threads)  # before it is loaded: it looks once
    import numpy

    expected = numpy.loadtxt(args.file).mean(axis=0)
    if args.out:
        found = numpy.load(os.path.join(args.out, "mean_target.npy"))
        error = largest_error(found, expected)
        print(f"mean_target.npy differs from NumPy's means by {error:.1e} of the largest |mean|")
        if not error <= 1e-12:
            raise SystemExit("that is more than 1e-12")
    runs = list(ready_peers(args, expected))
    if args.command:
        ours = lambda: subprocess.run(args.command, check=True, stdout=subprocess.DEVNULL)
        ours()  # warm
        runs.insert(0, ("ours, the whole process", ours))
    times = {name: [] for name, _ in runs}
    for _ in range(args.rounds):
        for name, run in runs:
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    bytes_read = os.path.getsize(args.file)
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    print(f"{args.file}: {bytes_read / 1e6:.1f} MB, {args.threads} threads, medians of {args.rounds} turns")
    print(f"{'':<40}{'ms':>10}{'fastest':>10}{'slowest':>10}{'GB/s':>8}{'over ours':>11}")
    base = medians[runs[0][0]]
    for name, taken in times.items():
        columns = [1e3 * medians[name], 1e3 * min(taken), 1e3 * max(taken)]
        shown = "".join(f"{value:>10.1f}" for value in columns)
        print(f"{name:<40}{shown}{bytes_read / medians[name] / 1e9:>8.2f}{medians[name] / base:>11.2f}")
    if args.command and len(runs) > 1:
        best = min((name for name, _ in runs[1:]), key=medians.get)
        print(f"ours is {medians[best] / base:.1f} times as fast as the best of them, {best}")


main()
