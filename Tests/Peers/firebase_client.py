"""PyPI's firebase-admin against a real `martlet simulate`: what a public client sends and is answered, with access tokens
that google-auth gets by its own code.

    firebase_client.py MARTLET
"""

import os
import re
import ssl
import sys
import tempfile
import warnings

import firebase_admin
import httpx
import requests
from cryptography.hazmat.primitives.asymmetric import rsa
from firebase_admin import credentials, exceptions, messaging
from google.auth import exceptions as auth_exceptions

import certificates
import processes
from checks import Checks

checks = Checks("firebase-client")
# It would have installations in the place of registration tokens, which the service does not offer everybody yet.
warnings.filterwarnings("ignore", message="Message.token is deprecated")
PROJECT = "example-project"
EMAIL = f"judge@{PROJECT}.iam.gserviceaccount.com"


class Simulator(processes.Program):
    """`martlet simulate` on ports of its own choosing, with its control interface."""

    def __init__(self, binary, directory):
        command = [binary, "simulate", "--listen", "127.0.0.1:0", "--ca-file", os.path.join(directory, "ca.pem")]
        super().__init__(command, os.path.join(directory, "simulator.log"))

    async def start(self):
        line = await super().start()
        self.origin = re.search(r" fcmv1=(\S+)", line)[1]
        self.ca = re.search(r" ca-file=(\S+)", line)[1]
        trust = ssl.create_default_context(cafile=self.ca)
        self._control = httpx.Client(base_url=re.search(r" simulator=(\S+)", line)[1], verify=trust, timeout=60)

    def control(self, method, path, body=None):
        answer = self._control.request(method, f"/simulator/{path}", json=body)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def device(self, **description):
        return self.control("POST", "devices", {"platform": "fcmv1"} | description)["handle"]

    def inbox(self, handle):
        return self.control("GET", f"devices/{handle}")["inbox"]

    def faults(self, *rules):
        """These, in the place of all others."""
        self.control("PUT", "faults", {"seed": 1, "faults": [rule | {"service": "fcmv1"} for rule in rules]})


class Client:
    """firebase-admin with one service account."""

    _number = 0

    def __init__(self, simulator, key, project=PROJECT, email=EMAIL):
        account = {
            "type": "service_account", "project_id": project, "private_key_id": "1", "client_email": email,
            "private_key": certificates.key_pem(key).decode(), "token_uri": f"{simulator.origin}/token",
        }
        Client._number += 1
        self._app = firebase_admin.initialize_app(credentials.Certificate(account), name=str(Client._number))
        # Its retries of its own would hide what is answered first, and wait for it.
        session = messaging._get_messaging_service(self._app)._client.session
        session.mount("https://", requests.adapters.HTTPAdapter(max_retries=0))

    def send(self, token, dry_run=False, **message):
        return messaging.send(messaging.Message(token=token, **message), dry_run=dry_run, app=self._app)

    def raw(self, method, url, body):
        session = messaging._get_messaging_service(self._app)._client.session
        return session.request(method, url, json=body)


def expect(sentence, kind, work, code=None):
    error = checks.raises(sentence, kind, work)
    if error and code:
        checks.equal(f"{sentence}: its code", error.code, code)
    return error


def messages(simulator, client, device):
    name = client.send(
        device, data={"order": "17", "text": "Grüße \U0001f426"},
        notification=messaging.Notification(title="T", body="B"),
        android=messaging.AndroidConfig(
            collapse_key="k", priority="high", ttl=60,
            notification=messaging.AndroidNotification(
                color="#aabbcc", title_loc_args=["x"], title_loc_key="t", visibility="private",
                vibrate_timings_millis=[100], light_settings=messaging.LightSettings(
                    color="#aabbcc", light_on_duration_millis=1, light_off_duration_millis=2)),
            fcm_options=messaging.AndroidFCMOptions("label")),
        webpush=messaging.WebpushConfig(
            headers={"Urgency": "high"}, data={"a": "b"}, notification=messaging.WebpushNotification(title="W"),
            fcm_options=messaging.WebpushFCMOptions("https://example.com")),
        apns=messaging.APNSConfig(
            headers={"apns-priority": "10"},
            payload=messaging.APNSPayload(messaging.Aps(badge=3, content_available=True), own="x")))
    checks.that("a message is accepted", name.startswith(f"projects/{PROJECT}/messages/"), name)
    [delivery] = simulator.inbox(device)
    checks.equal("it arrives", delivery["payload"]["data"], {"order": "17", "text": "Grüße \U0001f426"})
    checks.equal("its notification is shown", delivery["text"], "T: B")
    checks.equal("its options are kept", delivery["headers"], {"priority": "HIGH", "ttl": "60s", "collapse_key": "k"})
    checks.equal("its Apple part is kept", delivery["payload"]["apns"]["payload"]["aps"]["badge"], 3)
    tried = client.send(device, dry_run=True, data={"a": "b"})
    checks.that("a message is tried", tried.startswith(f"projects/{PROJECT}/messages/"), tried)
    checks.equal("what is tried reaches nobody", len(simulator.inbox(device)), 1)


def refusals(simulator, client, device):
    unregistered = messaging.UnregisteredError
    expect("a token that is none", exceptions.InvalidArgumentError, lambda: client.send("nonsense"))
    expect("another project's device", messaging.SenderIdMismatchError,
           lambda: client.send(simulator.device(projectId="other")))
    expect("a marked device", unregistered, lambda: client.send("a~unregistered"), "NOT_FOUND")
    expect("a device marked as unknown", exceptions.InvalidArgumentError, lambda: client.send("a~unknown"))
    expect("a device marked as broken", exceptions.InternalError, lambda: client.send("a~error"))
    expect("a device marked as away", exceptions.UnavailableError, lambda: client.send("a~unavailable"))
    expect("a device marked as busy", messaging.QuotaExceededError, lambda: client.send("a~throttle1"))
    checks.that("and no more than asked for", client.send("a~throttle1"))
    expect("a reserved name", exceptions.InvalidArgumentError, lambda: client.send(device, data={"from": "me"}))
    large = {"name": "x" * 4093}
    expect("a large message", exceptions.InvalidArgumentError, lambda: client.send(device, data=large))
    gone = simulator.device()
    simulator.control("DELETE", f"devices/{gone}")
    expect("an app that was removed", unregistered, lambda: client.send(gone))
    for path in ("fcm/send", "gcm/send"):
        answer = client.raw("POST", f"{simulator.origin}/{path}", {"to": device})
        checks.equal(f"{path} is gone", (answer.status_code, answer.headers["Content-Type"][:9]), (404, "text/html"))


# Every fault in the service's words, what the client makes of it, and its status.
FAULTS = {
    "rateLimit": (exceptions.ResourceExhaustedError, 429), "deviceRateLimit": (messaging.QuotaExceededError, 429),
    "QUOTA_EXCEEDED": (messaging.QuotaExceededError, 429), "internalError": (exceptions.InternalError, 500),
    "UNSPECIFIED_ERROR": (exceptions.InternalError, 500), "unavailable": (exceptions.UnavailableError, 503),
    "unregistered": (messaging.UnregisteredError, 404), "NOT_FOUND": (exceptions.NotFoundError, 404),
    "unknownHandle": (exceptions.InvalidArgumentError, 400), "INVALID_ARGUMENT": (exceptions.InvalidArgumentError, 400),
    "TOO_BIG": (exceptions.InvalidArgumentError, 400), "unknownReason": (exceptions.FirebaseError, 400),
    "wrongSender": (messaging.SenderIdMismatchError, 403), "PERMISSION_DENIED": (exceptions.PermissionDeniedError, 403),
    "SERVICE_DISABLED": (exceptions.PermissionDeniedError, 403),
    "THIRD_PARTY_AUTH_ERROR": (messaging.ThirdPartyAuthError, 401),
}


def faults(simulator, client, device):
    before = len(simulator.inbox(device))
    for name, (kind, status) in FAULTS.items():
        simulator.faults({"fault": name, "retryAfter": 7})
        error = checks.raises(f"{name} is told", kind, lambda: client.send(device))
        response = error and error.http_response
        if response is not None:
            found = (response.status_code, response.headers.get("Retry-After"))
            checks.equal(f"{name}: status and wait", found, (status, "7"))
    checks.equal("what is refused reaches nobody", len(simulator.inbox(device)), before)
    simulator.faults({"fault": "unavailable", "delivered": True})
    checks.raises("what is delivered may be refused", exceptions.UnavailableError, lambda: client.send(device))
    checks.equal("and has arrived", len(simulator.inbox(device)), before + 1)
    for name in ("expiredToken", "credentialRefused", "CREDENTIALS_MISSING"):
        simulator.faults({"fault": name, "next": 1})
        checks.that(f"{name}: the client gets another token and sends again", client.send(device))
    simulator.faults({"fault": "slow", "delay": 100, "next": 1})
    checks.that("a slow answer is an answer", client.send(device))
    simulator.faults({"fault": "reset", "next": 1})
    checks.raises("a cut connection is none", exceptions.UnavailableError, lambda: client.send(device))
    simulator.faults()


def tokens(simulator, key, device):
    def fresh(**changes):
        return Client(simulator, **({"key": key} | changes))

    # What is no JSON is not foreseen there.
    refused = (exceptions.FirebaseError, auth_exceptions.GoogleAuthError, TypeError)
    other = rsa.generate_private_key(65537, 2048)
    error = checks.raises("an assertion signed by another key", refused, lambda: fresh(key=other).send(device))
    checks.that("that is told", "invalid_grant" in str(error), str(error))
    expect("another project", exceptions.PermissionDeniedError, lambda: fresh(project="another").send(device))
    for rule in ({"fault": "tokenRefused"}, {"fault": "malformedToken"}):
        simulator.faults(rule | {"endpoint": "token"})
        checks.raises(f"{rule['fault']} gives no token", refused, lambda: fresh().send(device))
    simulator.faults({"fault": "unavailable", "endpoint": "token", "next": 1})
    checks.that("a token endpoint that fails once is asked again", fresh().send(device))
    simulator.faults()
    answer = httpx.post(f"{simulator.origin}/token", data={"grant_type": "password"},
                        verify=ssl.create_default_context(cafile=simulator.ca))
    checks.equal("another grant", (answer.status_code, answer.json()["error"]), (400, "unsupported_grant_type"))


async def course(binary, directory):
    simulator = Simulator(binary, directory)
    await simulator.start()
    try:
        os.environ["REQUESTS_CA_BUNDLE"] = simulator.ca
        messaging._MessagingService.FCM_URL = simulator.origin + "/v1/projects/{0}/messages:send"
        key = rsa.generate_private_key(65537, 2048)
        app = {"platform": "fcmv1", "projectId": PROJECT, "clientEmail": EMAIL}
        simulator.control("POST", "apps", app | {"publicKey": certificates.public_pem(key.public_key())})
        client, device = Client(simulator, key), simulator.device()
        messages(simulator, client, device)
        refusals(simulator, client, device)
        faults(simulator, client, device)
        tokens(simulator, key, device)
    finally:
        code, _ = await simulator.stop()
        checks.equal("SIGTERM ends the simulator with 0", code, 0)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as directory:
        checks.finish(course(os.path.abspath(sys.argv[1]), os.path.realpath(directory)))


if __name__ == "__main__":
    main()
