"""Rows that a floor and the product are to make alike."""
import contextlib
import os
import sqlite3
import sys


class SameRows:
    """Everybody who does the same must have made as many rows in each table."""

    def __init__(self, *tables):
        self._tables = tables
        # By what was done, and who has done it.
        self._counts = {}

    def check(self, what, who, data):
        """Returns the number of rows of each table in a data directory whose server has ended."""
        with contextlib.closing(sqlite3.connect(os.path.join(data, "martlet.db"))) as database:
            counts = {table: database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in self._tables}
        others = self._counts.setdefault(what, {})
        others[who] = counts
        if any(other != counts for other in others.values()):
            sys.exit(f"Benchmarks: different rows were made, {what}: {others}")
        return counts
