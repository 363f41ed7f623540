"""A strict APNs for tests, sharing no code with Martlet: TLS, ALPN, HTTP/2 by PyPI's h2, tokens by PyJWT.

Prints `apns-peer: ready https://127.0.0.1:PORT ca=FILE key=FILE key-id=ID team-id=ID topic=NAME`, then serves until
SIGTERM or SIGINT. Every delivery is one JSON line in the ledger, written before its 200 is sent; `steady` is its time by
the monotonic clock, and by the same clock `opened` tells when its connection was; `arrived` is when its request was
complete. With --client NAME, `process` is the id of the process of that name which opened the connection. With --capture
all that came is in a file before that: the bytes behind TLS, and the header fields as they read. Exit code 1 when a client
broke a rule that has no answer of its own (HPACK, stream limit, ALPN, HTTP/2 itself).
"""

import argparse
import asyncio
import collections
import json
import os
import signal
import ssl
import sys
import time

import h2.config
import h2.connection
import h2.events
import h2.exceptions
from h2.errors import ErrorCodes
from h2.settings import SettingCodes, Settings
from hyperframe.frame import GoAwayFrame, SettingsFrame

import certificates
from apns_rules import ConnectionCredential, Refusal, Rules, message_id
from client_process import process_of
from header_forms import WatchingDecoder
from silence import silence_of

FIRST_STREAM_LIMIT = 1
STREAM_LIMIT = 1000
AT_ONCE = 10  # answers, where there is a rate
WATCHED = (b":path", b"authorization")
RECORDED = ("apns-topic", "apns-push-type", "apns-priority", "apns-expiration", "apns-collapse-id")


class Peer:
    """What all connections share: the rules, the faults, the ledger and the counts."""

    def __init__(self, options, rules, ledger):
        self.options, self.rules = options, rules
        self.counts = collections.Counter()
        self.faults = collections.Counter()
        self._ledger = ledger
        self._free = 0.0  # when all that was to be answered by the rate has been

    def violation(self, text):
        self.counts["violations"] += 1
        if self.counts["violations"] <= 20:
            print(f"apns-peer: violation: {text}", file=sys.stderr, flush=True)

    def due(self, fault, every):
        """Whether the request now being answered is one of each `every` that gets this fault."""
        if not every:
            return False
        self.faults[fault] += 1
        return self.faults[fault] % every == 0

    def turn(self, count):
        """The seconds until so many further requests may be answered, over all connections."""
        now = time.monotonic()
        self._free = max(self._free, now) + count / self.options.rate
        return self._free - now

    def capture(self, data):
        """Keeps what came, whatever becomes of it."""
        if self.options.capture:
            with open(self.options.capture, "ab") as file:
                file.write(data)

    def record(self, deliveries):
        """Appends all of them with one write; a regular file takes it whole."""
        data = "".join(json.dumps(delivery, ensure_ascii=False) + "\n" for delivery in deliveries).encode()
        if os.write(self._ledger, data) != len(data):
            sys.exit("apns-peer: the ledger could not be written")
        self.counts["accepted"] += len(deliveries)


class Connection(asyncio.Protocol):
    def __init__(self, peer):
        self._peer = peer
        self._requests = {}  # stream -> (fields, body)
        self._arrived = {}  # stream -> when its request was complete
        self._credential = ConnectionCredential()
        self._limit = FIRST_STREAM_LIMIT
        self._unacknowledged = 1  # SETTINGS whose limit the client may not know yet
        self._answered = 0
        self._last_stream = None  # set once GOAWAY was sent

    # Life

    def connection_made(self, transport):
        self._transport = transport
        # Whoever made the connection may be dead by now: the moment is one at which it sent something.
        socket, client = transport.get_extra_info("socket"), self._peer.options.client
        self._opened = time.monotonic() - silence_of(socket)
        self._process = {"process": process_of(socket, client)} if client else {}
        self._peer.counts["connections"] += 1
        if transport.get_extra_info("ssl_object").selected_alpn_protocol() != "h2":
            self._peer.violation("the client did not agree on h2 by ALPN")
            if not self._peer.options.tolerant:
                transport.abort()
                return
        self._h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self._h2.decoder = WatchingDecoder(WATCHED, self._field_entered_table)
        announced = {SettingCodes.MAX_CONCURRENT_STREAMS: FIRST_STREAM_LIMIT, SettingCodes.MAX_HEADER_LIST_SIZE: 8000}
        self._h2.local_settings = Settings(client=False, initial_values=announced)
        self._h2.initiate_connection()
        # From here the stream limit is ours: h2 would end the connection where APNs refuses the stream.
        self._h2.local_settings = Settings(client=False, initial_values={SettingCodes.MAX_CONCURRENT_STREAMS: 1 << 30})
        self._indexed = None
        self._flush()

    def connection_lost(self, error):
        # What waits for its turn was taken in: it is delivered although nobody hears of it.
        if not self._peer.options.rate:
            self._requests.clear()

    def data_received(self, data):
        self._peer.capture(data)
        if self._transport.is_closing():
            return
        try:
            events = self._h2.receive_data(data)
        except h2.exceptions.ProtocolError as error:
            self._peer.violation(f"HTTP/2: {type(error).__name__}: {error}")
            self._flush()
            self._transport.close()
            return
        if self._indexed and not self._peer.options.tolerant:
            self._go_away(0, ErrorCodes.PROTOCOL_ERROR, self._indexed)
            self._transport.close()
            return
        finished = [stream for stream in map(self._handle, events) if stream is not None]
        self._arrived.update(dict.fromkeys(finished, time.time()))
        if self._peer.options.rate:
            for start in range(0, len(finished), AT_ONCE):
                part = finished[start:start + AT_ONCE]
                asyncio.get_running_loop().call_later(self._peer.turn(len(part)), self._answer, part)
        elif self._peer.options.delay:
            asyncio.get_running_loop().call_later(self._peer.options.delay, self._answer, finished)
        else:
            self._answer(finished)

    def _field_entered_table(self, name, form):
        self._peer.violation(f"{name} was sent as {form}")
        self._indexed = f"{name} must not enter the header table"

    # Requests

    def _handle(self, event):
        """Takes in one event; the stream's number when its request is complete."""
        if isinstance(event, h2.events.RequestReceived):
            self._open(event)
        elif isinstance(event, h2.events.DataReceived):
            self._h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            if event.stream_id in self._requests:
                self._requests[event.stream_id][1].extend(event.data)
        elif isinstance(event, h2.events.StreamEnded) and event.stream_id in self._requests:
            return event.stream_id
        elif isinstance(event, h2.events.StreamReset):
            self._peer.counts["reset"] += 1
            self._requests.pop(event.stream_id, None)
        elif isinstance(event, h2.events.SettingsAcknowledged):
            self._unacknowledged -= 1
        elif isinstance(event, h2.events.ConnectionTerminated):
            self._transport.close()
        return None

    def _open(self, event):
        if self._last_stream is not None:
            return  # above the GOAWAY's last stream: never processed, never answered
        self._peer.counts["requests"] += 1
        self._peer.capture(repr(event.headers).encode())
        if len(self._requests) >= self._limit:
            if not self._unacknowledged:
                self._peer.violation(f"stream {event.stream_id} is over the announced limit of {self._limit}")
            self._refuse(event.stream_id)
        elif self._peer.due("refuse", self._peer.options.refuse_every):
            self._refuse(event.stream_id)
        else:
            self._requests[event.stream_id] = (event.headers, bytearray())

    def _refuse(self, stream):
        self._peer.counts["refused"] += 1
        self._h2.reset_stream(stream, ErrorCodes.REFUSED_STREAM)

    # Answers

    def _answer(self, streams):
        if self._transport.is_closing() and not self._peer.options.rate:
            return
        answers, deliveries = [], []
        for stream in streams:
            arrived = self._arrived.pop(stream)
            if stream in self._requests:
                answers.append((stream, *self._judge(*self._requests.pop(stream), arrived, deliveries)))
        if deliveries:
            self._peer.record(deliveries)
        if self._transport.is_closing():
            return
        for stream, identifier, refusal in answers:
            self._send(stream, identifier, refusal)
        self._answered += len(answers)
        if self._peer.options.fall and len(deliveries) < len(answers):
            self._announce(FIRST_STREAM_LIMIT)
        elif deliveries:
            self._announce(self._peer.options.streams)
        self._flush()
        self._leave_if_due(answers)

    def _judge(self, fields, body, arrived, deliveries):
        identifier = message_id(fields)
        try:
            device = self._peer.rules.check(fields, body, self._credential)
            if self._peer.due("throttle", self._peer.options.throttle_every):
                raise Refusal(429, "TooManyRequests")
            if self._peer.due("unavailable", self._peer.options.unavailable_every):
                raise Refusal(503, "ServiceUnavailable")
            if self._peer.due("gone", self._peer.options.gone_every):
                raise Refusal(410, "Unregistered", timestamp=int(time.time() * 1000))
        except Refusal as refusal:
            self._peer.counts[f"{refusal.status} {refusal.reason}"] += 1
            return identifier, refusal
        headers = dict(fields)
        delivery = {"time": time.time(), "steady": time.monotonic(), "opened": self._opened, "limit": self._limit}
        delivery |= {"arrived": arrived} | self._process
        delivery |= {"token": device, "apns-id": identifier.lower()}
        delivery["payload"] = body.decode()
        deliveries.append(delivery | {name: headers[name] for name in RECORDED if name in headers})
        return identifier, None

    def _send(self, stream, identifier, refusal):
        if refusal is None:
            self._h2.send_headers(stream, [(":status", "200"), ("apns-id", identifier)], end_stream=True)
            return
        body = json.dumps({"reason": refusal.reason} | refusal.more).encode()
        fields = [
            (":status", str(refusal.status)), ("apns-id", identifier),
            ("content-type", "application/json"), ("content-length", str(len(body))),
        ]
        self._h2.send_headers(stream, fields)
        self._h2.send_data(stream, body, end_stream=True)

    def _announce(self, limit):
        if limit == self._limit:
            return
        self._peer.counts["falls"] += limit < self._limit
        self._limit = limit
        self._unacknowledged += 1
        self._flush()
        frame = SettingsFrame(0, settings={SettingsFrame.MAX_CONCURRENT_STREAMS: self._limit})
        self._transport.write(frame.serialize())

    def _leave_if_due(self, answers):
        limit = self._peer.options.goaway_after
        if limit and self._last_stream is None and self._answered >= limit:
            self._last_stream = max([stream for stream, *_ in answers] + list(self._requests))
            self._go_away(self._last_stream, ErrorCodes.NO_ERROR, "Shutdown")
        if self._last_stream is not None and not self._requests:
            self._transport.close()

    def _go_away(self, last_stream, code, reason):
        self._peer.counts["goaways"] += 1
        data = json.dumps({"reason": reason}).encode()
        frame = GoAwayFrame(0, last_stream_id=last_stream, error_code=code, additional_data=data)
        self._transport.write(frame.serialize())

    def _flush(self):
        data = self._h2.data_to_send()
        if data and not self._transport.is_closing():
            self._transport.write(data)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--directory", required=True, help="where ca.pem, the .p8 key and ledger.jsonl are written")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--key-id", default="ABC123DEFG")
    parser.add_argument("--team-id", default="DEF123GHIJ")
    parser.add_argument("--topic", action="append", help="bundle id that the key may push to (com.example.app)")
    parser.add_argument("--gone", action="append", default=[], metavar="TOKEN", help="device token that answers 410")
    parser.add_argument("--bad", metavar="PREFIX", help="device tokens that begin so answer 400 BadDeviceToken")
    parser.add_argument("--fall", action="store_true", help="let a refused push lower the stream limit to 1")
    parser.add_argument("--throttle-every", type=int, metavar="N", help="429 TooManyRequests for every Nth good push")
    parser.add_argument("--unavailable-every", type=int, metavar="N", help="503 for every Nth good push")
    parser.add_argument("--gone-every", type=int, metavar="N", help="410 Unregistered for every Nth good push")
    parser.add_argument("--refuse-every", type=int, metavar="N", help="REFUSED_STREAM for every Nth request")
    parser.add_argument("--goaway-after", type=int, metavar="N", help="GOAWAY after N answers on a connection")
    parser.add_argument("--streams", type=int, default=STREAM_LIMIT, metavar="N", help="at once on a connection")
    parser.add_argument("--delay", type=float, default=0, metavar="SECONDS", help="before each answer")
    parser.add_argument("--rate", type=float, metavar="N", help="answers a second, over all connections")
    parser.add_argument("--capture", metavar="FILE", help="all that clients send, in the clear")
    parser.add_argument("--client", metavar="NAME", help="what the senders' processes are called, to note which it was")
    parser.add_argument("--tolerant", action="store_true", help="count HPACK and ALPN violations but serve on")
    return parser.parse_args()


def tls_context(directory):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(os.path.join(directory, "server.pem"), os.path.join(directory, "server.key"))
    context.set_alpn_protocols(["h2"])
    return context


async def serve(options):
    topics = options.topic or ["com.example.app"]
    key_file = os.path.join(options.directory, f"AuthKey_{options.key_id}.p8")
    certificates.make_authority(options.directory)
    keys = {options.key_id: (options.team_id, certificates.make_signing_key(key_file))}
    rules = Rules(keys, set(topics), {token.lower() for token in options.gone}, options.bad)
    ledger_path = os.path.join(options.directory, "ledger.jsonl")
    ledger = os.open(ledger_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    peer = Peer(options, rules, ledger)
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    server = await loop.create_server(
        lambda: Connection(peer), "127.0.0.1", options.port, ssl=tls_context(options.directory)
    )
    port = server.sockets[0].getsockname()[1]
    print(
        f"apns-peer: ready https://127.0.0.1:{port} ca={options.directory}/ca.pem key={key_file}"
        f" key-id={options.key_id} team-id={options.team_id} topic={topics[0]} ledger={ledger_path}",
        flush=True,
    )
    await stopped.wait()
    server.close()
    counts = " ".join(f"{name.replace(' ', ':')}={count}" for name, count in sorted(peer.counts.items()))
    print(f"apns-peer: {counts}", flush=True)
    return 1 if peer.counts["violations"] else 0


def main():
    options = parse_arguments()
    os.makedirs(options.directory, mode=0o700, exist_ok=True)
    sys.exit(asyncio.run(serve(options)))


if __name__ == "__main__":
    main()
