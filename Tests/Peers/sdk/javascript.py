"""Every operation of the JavaScript SDK, which has no management of hubs, in its own form and read as it reads."""

import json

from sdk import javascript_reader
from sdk.course import LISTEN
from sdk.java_hub import AUTH, JSON_TEMPLATE, MPNS_TEMPLATE, P256DH, TOAST_TEMPLATE
from sdk.javascript_hub import ATOM, JavaScriptHub, registration_xml
from sdk.javascript_sends import JavaScriptSends
from sdk.jobs import Jobs
from sdk.transport import component_encoded


class JavaScriptCourse:
    """Every operation of the JavaScript client, which has no management of hubs."""

    handles = {
        "Apple": {"DeviceToken": "bb11" * 16},
        "Windows": {"ChannelUri": "https://db5.notify.windows.com/?token=A%2bB&x=1"},
        "Gcm": {"GcmRegistrationId": "js-gcm:APA91"}, "FcmV1": {"FcmV1RegistrationId": "js-fcm:APA91"},
        "Mpns": {"ChannelUri": "http://db3.notify.live.net/throttledthirdparty/01.00/JS"},
        "Adm": {"AdmRegistrationId": "amzn1.adm-registration.v2.js"},
        "Baidu": {"BaiduChannelId": "8822", "BaiduUserId": "7711"},
        "Browser": {"Endpoint": "https://push.example/js?x=1", "Auth": AUTH, "P256DH": P256DH},
        "Xiaomi": {"XiaomiRegistrationId": "js/xiaomi+id="},
    }

    def __init__(self, place, hub):
        self.place, self.sdk = place, JavaScriptHub(place, hub)

    def run(self):
        self.registrations()
        self.listings()
        self.installations()
        self.refusals()
        JavaScriptSends(self.place, self.sdk).run()
        Jobs(self.place, self.sdk, "bb").run()

    def registrations(self):
        for kind, handle in self.handles.items():
            for form in ("", "Template"):
                self._round(kind, form, handle)
        sdk = self.sdk
        fields = {"Content-Type": "application/xml;type=entry;charset=utf-8"}
        answer = sdk.call("createRegistrationId", "POST", "/registrationIDs", fields)
        sdk.expect("a new registration id", answer, 201)
        identifier = sdk.third("a new registration id", answer)
        xml = registration_xml("Apple", {"DeviceToken": "BB12" * 16})
        put = sdk.call("createOrUpdateRegistration", "PUT", f"/registrations/{identifier}", ATOM, xml)
        if sdk.expect("an upsert", put, 200, 201):
            made = sdk.read("an upsert", javascript_reader.registration, put)
            sdk.equal("the id stays", made.get("registrationId"), identifier)
        for match, status in (('"7"', 412), ('"1"', 200), ("*", 404)):
            answer = sdk.call(
                "deleteRegistration", "DELETE", f"/registrations/{identifier}", ATOM | {"If-Match": match})
            sdk.expect(f"a deletion of {match}", answer, status)

    def _round(self, kind, form, handle):
        sdk, sentence = self.sdk, f"a registration of {kind}{form}"
        template = {"Windows": TOAST_TEMPLATE, "Mpns": MPNS_TEMPLATE}.get(kind, JSON_TEMPLATE) if form else None
        headers = {
            "Apple": {"apns-push-type": "alert", "apns-priority": "5"},
            "Windows": {"X-WNS-Type": "wns/toast", "X-WNS-Tag": "t & u"},
            "Mpns": {"X-NotificationClass": "2", "X-WindowsPhone-Target": "toast"},
        }.get(kind) if form else None
        name = "js-template" if form else None
        variables = {"lang": "<de>"} if form else None
        xml = registration_xml(kind + form, handle, ["js", "K:" + kind], template, name, headers, variables)
        answer = sdk.call("createRegistration", "POST", "/registrations", ATOM, xml)
        if not sdk.expect(sentence, answer, 200, 201):
            return
        made = sdk.read(sentence, javascript_reader.registration, answer)
        if not made:
            return
        wanted = {"kind": kind + form, "etag": "1", "tags": {"js", "K:" + kind}} | handle
        if form:
            wanted |= {"bodyTemplate": template, "templateName": name}
            wanted |= {"headers": headers} if headers else {}
            sdk.equal(f"{sentence} has its variables", json.loads(made["pushVariables"] or "null"), variables)
        sdk.equal(f"{sentence} is as it was sent", {one: made.get(one) for one in wanted}, wanted)
        path = f"/registrations/{made['registrationId']}"
        changed = registration_xml(kind + form, handle, ["js", "js-changed"], template, name, headers)
        for operation, match, status in (("update", '"1"', 200), ("update", '"1"', 412), ("update", "*", 200)):
            answer = sdk.call(f"{operation}Registration", "PUT", path, ATOM | {"If-Match": match}, changed)
            sdk.expect(f"updating {sentence} of {match}", answer, status)
        read = sdk.call("getRegistration", "GET", path)
        if sdk.expect(f"reading {sentence}", read, 200):
            found = sdk.read(f"what is read of {sentence}", javascript_reader.registration, read)
            read = found.get("etag"), found.get("tags")
            sdk.equal(f"{sentence} was updated twice", read, ("3", {"js", "js-changed"}))

    def listings(self):
        sdk = self.sdk
        everything = sdk.pages("listRegistrations", "/registrations", 4)
        sdk.equal("all registrations are listed once", len({one["registrationId"] for one in everything}), 18)
        sdk.equal("and no other", len(everything), 18)
        sdk.equal("by tag", len(sdk.pages("listRegistrationsByTag", "/tags/js-changed/registrations", 5)), 18)
        endpoint = component_encoded("https://push.example/js?x=1")
        channel = component_encoded(self.handles["Windows"]["ChannelUri"])
        for kind, text in {
            "Apple": f"DeviceToken eq '{'BB11' * 16}'", "Gcm": "GcmRegistrationId eq 'js-gcm:APA91'",
            "FcmV1": "FcmV1RegistrationId eq 'js-fcm:APA91'",
            "Adm": "AdmRegistrationId eq 'amzn1.adm-registration.v2.js'",
            "Windows": f"ChannelUri eq '{channel}'",
            "Browser": f"Endpoint eq '{endpoint}' and P256DH eq '{P256DH}' and Auth eq '{AUTH}'",
            "Baidu": "BaiduChannelId eq 8822' and BaiduUserId eq '7711'",
            "Xiaomi": "XiaomiRegistrationId eq 'js/xiaomi+id='",
        }.items():
            found = sdk.pages("listRegistrationsByChannel", "/registrations", 10, **{"$filter": text})
            kinds = {one["kind"] for one in found}
            sdk.equal(f"the registrations by the channel of {kind}", kinds, {kind, f"{kind}Template"})
        nothing = sdk.pages("listRegistrationsByChannel", "/registrations", 10, **{"$filter": "DeviceToken eq 'CC'"})
        sdk.equal("no registration of an unknown channel", nothing, [])

    def installations(self):
        sdk = self.sdk
        browser = {"endpoint": "https://push.example/inst", "p256dh": P256DH, "auth": AUTH}
        for platform, channel in {
            "apns": "bb15" * 16, "wns": "https://db5.notify.windows.com/?token=js", "adm": "amzn1.js",
            "baidu": "js-baidu", "gcm": "js-gcm", "fcmv1": "js-fcm", "xiaomi": "js-xiaomi", "browser": browser,
        }.items():
            sentence, path = f"an installation of {platform}", f"/installations/js-{platform}"
            content = {
                "installationId": f"js-{platform}", "platform": platform, "pushChannel": channel, "tags": ["a"],
                "userId": "js-user", "pushVariables": {"lang": "en"},
                "templates": {"news": {"body": TOAST_TEMPLATE if platform == "wns" else JSON_TEMPLATE}},
            }
            if platform == "wns":
                content["templates"]["news"]["headers"] = {"X-WNS-Type": "wns/toast"}
                content["secondaryTiles"] = {"tile": {"pushChannel": channel + "2", "tags": ["tiled"], "templates": {}}}
            fields = {"Content-Type": "application/json"}
            put = sdk.call("createOrUpdateInstallation", "PUT", path, fields, json.dumps(content).encode())
            if not sdk.expect(f"putting {sentence}", put, 200):
                continue
            patches = [
                {"op": "add", "path": "/tags", "value": "b"}, {"op": "replace", "path": "/userId", "value": "other"},
                {"op": "add", "path": "/templates/more", "value": content["templates"]["news"]},
                {"op": "replace", "path": "/pushVariables/lang", "value": "fr"},
            ]
            patch = sdk.call("updateInstallation", "PATCH", path, fields, json.dumps(patches).encode())
            sdk.expect(f"patching {sentence}", patch, 200)
            answer = sdk.call("getInstallation", "GET", path)
            if sdk.expect(f"reading {sentence}", answer, 200):
                read = json.loads(answer.body)
                sdk.equal(f"{sentence} has its channel", read.get("pushChannel"), channel)
                found = sorted(read.get("tags", [])), read.get("userId"), read.get("pushVariables")
                sdk.equal(f"{sentence} was patched", found, (["a", "b"], "other", {"lang": "fr"}))
                sdk.equal(f"{sentence} has its templates", sorted(read["templates"]), ["more", "news"])
                if platform == "wns":
                    sdk.equal(f"{sentence} has its tile", read["secondaryTiles"]["tile"]["pushChannel"], channel + "2")
            tag = f"%24InstallationId%3A%7Bjs-{platform}%7D"
            listed = sdk.pages("listRegistrationsByTag", f"/tags/{tag}/registrations", 20)
            sdk.equal(f"{sentence} has its rows", len(listed), 4 if platform == "wns" else 3)
            if listed:
                sdk.that(f"{sentence} stands in their tags", all(
                    {f"$InstallationId:{{js-{platform}}}", "$UserId:{other}", "a", "b"} <= one["tags"]
                    for one in listed if "tiled" not in one["tags"]), [one["tags"] for one in listed])
            sdk.expect(f"deleting {sentence}", sdk.call("deleteInstallation", "DELETE", path), 204)
        sdk.refused("reading no installation", sdk.call("getInstallation", "GET", "/installations/none"), 404)

    def refusals(self):
        sdk = self.sdk
        listener = JavaScriptHub(self.place, sdk.hub, LISTEN)
        answer = listener.call("listRegistrations", "GET", "/registrations")
        listener.expect("listing all with the key of listeners", answer, 403)
        text = f"DeviceToken eq '{'BB11' * 16}'"
        channel = listener.call("listRegistrations", "GET", "/registrations", **{"$filter": text})
        listener.expect("listing by channel with the key of listeners", channel, 200)
        listener.key = "d3Jvbmc="
        wrong = listener.call("listRegistrations", "GET", "/registrations")
        sdk.refused("a wrong key", wrong, 401, "InvalidSignature")
        sdk.refused("an unknown message", sdk.call("getNotificationOutcomeDetails", "GET", "/messages/1-2-3"), 404)
        fields = {"Content-Type": "application/json"}
        patch = sdk.call("updateInstallation", "PATCH", "/installations/none", fields, b"[]")
        sdk.refused("patching no installation", patch, 404)
