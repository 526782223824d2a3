"""What the scripts that compare times share: our program that takes turns, and the table."""
import pathlib
import statistics
import subprocess
import time

import numpy

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent


class Ours:
    """`benches/turns.rs`, started once and asked for one turn after the other."""

    def __init__(self, what, file, threads):
        command = ["cargo", "bench", "--quiet", "--bench", "turns", "--", what, str(pathlib.Path(file).resolve()), str(threads)]
        self.process = subprocess.Popen(
            command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"our program ended: exit code {self.process.wait()}")
        return answer

    def turn(self):
        return float(self.ask("turn"))

    def triplets(self, file):
        """Rows, columns and values of the last result, sorted by place."""
        self.ask(f"save {file}")
        entries = numpy.load(file)
        return sorted_triplets(entries[:, 0].astype(numpy.int64), entries[:, 1].astype(numpy.int64), entries[:, 2])

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def sorted_triplets(rows, cols, values):
    order = numpy.lexsort((cols, rows))
    return rows[order], cols[order], numpy.ascontiguousarray(values[order], dtype=numpy.float64)


def same_bits(found, expected):
    places = all(numpy.array_equal(a, b) for a, b in zip(found[:2], expected[:2]))
    return places and numpy.array_equal(found[2].view(numpy.int64), expected[2].view(numpy.int64))


def timed(run):
    """A turn of something that runs in this process. Its result is freed after the clock has stopped."""

    def turn():
        start = time.perf_counter()
        result = run()
        seconds = time.perf_counter() - start
        del result
        return seconds

    return turn


# Threads of OpenMP, which MKL has, keep a core busy for 0.2 s after their work. Nobody's turn begins beside them.
PAUSE_SECONDS = 0.25


def take_turns(turns, rounds):
    """Median seconds of each. In every round everyone has two turns, of which the second counts: after the pause threads are
    asleep and clocks low."""
    taken = {name: [] for name in turns}
    for _ in range(rounds):
        for name, turn in turns.items():
            time.sleep(PAUSE_SECONDS)
            turn()
            seconds = turn()
            taken[name].append(seconds)
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


def geometric_mean(ratios):
    return float(numpy.exp(numpy.mean(numpy.log(ratios))))
