"""Every answer of the status tables of FCM, WNS, MPNS and ADM, given by servers that share no code with Martlet; what a real
`martlet serve` makes of each: what it counts, whether it keeps the device, and what it sends next.

    service_answers.py MARTLET
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from email.utils import formatdate

import hub_client
import processes
from checks import Checks, eventually
from service_peers import LIVE_PATH, Answer, Peer

checks = Checks("service-answers")
HUB, RULE = "demo", "DefaultFullSharedAccessSignature"
TOAST = "<toast><visual><binding template=\"ToastText01\"><text id=\"1\">hi</text></binding></visual></toast>"
PHONE_TOAST = ('<wp:Notification xmlns:wp="WPNotification"><wp:Toast><wp:Text1>hi</wp:Text1></wp:Toast>'
               "</wp:Notification>")
MESSAGES = {
    "wns": ("windows", "application/xml", TOAST), "mpns": ("windowsphone", "application/xml", PHONE_TOAST),
    "adm": ("adm", "application/json", '{"data":{"m":"hi"}}'),
    "browser": ("browser", "application/json", '{"data":{"m":"hi"}}'),
    "fcmv1": ("fcmV1", "application/json", '{"message":{"data":{"m":"hi"}}}'),
    "gcm": ("gcm", "application/json", '{"data":{"m":"hi"}}'),
    "template": ("template", "application/json", '{"m":"hi"}'),
}
# Nothing tells that the hub has done all that it does about an answer.
SETTLING = 0.5
# Devices of a wrong credential: enough that their deaths are not believed.
MANY = 30


class Hub:
    def __init__(self, port, key, name=HUB):
        self._port, self._name = port, name
        self._headers = {"Authorization": hub_client.signature(hub_client.hub_resource(name, port), RULE, key)}

    async def _call(self, method, path, headers=None, body=b""):
        connection = hub_client.Connection(self._port)
        try:
            target = f"/{self._name}/{path}{'&' if '?' in path else '?'}{hub_client.API_VERSION}"
            return await connection.request(method, target, self._headers | (headers or {}), body)
        finally:
            connection.close()

    async def register(self, service, name, handle, tags=None, templates=None):
        body = {"installationId": name, "platform": service, "pushChannel": handle, "tags": tags or [name]}
        if templates:
            body["templates"] = templates
        headers = {"Content-Type": "application/json"}
        status, _, content = await self._call("PUT", f"installations/{name}", headers, json.dumps(body).encode())
        return status, content.decode()

    async def channel(self, name):
        """The handle that messages to the device go to, or None where none do."""
        status, _, content = await self._call("GET", f"installations/{name}")
        known = json.loads(content) if status == 200 else {"pushChannelExpired": True}
        return None if known.get("pushChannelExpired") else known["pushChannel"]

    async def send(self, service, tag, body=None, **headers):
        form, content_type, usual = MESSAGES[service]
        fields = {
            "Content-Type": content_type, "ServiceBusNotification-Format": form, "ServiceBusNotification-Tags": tag,
        } | {name.replace("_", "-"): value for name, value in headers.items()}
        status, answered, _ = await self._call("POST", "messages", fields, (body or usual).encode())
        checks.equal(f"a send to {tag} is taken", status, 201)
        return answered["location"].rpartition("/messages/")[2].partition("?")[0]

    async def comes_to(self, message, *wanted):
        """Waits until telemetry has all these words; whether it has."""
        text = ""
        for _ in range(4500):
            status, _, content = await self._call("GET", f"messages/{message}")
            text = content.decode() if status == 200 else ""
            if all(part in text for part in wanted):
                return True
            await asyncio.sleep(0.02)
        print(text)
        return False

    async def drops(self, name):
        for _ in range(1500):
            if await self.channel(name) is None:
                return True
            await asyncio.sleep(0.02)
        return False


def count(outcome, number=1):
    return "<State>Completed</State>", f"<Name>{outcome}</Name><Count>{number}</Count>"


class Course:
    """What is the same for every service."""

    def __init__(self, hub, peer, service):
        self.hub, self.peer, self.service = hub, peer, service
        self.make = getattr(peer, service)

    async def ends(self, name, answer, outcome, is_kept, **options):
        """An answer that is final."""
        device = self.make(name, answer, **options)
        await self.hub.register(self.service, name, device.handle)
        sent = await self.hub.send(self.service, name)
        checks.that(f"{name} comes to {outcome}", await self.hub.comes_to(sent, *count(outcome)))
        if is_kept:
            await asyncio.sleep(SETTLING)
            checks.equal(f"{name} keeps the device", await self.hub.channel(name), device.handle)
        else:
            checks.that(f"{name} removes the device", await self.hub.drops(name))
        checks.equal(f"{name} is sent once", device.attempts, 1)

    async def waits(self, name, answer, is_long=True, **options):
        """An answer after which the message is kept for later; for a minute at least, where the wait is a long one."""
        device = self.make(name, answer, **options)
        await self.hub.register(self.service, name, device.handle)
        sent = await self.hub.send(self.service, name)
        checks.that(f"{name} is sent", await eventually(lambda: device.attempts))
        checks.that(f"{name} keeps the message", await self.hub.comes_to(sent, "<State>Processing</State>"))
        checks.equal(f"{name} keeps the device", await self.hub.channel(name), device.handle)
        if is_long:
            checks.equal(f"{name} is sent once for now", device.attempts, 1)

    async def comes_again(self, name, answer, least=1.0, bystander=None):
        """An answer that asks for a wait, which holds for `bystander` too."""
        device = self.make(name, answer)
        await self.hub.register(self.service, name, device.handle)
        sent = await self.hub.send(self.service, name)
        checks.that(f"{name} is sent", await eventually(lambda: device.attempts))
        if bystander:
            await self.hub.comes_to(sent, "<State>Processing</State>")
            before = bystander.attempts
            await self.hub.send(self.service, "bystander")
            checks.that(f"{name} lets others go on afterwards", await eventually(lambda: bystander.attempts > before))
            waited = bystander.times[before] - device.times[0]
            checks.that(f"{name} lets everybody wait", waited >= least, waited)
        checks.that(f"{name} arrives in the end", await self.hub.comes_to(sent, *count("Success")))
        checks.equal(f"{name} is sent twice", device.attempts, 2)
        checks.that(f"{name} waits as long as it is asked to", device.times[1] - device.times[0] >= least)
        checks.equal(f"{name} keeps the device", await self.hub.channel(name), device.handle)

    async def renews(self, tokens, name, answer):
        """A token that is refused: a new one is asked for once, however many wait for it."""
        devices = [self.make(f"{name}{number}", answer) for number in range(5)]
        for number, device in enumerate(devices):
            await self.hub.register(self.service, f"{name}{number}", device.handle, tags=[name])
        before = len(tokens.given)
        sent = await self.hub.send(self.service, name)
        checks.that(f"{name}: all arrive", await self.hub.comes_to(sent, *count("Success", len(devices))))
        checks.equal(f"{name}: each is sent twice", {device.attempts for device in devices}, {2})
        checks.equal(f"{name}: one new token is enough", len(tokens.given), before + 1)
        found = {(first["token"], second["token"]) for first, second in (device.messages for device in devices)}
        checks.that(f"{name}: the new one is used", len(found) == 1 and len(set(*found)) == 2)

    async def stops(self, name, restore, *answers):
        """A credential that is refused: everything is kept until it is set again."""
        device = self.make(name, *answers)
        await self.hub.register(self.service, name, device.handle)
        sent = await self.hub.send(self.service, name)
        checks.that(f"{name} is sent", await eventually(lambda: device.attempts == len(answers)))
        checks.that(f"{name} keeps the message", await self.hub.comes_to(sent, "<State>Processing</State>"))
        checks.equal(f"{name} keeps the device", await self.hub.channel(name), device.handle)
        other = await self.hub.send(self.service, "bystander")
        restore()
        checks.that(f"{name} arrives with a new credential", await self.hub.comes_to(sent, *count("Success")))
        checks.that(f"{name} lost no other", await self.hub.comes_to(other, *count("Success")))

    async def disbelieved(self, answer, outcome, **options):
        """What every device looks dead to is a wrong credential: none is removed."""
        devices = [self.make(f"many{number}", answer, **options) for number in range(MANY)]
        names = [f"{self.service}-many{number}" for number in range(MANY)]
        await asyncio.gather(*[
            self.hub.register(self.service, name, device.handle, tags=["many"])
            for name, device in zip(names, devices)])
        sent = await self.hub.send(self.service, "many")
        checks.that(f"all come to {outcome}", await self.hub.comes_to(sent, *count(outcome, MANY)))
        await asyncio.sleep(SETTLING)
        again = await self.hub.send(self.service, "many")
        checks.that("nobody was removed", await self.hub.comes_to(again, *count("Success", MANY)))


def words(status, notification, device, subscription, **fields):
    return Answer(status, X_NotificationStatus=notification, X_DeviceConnectionStatus=device,
                  X_SubscriptionStatus=subscription, **fields)


def reason(status, word, **fields):
    return Answer(status, json.dumps({"reason": word}).encode(), Content_Type="application/json", **fields)


def google(status, word, code=None, message="", info=None, quota=None, field=None, **fields):
    """An error in Google's envelope, with the details that are named."""
    kinds = "type.googleapis.com/google."
    details = [
        {"@type": kinds + "rpc.ErrorInfo", "reason": info, "domain": "googleapis.com"} if info else None,
        {"@type": kinds + "rpc.QuotaFailure", "violations": [{"subject": quota}]} if quota else None,
        {"@type": kinds + "rpc.BadRequest", "fieldViolations": [{"field": field, "description": "x"}]} if field else None,
        {"@type": kinds + "firebase.fcm.v1.FcmError", "errorCode": code} if code else None,
    ]
    error = {"code": status, "status": word, "message": message, "details": [one for one in details if one]}
    return Answer(status, json.dumps({"error": error}).encode(), Content_Type="application/json", **fields)


def page(status, **fields):
    return Answer(status, b"<!DOCTYPE html><title>Error</title>", Content_Type="text/html", **fields)


async def fcm(hub, peer, restore):
    course = Course(hub, peer, "fcmv1")
    bystander = peer.fcmv1("bystander")
    await hub.register("fcmv1", "fcm-bystander", bystander.handle, tags=["bystander"])
    invalid, argument = "INVALID_ARGUMENT", "Request contains an invalid argument."
    no_token = "The registration token is not a valid FCM registration token"
    await asyncio.gather(
        course.ends("fcmNoToken", google(400, invalid, invalid, no_token), "BadChannel", False),
        course.ends("fcmTokenField", google(400, invalid, None, argument, field="message.token"), "BadChannel", False),
        course.ends("fcmInvalid", google(400, invalid, invalid, argument), "InvalidNotificationFormat", True),
        course.ends("fcmViolation", google(400, invalid, None, "Invalid JSON payload received.", field="message.data"),
                    "InvalidNotificationFormat", True),
        course.ends("fcmTooBig", google(400, invalid, invalid, "Message is too big"), "InvalidNotificationSize", True),
        course.ends("fcmThirdParty", google(401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR"), "InvalidCredentials", True),
        course.ends("fcmOldThirdParty", google(401, "UNAUTHENTICATED", "APNS_AUTH_ERROR"), "InvalidCredentials", True),
        course.ends("fcmMismatch", google(403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH"), "WrongToken", False),
        course.ends("fcmUnregistered", google(404, "NOT_FOUND", "UNREGISTERED"), "ExpiredChannel", False),
        course.ends("fcmPage400", page(400), "PnsInterfaceError", True),
        course.waits("fcmDeviceQuota", google(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", quota="device:1")),
        course.waits("fcm500", google(500, "INTERNAL", "INTERNAL")),
        course.waits("fcm503", google(503, "UNAVAILABLE", "UNAVAILABLE")),
        course.waits("fcm502", page(502)), course.waits("fcm504", page(504)),
        course.waits("fcmUnspecified", google(503, "UNAVAILABLE", "UNSPECIFIED_ERROR")),
        course.ends("fcm302", Answer(302, Location=f"{peer.origin}/elsewhere"), "PnsInterfaceError", True),
        course.waits("fcmPage200", page(200)), course.waits("fcmEmpty200", Answer(200)),
        course.comes_again("fcm500wait", google(500, "INTERNAL", "INTERNAL", Retry_After="1")),
    )
    checks.equal("one token is enough for all", len(peer.fcm_tokens.given), 1)
    expired = google(401, "UNAUTHENTICATED", info="ACCESS_TOKEN_EXPIRED")
    await course.renews(peer.fcm_tokens, "fcm401", expired)
    for name, answer in {
        "fcm429wait": google(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", quota="project:1", Retry_After="1"),
        "fcm503wait": google(503, "UNAVAILABLE", "UNAVAILABLE", Retry_After="1"),
    }.items():
        await course.comes_again(name, answer, bystander=bystander)
    soon = formatdate(time.time() + 2, usegmt=True)
    await course.comes_again("fcm503date", google(503, "UNAVAILABLE", "UNAVAILABLE", Retry_After=soon), least=0.5)
    await course.disbelieved(google(403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH"), "WrongToken")
    await project_quota(hub, peer, restore, bystander)
    # Quotas of a minute too, which the judge does not wait for.
    for name, answers in {
        "fcmPageQuota": [page(429)],
        "fcmQuota": [google(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED")],
        "fcmPermission": [google(403, "PERMISSION_DENIED")],
        "fcmDisabled": [google(403, "PERMISSION_DENIED", info="SERVICE_DISABLED")],
        "fcmNoProject": [google(404, "NOT_FOUND")], "fcmPage404": [page(404)],
        "fcm401twice": [google(401, "UNAUTHENTICATED", message="Request had invalid authentication credentials.")] * 2,
    }.items():
        await course.stops(name, restore, *answers)
    await token_endpoint(hub, peer, restore)
    await old_payloads(hub, peer)


async def project_quota(hub, peer, restore, bystander):
    """Used up, nobody of the project is sent anything for a minute; a new credential ends the wait, as it ends all."""
    metric = google(429, "RESOURCE_EXHAUSTED", None, "Quota exceeded for quota metric 'Send requests'",
                    info="RATE_LIMIT_EXCEEDED", Retry_After="1")
    device = peer.fcmv1("fcmProjectQuota", metric)
    await hub.register("fcmv1", "fcmProjectQuota", device.handle)
    sent = await hub.send("fcmv1", "fcmProjectQuota")
    checks.that("the quota is used up", await hub.comes_to(sent, "<State>Processing</State>"))
    before = bystander.attempts
    other = await hub.send("fcmv1", "bystander")
    await asyncio.sleep(1.5)
    checks.equal("nobody is sent anything", (device.attempts, bystander.attempts), (1, before))
    restore()
    for message in (sent, other):
        checks.that("both arrive in the end", await hub.comes_to(message, *count("Success")))


async def token_endpoint(hub, peer, restore):
    """What keeps tokens from being given: messages wait, and go where it is over."""
    device = peer.fcmv1("tokens")
    await hub.register("fcmv1", "tokens", device.handle)
    tokens = peer.fcm_tokens
    for name, answer, mends in (
        ("a refused account", Answer(400, b'{"error":"invalid_grant"}'), restore),
        ("an endpoint that asks for a wait", Answer(503, Retry_After="1"), None),
    ):
        restore()
        tokens.answers = [answer]
        before = device.attempts
        sent = await hub.send("fcmv1", "tokens")
        checks.that(f"{name}: a token is asked for", await eventually(lambda: not tokens.answers))
        checks.that(f"{name}: the message waits", await hub.comes_to(sent, "<State>Processing</State>"))
        checks.equal(f"{name}: nothing is sent without a token", device.attempts, before)
        if mends:
            mends()
        checks.that(f"{name}: it arrives in the end", await hub.comes_to(sent, *count("Success")))


async def old_payloads(hub, peer):
    """Payloads of the old API, native and from templates, go out with the credential of the new one."""
    device = peer.gcm("old")
    await hub.register("gcm", "old", device.handle)
    body = {
        "to": "x", "delay_while_idle": True, "priority": "high", "time_to_live": 60, "collapse_key": "k",
        "data": {"message": "Hi", "n": 3, "o": {"a": 1}}, "notification": {"title": "T", "android_channel_id": "c1"}}
    sent = await hub.send("gcm", "old", json.dumps(body))
    told = "<DroppedFromBody>delay_while_idle, to</DroppedFromBody>"
    checks.that("an old payload is delivered", await hub.comes_to(sent, *count("Success"), told))
    [found] = [message["body"] for message in device.messages]
    checks.equal("it arrives as a message of the new service", found, {
        "data": {"message": "Hi", "n": "3", "o": '{"a":1}'}, "notification": {"title": "T"},
        "android": {"priority": "HIGH", "ttl": "60s", "collapse_key": "k", "notification": {"channel_id": "c1"}}})
    device = peer.gcm("template")
    template = {"old": {"body": '{"data":{"m":"$(m)","n":1},"priority":"normal"}', "tags": ["template"]}}
    status, sentence = await hub.register("gcm", "template", device.handle, templates=template)
    checks.equal("an old template is taken", status, 200)
    sent = await hub.send("template", "template")
    checks.that("it is delivered", await hub.comes_to(sent, *count("Success")))
    checks.equal("it arrives", [message["body"] for message in device.messages], [
        {"data": {"m": "hi", "n": "1"}, "android": {"priority": "NORMAL"}}])
    device = peer.gcm("oldGone", google(404, "NOT_FOUND", "UNREGISTERED"))
    await hub.register("gcm", "oldGone", device.handle)
    await hub.send("gcm", "oldGone")
    checks.that("an old device that is gone is removed", await hub.drops("oldGone"))


async def wns(hub, peer, restore):
    course = Course(hub, peer, "wns")
    bystander = peer.wns("bystander")
    await hub.register("wns", "wns-bystander", bystander.handle, tags=["bystander"])
    for uri in ("https://channel.example/?token=a", "http://db5.notify.windows.com/?token=a"):
        status, sentence = await hub.register("wns", "stranger", uri)
        checks.that(f"{uri} is refused", status == 400 and "notify.windows.com" in sentence, sentence)
    await kinds(hub, peer)
    await asyncio.gather(
        course.ends("wns200", Answer(X_WNS_Status="received"), "Success", True),
        course.ends("wns200old", Answer(X_WNS_NotificationStatus="received"), "Success", True),
        course.ends("wnsDropped", Answer(X_WNS_Status="dropped"), "Dropped", True),
        course.waits("wnsThrottled", Answer(X_WNS_Status="channelthrottled")),
        course.ends("wns400", Answer(400, X_WNS_Error_Description="no type"), "InvalidNotificationFormat", True),
        course.ends("wns403", Answer(403), "WrongToken", False),
        course.ends("wns404", Answer(404), "BadChannel", False),
        course.ends("wns405", Answer(405), "PnsInterfaceError", True),
        course.ends("wns410", Answer(410), "ExpiredChannel", False),
        course.waits("wns412", Answer(412)),
        course.ends("wns413", Answer(413), "InvalidNotificationSize", True),
        course.waits("wns500", Answer(500), is_long=False),
        course.ends("wns302", Answer(302, Location=f"{peer.origin}/elsewhere"), "PnsInterfaceError", True),
        course.waits("wnsHTML", Answer(200, b"<html>", Content_Type="text/html")),
    )
    checks.equal("a redirection is not followed", peer.requests["/elsewhere"], 0)
    checks.equal("one token is enough for all", peer.requests[LIVE_PATH], 1)
    await course.renews(peer.wns_tokens, "wns401", Answer(401))
    for name, answer in {
        "wns406": Answer(406, Retry_After="1"), "wns429": Answer(429, Retry_After="1"),
        "wns503": Answer(503, Retry_After="1"), "wnsOldWait": Answer(406, X_WNS_CONTINUE_AFTER="1"),
    }.items():
        await course.comes_again(name, answer, bystander=bystander)
    await course.disbelieved(Answer(403), "WrongToken")
    await course.stops("wnsBlocked", restore, Answer(410, X_WNS_Error_Description="Domain Blocked"))
    await course.stops("wns401twice", restore, Answer(401), Answer(401))


async def kinds(hub, peer):
    device = peer.wns("kinds")
    await hub.register("wns", "kinds", device.handle)
    for kind, body in {"toast": TOAST, "tile": "<tile/>", "badge": '<badge value="1"/>', "raw": "a < b"}.items():
        headers = {"X_WNS_Type": f"wns/{kind}", "X_WNS_TTL": "60"}
        if kind == "raw":
            headers["Content_Type"] = "application/octet-stream"
        sent = await hub.send("wns", "kinds", body, **headers)
        checks.that(f"a {kind} is delivered", await hub.comes_to(sent, *count("Success")))
        found = device.messages[-1]
        checks.equal(f"a {kind} arrives", (found["x-wns-type"], found["x-wns-ttl"], found["body"].decode()),
                     (f"wns/{kind}", "60", body))


async def adm(hub, peer, restore):
    course = Course(hub, peer, "adm")
    bystander = peer.adm("amzn1.bystander")
    await hub.register("adm", "adm-bystander", bystander.handle, tags=["bystander"])
    # Enough successes that single devices are believed to be gone.
    for _ in range(5):
        checks.that("a bystander is served", await hub.comes_to(await hub.send("adm", "bystander"), *count("Success")))
    await asyncio.gather(
        *[course.ends(f"adm{word}", reason(400, word), "InvalidNotificationFormat", True) for word in (
            "InvalidData", "InvalidConsolidationKey", "InvalidExpiration", "InvalidType", "InvalidChecksum")],
        course.ends("adm200", peer.adm_result("adm200"), "Success", True),
        course.ends("admInvalidRegistrationId", reason(400, "InvalidRegistrationId"), "BadChannel", False),
        course.ends("admUnregistered", reason(400, "Unregistered"), "ExpiredChannel", False),
        course.ends("admUnknown", reason(400, "NothingYouKnow"), "PnsInterfaceError", True),
        course.ends("adm404", Answer(404), "BadChannel", False),
        course.ends("adm413", reason(413, "MessageTooLarge"), "InvalidNotificationSize", True),
        course.waits("adm500", Answer(500)), course.waits("adm503", Answer(503)),
        course.waits("admHTML", Answer(200, b"<html>")),
    )
    checks.equal("one token is enough for all", len(peer.adm_tokens.given), 1)
    await replaced(hub, peer)
    await course.renews(peer.adm_tokens, "adm401", reason(401, "AccessTokenExpired"))
    for name, answer in {
        "adm429": reason(429, "MaxRateExceeded", Retry_After="1"), "adm503wait": Answer(503, Retry_After="1"),
        "adm500wait": Answer(500, Retry_After="1"),
    }.items():
        await course.comes_again(name, answer, bystander=bystander)
    soon = formatdate(time.time() + 2, usegmt=True)
    await course.comes_again("adm429date", reason(429, "MaxRateExceeded", Retry_After=soon), least=0.5)
    await course.disbelieved(reason(400, "InvalidRegistrationId"), "BadChannel")
    refused = Answer(401, b'{"error":"invalid_client"}', Content_Type="application/json")
    peer.adm_tokens.answers = [refused, Answer(503, Retry_After="1")]
    await course.stops("adm401twice", restore, Answer(401))


async def replaced(hub, peer):
    old = peer.adm("amzn1.old", peer.adm_result("amzn1.new"))
    new = peer.adm("amzn1.new")
    await hub.register("adm", "replaced", old.handle)
    for text in ("first", "second"):
        sent = await hub.send("adm", "replaced", json.dumps({"data": {"m": text}}))
        checks.that(f"the {text} is delivered", await hub.comes_to(sent, *count("Success")))
        for _ in range(500):
            if await hub.channel("replaced") == new.handle:
                break
            await asyncio.sleep(0.02)
        checks.equal("the device has its new registration id", await hub.channel("replaced"), new.handle)
    found = [[message["body"]["data"]["m"] for message in device.messages] for device in (old, new)]
    checks.equal("the next goes to the new one", found, [["first"], ["second"]])


async def mpns(hub, peer):
    course = Course(hub, peer, "mpns")
    status, sentence = await hub.register("mpns", "stranger", "http://channel.example/a")
    checks.that("a channel elsewhere is refused", status == 400 and "notify.live.net" in sentence, sentence)
    connected, away = ("Connected", "Active"), ("Temp Disconnected", "Active")
    nothing = ("N/A", "N/A", "N/A")
    await asyncio.gather(
        course.ends("mpns200", words(200, "Received", *connected), "Success", True),
        course.ends("mpns200away", words(200, "Received", *away), "Success", True),
        course.ends("mpnsCertificate", words(200, "Received", *connected), "Success", True, authenticated=True),
        course.waits("mpnsQueueFull", words(200, "QueueFull", *connected)),
        course.ends("mpnsSuppressed", words(200, "Suppressed", *away), "Dropped", True),
        course.ends("mpns400", words(400, *nothing), "InvalidNotificationFormat", True),
        course.ends("mpns401", words(401, *nothing), "WrongToken", False),
        course.ends("mpns404", words(404, "Dropped", "Disconnected", "Expired"), "ExpiredChannel", False),
        course.ends("mpns405", words(405, *nothing), "PnsInterfaceError", True),
        course.waits("mpns406", words(406, "Dropped", *connected)),
        course.waits("mpns412", words(412, "Dropped", "Inactive", "N/A")),
        course.waits("mpns503", words(503, *nothing)),
        course.waits("mpnsHTML", Answer(200, b"<html>")),
    )
    await course.comes_again("mpns503wait", words(503, *nothing, Retry_After="1"))
    device = peer.devices["/throttledthirdparty/01.00/mpns503wait"]
    checks.equal("a message keeps its id", len({message["id"] for message in device.messages}), 1)
    for name, kind, body in (("tile", "1", PHONE_TOAST.replace("Toast", "Tile")), ("raw", "3", "a < b")):
        phone = peer.mpns(name)
        await hub.register("mpns", name, phone.handle)
        sent = await hub.send("mpns", name, body)
        checks.that(f"a {name} is delivered", await hub.comes_to(sent, *count("Success")))
        found = [(message["class"], message["body"].decode()) for message in phone.messages]
        checks.equal(f"a {name} arrives", found, [(kind, body)])
    await course.disbelieved(words(401, *nothing), "WrongToken")


async def course(binary, directory):
    peer = Peer(directory)
    data = os.path.join(directory, "data")
    key = processes.create_hub(binary, data, HUB)[RULE]

    def set_credential(service, **flags):
        options = [part for name, value in flags.items() for part in (f"--{name.replace('_', '-')}", value)]
        processes.martlet(
            binary, "hub", "credential", "set", HUB, service, "--data", data, *options, "--ca-file", peer.ca)

    def set_wns():
        tokens = peer.wns_tokens.renewed()
        set_credential("wns", package_sid=tokens.client, secret_key=tokens.secret,
                       token_endpoint=peer.origin + LIVE_PATH)

    def set_adm():
        tokens = peer.adm_tokens.renewed()
        set_credential("adm", client_id=tokens.client, client_secret=tokens.secret,
                       token_endpoint=f"{peer.origin}/auth/O2/token",
                       send_url=peer.origin + "/messaging/registrations/{0}/messages")

    def set_fcm():
        path = os.path.join(directory, "account.json")
        with open(path, "w") as file:
            json.dump(peer.fcm_tokens.renewed().file(), file)
        set_credential("fcmv1", service_account_file=path, endpoint=peer.origin)

    set_fcm()
    set_wns()
    set_adm()
    set_credential("mpns", certificate_file=peer.identity)
    server = processes.Server(binary, data, os.path.join(directory, "server.log"))
    await server.start()
    try:
        hub = Hub(server.port, key)
        await asyncio.gather(wns(hub, peer, set_wns), adm(hub, peer, set_adm), mpns(hub, peer))
        # By itself: whenever a credential is set, all platforms of the hub go on that were paused.
        await fcm(hub, peer, set_fcm)
        checks.equal("no rule was broken", peer.violations, [])
    finally:
        code, _ = await server.stop()
        checks.equal("SIGTERM ends the server with 0", code, 0)
        peer.close()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as directory:
        checks.finish(course(os.path.abspath(sys.argv[1]), os.path.realpath(directory)))


if __name__ == "__main__":
    main()
