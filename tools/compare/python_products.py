#!/usr/bin/env python3
"""How fast is `A @ X` from Python, beside SciPy, MKL, torch and CuPy? The README beside this file has the commands.

Every result is compared with SciPy's in float64 first. Contenders take turns; a time is the median of their turns, a ratio is a
contender's time over ours from the same run: above 1 we are faster. What is prepared once is not in the times, and is shown apart.
"""

import argparse
import csv
import os
import sys
from pathlib import Path

MATRICES = ["stencil27:40", "stencil5:400", "uniform:100000x16", "powerlaw:100000x16", "band:200000x9", "blocks:8000x8x4"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matrices", nargs="*", help=f"files or synthetic names; by default {' '.join(MATRICES)}")
    parser.add_argument("--k", default="8,16,32", help="numbers of columns")
    parser.add_argument("--dtype", default="f64,f32")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=0.2, help="for each contender of a case")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each contender")
    parser.add_argument("--gpu", action="store_true", help="CuPy and torch on a GPU, in place of the CPU")
    parser.add_argument("--out", help="a CSV file of all times")
    parser.add_argument("--overhead", action="store_true", help="time of a call on tiny matrices")
    parser.add_argument("--memory", action="store_true", help="peak memory of wrapping a matrix and one product")
    parser.add_argument("--memory-gb", type=float, default=1.0)
    parser.add_argument("--gcn", action="store_true", help="a GCN layer in torch, forward and backward")
    parser.add_argument("--taken", action="store_true", help="time until the first products of a CuPy matrix, taken there and through the host")
    options = parser.parse_args()
    options.k = [int(k) for k in options.k.split(",")]
    options.dtypes = [{"f64": "float64", "f32": "float32"}[name] for name in options.dtype.split(",")]
    options.matrices = options.matrices or MATRICES
    return options


def same_threads_for_all(threads):
    """Pools read these when their libraries are loaded: before anything is imported."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ORDITO_THREADS"):
        os.environ[name] = str(threads)
    os.environ["MKL_DYNAMIC"] = "FALSE"
    os.environ["KMP_BLOCKTIME"] = "2"  # milliseconds that MKL's threads wait on a core, which others want; 200 by default
    if "MKL_RT" not in os.environ:  # `pip install mkl` puts it where sparse_dot_mkl does not look
        packages = [Path(path) for path in sys.path if path.endswith("site-packages")]
        folders = [Path(sys.prefix, "lib"), *(path.parents[1] for path in packages)]
        found = [str(file) for folder in folders for file in sorted(folder.glob("libmkl_rt.so*"))]
        os.environ.update({"MKL_RT": found[0]} if found else {})


def products(options):
    import contenders
    from by_turns import geometric_mean, measure

    all_in = contenders.on_gpu if options.gpu else contenders.on_cpu
    cases = []
    for name in options.matrices:
        for dtype in options.dtypes:
            a = contenders.read(name, dtype)
            print(f"\n{name}: {a.shape[0]}×{a.shape[1]}, {a.nnz} nonzeros, {dtype}")
            for k in options.k:
                x = contenders.block(a.shape[1], k, dtype)
                known = contenders.Known(a, x)
                runs, ours, note, failed = {}, {}, "", {}
                for contender in all_in(a, x, options.threads):
                    outcome = known.outcome(contender)
                    if outcome != "passed":
                        failed[contender.name] = outcome
                        continue
                    runs[contender.name], ours[contender.name] = contender.run, contender.ours
                    note = note or contender.note()
                times = measure(runs, options.seconds, options.rounds, contenders.synchronise if options.gpu else None)
                line = f"  K = {k:<4}"
                for contender, seconds in times.items():
                    is_ours = ours[contender] == contender
                    ratio = seconds / times.get(ours[contender], float("nan"))
                    line += f" {contender} {seconds * 1e6:.1f} µs" + (";" if is_ours else f" ({ratio:.2f});")
                    cases.append((name, *a.shape, a.nnz, dtype, k, contender, ours[contender], seconds * 1e6, ratio, "passed"))
                for contender, outcome in failed.items():
                    line += f" {contender}: {outcome};"
                    cases.append((name, *a.shape, a.nnz, dtype, k, contender, "", "", "", outcome))
                print(f"{line.rstrip(';')}\n{'':10}[{note}]", flush=True)
    summary(cases, geometric_mean)
    if options.out:
        write(options.out, cases)
    incorrect = sum(case[-1] == "incorrect" for case in cases)
    return f"{incorrect} results were incorrect" if incorrect else 0


def summary(cases, geometric_mean):
    """Over all matrices and K. `best` takes the fastest of the others in each case."""
    peers = [case for case in cases if case[-1] == "passed" and case[6] != case[7]]
    best = {}
    for case in peers:
        key = (*case[:6], case[7])
        best[key] = min(best.get(key, float("inf")), case[9])
    print("\ntime over ours, above 1 we are faster: geometric mean, worst, best, cases")
    for dtype in dict.fromkeys(case[4] for case in peers):
        groups = {}
        for case in peers:
            if case[4] == dtype:
                groups.setdefault(f"{case[6]} / {case[7]}", []).append(case[9])
        for key, ratio in best.items():
            if key[4] == dtype:
                groups.setdefault(f"best of all / {key[-1]}", []).append(ratio)
        for name, ratios in groups.items():
            mean = geometric_mean(ratios)
            print(f"  {dtype}  {name:<34} {mean:6.2f} {min(ratios):6.2f} {max(ratios):6.2f} {len(ratios):5}")


def write(path, cases):
    names = "matrix rows cols nnz dtype k contender ours median_us time_over_ours outcome".split()
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([names, *cases])
    print(f"{path}: {len(cases)} times")


def main():
    options = arguments()
    same_threads_for_all(options.threads)
    import contenders
    import extras

    contenders.limit_threads(options.threads)
    print(contenders.versions(options))
    asked = [mode for mode in ("overhead", "memory", "gcn", "taken") if getattr(options, mode)]
    for mode in asked:
        getattr(extras, mode)(options)
    return 0 if asked else products(options)


if __name__ == "__main__":
    sys.exit(main())
