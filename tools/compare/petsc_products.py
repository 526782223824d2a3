"""Products on ranks beside PETSc's: `mpiexec -n 2 ordito bench spmm stencil27:60` and MatMatMult of an AIJ matrix, by turns.

    python petsc_products.py 60 80 --k 8,32 --turns 5 --ordito ordito --mpiexec mpiexec \\
        --petsc-mpiexec mpiexec.openmpi --petsc-python python3 --out times.csv

Each turn starts both programs, one after the other, on as many ranks with one thread each. PETSc's product is that of a 27-point stencil
of the same pattern with a dense X (`MatMatMult`, its result used again), and of one column after the other (`MatMult`); the faster one counts.
Every result is checked on some rows first. A time is of the slowest rank, the median of a turn; then the median of the turns. PETSc where it is no system's: `--petsc-mpiexec`
may be a script that sets its paths.
"""

import argparse
import csv
import json
import shlex
import statistics
import subprocess
import sys
import time

#: Seconds of products in every turn.
SECONDS = 2.0


def stencil(side, first, last):
    """Rows first..last of a 27-point stencil on side³ points: offsets, columns, values."""
    import numpy as np

    rows = np.arange(first, last)
    at = (rows // side**2, rows // side % side, rows % side)
    columns, inside = [], []
    for step in np.ndindex(3, 3, 3):
        other = [one + by - 1 for one, by in zip(at, step)]
        columns.append((other[0] * side + other[1]) * side + other[2])
        inside.append(np.logical_and.reduce([(0 <= one) & (one < side) for one in other]))
    columns, inside = np.stack(columns, 1), np.stack(inside, 1)
    offsets = np.concatenate([[0], np.cumsum(inside.sum(1))])
    columns = columns[inside]
    values = np.random.default_rng(first).uniform(-1, 1, len(columns))
    return offsets.astype("i4"), columns.astype("i4"), values


def worker(side, k):
    """On every rank of PETSc: times of a product, in ms."""
    import numpy as np
    from petsc4py import PETSc

    comm = PETSc.COMM_WORLD
    rows = side**3
    first, last = (rows * rank // comm.size for rank in (comm.rank, comm.rank + 1))
    offsets, columns, values = stencil(side, first, last)
    a = PETSc.Mat().createAIJ(((last - first, rows), (last - first, rows)), csr=(offsets, columns, values), comm=comm)
    x = PETSc.Mat().createDense(((last - first, rows), (None, k)), comm=comm)
    x.setUp()
    of_row = lambda rows: np.sin(np.asarray(rows)[..., None] + np.arange(k))  # noqa: E731
    x.getDenseArray()[:, :] = of_row(np.arange(first, last))
    x.assemble()
    y = a.matMult(x)
    x_columns, y_columns = ([a.createVecRight() for _ in range(k)] for _ in range(2))
    for column, vector in enumerate(x_columns):
        vector.array[:] = x.getDenseArray()[:, column]

    def by_columns():
        for one, result in zip(x_columns, y_columns):
            a.mult(one, result)

    def is_right():
        """Of some rows, in either result."""
        by_columns()
        for row in range(0, last - first, max(1, (last - first) // 50)):
            entries = slice(offsets[row], offsets[row + 1])
            expected = values[entries] @ of_row(columns[entries])
            if not np.allclose(y.getDenseArray()[row], expected) or not np.allclose([one.array[row] for one in y_columns], expected):
                return False
        return True

    right = largest(comm, float(not is_right())) == 0
    times = {"MatMatMult": timed(comm, lambda: a.matMult(x, result=y)), "MatMult": timed(comm, by_columns)}
    if comm.rank == 0:
        print(json.dumps({"right": right, "ms": times, "version": ".".join(map(str, PETSc.Sys.getVersion()))}))
    if not right:
        sys.exit(1)


def largest(comm, mine):
    """Everyone's largest number."""
    from petsc4py import PETSc

    all_of_them = PETSc.Vec().createMPI((1, comm.size), comm=comm)
    all_of_them.array[0] = mine
    return all_of_them.max()[1]


def timed(comm, run):
    """Times of the slowest rank, in ms."""

    def once():
        comm.barrier()
        start = time.perf_counter()
        run()
        return largest(comm, time.perf_counter() - start)  # the same everywhere

    once()
    found, left = [], SECONDS
    while left > 0 or len(found) < 5:
        found.append(once())
        left -= found[-1]
    return {"median": statistics.median(found) * 1e3, "least": min(found) * 1e3}


def told(command):
    """What a program prints as its last line of JSON."""
    ran = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in ran.stdout.splitlines() if line.startswith("{")]
    if ran.returncode or not lines:
        sys.exit(f"{shlex.join(command)}: exit code {ran.returncode}\n{ran.stdout}{ran.stderr}")
    return json.loads(lines[-1])


def compare(options, side, k):
    """Medians of all turns, and the least times: where others use the cores, those say more."""
    ranks, ours, theirs = str(options.ranks), [], {}
    bench = ["bench", "spmm", f"stencil27:{side}", "--k", str(k), "--threads", "1", "--on", "cpu", "--dtype", "f64", "--time", str(SECONDS), "--json"]
    for _ in range(options.turns):
        found = told([*shlex.split(options.mpiexec), "-n", ranks, options.ordito, *bench])
        if found["outcome"] != "passed":
            sys.exit(f"ordito: {found}")
        ours.append({"median": found["median_ns"] / 1e6, "least": found["min_ns"] / 1e6})
        peer = [options.petsc_python, __file__, "--worker", str(side), "--k", str(k)]
        found = told([*shlex.split(options.petsc_mpiexec), "-n", ranks, *peer])
        for name, ms in found["ms"].items():
            theirs.setdefault(name, []).append(ms)

    def middle(turns):
        return statistics.median(turn["median"] for turn in turns)

    def least(turns):
        return min(turn["least"] for turn in turns)

    best = min(theirs, key=lambda name: middle(theirs[name]))
    ratios = sorted(peer["median"] / own["median"] for own, peer in zip(ours, theirs[best]))
    row = {"matrix": f"stencil27:{side}", "k": k, "ranks": options.ranks, "turns": options.turns, "petsc_by": best}
    row |= {"ordito_ms": middle(ours), "petsc_ms": middle(theirs[best]), "ratio": statistics.median(ratios)}
    row |= {"ratio_from": ratios[0], "ratio_to": ratios[-1]}
    row |= {"ordito_least_ms": least(ours), "petsc_least_ms": min(map(least, theirs.values()))}
    row["ratio_of_least"] = row["petsc_least_ms"] / row["ordito_least_ms"]
    row |= {f"{name}_ms": middle(turns) for name, turns in theirs.items()}
    return {name: round(value, 3) if isinstance(value, float) else value for name, value in row.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sides", type=int, nargs="*", default=[60])
    parser.add_argument("--k", default="8,32")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--ordito", default="ordito")
    parser.add_argument("--mpiexec", default="mpiexec", help="that of ordito's MPI, with its options")
    parser.add_argument("--petsc-mpiexec", default="mpiexec", help="that of PETSc's MPI, with its options")
    parser.add_argument("--petsc-python", default=sys.executable, help="one that has petsc4py")
    parser.add_argument("--out", help="a CSV file")
    parser.add_argument("--worker", type=int, metavar="SIDE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return worker(options.worker, int(options.k))
    rows = [compare(options, side, int(k)) for side in options.sides for k in options.k.split(",")]
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()))
    if options.out:
        with open(options.out, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
