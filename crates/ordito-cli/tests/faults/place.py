"""A folder in which a command runs, and a disk that is too small."""

import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import time

LONGEST_S = 300  # nothing here takes a tenth of it where nobody else computes
NOBODY = 65534
IS_ROOT = os.geteuid() == 0
PART = ".ordito-*.part"
LOCK = ".ordito-lock"


class Violation(Exception):
    pass


def must(holds, sentence):
    if not holds:
        raise Violation(sentence)


class Place:
    """A folder in which a command runs: what it writes, its cache, its temporary files."""

    def __init__(self, bench, command, before=None, folder=None):
        self.bench, self.command, self.is_killed = bench, command, False
        self.root = pathlib.Path(folder or tempfile.mkdtemp(dir=bench.scratch))
        self.root.chmod(0o755)
        self.here, self.tmp = self.root / "here", self.root / "tmp"
        self.tmp.mkdir(mode=0o777)
        self.cache = self.here if command.is_cache else bench.cache
        self.here.mkdir(mode=0o700)
        for path, content in (before or {}).items():
            (self.here / path).parent.mkdir(parents=True, exist_ok=True)
            (self.here / path).write_bytes(content)

    def start(self, arguments=None, as_nobody=False, blocks=None):
        words = (arguments or self.command.arguments).replace("{in}", str(self.bench.inputs)).split()
        words = [str(self.bench.program), *words]
        if blocks is not None:  # a process that ignores the signal, as Python does, gets an error instead
            words = ["sh", "-c", f'ulimit -f {blocks}; exec "$@"', "sh", *words]
        environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("ORDITO_")},
            "ORDITO_CACHE_DIR": str(self.cache), "TMPDIR": str(self.tmp), "HOME": str(self.root),
        }
        other = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if as_nobody and IS_ROOT else {}
        self.said = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            words, cwd=self.here, env=environment, stdin=subprocess.DEVNULL, stdout=self.said,
            stderr=subprocess.STDOUT, start_new_session=True, restore_signals=False, **other,
        )

    def end(self):
        """The exit code and what was said."""
        try:
            code = self.process.wait(LONGEST_S)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, 9)
            self.process.wait()
            raise Violation(f"hangs: still running after {LONGEST_S} s") from None
        self.said.seek(0)
        text = self.said.read().decode(errors="replace")
        must("panicked" not in text, f"panics: {text}")
        must(code >= 0, f"ended by signal {-code}: {text}")
        must(code in (0, 1, 2), f"exit code {code}: {text}")
        must(code == 0 or any("ordito: " in line for line in text.splitlines()), f"fails without a sentence: {text!r}")
        must(code == 0 or PART[:8] not in text, f"names a temporary file: {text}")
        return code, text

    def run(self, *arguments, **how):
        self.start(*arguments, **how)
        return self.end()

    def succeed(self, *arguments, **how):
        code, text = self.run(*arguments, **how)
        must(code == 0, f"exit code {code}: {text}")
        return text

    def kill(self):
        """Was there something to be killed?"""
        hit = self.process.poll() is None
        self.process.kill()
        self.process.wait()
        try:
            os.killpg(self.process.pid, 9)  # the compiler that it waited for, if any
        except ProcessLookupError:
            pass
        self.is_killed = True
        return hit

    def names(self):
        try:
            return [entry.name for entry in os.scandir(self.here)] + (
                [entry.name for entry in os.scandir(self.here / "out")] if self.command.is_folder else [])
        except OSError:
            return []

    def await_change(self, names):
        """Waits until there are other files, or the command has ended."""
        while self.names() == names and self.process.poll() is None:
            time.sleep(0.0002)

    def files(self):
        found = {}
        for path in sorted(self.here.rglob("*")):
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode) and path.name != LOCK:
                try:
                    found[str(path.relative_to(self.here))] = path.read_bytes()
                except FileNotFoundError:
                    pass  # of an orphan compiler
        return found

    def remove(self):
        shutil.rmtree(self.root, ignore_errors=True)


class disk_of:
    """A disk of so many bytes, mounted where the folder is. Is there one?"""

    def __init__(self, size, folder):
        self.size, self.folder = size, str(folder)

    def __enter__(self):
        options = f"size={self.size},mode=755"
        mount = ["mount", "-t", "tmpfs", "-o", options, "ordito-faults", self.folder]
        try:
            self.is_mounted = subprocess.run(mount, capture_output=True).returncode == 0
        except OSError:
            self.is_mounted = False
        return self.is_mounted

    def __exit__(self, *_):
        if self.is_mounted:
            subprocess.run(["umount", "-l", self.folder], check=True)
