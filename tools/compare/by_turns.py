"""Times of several functions that take turns."""

import math
import statistics
import time

#: Threads of a pool wait on their cores for a while after its last call: 2 ms at most, after which the others have them.
PAUSE_SECONDS = 0.004


def measure(runs, seconds, rounds, synchronise=None):
    """The median time of a call of each, in seconds. Everything is called once before, so that caches are warm.

    A turn is a pause, a call that does not count, and as many calls as fill its share of `seconds`. Whoever begins a round changes, so
    that nobody always follows the same one. With `synchronise` (of a GPU) the clock starts and stops after it.
    """
    wait = synchronise or (lambda: None)

    def turn(run, calls):
        time.sleep(PAUSE_SECONDS)
        run()
        wait()
        start = time.perf_counter()
        for _ in range(calls):
            run()
        wait()
        return (time.perf_counter() - start) / calls

    calls = {}
    for name, run in runs.items():
        turn(run, 1)
        calls[name] = max(1, math.ceil(seconds / rounds / max(turn(run, 3), 1e-7)))
    times = {name: [] for name in runs}
    names = list(runs)
    for number in range(rounds):
        first = number % max(len(names), 1)
        for name in names[first:] + names[:first]:
            times[name].append(turn(runs[name], calls[name]))
    return {name: statistics.median(found) for name, found in times.items()}


def geometric_mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios)))
