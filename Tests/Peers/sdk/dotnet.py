"""Every operation of the .NET SDK 4, in its own form and read as it reads: by data contracts, whose order binds."""

import datetime
import json
import re
from urllib.parse import quote

from sdk import documents, dotnet_reader
from sdk.course import FULL, LISTEN
from sdk.dotnet_hub import INSTANCE, SERVICE, VERSION, DotNetHub, escaped, registration_xml
from sdk.dotnet_sends import DotNetSends
from sdk.java_hub import AUTH, JSON_TEMPLATE, MPNS_TEMPLATE, P256DH, TOAST_TEMPLATE
from sdk.jobs import Jobs

TILE = "https://db5.notify.windows.com/?token=net-tile"


class DotNetCourse:
    """Every operation of `NotificationHubClient` and `NamespaceManager`."""

    handles = {
        "Apple": {"DeviceToken": "CC11" * 16},
        "Windows": {"ChannelUri": "https://db5.notify.windows.com/?token=N%2bN&x=1"},
        "Gcm": {"GcmRegistrationId": "net-gcm:APA91"}, "FcmV1": {"FcmV1RegistrationId": "net-fcm:APA91"},
        "Mpns": {"ChannelUri": "http://db3.notify.live.net/throttledthirdparty/01.00/NET"},
        "Adm": {"AdmRegistrationId": "amzn1.adm-registration.v2.net"},
        "Baidu": {"BaiduUserId": "5511", "BaiduChannelId": "6622"},
    }

    def __init__(self, place, hub):
        self.place, self.sdk = place, DotNetHub(place, hub)

    def run(self):
        self.registrations()
        self.identities()
        self.listings()
        self.installations()
        self.management()
        self.refusals()
        DotNetSends(self.place, self.sdk).run()
        Jobs(self.place, self.sdk, "cc").run()

    def registrations(self):
        for kind, handle in self.handles.items():
            for form in ("", "Template"):
                self._round(kind, form, handle)

    def _round(self, kind, form, handle):
        sdk, sentence = self.sdk, f"a registration of {kind}{form}"
        template = {"Windows": TOAST_TEMPLATE, "Mpns": MPNS_TEMPLATE}.get(kind, JSON_TEMPLATE) if form else None
        headers = {
            "Windows": {"X-WNS-Type": "wns/toast", "X-WNS-Tag": "t & u"},
            "Mpns": {"X-NotificationClass": "2", "X-WindowsPhone-Target": "toast"}, "Apple": {"apns-priority": "5"},
        }.get(kind) if form else None
        name, variables = ("net-template", {"lang": "<de>"}) if form else (None, None)
        more = (template, name, headers)
        xml = registration_xml(kind + form, handle, ["net", f"K:{kind}"], *more, variables=variables)
        answer = sdk.write("POST", "/registrations", xml)
        if not sdk.expect(sentence, answer, 200, 201):
            return
        made = sdk.read(sentence, dotnet_reader.registration, answer)
        if not made:
            return
        wanted = {"kind": kind + form, "ETag": "1", "Tags": {"net", f"K:{kind}"}} | handle
        wanted |= {"BodyTemplate": template, "TemplateName": name} if form else {}
        sdk.equal(f"{sentence} is as it was sent", {one: made.get(one) for one in wanted}, wanted)
        if variables:
            sdk.equal(f"{sentence} has its variables", json.loads(made.get("PushVariables") or "null"), variables)
        plural = {"Apple": "ApnsHeaders", "Windows": "WnsHeaders", "Mpns": "MpnsHeaders"}.get(kind)
        if headers:
            found = {one["Header"]: one["Value"] for one in made.get(plural) or []}
            sdk.equal(f"{sentence} has its headers", found, headers)
        path = f"/registrations/{made['RegistrationId']}"
        changed = registration_xml(kind + form, handle, ["net", "net-changed"], *more, etag="1")
        for match, status in (('"1"', 200), ('"1"', 412), ("*", 200)):
            sdk.expect(f"updating {sentence} of {match}", sdk.write("PUT", path, changed, {"If-Match": match}), status)
        read = sdk.call("GET", path)
        if sdk.expect(f"reading {sentence}", read, 200):
            found = sdk.read(f"what is read of {sentence}", dotnet_reader.registration, read)
            sdk.equal(f"{sentence} was updated", (found.get("ETag"), found.get("Tags")), ("3", {"net", "net-changed"}))

    def identities(self):
        sdk = self.sdk
        answer = sdk.call("POST", "/registrationids")
        sdk.expect("a new registration id", answer, 201)
        identifier = sdk.segment("a new registration id", answer)
        sdk.field("a new registration id", answer, "location", sdk.address("registrationids", identifier))
        path = f"/registrations/{identifier}"
        xml = registration_xml("Apple", {"DeviceToken": "CC12" * 16}, ["net"])
        missing = sdk.call("GET", path)
        sdk.expect("whether an id that is new exists", missing, 404)
        put = sdk.write("PUT", path, xml, waits=True)
        if sdk.expect("an upsert behind a 100", put, 200, 201):
            made = sdk.read("an upsert", dotnet_reader.registration, put)
            sdk.equal("the id stays", made.get("RegistrationId"), identifier)
        # A deletion by id quotes the star.
        sdk.expect("a deletion", sdk.call("DELETE", path, {"If-Match": '"*"'}), 200)
        sdk.refused("a deletion of nothing", sdk.call("DELETE", path, {"If-Match": '"*"'}), 404)

    def listings(self):
        sdk = self.sdk
        # Another client's: .NET has no class that reads it, and its whole list would be lost.
        handle = {"Endpoint": "https://push.example/n", "P256DH": P256DH, "Auth": AUTH}
        browser = registration_xml("Browser", handle, ["net"])
        sdk.expect("a browser beside", sdk.write("POST", "/registrations", browser), 200)
        everything = sdk.pages("/registrations", 4)
        kinds = [kind + form for kind in self.handles for form in ("", "Template")]
        sdk.equal("the list has what .NET can read", sorted(one["kind"] for one in everything), sorted(kinds))
        sdk.equal("ids are there once", len({one["RegistrationId"] for one in everything}), len(kinds))
        sdk.equal("by tag", len(sdk.pages("/tags/net-changed/registrations", 5)), len(kinds))
        sdk.equal("by no tag", sdk.pages("/tags/nobody/registrations", 100), [])
        for kind, handles in self.handles.items():
            if kind != "Baidu":
                found = {one["kind"] for one in sdk.by_channel(*handles.values())}
                sdk.equal(f"the registrations by the channel of {kind}", found, {kind, f"{kind}Template"})
        sdk.equal("no registration of an unknown channel", sdk.by_channel("none"), [])

    def installations(self):
        browser = json.dumps({"endpoint": "https://push.example/net", "p256dh": P256DH, "auth": AUTH})
        for platform, channel in {
            "apns": "cc15" * 16, "wns": "https://db5.notify.windows.com/?token=net",
            "mpns": "http://db3.notify.live.net/net",
            "adm": "amzn1.net", "gcm": "net-gcm", "fcmV1": "net-fcm", "baidu": "1-2", "browser": browser,
        }.items():
            self._installation(platform, channel)

    def _installation(self, platform, channel):
        sdk, sentence, path = self.sdk, f"an installation of {platform}", f"/installations/net-{platform}"
        template = {"body": TOAST_TEMPLATE if platform in ("wns", "mpns") else JSON_TEMPLATE, "tags": ["t1"]}
        template |= {"wns": {"headers": {"X-WNS-Type": "wns/toast"}}, "mpns": {"headers": {"X-NotificationClass": "2"}},
                     "apns": {"expiry": "2099-01-01T00:00:00Z"}}.get(platform, {})
        expiry = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=80)).replace(microsecond=0)
        content = {
            "installationId": f"net-{platform}", "userId": "net-user", "platform": platform, "pushChannel": channel,
            "pushChannelExpired": None, "expirationTime": expiry.strftime("%Y-%m-%dT%H:%M:%S.1234567Z"),
            "tags": ["a", "b"], "pushVariables": {"lang": "en"}, "templates": {"news": template},
        }
        if platform == "wns":
            tile = {"pushChannel": TILE, "tags": ["tiled"], "templates": {"news": template}}
            content["secondaryTiles"] = {"tile": tile}
        body = json.dumps(content).encode()
        put = sdk.call("PUT", path, {"Content-Type": "application/json; charset=utf-8"}, body)
        if not sdk.expect(f"putting {sentence}", put, 200):
            return
        operations = [
            {"op": "add", "path": "/tags/c", "value": "c"}, {"op": "remove", "path": "/tags/a", "value": None},
            {"op": "replace", "path": "/userId", "value": "other"},
            {"op": "add", "path": "/pushVariables/x", "value": "y"},
            {"op": "add", "path": "/templates/more", "value": json.dumps(template)},
            {"op": "remove", "path": "/templates/news", "value": None},
        ]
        fields = {"Content-Type": "application/json-patch+json; charset=utf-8"}
        sdk.expect(f"patching {sentence}", sdk.call("PATCH", path, fields, json.dumps(operations).encode()), 200)
        answer = sdk.call("GET", path)
        if sdk.expect(f"reading {sentence}", answer, 200):
            read = json.loads(answer.body)
            found = {name: read.get(name) for name in ("pushChannel", "userId", "pushVariables")}
            wanted = {"pushChannel": channel, "userId": "other", "pushVariables": {"lang": "en", "x": "y"}}
            sdk.equal(f"{sentence} was patched", found, wanted)
            sdk.equal(f"{sentence} has its tags", sorted(read["tags"]), ["b", "c"])
            sdk.equal(f"{sentence} has its templates", list(read["templates"]), ["more"])
            sdk.equal(f"{sentence} has its platform", read["platform"].lower(), platform.lower())
            sdk.equal(f"{sentence} expires as it said", documents.xsd_time(read["expirationTime"]), expiry)
        if platform != "browser":
            tag = quote(f"$InstallationId:{{net-{platform}}}", safe="$:")
            rows = sdk.pages(f"/tags/{tag}/registrations", 100)
            sdk.equal(f"{sentence} has its rows", len(rows), 4 if platform == "wns" else 2)
        sdk.expect(f"deleting {sentence}", sdk.call("DELETE", path), 204)
        sdk.refused(f"whether {sentence} exists", sdk.call("GET", path), 404, "Installation not found")

    def management(self):
        """`NamespaceManager`: no `Content-Type`, and its list is read by the titles of a feed."""
        sdk, (rule, key) = self.sdk, self.place.namespace

        def call(method, target, headers=None, body=None):
            return sdk.request(method, target, {"x-ms-version": "2020-06"} | (headers or {}), body, rule, key)

        created = call("PUT", f"/net-made?{VERSION}", None, description('<RegistrationTtl>P90D</RegistrationTtl>'))
        if sdk.expect("creating a hub", created, 200, 201):
            read = sdk.read("the hub that was created", dotnet_reader.hub, created)
            sdk.equal("a hub has its name", read and read[0], "net-made")
            found = [one["KeyName"] for one in read[1]["AuthorizationRules"]] if read else []
            sdk.equal("a hub has its rules", found, [LISTEN, FULL])
        sdk.refused("creating it again", call("PUT", f"/net-made?{VERSION}", None, description("")), 409)
        read = call("GET", f"/net-made?{VERSION}")
        if sdk.expect("reading a hub", read, 200):
            found = sdk.read("a hub", dotnet_reader.hub, read)
            sdk.equal("a hub has its duration", found and found[1].get("RegistrationTtl"), "P90D")
            inner = re.search("<NotificationHubDescription[^>]*>(.*)</NotificationHubDescription>", read.text)[1]
            updated = call("PUT", f"/net-made?{VERSION}", {"If-Match": "*"}, description(inner))
            if sdk.expect("writing back what was read", updated, 200, 201):
                again = sdk.read("what was written back", dotnet_reader.hub, updated)
                sdk.equal("it is the same", again and again[1].get("AuthorizationRules") and [
                    (one["KeyName"], one["PrimaryKey"]) for one in again[1]["AuthorizationRules"]], [
                    (one["KeyName"], one["PrimaryKey"]) for one in found[1]["AuthorizationRules"]])
        listed = call("GET", "/")
        if sdk.expect("listing hubs", listed, 200):
            names = [entry.child("title").text for entry in documents.parse(listed.body).all("entry")]
            sdk.that("the hubs are listed", {"net-made", sdk.hub} <= set(names), names)
        self._own_hub_written_back(call)
        sdk.expect("deleting a hub", call("DELETE", f"/net-made?{VERSION}"), 200)
        gone = call("GET", f"/net-made?{VERSION}")
        sdk.expect("whether no hub exists", gone, 404)

    def _own_hub_written_back(self, call):
        """A manager that reads a hub, changes something and updates it must not take its credentials away."""
        read = call("GET", f"/{self.sdk.hub}?{VERSION}")
        if not self.sdk.expect("reading a hub with a credential", read, 200):
            return
        path, found = self.sdk.read("a hub with a credential", dotnet_reader.hub, read)
        pairs = "".join(
            f"<Property><Name>{one['Name']}</Name><Value>{escaped(one['Value'])}</Value></Property>"
            for one in found["ApnsCredential"]["Properties"])
        content = f"<ApnsCredential><Properties>{pairs}</Properties></ApnsCredential>"
        content += "<UserMetadata>of .NET</UserMetadata>"
        updated = call("PUT", f"/{path}?{VERSION}", {"If-Match": "*"}, description(content))
        if self.sdk.expect("updating a hub with a credential", updated, 200, 201):
            after = self.sdk.read("a hub that was updated", dotnet_reader.hub, updated)
            self.sdk.equal("an update is there", after and after[1].get("UserMetadata"), "of .NET")

    def refusals(self):
        sdk = self.sdk
        listener = DotNetHub(self.place, sdk.hub, LISTEN)
        listener.expect("a send with the key of listeners", listener.send("apple", "{}"), 403)
        listener.key = "d3Jvbmc="
        sdk.refused("a wrong key", listener.call("GET", "/registrations"), 401, "InvalidSignature")
        sdk.refused("an unknown registration", sdk.call("GET", "/registrations/1-2-3"), 404, "")


def description(content):
    return (
        '<?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom">'
        '<content type="application/xml">'
        f'<NotificationHubDescription xmlns:i="{INSTANCE}" xmlns="{SERVICE}">{content}</NotificationHubDescription>'
        "</content></entry>"
    ).encode()
