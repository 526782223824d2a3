#!/usr/bin/env python3
"""Does `ordito erp` say what NumPy says?

    venv/bin/python benches/compare_erp_with_numpy.py target/release/ordito target.txt [nontarget.txt] -- --sensors 64

Means, standard errors (n - 1), difference and Welch's t are compared with those of numpy.loadtxt, as shares of the largest
value; means may be off by 1e-12 of it, the rest by 1e-10. All files of results must be the same, byte by byte, with one
thread, with two, and in a second run. What stands after `--` is handed on.
"""
import filecmp
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy


def results(binary, files, options, folder, threads):
    command = [binary, "erp", *files, *options, "--threads", str(threads), "--out", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def same_bytes(one, other):
    names = sorted(path.name for path in one.iterdir() if path.suffix in (".npy", ".csv"))
    assert names, "nothing was written"
    _, different, missing = filecmp.cmpfiles(one, other, names, shallow=False)
    assert not different and not missing, f"{one} and {other} differ: {different} {missing}"
    return len(names)


def main():
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    binary, *files = sys.argv[1:at]
    options = sys.argv[at + 1 :]
    with tempfile.TemporaryDirectory() as scratch:
        folders = [Path(scratch) / name for name in ("one", "two", "again")]
        for folder, threads in zip(folders, (1, 2, 2)):
            results(binary, files, options, folder, threads)
        compared = same_bytes(folders[0], folders[1]) + same_bytes(folders[1], folders[2])

        expected = {}
        waves = []
        for name, path in zip(("target", "nontarget"), files):
            epochs = numpy.loadtxt(path, ndmin=2)
            mean, sem = epochs.mean(axis=0), epochs.std(axis=0, ddof=1) / numpy.sqrt(len(epochs))
            expected[f"mean_{name}"], expected[f"sem_{name}"] = mean, sem
            waves.append((mean, sem))
        if len(waves) == 2:
            (mean1, sem1), (mean2, sem2) = waves
            expected["difference"] = mean1 - mean2
            expected["t"] = (mean1 - mean2) / numpy.hypot(sem1, sem2)
        worst = {}
        for name, wave in expected.items():
            found = numpy.load(folders[0] / f"{name}.npy").ravel()
            assert found.shape == wave.shape, f"{name}: {found.shape}, {wave.shape} expected"
            worst[name] = numpy.abs(found - wave).max() / numpy.abs(wave).max()
            bound = 1e-12 if name.startswith("mean") else 1e-10
            assert worst[name] <= bound, f"{name} differs by {worst[name]:.1e} of its largest value"
    differences = ", ".join(f"{name} {share:.1e}" for name, share in worst.items())
    print(f"{' '.join(Path(file).name for file in files)}: {compared} files the same byte by byte; off by {differences}")


main()
