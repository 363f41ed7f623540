"""Runs a judge over the toy hub: a right one must pass, a wrong one must be caught."""

import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


class ToyCase(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.toy = os.path.join(directory.name, "toy")
        with open(self.toy, "w") as file:
            file.write(f'#!/bin/sh\nexec "{sys.executable}" "{HERE}/toy_hub.py" "$@"\n')
            os.fchmod(file.fileno(), 0o700)

    def judge(self, name, fault, *arguments):
        """The exit code and the words of a judge over the toy with `fault`."""
        done = subprocess.run(
            [sys.executable, os.path.join(HERE, name), self.toy, *arguments],
            env=os.environ | {"TOY_FAULT": fault}, capture_output=True, text=True, timeout=300,
        )
        return done.returncode, done.stdout + done.stderr
