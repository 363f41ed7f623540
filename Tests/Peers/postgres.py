"""A throw-away PostgreSQL cluster (Scripts/test-cluster), which ends with the program that started it."""

import os
import subprocess
import urllib.parse

import processes

SCRIPT = os.path.join(processes.HERE, "..", "..", "Scripts", "test-cluster")


class Cluster:
    def __init__(self):
        self._process = subprocess.Popen([SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self._process.stdout.readline().strip()
        if not line.startswith("/"):
            raise processes.Failed(f"there is no PostgreSQL: {line or 'it did not start'}")
        self._directory = line

    @property
    def url(self):
        """The address of its database, as `martlet serve --database` takes it."""
        return f"postgres://postgres@/martlet?host={urllib.parse.quote(self._directory, safe='')}"

    def query(self, statement):
        """What psql prints for a statement, without decoration."""
        done = subprocess.run(
            ["psql", "-h", self._directory, "-U", "postgres", "-d", "martlet", "-qAt", "-c", statement],
            capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise processes.Failed(f"psql failed: {done.stderr}")
        return done.stdout.strip()

    def stop(self):
        self._process.stdin.close()
        self._process.wait()
