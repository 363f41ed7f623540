"""A browser and its push service, sharing no code with Martlet: HTTPS by Python's own server, messages decrypted with
PyPI's http-ece, senders' proofs verified with PyJWT. The path of an endpoint says how it is answered:

    /push/NAME              201
    /status/CODE/NAME       this status, always
    /once/CODE/SECONDS/NAME this status with Retry-After once, then 201
"""

import base64
import collections
import http.server
import os
import ssl
import threading
import time

import http_ece
import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

import certificates

BODY_LIMIT = 4096
DAY = 24 * 3600


def encode(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Browser:
    """One subscription: the keys that only the browser has, and what came for it."""

    def __init__(self, endpoint):
        self.endpoint = endpoint
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._secret = os.urandom(16)
        self.messages = []
        self.attempts = 0

    @property
    def p256dh(self):
        encoding, form = serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        return encode(self._key.public_key().public_bytes(encoding, form))

    @property
    def auth(self):
        return encode(self._secret)

    def open(self, body):
        return http_ece.decrypt(body, private_key=self._key, auth_secret=self._secret, version="aes128gcm")


class Refused(Exception):
    """A sender broke a rule that every push service enforces."""


class Peer:
    def __init__(self, directory):
        certificates.make_authority(directory)
        self.ca = os.path.join(directory, "ca.pem")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(directory, "server.pem"), os.path.join(directory, "server.key"))
        peer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, fields = peer.answer(self.path, self.headers, body)
                self.send_response(status)
                for name, value in fields.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.origin = f"https://127.0.0.1:{self._server.server_address[1]}"
        self.browsers = {}
        self.violations = []
        self.tokens = collections.Counter()
        # Salts and senders' keys: none may come twice.
        self._headers = set()
        self._lock = threading.Lock()
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def subscribe(self, path):
        browser = self.browsers[path] = Browser(self.origin + path)
        return browser

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path, fields, body):
        with self._lock:
            browser = self.browsers.get(path)
            if browser is None:
                self.violations.append(f"nobody has subscribed to {path}")
                return 404, {}
            browser.attempts += 1
            try:
                message = self._judge(browser, fields, body)
            except Refused as violation:
                self.violations.append(f"{path}: {violation}")
                return 400, {}
            kind, *rest = path.strip("/").split("/")
            if kind == "status" or kind == "once" and browser.attempts == 1:
                wait = {"Retry-After": rest[1]} if kind == "once" else {}
                where = {"Location": self.origin + "/push/elsewhere"} if rest[0].startswith("3") else {}
                return int(rest[0]), wait | where
            browser.messages.append(message)
            return 201, {"Location": f"{self.origin}/message/{len(browser.messages)}", "TTL": fields["TTL"]}

    def _judge(self, browser, fields, body):
        claims, key = self._proof(fields.get("Authorization", ""))
        if not (fields.get("TTL") or "").isdigit():
            raise Refused(f"TTL {fields.get('TTL')!r}")
        if fields.get("Content-Encoding") != "aes128gcm":
            raise Refused(f"Content-Encoding {fields.get('Content-Encoding')!r}")
        if len(body) > BODY_LIMIT:
            raise Refused(f"a body of {len(body)} bytes")
        salt, sender = body[:16], body[21:86]
        if body[20] != 65 or self._headers & {salt, sender}:
            raise Refused("a key or salt that is not new, or of another length")
        self._headers |= {salt, sender}
        try:
            text = browser.open(body)
        except Exception as error:
            raise Refused(f"cannot be decrypted: {error!r}") from error
        shown = {name: fields.get(name) for name in ("TTL", "Urgency", "Topic")}
        return {"text": text.decode(), "claims": claims, "key": key} | shown

    def _proof(self, field):
        scheme, _, parameters = field.partition(" ")
        values = dict(part.strip().split("=", 1) for part in parameters.split(","))
        if scheme != "vapid" or set(values) != {"t", "k"}:
            raise Refused(f"Authorization {scheme!r} with {sorted(values)}")
        self.tokens[values["t"]] += 1
        point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decode(values["k"]))
        try:
            claims = jwt.decode(
                values["t"], point, algorithms=["ES256"], audience=self.origin,
                options={"require": ["aud", "exp", "sub"]})
        except jwt.PyJWTError as error:
            raise Refused(f"the token is not valid: {error!r}") from error
        if claims["exp"] > time.time() + DAY:
            raise Refused("the token is good for more than a day")
        return claims, values["k"]
