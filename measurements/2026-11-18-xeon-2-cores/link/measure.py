"""Products of two ranks over a shaped link, beside what `ordito info --ranks 2` predicts from one-rank runs and a small message.

    python measure.py ORDITO MATRIX… --k 8,32 --latency US --bandwidth GB/s
"""

import argparse
import csv
import json
import pathlib
import statistics
import subprocess

LINK = pathlib.Path(__file__).with_name("shaped_link.sh")


def told(command):
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads([line for line in text.splitlines() if line.startswith("{")][-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ordito")
    parser.add_argument("matrices", nargs="+")
    parser.add_argument("--info", help="another ordito, for predictions")
    parser.add_argument("--k", default="8,32")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--latency", type=float, required=True)
    parser.add_argument("--bandwidth", type=float, default=0.117)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    rows = []
    for matrix in options.matrices:
        for k in options.k.split(","):
            bench = [options.ordito, "bench", "spmm", matrix, "--k", k, "--threads", "1", "--dtype", "f64", "--json", "--time", "2"]
            alone, linked = [], []
            for _ in range(options.turns):  # by turns: others use the cores too
                # Two at once, as on the link: they share memory, and cores with others.
                pair = [subprocess.Popen([*bench, "--variant", "auto"], stdout=subprocess.PIPE, text=True) for _ in range(2)]
                found = [json.loads([line for line in one.communicate()[0].splitlines() if line.startswith("{")][-1]) for one in pair]
                alone.append(min(one["gflops"] for one in found))
                linked.append(told([LINK, "mpiexec", *bench]))
            gflops = statistics.median(alone)
            numbers = f"ranks-per-node=1,bandwidth={options.bandwidth},latency={options.latency},memory=1000,gflops={gflops:.3f}"
            info = [options.info or options.ordito, "info", matrix, "--k", k, "--ranks", "2", "--cluster", numbers, "--json"]
            predicted = told(info)["on_ranks"][0]
            of = lambda name: statistics.median(one[name] for one in linked) / 1e6  # noqa: E731
            row = {"matrix": matrix, "k": k, "gflops_alone": gflops}
            row |= {f"{name}_ms": of(f"{name}_ns") for name in ("pack", "own", "wait", "outer", "exchange")}
            row |= {"measured_ms": of("median_ns"), "predicted_ms": predicted["predicted_ns"] / 1e6}
            row |= {"predicted_exchange_ms": predicted["exchange_ns"] / 1e6, "without_overlap_ms": predicted["without_overlap_ns"] / 1e6}
            row["predicted_over_measured"] = row["predicted_ms"] / row["measured_ms"]
            row["wait_over_exchange"] = row["wait_ms"] / row["exchange_ms"]
            rows.append({name: round(value, 3) if isinstance(value, float) else value for name, value in row.items()})
            print(rows[-1], flush=True)
    with open(options.out, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


main()
