"""What the SDKs send with: HTTP/2 alone (Java) or HTTP/1.1 alone, TLS with a private authority, signatures."""

import base64
import hashlib
import hmac
import http.client
import re
import socket
import ssl
import time
from urllib.parse import quote, quote_plus

import h2.config
import h2.connection
import h2.events

TIMEOUT = 60
# The operations that were called since this was last cleared.
called = set()


def operation(method, target):
    """A request as the table of NotificationHubs.md, section 15, names it, such as `GET registrations/{id}`."""
    parts = [part for part in target.partition("?")[0].split("/") if part]
    if not parts or parts[0].startswith("$"):
        return f"{method} /" + (parts[0] if parts else "")
    if len(parts) == 1:
        return f"{method} /{{hub}}"
    kind = parts[1].lower()
    if kind == "tags":
        return f"{method} tags/{{tag}}/registrations"
    if len(parts) == 2 or parts[2] == "$batch":
        return f"{method} " + "/".join([kind, *parts[2:]])
    return f"{method} {kind}/{{id}}"


class Answer:
    """One response; the names of its fields in lower case."""

    def __init__(self, status, fields, body):
        self.status, self.body = status, body
        self.fields = {name.lower(): value for name, value in fields}

    def __getitem__(self, name):
        return self.fields.get(name.lower())

    @property
    def text(self):
        return self.body.decode()

    def __repr__(self):
        return f"{self.status} {self.fields} {self.body[:600]!r}"


def _tls(authority, protocol):
    context = ssl.create_default_context(cafile=authority)
    context.set_alpn_protocols([protocol])
    return context


class HTTP1:
    """One kept-alive HTTP/1.1 connection over TLS."""

    def __init__(self, port, authority):
        self._tls = _tls(authority, "http/1.1")
        self._connection = http.client.HTTPSConnection("127.0.0.1", port, context=self._tls, timeout=TIMEOUT)

    def request(self, method, target, headers, body=None, announces_length=True, waits=False):
        """`announces_length` false leaves `content-length` out where there is no body; `waits` sends `Expect` first."""
        called.add(operation(method, target))
        connection = self._connection
        connection.putrequest(method, target, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        if body is not None or (announces_length and method in ("POST", "PUT", "PATCH")):
            connection.putheader("Content-Length", str(len(body or b"")))
        if waits:
            connection.putheader("Expect", "100-continue")
            connection.endheaders()
            self._await_continue()
            connection.send(body)
        else:
            connection.endheaders(body)
        response = connection.getresponse()
        return Answer(response.status, response.getheaders(), response.read())

    def _await_continue(self):
        """The interim answer, which must come before the body is sent."""
        interim = b""
        while not interim.endswith(b"\r\n\r\n"):
            piece = self._connection.sock.recv(1)
            if not piece:
                raise ConnectionError("the server closed the connection instead of answering 100")
            interim += piece
        if not interim.startswith(b"HTTP/1.1 100 "):
            raise ConnectionError(f"{interim!r} instead of 100")

    def close(self):
        self._connection.close()


class HTTP2:
    """One HTTP/2 connection; requests have no `content-length`, and ALPN offers nothing else."""

    def __init__(self, port, authority):
        self.port = port
        raw = socket.create_connection(("127.0.0.1", port), TIMEOUT)
        self._socket = _tls(authority, "h2").wrap_socket(raw, server_hostname="127.0.0.1")
        self.protocol = self._socket.selected_alpn_protocol()
        if self.protocol != "h2":
            raise ConnectionError(f"ALPN: unexpected application protocol {self.protocol}")
        self._h2 = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self._h2.initiate_connection()
        self._flush()

    def request(self, method, target, headers, body=None):
        called.add(operation(method, target))
        stream = self._h2.get_next_available_stream_id()
        fields = [
            (":method", method), (":scheme", "https"), (":authority", f"127.0.0.1:{self.port}"), (":path", target),
        ]
        fields += [(name.lower(), value) for name, value in headers.items()]
        self._h2.send_headers(stream, fields, end_stream=not body)
        self._flush()
        status, answered, content, ended = None, [], b"", not body
        while True:
            while not ended and (room := self._h2.local_flow_control_window(stream)) > 0:
                piece, body = body[: min(room, 16384)], body[min(room, 16384):]
                ended = not body
                self._h2.send_data(stream, piece, end_stream=ended)
                self._flush()
            for event in self._receive():
                if getattr(event, "stream_id", stream) != stream:
                    continue
                if isinstance(event, h2.events.ResponseReceived):
                    status = int(dict(event.headers)[":status"])
                    answered = [field for field in event.headers if not field[0].startswith(":")]
                elif isinstance(event, h2.events.DataReceived):
                    content += event.data
                    self._h2.acknowledge_received_data(event.flow_controlled_length, stream)
                elif isinstance(event, h2.events.StreamEnded):
                    self._flush()
                    return Answer(status, answered, content)
                elif isinstance(event, (h2.events.StreamReset, h2.events.ConnectionTerminated)):
                    raise ConnectionError(f"{method} {target}: {event}")
            self._flush()

    def _receive(self):
        data = self._socket.recv(65536)
        if not data:
            raise ConnectionError("the server closed the connection")
        return self._h2.receive_data(data)

    def _flush(self):
        self._socket.sendall(self._h2.data_to_send())

    def close(self):
        self._socket.close()


def sign(resource, name, key, minutes=60, encode=lambda text: quote(text, safe=""), order="sr sig se skn"):
    """The `Authorization` over `resource`, which is percent-encoded already."""
    expiry = int(time.time()) + minutes * 60
    digest = hmac.new(key.encode(), f"{resource}\n{expiry}".encode(), hashlib.sha256).digest()
    signature = encode(base64.b64encode(digest).decode())
    parts = {"sr": resource, "sig": signature, "se": str(expiry), "skn": name}
    return "SharedAccessSignature " + "&".join(f"{part}={parts[part]}" for part in order.split())


def form_encoded(text):
    """As `java.net.URLEncoder` does it."""
    return quote_plus(text, safe="*-_.").replace("~", "%7E")


def component_encoded(text):
    """As JavaScript's `encodeURIComponent` does it."""
    return quote(text, safe="-_.!~*'()")


def lower_hex(text):
    """The escapes of an encoded text in lower case, the rest as it is."""
    return re.sub("%[0-9A-F]{2}", lambda escape: escape[0].lower(), text)
