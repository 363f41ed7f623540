"""The command line as people and scripts use it: wrong input, questions at a terminal, completion in bash.

    command_line.py MARTLET [--write]

Each line of command_line/wrong_input.txt that begins with `$` is a command line; what follows is its exit code and its standard
error. Standard output must be empty and the data directory unchanged. --write writes what the program says now.
"""

import argparse
import asyncio
import contextlib
import fcntl
import hashlib
import os
import pty
import re
import select
import shlex
import signal
import sqlite3
import subprocess
import tempfile
import time

import yaml

import processes
from checks import Checks

checks = Checks("command-line")
HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "command_line", "wrong_input.txt")
BODY = '{"aps":{"alert":"x"}}'
PATIENCE = 30


def environment():
    """Without settings of whoever runs this."""
    return {name: value for name, value in os.environ.items() if not name.startswith("MARTLET_")}


def cases():
    """The command lines of the golden file, each with what is expected."""
    with open(GOLDEN) as file:
        text = file.read()
    for case in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, expected = case.partition("\n")
        yield line, expected.rstrip("\n")


def fingerprint(folder):
    """Of every file in a folder; of a database what it holds."""
    digest = hashlib.sha256()
    for path, folders, files in sorted(os.walk(folder)):
        for name in sorted(files):
            if name.endswith(("-wal", "-shm", ".sock")):
                continue
            digest.update(f"{path}/{name}".encode())
            if name.endswith(".db"):
                with contextlib.closing(sqlite3.connect(os.path.join(path, name))) as database:
                    for line in database.iterdump():
                        # A number that a refused insertion used up is no content, and the audit log has every attempt.
                        if "sqlite_sequence" not in line and '"operator_actions"' not in line:
                            digest.update(line.encode(errors="surrogateescape"))
                continue
            with open(os.path.join(path, name), "rb") as file:
                digest.update(hashlib.sha256(file.read()).digest())
    return digest.hexdigest()


def run(binary, folder, words, stdin=""):
    return subprocess.run(
        [binary, *words], capture_output=True, text=True, input=stdin, timeout=PATIENCE, cwd=folder, env=environment())


class Terminal:
    """A command with a terminal as its standard input, output and error."""

    def __init__(self, binary, folder, words, **variables):
        self._process, self._screen = pty.fork()
        if self._process == 0:
            os.chdir(folder)
            os.execve(binary, [binary, *words], environment() | variables)
        self.text = ""

    def expect(self, text):
        """Whether the text comes within the time."""
        end = time.monotonic() + PATIENCE
        while text not in self.text and time.monotonic() < end:
            if not select.select([self._screen], [], [], 1)[0]:
                continue
            try:
                piece = os.read(self._screen, 4096)
            except OSError:
                break
            if not piece:
                break
            self.text += piece.decode(errors="replace")
        return text in self.text

    def type(self, line):
        os.write(self._screen, f"{line}\n".encode())

    def interrupt(self):
        os.write(self._screen, b"\x03")

    def end(self):
        """The exit code."""
        self.expect("\0")
        _, status = os.waitpid(self._process, 0)
        os.close(self._screen)
        return os.waitstatus_to_exitcode(status)


def judge_wrong_input(binary, folder, write):
    found = []
    for line, expected in cases():
        before = fingerprint(folder)
        done = run(binary, folder, shlex.split(line))
        said = f"{done.returncode}\n{done.stderr.rstrip()}"
        found.append(f"$ {line}\n{said}\n")
        if not write:
            checks.equal(f"martlet {line}", said, expected)
        checks.equal(f"martlet {line}: nothing on standard output", done.stdout, "")
        checks.that(f"martlet {line}: nothing was changed", fingerprint(folder) == before)
    if write:
        with open(GOLDEN, "w") as file:
            file.write("\n".join(found))


def judge_every_command(binary, folder):
    """A word too many, one too few, and an unknown option, for each command that the help lists."""
    before = fingerprint(folder)
    commands = re.findall(r"^  ([a-z].*?)(?:  .*)?$", run(binary, folder, ["--help"]).stdout, re.MULTILINE)
    checks.that("the help lists the commands", len(commands) > 60, commands)
    count = 0
    for line in commands:
        words = line.split()
        name = [word for word in words if re.fullmatch(r"-*[a-z][a-z-]*", word)]
        operands = words[len(name):]
        given = [word.strip("[]").partition("|")[0] for word in operands]
        needed = sum(not word.startswith("[") for word in operands)
        taken = " ".join(operands) or "no further words"

        def refused(more, sentence):
            nonlocal count
            count += 1
            done = run(binary, folder, [*name, *more])
            first = done.stderr.partition("\n")[0]
            checks.equal(f"martlet {' '.join([*name, *more])}", (done.returncode, first, done.stdout),
                         (64, f"martlet: {sentence}", ""))
            checks.that(f"martlet {' '.join([*name, *more])} names the help", f"'martlet {' '.join(name)} --help' shows" in
                        done.stderr, done.stderr)

        def takes(number):
            were = "1 word was" if number == 1 else f"{number} words were"
            return f"'martlet {' '.join(name)}' takes {taken}; {were} given."

        refused([*given, "more"], takes(len(given) + 1))
        if needed:
            refused(given[:needed - 1], takes(needed - 1))
        refused([*given, "--nonsense"], "There is no option --nonsense.")
    print(f"command-line: {len(commands)} commands, {count} derived rows, {len(list(cases()))} golden rows", flush=True)
    checks.that("nothing was changed by them", fingerprint(folder) == before)


def judge_containers(binary, folder):
    """The arguments of the examples of containers are those of this program."""
    examples = os.path.join(HERE, "..", "..", "Examples", "Container")
    with open(os.path.join(examples, "compose.yaml")) as file:
        compose = yaml.safe_load(file)["services"]["martlet"]
    with open(os.path.join(examples, "statefulset.yaml")) as file:
        [pod] = [each["spec"]["template"]["spec"] for each in yaml.safe_load_all(file) if each["kind"] == "StatefulSet"]
    [container] = pod["containers"]
    for name, words in {"compose.yaml": compose["command"], "statefulset.yaml": container["args"]}.items():
        checks.equal(f"{name} serves", words[0], "serve")
        done = run(binary, folder, ["check", *words[1:], "--data", os.path.join(folder, "container")])
        checks.that(f"the arguments of {name} are right", done.returncode == 0, done)
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    listen = container["args"][container["args"].index("--listen") + 1]
    checks.equal("the port of the pod is that of --listen", f"0.0.0.0:{ports['http']}", listen)
    checks.equal("probes ask what there is", [container[probe]["httpGet"] for probe in ("livenessProbe", "readinessProbe")], [
        {"path": "/health/live", "port": "http"}, {"path": "/health/ready", "port": "http"}])


def judge_colors(binary, folder):
    """Levels and errors are colored on a terminal alone, and not where NO_COLOR is set."""
    words = ["check", "--listen", "127.0.0.1:0"]
    for name, variables, is_colored in [
        ("a terminal", {"TERM": "xterm", "NO_COLOR": ""}, True), ("a terminal with NO_COLOR", {"TERM": "xterm", "NO_COLOR": "1"}, False),
        ("a dumb terminal", {"TERM": "dumb"}, False),
    ]:
        terminal = Terminal(binary, folder, words, **variables)
        terminal.end()
        checks.equal(f"{name} has colors: {is_colored}", "\x1b[32mok:\x1b[0m" in terminal.text, is_colored)
        failed = Terminal(binary, folder, ["hub", "show", "nope"], **variables)
        failed.end()
        checks.equal(f"an error on {name} has a color: {is_colored}", "\x1b[31mmartlet:\x1b[0m" in failed.text, is_colored)
    checks.that("a pipe has none", "\x1b" not in run(binary, folder, words).stdout)


def judge_deletions(binary, folder):
    """A name is typed again at a terminal, and --yes stands for that elsewhere."""
    wrong = Terminal(binary, folder, ["hub", "delete", "demo"])
    checks.that("a deletion asks", wrong.expect("Type 'demo' to go on: "), wrong.text)
    wrong.type("dem")
    checks.equal("another name deletes nothing", wrong.end(), 1)
    checks.that("it says so", "Nothing was changed: 'demo' was not typed." in wrong.text, wrong.text)
    listed = run(binary, folder, ["hub", "list"])
    checks.equal("the hub is there", listed.stdout.split(), ["demo", "other"])
    right = Terminal(binary, folder, ["hub", "delete", "demo"])
    right.expect("Type 'demo' to go on: ")
    right.type("demo")
    checks.equal("its own name deletes it", right.end(), 0)
    checks.that("it says what it deleted", "Deleted hub 'demo' with 2 registrations." in right.text, right.text)
    quiet = run(binary, folder, ["hub", "delete", "other", "--yes", "--quiet"])
    checks.equal("--yes asks nothing, --quiet says nothing", (quiet.returncode, quiet.stdout, quiet.stderr), (0, "", ""))
    checks.equal("no hub is left", run(binary, folder, ["hub", "list"]).stdout, "")


def judge_passwords(binary, folder):
    """Passwords are asked for unseen, twice where they are new."""
    terminal = Terminal(binary, folder, ["user", "add", "carol"])
    terminal.expect("Password: ")
    terminal.type("wonderland")
    terminal.expect("Password again: ")
    terminal.type("wonderland")
    checks.equal("a password is typed twice", terminal.end(), 0)
    checks.that("and never shown", "wonderland" not in terminal.text, terminal.text)
    different = Terminal(binary, folder, ["user", "add", "dave"])
    different.expect("Password: ")
    different.type("one")
    different.expect("Password again: ")
    different.type("two")
    checks.equal("two different passwords add nobody", different.end(), 1)
    users = run(binary, folder, ["user", "list"]).stdout
    checks.that("only the first was added", "carol" in users and "dave" not in users, users)
    stopped = Terminal(binary, folder, ["user", "add", "erin"])
    stopped.expect("Password: ")
    stopped.interrupt()
    checks.equal("Ctrl-C ends the question", stopped.end(), 128 + signal.SIGINT)


def judge_sends(binary, folder):
    """Through the admin socket, without a connection string."""
    send = ["send", "demo", "--platform", "apns", "--body", BODY]
    sent = run(binary, folder, [*send, "--tags", "news", "--wait"])
    checks.that("a send needs no connection string", sent.stdout.splitlines()[1:] == ["State: Completed", "Success: 1"],
                (sent.returncode, sent.stdout, sent.stderr))
    dry = run(binary, folder, [*send, "--everybody", "--dry-run"])
    checks.that("nor does a dry run", dry.stdout.startswith("Nothing was sent. A send would be 1 push."), dry)
    connection = os.path.join(folder, "full.txt")
    with open(connection, "w") as file:
        file.write(run(binary, folder, ["hub", "connection-string", "demo"]).stdout)
    signed = run(binary, folder, [*send, "--tags", "news", "--connection-string-file", connection])
    checks.that("one with a connection string is signed", signed.returncode == 0, signed)


def judge_canaries(binary, folder):
    """Who waits for a canary is told that it holds, and what lets it go on; there are two devices."""
    send = ["send", "demo", "--platform", "message", "--everybody", "--text", "x"]
    for rollout, until in [("first=1", "waits"), ("first=1; wait=10m", r"continues at 20\S+Z")]:
        held = run(binary, folder, [*send, "--rollout", rollout, "--wait"])
        identifier = held.stdout.strip()
        sentence = (
            f"martlet: The canary holds: 1 of its sample got it; the rest {until}. "
            f"'martlet resume demo {identifier}' continues it, 'martlet cancel demo {identifier}' ends it.\n")
        checks.that(f"{rollout}: the id alone is printed", re.fullmatch("[0-9a-f]{32}", identifier), held)
        checks.that(f"{rollout}: who waits is told", re.fullmatch(sentence, held.stderr), held)
        checks.equal(f"{rollout}: the exit code is that of a failure", held.returncode, 1)
        status = run(binary, folder, ["status", "demo", identifier]).stdout
        checks.that(f"{rollout}: the status says so", "holding" in status.splitlines()[0], status)
        checks.equal(f"{rollout}: it is resumed", run(binary, folder, ["resume", "demo", identifier]).returncode, 0)
    held = run(binary, folder, [*send, "--rollout", "first=1", "--wait", "--json"])
    checks.that("as JSON", re.fullmatch(r'\{"notification":"[0-9a-f]{32}","state":"Holding"\}\n', held.stdout), held)
    whole = run(binary, folder, [*send, "--rollout", "first=2", "--wait"])
    checks.equal("a sample of everybody does not hold", (whole.returncode, whole.stdout.splitlines()[1:]),
                 (0, ["State: Completed", "Success: 2"]))
    wrong = run(binary, folder, [*send, "--rollout", "frist=1"])
    checks.that("a part that is misspelt is named", wrong.returncode == 1 and "the unknown parameter 'frist=1'" in wrong.stderr, wrong)


def judge_tests_and_schedules(binary, folder):
    test = ["send", "demo", "--platform", "message", "--text", "x", "--test"]
    nobody = run(binary, folder, test)
    checks.that("a test needs testers", nobody.returncode == 1 and "hub sending demo --testers" in nobody.stderr, nobody)
    wrong = run(binary, folder, ["hub", "sending", "demo", "--testers", "news &&"])
    checks.that("a wrong expression of testers is refused", wrong.returncode == 1 and "tag expression" in wrong.stderr, wrong)
    checks.equal("testers are set", run(binary, folder, ["hub", "sending", "demo", "--testers", "news"]).returncode, 0)
    done = run(binary, folder, test)
    checks.that("each push of a test is told", done.returncode == 0 and len(done.stdout.splitlines()) == 2, done)
    checks.equal("nothing waits", run(binary, folder, ["schedules", "demo"]).stdout, "No notification is scheduled.\n")
    later = ["send", "demo", "--platform", "message", "--text", "x", "--tags", "news", "--at", "2h"]
    identifier = run(binary, folder, later).stdout.strip()
    listed = run(binary, folder, ["schedules", "demo"]).stdout
    checks.that("what waits is listed", identifier and f" {identifier} message to news: x\n" in listed, listed)
    checks.equal("and is withdrawn", run(binary, folder, ["cancel", "demo", identifier]).returncode, 0)
    checks.equal("then nothing waits", run(binary, folder, ["schedules", "demo"]).stdout, "No notification is scheduled.\n")
def judge_users(binary, folder):
    """A new user has no new password."""
    for expected in ("is added and can log in", "has a new password"):
        said = subprocess.run([binary, "user", "add", "frank", "--password-stdin"], input="builder\n", text=True, cwd=folder,
                              env=environment(), capture_output=True, check=False)
        checks.equal("what is said of a user", (said.returncode, said.stderr), (0, f"User 'frank' {expected}.\n"))


def judge_taken(binary, folder):
    """A command waits some seconds for a server that has its data but does not answer yet, and says so."""
    data = os.path.join(folder, "taken")
    processes.martlet(binary, "hub", "create", "one", "--data", data)
    with open(os.path.join(data, "lock")) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        said = run(binary, folder, ["hub", "create", "two", "--data", "taken"])
        checks.that("a server that is still starting", said.returncode == 1 and "still starting" in said.stderr, said)


def judge_backend_hub(binary, folder):
    """The app backend keeps its hub when another one is created; when it is deleted, the server says what to do."""
    create = ["--data", "hubs", "--public-url", "https://push.example"]
    run(binary, folder, ["hub", "create", "demo", *create])
    made = run(binary, folder, ["hub", "create", "shop", *create])
    checks.equal("a second hub needs no advice", (made.returncode, made.stderr), (0, ""))
    run(binary, folder, ["hub", "delete", "demo", "--data", "hubs", "--yes"])
    made = run(binary, folder, ["hub", "create", "third", *create])
    checks.that("without a hub of the backend it is advised", made.returncode == 0 and "--backend-hub" in made.stderr, made)


def judge_progress(binary, folder):
    """A terminal shows how far a restore is, in one line that is gone in the end; a file gets nothing of a short one."""
    backup, pipe = os.path.join(folder, "whole.backup"), os.path.join(folder, "slow.backup")
    run(binary, folder, ["backup", backup])
    with open(backup, "rb") as file:
        content = file.read()
    os.mkfifo(pipe)
    terminal = Terminal(binary, folder, ["restore", pipe, "--data", "restored"])
    with open(pipe, "wb") as file:
        file.write(content[:len(content) // 2])
        file.flush()
        time.sleep(1)
        file.write(content[len(content) // 2:])
    checks.equal("a slow restore ends well", terminal.end(), 0)
    lines = re.findall(r"\r([^\r\n]*)\x1b\[K", terminal.text)
    checks.that("its line is drawn and taken away", len(lines) >= 2 and re.match(r"\d+ kB", lines[0]) and not lines[-1],
                terminal.text)
    quick = run(binary, folder, ["restore", backup, "--data", "again"])
    checks.that("a short one elsewhere draws nothing", quick.returncode == 0 and "\x1b" not in quick.stderr, quick)


COMPLETIONS = {
    "martlet hub ''": {"create", "delete", "show", "connection-string"},
    "martlet hub show d": {"demo"},
    "martlet hub show ''": {"demo", "other"},
    "martlet serve --tls-": {"--tls-listen", "--tls-certificate", "--tls-key", "--tls-self-signed"},
    "martlet serve --users-may-send ''": {"yes", "no"},
    "martlet send demo --platform app": {"apple"},
    "martlet user remove ''": {"alice"},
    "martlet completion f": {"fish"},
    "martlet backup fu": {"full.txt"},
    "martlet nonsense ''": set(),
}


def judge_completions(binary, folder):
    """In an interactive bash, which alone offers all that the script uses."""
    script = run(binary, folder, ["completion", "bash"]).stdout
    for line, expected in COMPLETIONS.items():
        words = shlex.split(line)
        command = "\n".join([
            "compopt() { :; }", script, f"PATH={shlex.quote(os.path.dirname(binary))}:$PATH",
            f"COMP_WORDS=({' '.join(map(shlex.quote, words))})", f"COMP_CWORD={len(words) - 1}",
            "_martlet martlet", 'printf "%s\\n" "${COMPREPLY[@]}"'])
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=folder, env=environment())
        found = set(done.stdout.split())
        checks.that(f"bash completes: {line}", expected <= found and (expected or not found), (found, done.stderr))
    for shell in ("zsh", "fish"):
        checks.that(f"there is a script for {shell}", "martlet" in run(binary, folder, ["completion", shell]).stdout)


def judge_documents(binary, folder):
    for section in ("1", "5"):
        page = run(binary, folder, ["man", section])
        checks.that(f"man {section} is a manual page", page.stdout.startswith(".TH MARTLET"), page.stdout[:80])
    example = run(binary, folder, ["config", "example"]).stdout
    with open(os.path.join(folder, "example.conf"), "w") as file:
        file.write(example)
    listed = run(binary, folder, ["hub", "list", "--config", "example.conf"])
    checks.equal("the example sets nothing", (listed.returncode, listed.stderr), (0, ""))


async def course(binary, write):
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        for hub in ("demo", "other"):
            processes.martlet(binary, "hub", "create", hub, "--data", data)
        processes.martlet(binary, "user", "add", "alice", "--password-stdin", "--data", data, stdin="wonderland\n")
        with open(os.path.join(folder, "wrong.conf"), "w") as file:
            file.write("# A setting with a typing error\nlistne = 127.0.0.1:8080\n")
        with open(os.path.join(folder, "twice.conf"), "w") as file:
            file.write("listen = '127.0.0.1:8080' # one\nlisten = 127.0.0.1:8081\n")
        with open(os.path.join(folder, "unusable.conf"), "w") as file:
            file.write("loops = 1\nlisten = 8443\n")
        judge_wrong_input(binary, folder, write)
        judge_every_command(binary, folder)
        judge_containers(binary, folder)
        simulator = ["--simulator", "--simulator-listen", "127.0.0.1:0"]
        server = processes.Server(binary, data, os.path.join(folder, "log"), "--backend-hub", "demo", *simulator)
        ready = await server.start()
        try:
            await register(binary, server, ready)
            judge_sends(binary, folder)
            await register(binary, server, ready)
            judge_canaries(binary, folder)
            judge_tests_and_schedules(binary, folder)
            judge_completions(binary, folder)
            judge_documents(binary, folder)
            judge_passwords(binary, folder)
            judge_users(binary, folder)
            judge_taken(binary, folder)
            judge_backend_hub(binary, folder)
            judge_progress(binary, folder)
            judge_colors(binary, folder)
            judge_deletions(binary, folder)
        finally:
            await server.stop()


async def register(binary, server, ready):
    """A simulated phone of alice's in the hub demo, which stays registered when its program has ended."""
    process = await asyncio.create_subprocess_exec(
        binary, "device", "--backend", f"http://127.0.0.1:{server.port}", "--user", "alice", "--password-stdin",
        "--tags", "news", "--simulator", re.search(r"simulator=(\S+)", ready)[1],
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    process.stdin.write(b"wonderland\n")
    await process.stdin.drain()
    process.stdin.close()
    await asyncio.wait_for(process.stdout.readline(), PATIENCE)
    process.terminate()
    await process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("martlet")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    checks.finish(course(os.path.abspath(arguments.martlet), arguments.write))


main()
