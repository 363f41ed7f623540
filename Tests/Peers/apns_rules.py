"""What APNs demands of one request, as pure checks in the order of PushServices.md, section 10.2."""

import json
import re
import time
import uuid

import jwt

SUFFIXES = {
    "alert": "", "background": "", "voip": ".voip", "complication": ".complication",
    "fileprovider": ".pushkit.fileprovider", "location": ".location-query",
    "liveactivity": ".push-type.liveactivity", "pushtotalk": ".voip-ptt",
    "widgets": ".push-type.widgets", "controls": ".push-type.controls",
}
TOKEN_LIFETIME = 3600
TOKEN_CHANGE_INTERVAL = 20 * 60
CLOCK_SKEW = 5
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class Refusal(Exception):
    """A status and reason that APNs answers."""

    def __init__(self, status, reason, **more):
        super().__init__(status, reason)
        self.status, self.reason, self.more = status, reason, more


class ProviderTokens:
    """Verifies provider tokens with PyJWT; a token that was verified once is only checked for age again."""

    def __init__(self, keys):
        self._keys = keys  # key id -> (team id, public key)
        self._verified = {}

    def verify(self, token, now):
        """The (team, key id) that `token` speaks for."""
        if token not in self._verified:
            if len(self._verified) > 1000:
                self._verified.clear()
            self._verified[token] = self._read(token, now)
        identity, issued = self._verified[token]
        if now - issued > TOKEN_LIFETIME:
            raise Refusal(403, "ExpiredProviderToken")
        return identity

    def _read(self, token, now):
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") != "ES256":
                raise Refusal(403, "InvalidProviderToken")
            team, public_key = self._keys[header["kid"]]
            options = {"require": ["iss", "iat"], "verify_iat": False}
            claims = jwt.decode(token, public_key, algorithms=["ES256"], issuer=team, options=options)
        except (jwt.PyJWTError, KeyError) as error:
            raise Refusal(403, "InvalidProviderToken") from error
        issued = claims["iat"]
        if type(issued) is not int or issued > now + CLOCK_SKEW or set(claims) != {"iss", "iat"}:
            raise Refusal(403, "InvalidProviderToken")
        return (team, header["kid"]), issued


class ConnectionCredential:
    """What one connection remembers of the tokens it has carried."""

    def __init__(self):
        self._identity = self._token = self._changed = None

    def accept(self, token, identity, now):
        if self._identity not in (None, identity):
            same_team = self._identity[0] == identity[0]
            raise Refusal(403, "UnrelatedKeyIdInToken" if same_team else "InvalidProviderToken")
        if token != self._token:
            if self._token is not None and now - self._changed < TOKEN_CHANGE_INTERVAL:
                raise Refusal(429, "TooManyProviderTokenUpdates")
            self._identity, self._token, self._changed = identity, token, now


class Rules:
    def __init__(self, keys, topics, gone, bad=None):
        self._tokens = ProviderTokens(keys)
        self._topics = topics
        self._gone = gone  # device tokens that answer 410
        self._bad = bad  # what device tokens of another environment begin with

    def check(self, fields, body, credential):
        """The device token of an acceptable request; anything else is a Refusal."""
        now = time.time()
        headers = dict(fields)
        _check_envelope(fields, headers)
        device = headers[":path"][len("/3/device/"):]
        self._check_provider(headers, credential, now)
        self._check_options(headers)
        _check_body(body, 5120 if headers.get("apns-push-type") == "voip" else 4096)
        if len(device) < 64 or len(device) % 2 or not re.fullmatch("[0-9a-f]+", device.lower()):
            raise Refusal(400, "BadDeviceToken")
        if self._bad and device.lower().startswith(self._bad):
            raise Refusal(400, "BadDeviceToken")
        if device.lower() in self._gone:
            raise Refusal(410, "Unregistered", timestamp=int(now * 1000))
        return device.lower()

    def _check_provider(self, headers, credential, now):
        if "authorization" not in headers:
            raise Refusal(403, "MissingProviderToken")
        scheme, _, token = headers["authorization"].partition(" ")
        if scheme != "bearer":
            raise Refusal(403, "InvalidProviderToken")
        credential.accept(token, self._tokens.verify(token, now), now)

    def _check_options(self, headers):
        if "apns-topic" not in headers:
            raise Refusal(400, "MissingTopic")
        topic, kind = headers["apns-topic"], headers.get("apns-push-type")
        if kind not in SUFFIXES:
            raise Refusal(400, "InvalidPushType")
        suffix = SUFFIXES[kind]
        if not topic.endswith(suffix):
            raise Refusal(400, "BadTopic")
        if topic[:len(topic) - len(suffix)] not in self._topics:
            raise Refusal(400, "TopicDisallowed")
        priority = headers.get("apns-priority", "5" if kind == "background" else "10")
        if priority not in ("1", "5", "10") or (kind == "background" and priority == "10"):
            raise Refusal(400, "BadPriority")
        if not re.fullmatch("[0-9]+", headers.get("apns-expiration", "0")):
            raise Refusal(400, "BadExpirationDate")
        if len(headers.get("apns-collapse-id", "").encode()) > 64:
            raise Refusal(400, "BadCollapseId")


def _check_envelope(fields, headers):
    if len(headers) != len(fields):
        raise Refusal(400, "DuplicateHeaders")
    if "apns-id" in headers and not _UUID.fullmatch(headers["apns-id"]):
        raise Refusal(400, "BadMessageId")
    if headers[":method"] != "POST":
        raise Refusal(405, "MethodNotAllowed")
    if not headers[":path"].startswith("/3/device/"):
        raise Refusal(404, "BadPath")
    if headers[":path"] == "/3/device/":
        raise Refusal(400, "MissingDeviceToken")


def _check_body(body, limit):
    if len(body) > limit:
        raise Refusal(413, "PayloadTooLarge")
    try:
        if not isinstance(json.loads(body.decode()), dict):
            raise Refusal(400, "PayloadEmpty")
    except ValueError as error:
        raise Refusal(400, "PayloadEmpty") from error


def message_id(fields):
    """The request's apns-id as it is echoed, or a new one."""
    return dict(fields).get("apns-id") or str(uuid.uuid4())
