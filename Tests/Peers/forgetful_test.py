"""Judges the shim: SQLite must lose nothing with synchronous=FULL, and must be caught losing with synchronous=OFF."""

import mmap
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import forgetful

# Commits numbered rows for ever and says each number once it is committed.
WRITER = """
import os, sqlite3, sys
path, synchronous = sys.argv[1:]
database = sqlite3.connect(path, isolation_level=None)
database.execute("PRAGMA journal_mode=WAL")
database.execute(f"PRAGMA synchronous={synchronous}")
database.execute("PRAGMA wal_autocheckpoint=40")
database.execute("CREATE TABLE IF NOT EXISTS rows (number INTEGER PRIMARY KEY, filling BLOB) STRICT")
number = database.execute("SELECT coalesce(max(number), 0) FROM rows").fetchone()[0]
while True:
    number += 1
    database.execute("INSERT INTO rows VALUES (?, randomblob(3000))", (number,))
    os.write(1, b"%d\\n" % number)
"""


class Place:
    """A directory to follow, the shim, and a journal beside it."""

    def __init__(self):
        self._directory = tempfile.TemporaryDirectory()
        self.root = os.path.join(self._directory.name, "data")
        self.journal = os.path.join(self._directory.name, "journal")
        self.library = os.path.join(self._directory.name, "forgetful.so")
        os.mkdir(self.root)
        forgetful.build(self.library)

    def remove(self):
        self._directory.cleanup()

    def path(self, name):
        return os.path.join(self.root, name)

    def run(self, program, *arguments, kill_after=None):
        """Runs a Python program under the shim, killed after so many lines; the lines it wrote."""
        environment = forgetful.environment(self.library, self.root, self.journal)
        command = [sys.executable, "-c", program, *arguments]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            lines = []
            for line in process.stdout:
                if not line.endswith("\n"):
                    break
                lines.append(line.strip())
                if len(lines) == kill_after:
                    process.send_signal(signal.SIGKILL)
        forgetful.forget(self.root, self.journal)
        return lines

    def acknowledged_and_lost(self, synchronous, rounds, seed):
        """How many rows the writer said were committed, and how many of them are gone."""
        chance = random.Random(seed)
        lost = total = 0
        for _ in range(rounds):
            lines = self.run(WRITER, self.path("test.db"), synchronous, kill_after=chance.randint(1, 200))
            numbers = set(map(int, lines))
            total += len(numbers)
            database = sqlite3.connect(self.path("test.db"))
            if database.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                raise AssertionError("the database is damaged")
            try:
                stored = {row[0] for row in database.execute("SELECT number FROM rows")}
            except sqlite3.OperationalError:
                stored = set()
            database.close()
            lost += len(numbers - stored)
        self.remove()
        print(f"forgetful: synchronous={synchronous} seed={seed}: {total} acknowledged, {lost} lost")
        return total, lost


class SQLite(unittest.TestCase):
    def test_nothing_committed_is_lost_when_sqlite_syncs(self):
        total, lost = Place().acknowledged_and_lost("FULL", rounds=12, seed=1)
        self.assertGreater(total, 12)
        self.assertEqual(lost, 0)

    def test_commits_are_lost_when_sqlite_does_not_sync(self):
        _, lost = Place().acknowledged_and_lost("OFF", rounds=4, seed=2)
        self.assertGreater(lost, 0)

    def test_commits_are_lost_when_sqlite_syncs_only_at_checkpoints(self):
        _, lost = Place().acknowledged_and_lost("NORMAL", rounds=4, seed=3)
        self.assertGreater(lost, 0)


class Files(unittest.TestCase):
    """What survives of small file operations, each run in a process of its own."""

    def setUp(self):
        self.place = Place()
        self.addCleanup(self.place.remove)

    def after(self, program):
        """The names and contents below the root after `program` was followed and its unsynced changes forgotten."""
        self.place.run(f"import mmap, os\nos.chdir({self.place.root!r})\n{program}\nos.kill(os.getpid(), 9)")
        found = {}
        for name in os.listdir(self.place.root):
            with open(self.place.path(name)) as file:
                found[name] = file.read()
        return found

    def given(self, **contents):
        for name, text in contents.items():
            with open(self.place.path(name), "w") as file:
                file.write(text)

    def test_an_unsynced_overwrite_is_undone(self):
        self.given(a="old text")
        self.assertEqual(self.after("f = os.open('a', os.O_RDWR); os.pwrite(f, b'NEW', 2)"), {"a": "old text"})

    def test_a_synced_overwrite_stays_and_a_later_one_goes(self):
        self.given(a="old text")
        program = "f = os.open('a', os.O_RDWR); os.pwrite(f, b'NEW', 0); os.fsync(f); os.pwrite(f, b'more' * 9, 3)"
        self.assertEqual(self.after(program), {"a": "NEW text"})

    def test_an_unsynced_append_is_undone(self):
        self.given(a="old")
        self.assertEqual(self.after("f = os.open('a', os.O_WRONLY | os.O_APPEND); os.write(f, b'er')"), {"a": "old"})

    def test_an_unsynced_truncation_is_undone(self):
        self.given(a="old text", b="other")
        program = "f = os.open('a', os.O_RDWR); os.ftruncate(f, 2); os.open('b', os.O_RDWR | os.O_TRUNC)"
        self.assertEqual(self.after(program), {"a": "old text", "b": "other"})

    def test_a_new_file_is_gone_unless_it_or_its_directory_was_synced(self):
        program = """
for name in 'abc':
    f = os.open(name, os.O_RDWR | os.O_CREAT); os.write(f, b'text')
    if name == 'a': os.fsync(os.open('.', os.O_RDONLY))
    if name == 'b': os.fdatasync(f)
"""
        self.assertEqual(self.after(program), {"a": "", "b": "text"})

    def test_a_rename_is_undone_unless_the_directory_was_synced(self):
        self.given(a="old", new="new")
        self.assertEqual(self.after("os.rename('new', 'a')"), {"a": "old", "new": "new"})
        program = "os.rename('new', 'a'); os.fsync(os.open('.', os.O_RDONLY))"
        self.assertEqual(self.after(program), {"a": "new"})

    def test_a_replacement_that_was_not_synced_itself_is_empty(self):
        self.given(a="old")
        program = """
f = os.open('new', os.O_WRONLY | os.O_CREAT); os.write(f, b'new'); os.rename('new', 'a')
os.fsync(os.open('.', os.O_RDONLY))
"""
        self.assertEqual(self.after(program), {"a": ""})

    def test_an_unlinked_file_is_back_unless_the_directory_was_synced(self):
        self.given(a="old")
        self.assertEqual(self.after("os.unlink('a')"), {"a": "old"})
        self.assertEqual(self.after("os.unlink('a'); os.fsync(os.open('.', os.O_RDONLY))"), {})

    def test_stores_into_a_mapping_are_undone_back_to_its_last_sync(self):
        self.given(a="-" * mmap.PAGESIZE)
        program = """
m = mmap.mmap(os.open('a', os.O_RDWR), 0)
m[0:3] = b'ONE'; m.flush(); m[0:3] = b'TWO'; m[9:10] = b'x'
"""
        self.assertEqual(self.after(program), {"a": "ONE" + "-" * (mmap.PAGESIZE - 3)})

    def test_a_way_of_writing_that_is_not_followed_ends_the_program(self):
        self.given(a="old")
        program = "f = os.open('a', os.O_RDWR); os.writev(f, [b'new']); open('b', 'w')"
        self.assertEqual(self.after(program), {"a": "old"})


if __name__ == "__main__":
    unittest.main()
