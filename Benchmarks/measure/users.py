"""A hub whose users are sent to, one request for each send, by wrk."""
import os
import sys
import time
from dataclasses import dataclass

from .devices import DEVICES_OF_A_USER
from .hub import set_credential
from .prepared import copy, prepared
from .server import HUB, Server
from .storm import CONNECTIONS, Storm, wrk

PATIENCE_SECONDS = 60

# Each push says when its request was made. With a pace, requests are due by chance and independently of the answers.
WRK_SCRIPT = """
local ffi = require("ffi")
ffi.cdef("typedef struct { long seconds, nanoseconds; } moment; int clock_gettime(int clock, moment *to);")
local moment = ffi.new("moment")
local function now()
    ffi.C.clock_gettime(1, moment)
    return tonumber(moment.seconds) * 1e9 + tonumber(moment.nanoseconds)
end

local count, gap, due = %(first)d, %(gap)f, nil
request = function()
    count = count + 1
    local fields = {
        ["Authorization"] = "%(signature)s", ["Content-Type"] = "application/json;charset=utf-8",
        ["ServiceBusNotification-Format"] = "apple",
        ["ServiceBusNotification-Tags"] = "username:u" .. count * 7919 %% %(users)d,
    }
    local aps = '{"alert":{"title":"Chat","body":"A message for you"},"sound":"default"}'
    local body = string.format('{"aps":%%s,"sent":%%.0f}', aps, now())
    return wrk.format("POST", "/%(hub)s/messages?api-version=2020-06", fields, body)
end
if gap > 0 then
    delay = function()
        due = (due or now()) - math.log(1 - math.random()) * gap
        return math.max(0, math.floor((due - now()) / 1e6 + 0.5))
    end
end
"""


@dataclass
class Sends(Storm):
    # Milliseconds from the request until the push is read by its service.
    wire_p50: float
    wire_p99: float

    def __str__(self):
        return f"{super().__str__()}, to the wire {self.wire_p50:.1f} ms, p99 {self.wire_p99:.1f} ms"


class UserSends:
    """Users have three devices each."""

    # Nothing has arrived for so long: all has.
    silence_seconds = 0.5

    def __init__(self, sink, devices, serve=Server):
        """serve: makes what answers, from a data directory."""
        self._sink, self._devices, self._serve = sink, devices, serve
        self._sent = 0
        # Sends in a second, of the last run without a pace.
        self.last_rate = 0

    def __enter__(self):
        self._copy = copy(prepared("users", self._devices))
        self._data = self._copy.__enter__()
        set_credential(self._data, self._sink.port)
        self.server = self._serve(self._data)
        self.server.start()
        return self

    def __exit__(self, *_):
        self.server.stop()
        self._copy.__exit__(None, None, None)

    def run(self, rate=None):
        """With as many a second as it takes, or so many. Counts until the last push is there."""
        script = os.path.join(self._data, "sends.lua")
        values = {
            "signature": self.server.signature(), "hub": HUB, "users": self._devices // DEVICES_OF_A_USER,
            "first": self._sent, "gap": 1e9 / rate if rate else 0,
        }
        with open(script, "w") as file:
            file.write(WRK_SCRIPT % values)
        before, cpu, start = self._sink.totals(), self.server.cpu_seconds(), time.monotonic()
        self._sink.latencies(goes_on=True)
        storm = wrk(f"http://127.0.0.1:{self.server.port}/", "--script", script)
        end = self._wait(before.answered)
        _, median, p99, _ = self._sink.latencies(goes_on=False)
        pushes = self._sink.totals().answered - before.answered
        # Some were under way when the storm ended: they are sent, but nobody waited for the answer.
        if not 0 <= pushes - storm.requests * DEVICES_OF_A_USER <= CONNECTIONS * DEVICES_OF_A_USER:
            sys.exit(f"Benchmarks: {storm.requests} sends were answered, but {pushes} pushes arrived")
        self._sent += storm.requests
        cpu = (self.server.cpu_seconds() - cpu) / storm.requests * 1e6
        sends = Sends(
            storm.requests, storm.requests / (end - start), storm.p50, storm.p99, cpu, 1000 * median, 1000 * p99)
        if not rate:
            self.last_rate = sends.rate
        return sends

    def _wait(self, before):
        """When the last push was there."""
        begin = last = time.monotonic()
        count = before
        while time.monotonic() - last < self.silence_seconds and time.monotonic() - begin < PATIENCE_SECONDS:
            answered = self._sink.totals().answered
            if answered != count:
                count, last = answered, time.monotonic()
            time.sleep(0.005)
        return last
