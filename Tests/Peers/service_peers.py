"""FCM, WNS, MPNS and ADM with their token endpoints, sharing no code with Martlet: HTTPS by Python's own server. Each device
is answered as its test says, one answer for each request, and with success behind the last; the rules that every request
must keep are the documents' own.
"""

import collections
import http.server
import json
import os
import re
import ssl
import threading
import time
import urllib.parse
import uuid
import xml.etree.ElementTree as ElementTree

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

import certificates

SERVICE_NAME = "push.example.com"
LIVE_PATH, ADM_TOKEN_PATH = "/accesstoken.srf", "/auth/O2/token"
OPEN_PATH, AUTHENTICATED_PATH = "/throttledthirdparty/01.00/", "/unthrottledthirdparty/01.00/"
FCM_TOKEN_PATH, FCM_PROJECT, FCM_ACCOUNT = "/token", "judge-project", "push@judge-project.iam.gserviceaccount.com"
FCM_SCOPE = "https://www.googleapis.com/auth/firebase.messaging"
ADM_PATH = re.compile(r"/messaging/registrations/([^/]+)/messages")
WNS_TYPES = {"wns/toast": "toast", "wns/tile": "tile", "wns/badge": "badge"}
CLASSES = {"toast": ("2", "12", "22"), "token": ("1", "11", "21"), None: ("3", "13", "23")}


class Answer:
    def __init__(self, status=200, body=b"", **fields):
        self.status, self.body = status, body
        self.fields = {name.replace("_", "-"): value for name, value in fields.items()}


class Device:
    """One handle: what is still to be answered, and what came when."""

    def __init__(self, handle, answers, success):
        self.handle, self._answers, self._success = handle, list(answers), success
        self.times, self.messages = [], []

    @property
    def attempts(self):
        return len(self.times)

    def answer(self, message):
        self.times.append(time.monotonic())
        self.messages.append(message)
        return self._answers.pop(0) if self._answers else self._success


class Broken(Exception):
    """A request does not keep a rule of the service."""


class Tokens:
    """A token endpoint for one client."""

    def __init__(self, client, secret, scope, lifetime):
        self._form = {
            "grant_type": ["client_credentials"], "client_id": [client], "client_secret": [secret], "scope": [scope]}
        self._lifetime = lifetime
        self.client = client
        self.given, self.answers = [], []

    @property
    def secret(self):
        return self._form["client_secret"][0]

    def renewed(self):
        """With another secret from now on."""
        self._form["client_secret"] = [self.secret + "+"]
        return self

    def answer(self, body):
        if self.answers:
            return self.answers.pop(0)
        if urllib.parse.parse_qs(body.decode(), strict_parsing=True) != self._form:
            raise Broken("a token is asked for with another form")
        return self._give()

    def _give(self):
        self.given.append(uuid.uuid4().hex)
        token = {"access_token": self.given[-1], "token_type": "bearer", "expires_in": self._lifetime}
        return Answer(200, json.dumps(token).encode(), Content_Type="application/json")

    def check(self, fields):
        scheme, _, token = (fields.get("Authorization") or "").partition(" ")
        if scheme.lower() != "bearer" or token not in self.given:
            raise Broken("a token that was not given")


class Assertions(Tokens):
    """A token endpoint for one service account, which proves itself by what it signs."""

    def __init__(self, account, audience, lifetime):
        super().__init__(account, None, FCM_SCOPE, lifetime)
        self._audience = audience
        self.renewed()

    def renewed(self):
        """With another key from now on."""
        self._key = rsa.generate_private_key(65537, 2048)
        return self

    def file(self):
        """What the account's owner is given."""
        return {
            "type": "service_account", "project_id": FCM_PROJECT, "client_email": self.client, "private_key_id": "1",
            "private_key": certificates.key_pem(self._key).decode(), "token_uri": self._audience}

    def answer(self, body):
        if self.answers:
            return self.answers.pop(0)
        form = urllib.parse.parse_qs(body.decode(), strict_parsing=True)
        if form.pop("grant_type") != ["urn:ietf:params:oauth:grant-type:jwt-bearer"] or list(form) != ["assertion"]:
            raise Broken("a token is asked for with another form")
        [assertion] = form["assertion"]
        try:
            claims = jwt.decode(assertion, self._key.public_key(), ["RS256"], audience=self._audience)
        except jwt.InvalidSignatureError:
            return Answer(400, b'{"error":"invalid_grant","error_description":"Invalid JWT Signature."}')
        wanted = {"iss": self.client, "scope": FCM_SCOPE, "aud": self._audience}
        if not wanted.items() <= claims.items() or not 0 < claims["exp"] - claims["iat"] <= 3600:
            raise Broken(f"an assertion with {claims}")
        return self._give()


class Peer:
    def __init__(self, directory):
        certificates.make_authority(directory)
        self.ca = os.path.join(directory, "ca.pem")
        self.identity = os.path.join(directory, "sender.pem")
        certificates.make_client_identity(self.identity, SERVICE_NAME)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(directory, "server.pem"), os.path.join(directory, "server.key"))
        context.load_verify_locations(self.identity)
        context.verify_mode = ssl.CERT_OPTIONAL
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._server.socket = context.wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False)
        self.origin = f"https://127.0.0.1:{self._server.server_address[1]}"
        self.wns_tokens = Tokens("ms-app://s-1-15-2-1", "s+/=", "notify.windows.com", 86400)
        # A number as text, as some token endpoints write it.
        self.adm_tokens = Tokens("amzn1.client", "secret", "messaging:push", "3600")
        self.fcm_tokens = Assertions(FCM_ACCOUNT, self.origin + FCM_TOKEN_PATH, 3599)
        self.devices, self.violations = {}, []
        self.requests = collections.Counter()
        self._lock = threading.Lock()
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def _handler(peer):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"] or 0))
                answer = peer.answer(self, body)
                self.send_response(answer.status)
                for name, value in answer.fields.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, *_):
                pass

        return Handler

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    # Devices

    def wns(self, name, *answers):
        return self._add(f"/?token={name}%2f", f"{self.origin}/?token={name}%2f", answers, Answer(X_WNS_Status="received"))

    def mpns(self, name, *answers, authenticated=False):
        path = (AUTHENTICATED_PATH if authenticated else OPEN_PATH) + name
        received = Answer(X_NotificationStatus="Received", X_DeviceConnectionStatus="Connected",
                          X_SubscriptionStatus="Active")
        return self._add(path, self.origin + path, answers, received)

    def fcmv1(self, name, *answers):
        token = f"{name}:APA91b"
        sent = Answer(200, json.dumps({"name": f"projects/{FCM_PROJECT}/messages/1"}).encode())
        return self._add(f"fcm:{token}", token, answers, sent)

    gcm = fcmv1

    def adm(self, name, *answers):
        return self._add(f"adm:{name}", name, answers, self.adm_result(name))

    @staticmethod
    def adm_result(name):
        return Answer(200, json.dumps({"registrationID": name, "requestID": "1"}).encode())

    def _add(self, key, handle, answers, success):
        device = self.devices[key] = Device(handle, answers, success)
        return device

    # Answers

    def answer(self, handler, body):
        with self._lock:
            try:
                return self._answer(handler, handler.path, handler.headers, body)
            except Broken as violation:
                self.violations.append(f"{handler.path}: {violation}")
                return Answer(400)

    def _answer(self, handler, path, fields, body):
        self.requests[path] += 1
        if fields.get("Transfer-Encoding") or fields.get("Expect") or not fields.get("Content-Length"):
            raise Broken("the length of the body is not stated in the plain way")
        endpoints = {LIVE_PATH: self.wns_tokens, ADM_TOKEN_PATH: self.adm_tokens, FCM_TOKEN_PATH: self.fcm_tokens}
        if path in endpoints:
            if fields.get("Content-Type") != "application/x-www-form-urlencoded":
                raise Broken(f"a token is asked for with {fields.get('Content-Type')}")
            return endpoints[path].answer(body)
        if path == f"/v1/projects/{FCM_PROJECT}/messages:send":
            return self._answer_fcm(fields, json.loads(body))
        found = ADM_PATH.fullmatch(path)
        device = self.devices.get(f"adm:{urllib.parse.unquote(found[1])}" if found else path)
        if device is None:
            raise Broken("nobody has this handle")
        if found:
            message = self._judge_adm(fields, body)
        elif path.startswith("/?token="):
            message = self._judge_wns(fields, body)
        else:
            message = self._judge_mpns(handler, path, fields, body)
        return device.answer(message)

    def _judge_wns(self, fields, body):
        self.wns_tokens.check(fields)
        kind = fields.get("X-WNS-Type")
        if kind == "wns/raw":
            wanted, root = "application/octet-stream", None
        elif kind in WNS_TYPES:
            wanted, root = "text/xml", ElementTree.fromstring(body).tag
        else:
            raise Broken(f"X-WNS-Type {kind!r}")
        if fields.get("Content-Type") != wanted or root != WNS_TYPES.get(kind):
            raise Broken(f"{kind} with {fields.get('Content-Type')} and <{root}>")
        if len(body) > 5000:
            raise Broken(f"{len(body)} bytes")
        return {"body": body, "token": fields["Authorization"]} | {
            name.lower(): value for name, value in fields.items() if name.lower().startswith("x-wns-")}

    def _judge_mpns(self, handler, path, fields, body):
        certificate = handler.connection.getpeercert() or {}
        names = [value for part in certificate.get("subject", ()) for name, value in part if name == "commonName"]
        if path.startswith(AUTHENTICATED_PATH) and names != [SERVICE_NAME]:
            raise Broken(f"the channel was opened for {SERVICE_NAME}, not for {names}")
        target, number = fields.get("X-WindowsPhone-Target"), fields.get("X-NotificationClass")
        if number not in CLASSES.get(target, ()):
            raise Broken(f"target {target!r} with class {number!r}")
        if fields.get("Content-Type") != "text/xml":
            raise Broken(f"Content-Type {fields.get('Content-Type')!r}")
        if target is not None:
            root = ElementTree.fromstring(body)
            names = [root.tag, *(child.tag for child in root)]
            inner = "{WPNotification}" + {"toast": "Toast", "token": "Tile"}[target]
            if names != ["{WPNotification}Notification", inner]:
                raise Broken(f"target {target} with {names}")
        return {"body": body, "id": str(uuid.UUID(fields.get("X-MessageID"))), "class": number}

    def _judge_adm(self, fields, body):
        self.adm_tokens.check(fields)
        wanted = {
            "Content-Type": "application/json", "Accept": "application/json",
            "X-Amzn-Type-Version": "com.amazon.device.messaging.ADMMessage@1.0",
            "X-Amzn-Accept-Type": "com.amazon.device.messaging.ADMSendResult@1.0"}
        found = {name: fields.get(name) for name in wanted}
        if found != wanted:
            raise Broken(f"fields {found}")
        message = json.loads(body)
        if len(body) > 6144 or not all(isinstance(value, str) for value in message["data"].values()):
            raise Broken("a body that is none")
        return {"body": message, "token": fields["Authorization"]}

    def _answer_fcm(self, fields, body):
        self.fcm_tokens.check(fields)
        if fields.get("Content-Type") != "application/json; charset=UTF-8":
            raise Broken(f"Content-Type {fields.get('Content-Type')!r}")
        message = body["message"]
        device = self.devices.get(f"fcm:{message.pop('token', None)}")
        data = [message.get("data", {}), message.get("android", {}).get("data", {})]
        if device is None or set(body) != {"message"} or not {"topic", "condition"}.isdisjoint(message):
            raise Broken("a message that is for nobody here")
        if not all(isinstance(value, str) for values in data for value in values.values()):
            raise Broken("data that is no text")
        return device.answer({"body": message, "token": fields["Authorization"]})
