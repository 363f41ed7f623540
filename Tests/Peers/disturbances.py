"""What happens to the programs under test from outside: they stand still for a while, and the clock on the wall is set.

The clock is that of Debian's libfaketime, which reads it from a file at every look; the monotonic one stays true.
"""

import asyncio
import atexit
import ctypes
import glob
import os
import signal
import time

import forgetful
import processes

DAY, HOUR, MINUTE = 86_400, 3600, 60


def share(number):
    """What a program under libfaketime shares with its children, as the library's own command makes it. Without it the
    library would make it in the program and set a variable to say so, which moves the environment away from where Swift
    looks for the arguments."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.sem_open.restype = ctypes.c_void_p
    names = [f"/martlet-{os.getpid()}-{number}-{kind}".encode() for kind in ("semaphore", "memory")]
    if not libc.sem_open(names[0], os.O_CREAT, 0o600, 1):
        raise processes.Failed("a semaphore could not be made")
    atexit.register(libc.sem_unlink, names[0])
    memory = libc.shm_open(names[1], os.O_CREAT | os.O_RDWR, 0o600)
    if memory < 0:
        raise processes.Failed("shared memory could not be made")
    atexit.register(libc.shm_unlink, names[1])
    os.ftruncate(memory, 4096)
    os.close(memory)
    return b" ".join(names).decode()


class Clock:
    """The clock on the wall of all programs that were started with its environment. Behind the true one by less than two
    days: the certificates of the services are not valid before (certificates.py)."""

    AHEAD = 50 * HOUR  # at most

    def __init__(self, path, is_looked_at_always=True):
        """Programs look at it always, or once in a second, which costs less."""
        self._path, self._is_looked_at_always = path, is_looked_at_always
        self._past = []  # (steady before it was set, steady behind that, offset)
        self._shares = 0
        self._timers = path + "-timers.so"
        forgetful.build(self._timers, "steady_timers.c")
        self.set(0)

    @staticmethod
    def library():
        found = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
        if not found:
            raise processes.Failed("there is no libfaketime: run `Scripts/setup test`")
        return found[0]

    def environment(self, base=None):
        """For one start of one program: a program that was killed while it held the semaphore would keep the next from
        starting."""
        base = dict(base or os.environ)
        self._shares += 1
        preloaded = " ".join(filter(None, [base.get("LD_PRELOAD"), self._timers, self.library()]))
        looks = {"FAKETIME_NO_CACHE": "1"} if self._is_looked_at_always else {"FAKETIME_CACHE_DURATION": "1"}
        return base | looks | {
            "LD_PRELOAD": preloaded, "FAKETIME_TIMESTAMP_FILE": self._path,
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1", "FAKETIME_SHARED": share(self._shares)}

    @property
    def jumps(self):
        return len(self._past) - 1

    @property
    def offset(self):
        return self._past[-1][2]

    def now(self):
        return time.time() + self.offset

    def set(self, offset):
        """Seconds ahead of the true clock, from now on."""
        before = time.monotonic()
        with open(self._path + ".new", "w") as file:
            file.write(f"{offset:+}\n")
        os.replace(self._path + ".new", self._path)
        # Who looked in between saw either.
        self._past.append((before, time.monotonic(), offset))

    def jump(self, chance):
        """Sets it forward or back by minutes or hours, by no more altogether than messages live."""
        unit = chance.choice([MINUTE, HOUR])
        amount = chance.choice([-1, 1]) * int(chance.uniform(0.5, 10) * unit)
        self.set(min(max(self.offset + amount, 0), 20 * HOUR))

    def latest(self, start, end):
        """The latest that the clock showed between two moments of the monotonic one."""
        true = time.time() - time.monotonic()
        shown = []
        for place, (since, _, offset) in enumerate(self._past):
            until = self._past[place + 1][1] if place + 1 < len(self._past) else end
            if since <= end and until >= start:
                shown.append(true + min(until, end) + offset)
        return max(shown)


async def set_at_random(clock, chance, pause):
    """Sets the clock now and then, until cancelled."""
    while True:
        await asyncio.sleep(chance.uniform(0.2, 2) * pause)
        clock.jump(chance)


class Stalls:
    """Programs that get no processor for a while, as on a machine that swaps."""

    def __init__(self, programs, chance, longest):
        self._programs, self._random, self._longest = programs, chance, longest
        self.counts = {name: 0 for name in programs}
        self.seconds = 0.0

    async def run(self):
        while True:
            await asyncio.sleep(self._random.uniform(0.1, self._longest))
            name = self._random.choice(list(self._programs))
            process = self._programs[name].process
            if process is None or process.returncode is not None:
                continue
            length = self._random.uniform(0.1, self._longest)
            process.send_signal(signal.SIGSTOP)
            try:
                await asyncio.sleep(length)
            finally:
                if process.returncode is None:
                    process.send_signal(signal.SIGCONT)
            self.counts[name] += 1
            self.seconds += length
