"""Are these files old, new, or half of something?"""

import csv
import fnmatch
import hashlib
import io
import json
import os
import time

from place import PART, Place, must

MARK = "INCOMPLETE.txt"
# What docs/safety.md says a killed run may leave in the folder for temporary files.
MAY_STAY_IN_TMP = "ordito-kernel-*"


def is_whole(path, content):
    """For files that are never the same twice: do they have their end?"""
    name = path.rsplit("/", 1)[-1]
    try:
        if name.endswith((".html", ".svg")):
            return content.rstrip().endswith(b"</" + (b"html>" if name.endswith("html") else b"svg>"))
        if name.endswith(".png"):
            return content[-8:-4] == b"IEND"
        if name.endswith(".json"):
            try:
                return bool(json.loads(content))  # one value, or one in each line
            except ValueError:
                return content.endswith(b"\n") and all(json.loads(line) for line in content.splitlines())
        if name.endswith(".csv"):
            rows = list(csv.reader(io.StringIO(content.decode())))
            return content.endswith(b"\n") and len({len(row) for row in rows}) == 1
        if content.startswith(b"ordito-tuned "):
            return content.endswith(b"\n") and b"\ninstead_of_ns " in content
        if content.startswith(b"ordito1\n"):  # a compiled kernel, with a checksum
            return hashlib.sha256(content[72:]).digest() == content[40:72]
        if name == ".ordito-figures":
            return content.endswith(b"\n")
    except ValueError:
        return False
    return False


class Reference:
    """What a command leaves when nothing happens to it, from a certain beginning."""

    def __init__(self, bench, command, before):
        self.before, trees, self.seconds, self.writing = before, [], [], []
        for _ in range(2):
            place = Place(bench, command, before)
            names, start = place.names(), time.monotonic()
            place.start()
            place.await_change(names)
            first = time.monotonic()
            code, text = place.end()
            must(code == (1 if command.name == "verify-dump" else 0), f"undisturbed: exit code {code}: {text}")
            end = time.monotonic()
            self.seconds.append(end - start)
            self.writing.append(end - first)
            trees.append(place.files())
            must(not any(place.tmp.iterdir()), f"leaves temporary files: {os.listdir(place.tmp)}")
            place.remove()
        self.after, second = trees
        must(self.after.keys() == second.keys(), f"two runs write different files: {self.after.keys() ^ second.keys()}")
        self.varying = {path for path in self.after if command.is_timed or self.after[path] != second[path]}
        for path in self.after:
            bad = path in self.varying and not is_whole(path, self.after[path])
            must(not bad, f"undisturbed, {path} is not whole, as far as is known")

    def is_new(self, path, content):
        if path in self.varying:
            return is_whole(path, content)
        return self.after.get(path) == content

    def is_aside(self, path, content):
        """Samples of an earlier run, of which nothing is lost."""
        return fnmatch.fnmatch(path, "out/samples-*.json") and is_whole(path, content)

    def judge(self, place):
        """What state the files are in: absent, old, whole or marked. And how many leftovers lie there."""
        found = place.files()
        parts = [path for path in found if fnmatch.fnmatch(path.rsplit("/", 1)[-1], PART)]
        marks = [path for path in found if path.rsplit("/", 1)[-1] == MARK]
        for path in [*parts, *marks]:
            del found[path]
        for path, content in found.items():
            known = self.before.get(path) == content or self.is_new(path, content) or self.is_aside(path, content)
            must(known, f"{path} is neither old nor new: {len(content)} bytes, {content[:60]!r} …")
        in_tmp = [name for name in os.listdir(place.tmp) if not fnmatch.fnmatch(name, MAY_STAY_IN_TMP)]
        must(not in_tmp, f"leaves {in_tmp} in the folder for temporary files")
        if found == self.before:
            state = "old" if found else "absent"
        elif all(path in found and self.is_new(path, found[path]) for path in self.after):
            state = "whole"
        elif place.command.is_folder:
            state = "marked"
            must(marks, f"files of two runs, or not all, and no mark: {sorted(found)}")
        else:
            state = "some"  # each of them whole
        return state, len(parts)

    def check_next_run(self, place):
        """The next run, into the same place, ends well and leaves what an undisturbed one does, and nothing else."""
        code, text = place.run()
        must(code == 0 or place.command.name == "verify-dump", f"the next run fails: {text}")
        found = {path: content for path, content in place.files().items() if not self.is_aside(path, content)}
        strange = found.keys() ^ {path for path in self.after if not self.is_aside(path, self.after[path])}
        must(not strange, f"after the next run there is too much or too little: {sorted(strange)}")
        wrong = [path for path, content in found.items() if not self.is_new(path, content)]
        must(not wrong, f"after the next run these are not as they should be: {wrong}")
