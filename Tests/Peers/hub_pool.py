"""Many requests to one hub at a time, for the judges that load a server: a few connections that take turns."""

import asyncio
import time
import xml.etree.ElementTree as ElementTree

import hub_client
import simulators

FULL = "DefaultFullSharedAccessSignature"
LIFETIME = 30 * 24 * 3600  # of signatures, which outlives any clock


class Refused(Exception):
    """The hub answered with another status than the one that was wanted."""


class HubPool:
    def __init__(self, port, hub, key, connections=8):
        self._hub = hub
        self._connections = [hub_client.Connection(port, timeout=60) for _ in range(connections)]
        self._free = asyncio.Queue()
        for connection in self._connections:
            self._free.put_nowait(connection)
        self._token = hub_client.signature(hub_client.namespace_resource(port), FULL, key, lifetime=LIFETIME)

    async def call(self, method, path, fields=None, body=b"", wanted=200):
        """The fields and the body of an answer that must have the wanted status."""
        connection = await self._free.get()
        try:
            target = f"/{self._hub}/{path}?{hub_client.API_VERSION}"
            fields = {"Authorization": self._token} | (fields or {})
            status, answered, content = await connection.request(method, target, fields, body)
        finally:
            self._free.put_nowait(connection)
        if status != wanted:
            raise Refused(f"{method} {path} is answered {status}: {content[:300]!r}")
        return answered, content

    async def install(self, name, service, handle, tags):
        body = simulators.installation(name, service, handle, tags)
        await self.call("PUT", f"installations/{name}", {"Content-Type": "application/json"}, body)

    async def uninstall(self, name):
        await self.call("DELETE", f"installations/{name}", wanted=204)

    async def is_installed(self, name):
        """Whether messages still go to the device."""
        try:
            _, content = await self.call("GET", f"installations/{name}")
        except Refused:
            return False
        return b'"pushChannelExpired":true' not in content.replace(b" ", b"")

    async def send(self, service, tags, key, due=None):
        """The id of a notification that carries the key's word."""
        form, kind, _ = simulators.FORMS[service]
        fields = {"ServiceBusNotification-Format": form, "ServiceBusNotification-Tags": tags, "Content-Type": kind}
        path = "messages"
        if due is not None:
            path = "schedulednotifications"
            moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(due))
            fields["ServiceBusNotification-ScheduleTime"] = f"{moment}.{int(due % 1 * 1000):03d}Z"
        answered, _ = await self.call("POST", path, fields, simulators.body(service, key), 201)
        return answered.get("location", "").rpartition("/")[2].partition("?")[0]

    async def report(self, message):
        """The state of a notification and its counts by outcome."""
        _, content = await self.call("GET", f"messages/{message}")
        root, counts = ElementTree.fromstring(content), {}
        for outcome in root.iter(f"{{{hub_client.SERVICE}}}Outcome"):
            name = outcome.findtext(f"{{{hub_client.SERVICE}}}Name")
            counts[name] = counts.get(name, 0) + int(outcome.findtext(f"{{{hub_client.SERVICE}}}Count"))
        return root.findtext(f"{{{hub_client.SERVICE}}}State"), counts

    def close(self):
        for connection in self._connections:
            connection.close()
