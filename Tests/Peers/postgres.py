"""A throw-away PostgreSQL cluster (Scripts/test-cluster), which ends with the program that started it."""

import os
import subprocess
import urllib.parse

import processes

SCRIPT = os.path.join(processes.HERE, "..", "..", "Scripts", "test-cluster")


class Cluster:
    def __init__(self, *options):
        self._process = subprocess.Popen(
            [SCRIPT, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        line = self._process.stdout.readline().strip()
        if not line.startswith("/"):
            raise processes.Failed(f"there is no PostgreSQL: {line or 'it did not start'}")
        #: Of each server's socket; a standby's is the second.
        self.directories = line.split()

    @property
    def url(self):
        """The address of its database, as `martlet serve --database` takes it."""
        hosts = ",".join(urllib.parse.quote(directory, safe="") for directory in self.directories)
        return f"postgres://postgres@/martlet?host={hosts}"

    def query(self, statement):
        """What psql prints for a statement, without decoration."""
        # The server that takes writes is found.
        address = f"host={','.join(self.directories)} user=postgres dbname=martlet target_session_attrs=read-write"
        done = subprocess.run(["psql", address, "-qAt", "-c", statement], capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise processes.Failed(f"psql failed: {done.stderr}")
        return done.stdout.strip()

    def stop(self):
        self._process.stdin.close()
        self._process.wait()


class ReplicatedCluster(Cluster):
    """A primary and a synchronous standby, each on a file system with so many megabytes if `room` is not None."""

    def __init__(self, room=None):
        super().__init__("--standby", *(["--room", str(room)] if room else []))

    def order(self, command):
        """Has Scripts/test-cluster do it: stop, start, promote, standby, lose, rejoin, fill or room."""
        self._process.stdin.write(command + "\n")
        answer = self._process.stdout.readline().strip()
        if answer != "done":
            raise processes.Failed(f"PostgreSQL: {command}: {answer or 'it ended'}")
