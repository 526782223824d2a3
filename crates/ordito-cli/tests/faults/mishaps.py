"""What may happen to a command."""

import fnmatch
import os
import pathlib
import shutil
import time

from place import IS_ROOT, NOBODY, PART, Place, disk_of, must


def kill_once(bench, command, tally, reference, share, from_first_file):
    place = Place(bench, command, reference.before)
    names = place.names()
    place.start()
    if from_first_file:
        place.await_change(names)
        time.sleep(share * min(reference.writing))
    else:
        time.sleep(share * min(reference.seconds))
    is_hit = place.kill()
    state, parts = reference.judge(place)
    reference.check_next_run(place)
    tally.add(state, *(["hit"] if is_hit else []))
    tally.add("swept", count=parts)
    place.remove()


def fill_disk(bench, command, tally, reference, share):
    place = Place(bench, command)
    page = 4096
    needed = sum(-(-len(content) // page) * page for content in reference.after.values())
    largest = max(map(len, reference.after.values()))
    if bench.limits_disk:
        with disk_of(max(page, int(share * needed)), place.here) as is_mounted:
            must(is_mounted, "the disk is not there any more")
            fail_or_succeed(place, reference)
    else:
        fail_or_succeed(place, reference, blocks=int(share * largest) // 1024)
    tally.add("full")
    place.remove()


def fail_or_succeed(place, reference, **how):
    """A sentence and nothing but whole files, or all of them."""
    code, text = place.run(**how)
    state, parts = reference.judge(place)
    must(parts == 0, "leaves a temporary file")
    must(code == 0 or not place.command.is_cache, f"fails for a cache: {text}")
    must(code != 0 or place.command.is_cache or state == "whole", f"says that all is well, and it is {state}: {text}")
    return code, text, state


def take_permissions(bench, command, tally, reference, what):
    place = Place(bench, command, reference.before)
    targets = [place.here] if what == "folder" else []
    if what == "folder" and command.is_folder and (place.here / "out").exists():
        targets = [place.here / "out"]
    for path in place.here.rglob("*"):
        if what == "files" and path.is_file():
            targets.append(path)
    for path in targets:
        path.chmod(0o555 if path.is_dir() else 0o444)
    if IS_ROOT:
        for path in [place.root, place.tmp, place.here, *place.here.rglob("*")]:
            os.chown(path, NOBODY, NOBODY)
        if command.is_cache is False:
            place.cache = place.root / "cache"  # of nobody: ceilings are not measured again where they are known
            shutil.copytree(bench.cache, place.cache)
            for path in [place.cache, *place.cache.rglob("*")]:
                os.chown(path, NOBODY, NOBODY)
    code, text, state = fail_or_succeed(place, reference, as_nobody=True)
    must(command.is_cache or code in (1, 2), f"exit code {code}: {text}")
    must(command.is_cache or state in ("absent", "old", "marked"), f"writes all the same: {state}")
    tally.add("read-only")
    place.remove()


def spoilings(entries):
    """(path in the cache, what is done to it)"""
    folders = sorted({".", *(str(pathlib.PurePath(path).parent) for path in entries)})
    for folder in folders:
        for how in ("0777", "of another", "pipe", "garbage", "link to nowhere"):
            yield folder, how
    for entry in sorted(entries)[:2]:
        for how in ("0666", "of another", "pipe", "folder", "garbage", "half", "empty", "link", "link to nowhere", "endless link"):
            yield entry, how


def spoil_cache(bench, command, tally, reference, path, how):
    if how == "of another" and not IS_ROOT:
        return
    place = Place(bench, command, reference.after)
    target, aside = place.here / path, place.root / "aside"
    for known in reference.after:
        (place.here / known).chmod(0o600)
    for folder in [place.here, *(p for p in place.here.rglob("*") if p.is_dir())]:
        folder.chmod(0o700)
    if how in ("0777", "0666"):
        target.chmod(int(how, 8))
    elif how == "of another":
        os.chown(target, NOBODY, NOBODY)
    elif how in ("garbage", "half", "empty") and target.is_file():
        content = target.read_bytes()
        target.write_bytes({"garbage": os.urandom(len(content)), "half": content[: len(content) // 2], "empty": b""}[how])
    else:
        if path == ".":  # the program still has to stand somewhere
            place.cache = target = place.root / "cache"
        else:
            target.rename(aside)
        if how == "pipe":
            os.mkfifo(target)
        elif how == "folder":
            target.mkdir()
        elif how == "garbage":
            target.write_bytes(b"garbage")
        else:
            target.symlink_to({"link": aside, "endless link": "/dev/zero"}.get(how, place.root / "nowhere"))
    is_shut = path not in reference.after and how in ("0777", "of another")
    inside = lambda: {name: text for name, text in place.files().items() if path == "." or name.startswith(path + "/")}
    before = inside() if is_shut else None
    text = place.succeed()
    if is_shut:
        must(inside() == before, "writes into a cache that is not its own")
        must("cache" in text or "others may write" in text, f"does not say that the cache is not used: {text}")
    parts = [p for p in place.files() if fnmatch.fnmatch(p.rsplit("/", 1)[-1], PART)]
    must(not parts, "leaves a temporary file")
    must(not any(place.tmp.iterdir()), f"leaves temporary files: {os.listdir(place.tmp)}")
    tally.add("spoilt")
    place.remove()
