#!/usr/bin/env python3
"""Does every command that writes leave whole files, whatever happens to it?

    python3 crates/ordito-cli/tests/faults/faults.py target/release/ordito [--moments 200] [--jobs 2] [--command NAME] [--seed 1]

Each command is killed (`kill -9`) at random moments, half of them counted from its start, half from its first file. After
that every output is absent, whole, or the old one, or its folder says INCOMPLETE; the next run succeeds and sweeps up. Then:
disks that are full, folders and files that are read-only, caches that others could have written. Nothing may hang, panic, or
leave half a file. Exits 1 if something did. Python 3 and Linux; root can try more."""

import argparse
import array
import concurrent.futures
import dataclasses
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # the folder of sources stays as it is

from judgement import Reference
from mishaps import fill_disk, kill_once, spoil_cache, spoilings, take_permissions
from place import IS_ROOT, LONGEST_S, Place, Violation, disk_of


@dataclasses.dataclass
class Command:
    """One way to write. `{in}` stands for the folder of inputs."""

    name: str
    arguments: str
    # An earlier run, whose files are replaced; `None` where nothing is ever replaced.
    old: str | None
    # Its files belong together: until all are there, a mark says so.
    is_folder: bool = False
    # It writes to the cache alone, which is never worth an error.
    is_cache: bool = False
    # Times are in its files: they are never the same twice.
    is_timed: bool = False


M, OTHER = "{in}/matrix.mtx", "{in}/other.mtx"
BENCH = "bench spmm {} --on cpu --k 2 --samples 2 --variant csr-serial,csr-threads-nnz --out out"
ERP = "erp {in}/target.txt {in}/nontarget.txt --sensors 4 --rate 100 --on cpu --out out"
COMMANDS = [
    Command("spmm", f"spmm {M} --x {{in}}/x.npy -o y.npy", f"spmm {OTHER} --k 2 -o y.npy"),
    Command("gemm", "gemm {in}/x.npy {in}/b.npy -o c.npy", "gemm {in}/b.npy {in}/b.npy -o c.npy"),
    Command("columns", "columns {in}/target.txt -o mean.npy", "columns {in}/nontarget.txt -o mean.npy"),
    Command("convert-mtx", f"convert {M} -o a.mtx", f"convert {OTHER} -o a.mtx"),
    Command("convert-mtx-gz", f"convert {M} -o a.mtx.gz", f"convert {OTHER} -o a.mtx.gz"),
    Command("convert-symmetric", "convert {in}/symmetric.mtx --symmetric -o a.mtx", f"convert {OTHER} -o a.mtx"),
    Command("convert-array", f"convert {OTHER} --array -o a.mtx", f"convert {M} -o a.mtx"),
    Command("convert-npy", "convert stencil5:35 -o a.npy", f"convert {OTHER} -o a.npy"),
    Command("info", f"info {M} --html=page.html", f"info {OTHER} --html=page.html"),
    Command("report", "report {in}/samples.json -o page.html", f"info {OTHER} --html=page.html"),
    Command("bench", BENCH.format("stencil5:40"), BENCH.format("stencil5:20"), is_folder=True, is_timed=True),
    Command("erp", f"{ERP} --groups 7 --permutations 200", ERP, is_folder=True),
    Command("erp-demo", "erp --demo demo", None),
    Command("verify-dump", "verify spmm stencil5:100 --on cpu --k 3 --variant csr-serial-wrong --dump out", None),
    Command("tune", f"spmm {M} --k 2 --tune", None, is_cache=True, is_timed=True),
    Command("emulator", "verify spmm stencil5:4 --on emulator --k 2 --variant csr-cuda-thread-per-element", None, is_cache=True),
    Command("doctor", "doctor --measure", None, is_cache=True, is_timed=True),
]


class Tally:
    def __init__(self):
        self.lock, self.counts, self.violations = threading.Lock(), {}, []

    def add(self, *names, count=1):
        with self.lock:
            for name in names:
                self.counts[name] = self.counts.get(name, 0) + count

    def fail(self, what, why):
        with self.lock:
            self.violations.append(f"{what}: {why}")


class Bench:
    def __init__(self, program, scratch, arguments):
        self.scratch, self.settings = scratch, arguments
        scratch.chmod(0o755)
        # Where everybody can run it, and where nobody builds it anew meanwhile.
        self.program = pathlib.Path(shutil.copy(program, scratch / "ordito"))
        self.inputs, self.cache = scratch / "inputs", scratch / "cache"
        self.inputs.mkdir()
        self.cache.mkdir(mode=0o700)
        self.notes = []
        self.make_inputs()
        self.limits_disk = self.can_mount()

    def make_inputs(self):
        def ordito(*words):
            subprocess.run(
                [self.program, *words], cwd=self.inputs, check=True, timeout=LONGEST_S, stdout=subprocess.DEVNULL,
                env={**os.environ, "ORDITO_CACHE_DIR": str(self.cache)},
            )

        ordito("convert", "stencil5:150", "-o", "matrix.mtx")
        ordito("convert", "stencil5:25", "-o", "other.mtx")
        entries = "\n".join(f"{row} {col} {row + 0.125}" for row in range(2, 30_000) for col in (row - 1, row))
        head = "%%MatrixMarket matrix coordinate real symmetric\n30000 30000 59996\n"
        (self.inputs / "symmetric.mtx").write_text(f"{head}{entries}\n")
        write_npy(self.inputs / "x.npy", 22500, 40)
        write_npy(self.inputs / "b.npy", 40, 40)
        ordito(*BENCH.format("stencil5:10").split())
        shutil.move(self.inputs / "out/samples.json", self.inputs / "samples.json")
        shutil.rmtree(self.inputs / "out")
        number = random.Random(0).gauss
        for name, rows in [("target.txt", 20), ("nontarget.txt", 70)]:
            lines = (" ".join(f"{number(0, 1):.6e}" for _ in range(4 * 50)) for _ in range(rows))
            (self.inputs / name).write_text("\n".join(lines) + "\n")
        listed = subprocess.run([self.program, "list", "spmm"], capture_output=True, text=True, check=True).stdout
        self.has_wrong_variant = "csr-serial-wrong" in listed
        self.has_compiler = any(shutil.which(name) for name in (os.environ.get("CXX", "c++"), "g++", "clang++"))

    def can_mount(self):
        """Mounting tells; without it, no file may be longer than a limit."""
        if not IS_ROOT:
            return False
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
            with disk_of(4096, folder) as is_mounted:
                return is_mounted

    def why_not(self, command):
        if command.name == "verify-dump" and not self.has_wrong_variant:
            return "it writes what is wrong, and nothing is: build with `--features wrong-variant`"
        if command.name == "emulator" and not self.has_compiler:
            return "there is no C++ compiler"
        return None

    def try_command(self, command):
        """The line on it, and what was violated."""
        tally, start = Tally(), time.monotonic()
        try:
            fresh = Reference(self, command, {})
            references = [fresh]
            if command.old:
                place = Place(self, command)
                place.succeed(command.old)
                references.append(Reference(self, command, place.files()))
                place.remove()
        except Violation as violation:
            tally.fail(command.name, violation)
            return f"{command.name:<18}not tried", tally.violations
        random_moments = random.Random(f"{self.settings.seed} {command.name}")
        jobs = []
        for moment in range(self.settings.moments):
            reference = references[moment % len(references)]
            share, from_first_file = random_moments.random(), moment // 2 % 2 == 1
            jobs.append((kill_once, reference, share, from_first_file))
        for share in (0.05, 0.4, 0.75, 0.95):
            jobs.append((fill_disk, fresh, share))
        for reference in references:
            jobs.append((take_permissions, reference, "folder"))
        if command.old:
            jobs.append((take_permissions, references[1], "files"))
        if command.is_cache:
            jobs += [(spoil_cache, fresh, *spoiling) for spoiling in spoilings(fresh.after)]
        with concurrent.futures.ThreadPoolExecutor(self.settings.jobs) as pool:
            list(pool.map(lambda job: self.attempt(command, tally, *job), jobs))
        count = lambda name: tally.counts.get(name, 0)
        states = ", ".join(f"{count(s)} {s}" for s in ("absent", "old", "whole", "some", "marked") if count(s))
        seconds = statistics.median(fresh.seconds)
        line = (
            f"{command.name:<18}{self.settings.moments} moments in {seconds:.2f} s, {count('hit')} hit: {states};"
            f" {count('swept')} leftovers swept; {count('full')} full disks, {count('read-only')} times read-only"
            + (f", {count('spoilt')} hostile caches" if command.is_cache else "")
            + f" ({time.monotonic() - start:.0f} s)"
        )
        return line, tally.violations

    def attempt(self, command, tally, kind, reference, *details):
        what = " ".join([command.name, kind.__name__, *(f"{d:.3f}" if isinstance(d, float) else str(d) for d in details)])
        try:
            kind(self, command, tally, reference, *details)
        except Violation as violation:
            tally.fail(f"{what}{', over old files' if reference.before else ''}", violation)
        except Exception as error:  # ours: told, and no reason to stop
            tally.fail(what, f"the test itself failed: {error!r}")


def write_npy(path, rows, cols):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {cols}), }}".ljust(117) + "\n"
    numbers = array.array("d", (i % 7 - 3.0 for i in range(rows * cols)))
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + numbers.tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the ordito to try")
    parser.add_argument("--moments", type=int, default=200, help="how often each command is killed [200]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at a time [one for each core]")
    parser.add_argument("--command", action="append", help="only this one; may be said several times")
    parser.add_argument("--seed", type=int, default=1, help="of the moments [1]")
    settings = parser.parse_args()
    names = [command.name for command in COMMANDS]
    for name in settings.command or []:
        if name not in names:
            parser.error(f"--command {name}: none of {', '.join(names)}")
    violations = []
    with tempfile.TemporaryDirectory(prefix="ordito-faults-", ignore_cleanup_errors=True) as scratch:
        bench = Bench(settings.program, pathlib.Path(scratch), settings)
        print("full disks: " + ("a small one is mounted" if bench.limits_disk else "no file may be longer than a limit"))
        if not IS_ROOT:
            print("not tried: caches that belong to others, which only root can make")
        for command in COMMANDS:
            if settings.command and command.name not in settings.command:
                continue
            why_not = bench.why_not(command)
            if why_not:
                print(f"{command.name:<18}not tried: {why_not}", flush=True)
                continue
            line, found = bench.try_command(command)
            print(line, flush=True)
            for violation in found:
                print(f"  VIOLATION {violation}", flush=True)
            violations += found
    print(f"{len(violations)} violations" if violations else "all well")
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
