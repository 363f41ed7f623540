"""Judges the APNs peer by clients that share no code with it: curl (nghttp2) and aioapns."""

import asyncio
import json
import os
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

import aioapns
import jwt
from aioapns.connection import APNsDevelopmentClientProtocol

HERE = os.path.dirname(os.path.abspath(__file__))
DEVICE = "ab" * 32
GONE = "cd" * 32
BODY = '{"aps":{"alert":"hi"}}'
READY = re.compile(r"apns-peer: ready https://127.0.0.1:(?P<port>\d+) ca=(?P<ca>\S+) key=(?P<key>\S+)")


class RunningPeer:
    def __init__(self, *options):
        self._directory = tempfile.TemporaryDirectory()
        command = [sys.executable, os.path.join(HERE, "apns_peer.py"), "--directory", self._directory.name, *options]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        ready = READY.match(self._process.stdout.readline())
        self.port, self.ca, self.key = int(ready["port"]), ready["ca"], ready["key"]

    def ledger(self):
        with open(os.path.join(self._directory.name, "ledger.jsonl")) as lines:
            return [json.loads(line) for line in lines]

    def stop(self):
        """Its exit code and closing counts."""
        self._process.send_signal(signal.SIGTERM)
        out, self.complaints = self._process.communicate(timeout=10)
        self._directory.cleanup()
        return self._process.returncode, dict(part.split("=") for part in out.split()[1:])

    def token(self, age=0, algorithm="ES256", **changes):
        with open(self.key) as file:
            key = file.read() if algorithm == "ES256" else "k" * 32
        claims = {"iss": changes.get("iss", "DEF123GHIJ"), "iat": int(time.time()) - age}
        return jwt.encode(claims, key, algorithm=algorithm, headers={"kid": changes.get("kid", "ABC123DEFG")})

    def curl(self, *requests):
        """The status and reason of each request, all over one connection."""
        command = ["curl", "--silent", "--http2", "--cacert", self.ca]
        for index, request in enumerate(requests):
            command += ["--next", "--silent", "--http2", "--cacert", self.ca] if index else []
            command += self._curl_request(**request)
        answers = subprocess.run(command, capture_output=True, text=True, timeout=30).stdout.splitlines()
        found = []
        for answer in answers:
            body, _, status = answer.rpartition("|")
            found.append((int(status), json.loads(body)["reason"] if body else None))
        return found

    def _curl_request(self, path=None, device=DEVICE, body=BODY, method="POST", token=None, **fields):
        headers = {"apns-topic": "com.example.app", "apns-push-type": "alert", "content-type": None}
        if token != "":
            headers["authorization"] = f"bearer {token or self.token()}"
        headers |= {name.replace("_", "-"): value for name, value in fields.items()}
        command = ["--write-out", "|%{http_code}\n", "--request", method, "--data-binary", body]
        for name, value in headers.items():
            command += ["--header", f"{name}:{' ' + value if value is not None else ''}"]
        return command + [f"https://127.0.0.1:{self.port}{path or '/3/device/' + device}"]


class StrictPeer(unittest.TestCase):
    def test_a_good_push_is_accepted_and_in_the_ledger(self):
        peer = RunningPeer()
        identifier = "1b4e28ba-2fa1-11d2-883f-0016d3cca427"
        self.assertEqual(peer.curl({"apns_id": identifier, "apns_priority": "5"}), [(200, None)])
        [delivery] = peer.ledger()
        self.assertEqual(delivery["token"], DEVICE)
        self.assertEqual(delivery["apns-id"], identifier)
        self.assertEqual(json.loads(delivery["payload"]), {"aps": {"alert": "hi"}})
        self.assertEqual(delivery["apns-priority"], "5")
        code, counts = peer.stop()
        self.assertEqual((code, counts["accepted"]), (0, "1"))

    def test_each_bad_push_gets_the_reason_that_apns_gives(self):
        peer = RunningPeer("--gone", GONE)
        cases = [
            ({"apns_id": "not-a-uuid"}, (400, "BadMessageId")),
            ({"method": "PUT"}, (405, "MethodNotAllowed")),
            ({"path": "/2/device/" + DEVICE}, (404, "BadPath")),
            ({"device": ""}, (400, "MissingDeviceToken")),
            ({"token": ""}, (403, "MissingProviderToken")),
            ({"token": "a.b"}, (403, "InvalidProviderToken")),
            ({"token": peer.token(kid="OTHERKEYID")}, (403, "InvalidProviderToken")),
            ({"token": peer.token(iss="OTHERTEAMS")}, (403, "InvalidProviderToken")),
            ({"token": peer.token(algorithm="HS256")}, (403, "InvalidProviderToken")),
            ({"token": peer.token(age=-60)}, (403, "InvalidProviderToken")),
            ({"token": peer.token(age=3700)}, (403, "ExpiredProviderToken")),
            ({"apns_topic": None}, (400, "MissingTopic")),
            ({"apns_push_type": "shout"}, (400, "InvalidPushType")),
            ({"apns_push_type": "voip"}, (400, "BadTopic")),
            ({"apns_topic": "com.example.other"}, (400, "TopicDisallowed")),
            ({"apns_priority": "7"}, (400, "BadPriority")),
            ({"apns_push_type": "background", "apns_priority": "10"}, (400, "BadPriority")),
            ({"apns_expiration": "tomorrow"}, (400, "BadExpirationDate")),
            ({"apns_collapse_id": "c" * 65}, (400, "BadCollapseId")),
            ({"body": ""}, (400, "PayloadEmpty")),
            ({"body": "[1]"}, (400, "PayloadEmpty")),
            ({"body": json.dumps({"aps": "x" * 4096})}, (413, "PayloadTooLarge")),
            ({"device": "zz" * 32}, (400, "BadDeviceToken")),
            ({"device": "ab" * 31}, (400, "BadDeviceToken")),
            ({"device": GONE}, (410, "Unregistered")),
        ]
        for request, expected in cases:
            with self.subTest(request):
                self.assertEqual(peer.curl(request), [expected])
        self.assertEqual(peer.ledger(), [])
        self.assertEqual(peer.stop()[0], 0)

    def test_a_second_token_within_twenty_minutes_is_one_too_many(self):
        peer = RunningPeer()
        answers = peer.curl({"token": peer.token()}, {"token": peer.token(age=30)})
        self.assertEqual(answers, [(200, None), (429, "TooManyProviderTokenUpdates")])
        peer.stop()

    def test_faults_come_as_often_as_asked(self):
        peer = RunningPeer("--throttle-every", "2", "--unavailable-every", "2")
        token = peer.token()
        answers = peer.curl(*[{"token": token}] * 4)
        expected = [(200, None), (429, "TooManyRequests"), (503, "ServiceUnavailable"), (429, "TooManyRequests")]
        self.assertEqual(answers, expected)
        peer.stop()


class RawClient:
    """aioapns pointed at the peer; it speaks HTTP/2 through h2 with every field in the header table."""

    def __init__(self, peer):
        class Protocol(APNsDevelopmentClientProtocol):
            APNS_SERVER = "127.0.0.1"
            APNS_PORT = peer.port

        context = ssl.create_default_context(cafile=peer.ca)
        context.set_alpn_protocols(["h2"])
        with open(peer.key) as file:
            self._client = aioapns.APNs(
                key=file.read(), key_id="ABC123DEFG", team_id="DEF123GHIJ", topic="com.example.app",
                ssl_context=context, use_sandbox=True, max_connections=1, max_connection_attempts=1,
            )
        self._client.pool.protocol_class = Protocol

    async def push(self, count):
        """The statuses of `count` pushes, all sent at once."""
        requests = [
            aioapns.NotificationRequest(DEVICE, {"aps": {"alert": str(number)}}, push_type=aioapns.PushType.ALERT)
            for number in range(count)
        ]
        results = await asyncio.gather(*map(self._client.send_notification, requests), return_exceptions=True)
        self._client.pool.close()
        return [result.status if isinstance(result, aioapns.common.NotificationResult) else None for result in results]


class IndexedFields(unittest.TestCase):
    def test_a_client_that_indexes_the_path_is_cut_off(self):
        peer = RunningPeer()

        async def run():
            return await RawClient(peer).push(1)

        self.assertEqual(asyncio.run(run()), [None])
        self.assertEqual(peer.ledger(), [])
        code, counts = peer.stop()
        self.assertEqual(code, 1)
        self.assertIn(":path was sent as literal with incremental indexing", peer.complaints)
        self.assertEqual(counts["violations"], "1")

    def test_a_tolerant_peer_counts_it_and_serves(self):
        peer = RunningPeer("--tolerant")

        async def run():
            client = RawClient(peer)
            return await client.push(1)

        self.assertEqual(asyncio.run(run()), ["200"])
        self.assertEqual(len(peer.ledger()), 1)
        self.assertEqual(peer.stop()[0], 1)


if __name__ == "__main__":
    unittest.main()
