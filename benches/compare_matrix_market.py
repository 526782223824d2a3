#!/usr/bin/env python3
"""How long does a Matrix Market file take to read, beside fast_matrix_market and scipy.io.mmread?

    python3 -m venv venv && venv/bin/pip install numpy scipy fast_matrix_market
    venv/bin/python benches/compare_matrix_market.py [--ordito target/release/ordito] A.mtx ... [--rounds 7] [--threads 2]

Ours is the library call `read_matrix_market` (benches/turns.rs), theirs are `fast_matrix_market.read_coo` and
`scipy.io.mmread`, all with `--threads` threads. They take turns, two at a time of which the second counts; the file is in the system's cache; the table shows medians
and the ratio of each to ours: above 1 we are faster. Triplets are compared with fast_matrix_market's bit by bit (exit
code 1 where they differ). With `--ordito`, the whole command `ordito info FILE --json` is timed too, from start to exit, and
compared with the library call of fast_matrix_market.

The six files of the goal come from the names of `--suite cpu`:  ordito convert uniform:200000x16 -o uniform.mtx  …
"""
import argparse
import os
import subprocess
import tempfile

import fast_matrix_market
import scipy.io
import turns


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--ordito", help="the program, to time `ordito info FILE --json`")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    return parser.parse_args()


def compare(file, args, folder):
    ours = turns.Ours("read", file, args.threads)
    fmm = lambda: fast_matrix_market.read_coo(file, parallelism=args.threads)
    ours.turn()
    (values, (rows, cols)), _ = fmm()
    if not turns.same_bits(ours.triplets(os.path.join(folder, "ours.npy")), turns.sorted_triplets(rows, cols, values)):
        raise SystemExit(f"{file}: our triplets differ from fast_matrix_market's")
    run = {"ours": ours.turn, "fast_matrix_market": turns.timed(fmm), "scipy": turns.timed(lambda: scipy.io.mmread(file))}
    if args.ordito:
        command = [args.ordito, "info", file, "--json", "--threads", str(args.threads)]
        run["info"] = turns.timed(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))
    medians = turns.take_turns(run, args.rounds)
    ours.close()
    return medians, len(values)


def main():
    args = arguments()
    print(f"{args.threads} threads, medians of {args.rounds} turns, milliseconds; same bits as fast_matrix_market")
    print(f"{'':<28}{'MB':>7}{'ours':>8}{'ns/nnz':>8}{'GB/s':>6}{'fmm':>8}{'ratio':>7}{'scipy':>8}{'ratio':>7}{'info':>8}{'fmm/info':>9}")
    ratios, whole = [], []
    with tempfile.TemporaryDirectory() as folder:
        for file in args.files:
            medians, entries = compare(file, args, folder)
            ours, fmm, scipy_read = (medians[name] for name in ("ours", "fast_matrix_market", "scipy"))
            size = os.path.getsize(file)
            ratios.append(fmm / ours)
            line = f"{os.path.basename(file):<28}{size / 1e6:>7.1f}{1e3 * ours:>8.1f}{1e9 * ours / entries:>8.1f}{size / ours / 1e9:>6.2f}"
            line += f"{1e3 * fmm:>8.1f}{fmm / ours:>7.2f}{1e3 * scipy_read:>8.1f}{scipy_read / ours:>7.2f}"
            if "info" in medians:
                whole.append(fmm / medians["info"])
                line += f"{1e3 * medians['info']:>8.1f}{whole[-1]:>9.2f}"
            print(line, flush=True)
    print(f"over fast_matrix_market: geometric mean {turns.geometric_mean(ratios):.2f}, least {min(ratios):.2f}")
    if whole:
        print(f"its library call over all of `ordito info`: geometric mean {turns.geometric_mean(whole):.2f}, least {min(whole):.2f}")


main()
