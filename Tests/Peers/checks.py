"""Sentences that must hold, counted, for the judges that run a fixed course of checks."""

import asyncio
import os
import sys
import tempfile
import time
import traceback


class Checks:
    def __init__(self, judge):
        #: Its name begins each line that is printed.
        self.judge = judge
        self.passed = self.failed = 0

    def that(self, sentence, holds, seen=None):
        """Notes whether the sentence holds; `seen` is shown where it does not."""
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"{self.judge}: not so: {sentence}" + ("" if seen is None else f": {seen!r}"), flush=True)

    def equal(self, sentence, found, expected):
        self.that(sentence, found == expected, found)

    def raises(self, sentence, kind, work):
        """The exception of this kind that `work` must raise, or None."""
        try:
            found = work()
        except kind as error:
            self.that(sentence, True)
            return error
        self.that(sentence, False, found)
        return None

    def finish(self, course):
        """Runs the course and exits with the closing count."""
        try:
            asyncio.run(course)
        except Exception:
            self.failed += 1
            traceback.print_exc()
        print(f"{self.judge}: {self.passed} passed, {self.failed} failed", flush=True)
        sys.exit(1 if self.failed else 0)

    def finish_on_a_server(self, kind):
        """Runs a course that is made of the program's name, which the command line gives, and an empty directory; its
        `server` is not left running whatever happens."""
        async def course(binary, directory):
            judged = kind(binary, directory)
            try:
                await judged.run()
            finally:
                if judged.server.process and judged.server.process.returncode is None:
                    await judged.server.kill()

        if len(sys.argv) != 2:
            sys.exit(sys.modules["__main__"].__doc__)
        with tempfile.TemporaryDirectory() as directory:
            self.finish(course(os.path.abspath(sys.argv[1]), directory))


async def eventually(attempt, timeout=20):
    """The first true value of `attempt`, asked for again and again until the timeout; then the last one."""
    deadline = time.monotonic() + timeout
    while not (found := attempt()) and time.monotonic() < deadline:
        await asyncio.sleep(0.02)
    return found
