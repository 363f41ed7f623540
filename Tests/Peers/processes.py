"""Starts the programs under test and the APNs peer, and waits for their ready lines."""

import asyncio
import os
import re
import signal
import subprocess
import sys

import hub_client

HERE = os.path.dirname(os.path.abspath(__file__))
START_TIMEOUT = 30


class Failed(Exception):
    """A program did not do what it should; the message says which and shows what it wrote."""


def martlet(binary, *arguments, stdin=None):
    """Runs one `martlet` command to its end; what it printed."""
    done = subprocess.run([binary, *arguments], capture_output=True, text=True, input=stdin, timeout=60)
    if done.returncode:
        raise Failed(f"martlet {' '.join(arguments[:3])} exited with {done.returncode}: {done.stderr}")
    return done.stdout


def create_hub(binary, data, hub):
    """Creates the hub; the keys of its rules by their names, as its connection strings give them."""
    printed = martlet(binary, "hub", "create", hub, "--data", data)
    return dict(hub_client.parse_connection_string(text) for text in re.findall(r"Endpoint=\S+", printed))


class Program:
    """A process that prints a ready line and serves until it is told to stop. Its environment may be a function, which
    is called for each start."""

    def __init__(self, command, log, environment=None):
        self._command, self._log, self._environment = command, log, environment
        self.process = None

    async def start(self):
        """Its ready line."""
        self.process = None
        environment = self._environment() if callable(self._environment) else self._environment
        with open(self._log, "ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *self._command, stdout=asyncio.subprocess.PIPE, stderr=log, env=environment
            )
        line = await asyncio.wait_for(self.process.stdout.readline(), START_TIMEOUT)
        if b": ready " not in line:
            if line:
                self.process.kill()
            await self.process.wait()
            raise Failed(f"{os.path.basename(self._command[0])} did not become ready: {line!r}\n{self.log_tail()}")
        return line.decode()

    async def kill(self):
        """SIGKILL, after making sure that it was still alive."""
        if self.process.returncode is not None:
            raise Failed(f"{self._command[0]} ended by itself with {self.process.returncode}\n{self.log_tail()}")
        self.process.kill()
        await self.process.wait()

    async def stop(self):
        """SIGTERM; its exit code and what it printed since it was ready."""
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
        printed = await asyncio.wait_for(self.process.stdout.read(), START_TIMEOUT)
        return await self.process.wait(), printed.decode()

    def log_tail(self):
        with open(self._log, errors="replace") as log:
            return "".join(log.readlines()[-20:])


class APNsPeer(Program):
    def __init__(self, directory, *options, environment=None):
        os.makedirs(directory, exist_ok=True)
        command = [sys.executable, os.path.join(HERE, "apns_peer.py"), "--directory", directory, *options]
        super().__init__(command, os.path.join(directory, "peer.log"), environment)
        self.ledger = os.path.join(directory, "ledger.jsonl")

    async def start(self):
        words = (await super().start()).split()
        self.endpoint = words[2]
        self._known = dict(word.split("=", 1) for word in words[3:])

    def credential_arguments(self):
        """What `martlet hub credential set NAME apns` needs to push to this peer."""
        known = self._known
        return [
            "--key-file", known["key"], "--key-id", known["key-id"], "--team-id", known["team-id"],
            "--topic", known["topic"], "--endpoint", self.endpoint, "--ca-file", known["ca"],
        ]


class Server(Program):
    """`martlet serve` on ports of its own choosing."""

    def __init__(self, binary, data, log, *options, environment=None):
        command = [binary, "serve", "--data", data, "--listen", "127.0.0.1:0", *options]
        super().__init__(command, log, environment)
        self.data = data

    async def start(self):
        line = await super().start()
        self.ports = {scheme: int(port) for scheme, port in re.findall(r" (https?)://[^:\s]+:(\d+)", line)}
        self.port = self.ports["http"]
        return line

    def listen_again(self):
        """Gives the next start the port that the last one had."""
        self._command[self._command.index("--listen") + 1] = f"127.0.0.1:{self.port}"
