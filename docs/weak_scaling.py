"""The table of weak scaling in mpi.md: what `ordito info --ranks` predicts, for matrices too large to be made.

    python3 docs/weak_scaling.py                                  the table
    python3 docs/weak_scaling.py --check target/release/ordito   the same formulas on a matrix that fits, held against the program

A 27-point stencil on a box of points, cut into cubes of `--side`³ rows, one for each rank. Sixteen ranks of a node hold 4 × 2 × 2 of them.
"""

import argparse
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

#: `Cluster::default()`: ranks of a node, bytes/s of its memory, flops/s of a rank, seconds and bytes/s between nodes and inside one.
PER_NODE, MEMORY, FLOPS, LATENCY, BANDWIDTH, NEAR_LATENCY = 16, 200e9, 8e9, 2e-6, 12.5e9, 0.5e-6
#: Cubes of a node, in each direction.
BRICK = (4, 2, 2)
GRIDS = [(4, 2, 2), (4, 4, 4), (8, 8, 4), (8, 8, 8), (16, 8, 8), (16, 16, 16)]
BYTES = 8


def node(cube):
    return tuple(at // brick for at, brick in zip(cube, BRICK))


def number(cube, grid):
    """The rank of a cube: those of a node are consecutive."""
    rank, inside = 0, 0
    for at, of, brick in zip(cube, grid, BRICK):
        rank, inside = rank * (of // brick) + at // brick, inside * brick + at % brick
    return rank * PER_NODE + inside


def counts(cube, grid, side):
    """Of the rank of this cube: entries, rows of X and neighbours, on its node (itself is no neighbour, its rows not counted) and on others; rows with entries of others."""
    nnz, rows, neighbours, far = [(3 * side - 2) ** 3, 0], [0, 0], [0, 0], []
    for step in itertools.product((-1, 0, 1), repeat=3):
        other = tuple(at + by for at, by in zip(cube, step))
        if any(step) and all(0 <= at < of for at, of in zip(other, grid)):
            is_far = node(other) != node(cube)
            nnz[is_far] += (3 * side - 2) ** step.count(0)
            rows[is_far] += side ** step.count(0)
            neighbours[is_far] += 1
            far += [step] * is_far
    # Rows at the lower end, inside and at the upper end, in each direction: which of them touch a cube of another node?
    many = {-1: 1, 0: side - 2, 1: 1}
    touches = lambda place: any(all(by in (0, at) for at, by in zip(place, step)) for step in far)  # noqa: E731
    places = filter(touches, itertools.product((-1, 0, 1), repeat=3))
    return nnz, rows, neighbours, sum(many[x] * many[y] * many[z] for x, y, z in places)


def predict(grid, side, k):
    """Seconds of the parts and of all, largest over ranks, as `ordito_mpi::predict` has them; and rows that come to one rank."""
    row, sharing = k * BYTES, min(PER_NODE, grid[0] * grid[1] * grid[2])
    memory, network, block = MEMORY / sharing, BANDWIDTH / sharing, side**3

    def multiply(nnz, rows_read, rows_written):
        moved = nnz * (BYTES + 4) + (rows_read + rows_written) * row
        return max(moved / memory, 2 * nnz * k / FLOPS)

    found = []
    for cube in itertools.product(*map(range, grid)):
        (own_nnz, outer_nnz), (near, far), (near_ranks, far_ranks), outer_rows = counts(cube, grid, side)
        pack = 2 * far * row / memory
        own = multiply(own_nnz, block + near, block)
        exchange = near_ranks * NEAR_LATENCY + far_ranks * LATENCY + far * row / network
        outer = multiply(outer_nnz, far, 2 * outer_rows) if outer_nnz else 0
        found.append((own, exchange, outer, pack + max(own, exchange) + outer, pack + own + exchange + outer, near + far))
    return [max(column) for column in zip(*found)]


def of_slabs(grid, side):
    """About how many rows come to one rank if rows are cut as they are numbered."""
    line = grid[2] * side
    plane = grid[1] * side * line
    return 2 * (min(plane, side**3 + 2 * line) + line)


def check(ordito, side=20, grid=(4, 4, 4), k=8):
    """Is it the program's prediction?"""
    edge = side * grid[0]
    points = itertools.product(range(edge), repeat=3)
    owners = "".join(f"{number([at // side for at in point], grid)}\n" for point in points)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "owners")
        path.write_text(owners)
        command = [ordito, "info", f"stencil27:{edge}", "--k", str(k), "--json", "--ranks", str(grid[0] ** 3), "--partition", path]
        told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["on_ranks"][0]
    own, exchange, outer, total, _, _ = predict(grid, side, k)
    ours = {"own_ns": own * 1e9, "exchange_ns": exchange * 1e9, "outer_ns": outer * 1e9, "predicted_ns": total * 1e9}
    wrong = {name: (value, told[name]) for name, value in ours.items() if abs(value / told[name] - 1) > 1e-3}
    sys.exit(f"not as the program has it: {wrong}" if wrong else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--side", type=int, default=60)
    parser.add_argument("--k", type=int, default=8)
    parser.add_argument("--check", metavar="ORDITO")
    options = parser.parse_args()
    if options.check:
        check(options.check)
    first = None
    print("| ranks | rows | come to one rank | of slabs | own | exchange | outer | total | efficiency | nothing hidden |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for grid in GRIDS:
        own, exchange, outer, total, exposed, rows = predict(grid, options.side, options.k)
        first = first or total
        ranks = grid[0] * grid[1] * grid[2]
        ms = [f"{seconds * 1e3:.2f} ms" for seconds in (own, exchange, outer, total)]
        cells = [f"{ranks}", f"{ranks * options.side**3 / 1e6:.1f} M", f"{rows}", f"{of_slabs(grid, options.side)}", *ms]
        print("|", " | ".join([*cells, f"{100 * first / total:.0f} %", f"{100 * first / exposed:.0f} %"]), "|")


main()
