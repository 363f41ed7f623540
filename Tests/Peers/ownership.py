"""Whose files a data directory holds, and who may administer a server.

Root runs each command that works without a server on a directory of another user: afterwards no file in it is root's, and
that user's server starts. The admin socket outside of the directory serves the members of the group and nobody else, and
the log names the user id of the process that asked for a change. Needs root; without it nothing can be checked.

    ownership.py MARTLET
"""

import grp
import json
import os
import pwd
import shutil
import stat
import subprocess

import processes
from checks import Checks, eventually

checks = Checks("ownership")

OWNER = pwd.getpwnam("nobody")
GROUP = grp.getgrgid(OWNER.pw_gid)
STRANGER = 4_000_123
"""Commands that work on a directory without a server, in an order in which each can."""
OFFLINE = [
    "hub create demo", "hub list", "hub show demo", "hub connection-string demo", "hub limits demo --backlog 5",
    "hub key list demo", "hub key regenerate demo DefaultFullSharedAccessSignature primary --yes", "user add alice --password-stdin", "user list", "user role add alice admin",
    "container create files", "container list", "container delete files --yes", "audit", "server-key list",
    "user remove alice --yes", "hub delete demo --yes",
]


class ServerOf(processes.Server):
    """A server that another user runs."""

    def __init__(self, binary, data, log, *options):
        super().__init__(binary, data, log, *options)
        self._command = [*as_user(OWNER.pw_uid, OWNER.pw_gid), *self._command]


def as_user(user, group):
    return ["setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups"]


class Course:
    def __init__(self, binary, directory):
        # The owner must reach its own folder, and the program.
        os.chmod(directory, 0o755)
        self.binary = os.path.join(directory, "martlet")
        shutil.copy(binary, self.binary)
        self.data = os.path.join(directory, "data")
        self.backup = os.path.join(directory, "server.backup")
        self.run_directory = os.path.join(directory, "run")
        self.socket = os.path.join(self.run_directory, "admin.sock")
        self.log = os.path.join(directory, "server.log")
        self.directory = directory
        self.server = ServerOf(
            self.binary, self.data, self.log, "--admin-socket", self.socket, "--log-format", "json")

    def call(self, line, *more, prefix=(), data=None):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MARTLET_")}
        return subprocess.run(
            [*prefix, self.binary, *line.split(), "--data", data or self.data, *more], capture_output=True, text=True,
            input="a long enough password\n", timeout=60, cwd=self.directory, env=environment)

    def foreign_files(self, path):
        """What in a directory is not its owner's."""
        found = [os.path.join(folder, name) for folder, folders, files in os.walk(path) for name in folders + files]
        return [name for name in [path, *found] if os.lstat(name).st_uid != OWNER.pw_uid]

    def make_empty(self, path):
        os.mkdir(path, 0o700)
        os.chown(path, OWNER.pw_uid, OWNER.pw_gid)

    async def run(self):
        self.make_empty(self.run_directory)
        self.make_empty(self.data)
        for line in OFFLINE:
            done = self.call(line)
            checks.that(f"'{line}' works without a server", done.returncode == 0, done.stderr)
            checks.equal(f"no file is root's after '{line}'", self.foreign_files(self.data), [])
        self.check_backups()
        self.check_a_directory_of_root()
        self.check_a_server_of_root()
        self.check_a_stranger()
        await self.check_the_socket()

    def check_backups(self):
        done = self.call(f"backup {self.backup}")
        checks.that("root makes a backup of another user's directory", done.returncode == 0, done.stderr)
        checks.equal("the backup is root's", os.stat(self.backup).st_uid, 0)
        restored = os.path.join(self.directory, "restored")
        self.make_empty(restored)
        done = self.call(f"restore {self.backup}", data=restored)
        checks.that("root restores into another user's empty directory", done.returncode == 0, done.stderr)
        checks.equal("nothing restored is root's", self.foreign_files(restored), [])

    def check_a_directory_of_root(self):
        for line in ("hub create demo", f"restore {self.backup}"):
            new = os.path.join(self.directory, "new-" + line.split()[0])
            done = self.call(line, data=new)
            checks.equal(f"'{line.split()[0]}' makes a directory for root", os.stat(new).st_uid, 0)
            checks.that(
                f"'{line.split()[0]}' says that it is root's",
                f"{new} belongs to root: a service that runs as another user cannot use it (chown -R martlet: {new})."
                in done.stderr, done.stderr)
            again = self.call("hub list", data=new)
            checks.that("nothing is said of a directory that was there", "belongs to root" not in again.stderr)

    def check_a_server_of_root(self):
        done = self.call("serve", "--listen", "127.0.0.1:0")
        checks.equal("root may not serve another user's directory", done.returncode, 1)
        checks.that("the refusal names the owner", "belongs to nobody: serve as that user" in done.stderr, done.stderr)

    def check_a_stranger(self):
        stranger = as_user(STRANGER, STRANGER)
        done = self.call("hub list", prefix=stranger)
        checks.equal("a stranger may not administer where no server runs", done.returncode, 1)
        checks.that(
            "the refusal says who may", f"Only root and nobody may administer {self.data}: use sudo." in done.stderr,
            done.stderr)

    async def check_the_socket(self):
        await self.server.start()
        status = os.stat(self.socket)
        checks.equal("the socket is open to its group", stat.S_IMODE(status.st_mode), 0o660)
        checks.equal("the socket is the server's", (status.st_uid, status.st_gid), (OWNER.pw_uid, OWNER.pw_gid))
        os.chmod(self.run_directory, 0o755)
        member, stranger = as_user(STRANGER, OWNER.pw_gid), as_user(STRANGER, STRANGER)
        socket = ["--admin-socket", self.socket]
        for prefix, user in (((), 0), (member, STRANGER)):
            done = self.call(f"hub create of-{user}", *socket, prefix=prefix)
            checks.that(f"user {user} creates a hub by the socket", done.returncode == 0, done.stderr)
            line = await eventually(lambda: self.change_by(user))
            checks.that(f"the log says that user {user} did", line and line.get("method") == "PUT", line)
        done = self.call("hub list", *socket, prefix=stranger)
        checks.equal("a stranger may not use the socket", done.returncode, 1)
        checks.that(
            "the refusal names the group", f"use sudo, or join the group {GROUP.gr_name}." in done.stderr, done.stderr)
        checks.equal("no file is root's while the server runs", self.foreign_files(self.data), [])
        code, _ = await self.server.stop()
        checks.equal("the server ends", code, 0)
        checks.that("the socket is gone with it", not os.path.exists(self.socket))
        done = self.call("hub list", *socket, prefix=member)
        checks.equal("a member of the group may not open the directory itself", done.returncode, 1)

    def change_by(self, user):
        with open(self.log) as log:
            lines = [json.loads(line) for line in log if line.startswith("{")]
        changes = [line for line in lines if line["message"] == "administration"]
        return next((line for line in changes if line.get("uid") == user), None)


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("ownership: 0 passed, 0 failed: not run, because only root can become another user", flush=True)
    else:
        checks.finish_on_a_server(Course)
