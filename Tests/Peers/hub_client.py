"""A small client of the hub's REST API made from NotificationHubs.md alone: signatures, entries, HTTP/1.1."""

import asyncio
import base64
import hashlib
import hmac
import time
import xml.etree.ElementTree as ElementTree
from urllib.parse import quote
from xml.sax.saxutils import escape

ATOM = "http://www.w3.org/2005/Atom"
SERVICE = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
API_VERSION = "api-version=2020-06"


class Disconnected(Exception):
    """The connection ended before a whole answer came: whether the request was carried out is unknown."""


def parse_connection_string(text):
    """The rule's name and key; only the first `=` of a part separates."""
    parts = dict(part.split("=", 1) for part in text.strip().split(";") if part)
    return parts["SharedAccessKeyName"], parts["SharedAccessKey"]


def signature(resource, name, key, lifetime=24 * 3600):
    """A shared access signature over `resource`, which is percent-encoded already."""
    expiry = int(time.time()) + lifetime
    digest = hmac.new(key.encode(), f"{resource}\n{expiry}".encode(), hashlib.sha256).digest()
    signed = quote(base64.b64encode(digest), safe="")
    return f"SharedAccessSignature sr={resource}&sig={signed}&se={expiry}&skn={name}"


def namespace_resource(port):
    """As the JavaScript SDK writes it: the namespace, upper-case hex."""
    return quote(f"https://127.0.0.1:{port}/", safe="")


def hub_resource(hub, port):
    """As the .NET and iOS SDKs write theirs: `http`, the path, lower-case hex."""
    return "http%3a%2f%2f127.0.0.1%3a" + f"{port}%2f{hub}"


def registration_entry(device_token, tags):
    return (
        f'<?xml version="1.0" encoding="utf-8"?><entry xmlns="{ATOM}"><content type="application/xml">'
        f'<AppleRegistrationDescription xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns="{SERVICE}">'
        f"<Tags>{escape(','.join(tags))}</Tags><DeviceToken>{device_token}</DeviceToken>"
        "</AppleRegistrationDescription></content></entry>"
    ).encode()


def read_entry(data):
    """The id, device token and tags of an Apple registration's entry, folded to lower case."""
    [description] = ElementTree.fromstring(data).iter(f"{{{SERVICE}}}AppleRegistrationDescription")
    texts = {element.tag.rpartition("}")[2]: element.text or "" for element in description}
    tags = {tag.strip().lower() for tag in texts.get("Tags", "").split(",") if tag.strip()}
    return texts["RegistrationId"], texts["DeviceToken"].lower(), tags


class Connection:
    """One HTTP/1.1 connection, kept alive; a request at a time."""

    def __init__(self, port, timeout=15):
        self._port, self._timeout = port, timeout
        self._reader = self._writer = None

    async def request(self, method, path, headers, body=b""):
        """The status, the fields (names in lower case) and the body of the answer."""
        try:
            return await asyncio.wait_for(self._exchange(method, path, headers, body), self._timeout)
        except (OSError, EOFError, ValueError, asyncio.TimeoutError) as error:
            self.close()
            raise Disconnected(f"{method} {path}: {type(error).__name__}") from error

    async def _exchange(self, method, path, headers, body):
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        fields = {"Host": f"127.0.0.1:{self._port}", "Content-Length": str(len(body))} | headers
        lines = [f"{method} {path} HTTP/1.1"] + [f"{name}: {value}" for name, value in fields.items()]
        self._writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        status = int((await self._line()).split(b" ")[1])
        answered = {}
        while line := await self._line():
            name, _, value = line.decode().partition(":")
            answered[name.lower()] = value.strip()
        content = await self._body(status, answered)
        if answered.get("connection", "").lower() == "close":
            self.close()
        return status, answered, content

    async def _line(self):
        return (await self._reader.readuntil(b"\r\n"))[:-2]

    async def _body(self, status, answered):
        if status == 204:
            return b""
        if answered.get("transfer-encoding", "").lower() != "chunked":
            return await self._reader.readexactly(int(answered["content-length"]))
        content = b""
        while size := int((await self._line()).split(b";")[0], 16):
            content += await self._reader.readexactly(size)
            await self._line()
        while await self._line():
            pass
        return content

    def is_ended(self):
        """Whether the server has ended the connection since it was used; it is made again with the next request."""
        return self._reader is not None and self._reader.at_eof()

    def close(self):
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None
