"""Power loss without pulling the plug: builds the shim of forgetful.c and puts a directory back to what was synced.

    forgetful.py build OUT.so
    forgetful.py forget ROOT JOURNAL      after the program below ROOT was killed
"""

import os
import shutil
import struct
import subprocess
import sys

_RECORD = struct.Struct("=QQQ")  # offset, length, old size: struct record of forgetful.c


def build(library, source="forgetful.c"):
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), source)
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        sys.exit("forgetful: no C compiler (cc, gcc or clang) on PATH")
    options = ["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-pthread", "-fvisibility=hidden"]
    subprocess.run([compiler, *options, "-o", library, source], check=True)


def environment(library, root, journal):
    """What a program needs in its environment to be followed. The journal must be on the root's filesystem."""
    os.makedirs(journal, mode=0o700, exist_ok=True)
    real = {"FORGETFUL_ROOT": os.path.realpath(root), "FORGETFUL_JOURNAL": os.path.realpath(journal)}
    return os.environ | {"LD_PRELOAD": library} | real


def forget(root, journal):
    """Undoes all that was not synced below `root`, empties the journal, and returns how many changes it undid."""
    undone = _remove_created(root, journal) + _undo_names(journal)
    undone += sum(_undo_contents(path, journal) for path in _paths(root))
    for path in _paths(root):
        if path.endswith("-shm"):
            os.unlink(path)
    for entry in os.listdir(journal):
        os.unlink(os.path.join(journal, entry))
    return undone


def _paths(root):
    found = [os.path.join(directory, name) for directory, _, names in os.walk(root) for name in names]
    return [path for path in found if os.path.isfile(path) and not os.path.islink(path)]


def _remove_created(root, journal):
    created = {int(name.partition(".")[0]) for name in os.listdir(journal) if name.endswith(".created")}
    candidates = _paths(root) + [path for path in _paths(journal) if path.endswith(".kept")]
    doomed = [path for path in candidates if os.stat(path).st_ino in created]
    for path in doomed:
        os.unlink(path)
    return len(doomed)


def _undo_names(journal):
    lines = []
    for name in os.listdir(journal):
        if name.endswith(".names"):
            with open(os.path.join(journal, name)) as file:
                lines += [line.rstrip("\n").split("\t") for line in file if line.endswith("\n")]
    for _, verb, inode, kept, path, other in sorted(lines, key=lambda line: -int(line[0])):
        if verb == "renamed" and os.path.exists(path) and os.stat(path).st_ino == int(inode):
            os.rename(path, other)
        if os.path.exists(kept) and not os.path.exists(path):
            os.link(kept, path)
    return len(lines)


def _undo_contents(path, journal):
    try:
        with open(os.path.join(journal, f"{os.stat(path).st_ino}.undo"), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return 0
    records, position = [], 0
    while position + _RECORD.size <= len(data):
        offset, length, old_size = _RECORD.unpack_from(data, position)
        position += _RECORD.size + length
        if position > len(data):
            break  # killed while noting it: the change itself never came
        records.append((offset, data[position - length:position], old_size))
    with open(path, "r+b") as file:
        for offset, old, old_size in reversed(records):
            file.seek(offset)
            file.write(old)
            file.truncate(old_size)
    return len(records)


if __name__ == "__main__":
    if sys.argv[1:2] == ["build"] and len(sys.argv) == 3:
        build(sys.argv[2])
    elif sys.argv[1:2] == ["forget"] and len(sys.argv) == 4:
        print(f"forgetful: {forget(*sys.argv[2:])} changes undone")
    else:
        sys.exit(__doc__)
