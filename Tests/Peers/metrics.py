"""What `/metrics` serves, read by Prometheus' own parser for Python: its form, its names against Docs/Metrics.md, who may read
it, and its counts against what the simulator counts.

    metrics.py MARTLET
"""

import asyncio
import json
import os
import re
import ssl
import time
import urllib.error
import urllib.request
import xml.etree.ElementTree as ElementTree

from cryptography import x509
from prometheus_client.parser import text_string_to_metric_families

import certificates
import hub_client
import processes
from checks import Checks

checks = Checks("metrics")

DOCUMENT = os.path.join(processes.HERE, "..", "..", "Docs", "Metrics.md")
FULL = "DefaultFullSharedAccessSignature"
HUB, OTHER_HUB = "news", "other"
TOKEN = "a token that is long enough".replace(" ", "-")
WAIT = 120
BODIES = {"apple": b'{"aps":{"alert":"Hello"}}', "adm": b'{"data":{"text":"Hello"}}'}


class Scrape:
    """One answer of `/metrics`."""

    def __init__(self, text):
        self.families = {}
        self.values = {}
        for family in text_string_to_metric_families(text):
            # The parser takes the end of a counter's name away; samples have it.
            name = family.name + ("_total" if family.type == "counter" else "")
            checks.that(f"{name} is there once", name not in self.families)
            self.families[name] = family
            for sample in family.samples:
                key = (sample.name, tuple(sorted(sample.labels.items())))
                checks.that(f"{key} is there once", key not in self.values)
                self.values[key] = sample.value

    def value(self, name, **labels):
        return self.values.get((name, tuple(sorted(labels.items()))), 0)

    def total(self, name, **labels):
        wanted = set(labels.items())
        return sum(value for (found, items), value in self.values.items() if found == name and wanted <= set(items))

    def check_form(self):
        for name, family in self.families.items():
            if family.type == "histogram":
                self._check_histogram(name, family)
            elif family.type == "counter":
                checks.that(f"{name} is not negative", all(sample.value >= 0 for sample in family.samples))

    def _check_histogram(self, name, family):
        rows = {}
        for sample in family.samples:
            labels = tuple(sorted((key, value) for key, value in sample.labels.items() if key != "le"))
            rows.setdefault(labels, []).append(sample)
        for labels, samples in rows.items():
            buckets = [(float(each.labels["le"]), each.value) for each in samples if each.name == name + "_bucket"]
            [count] = [each.value for each in samples if each.name == name + "_count"]
            checks.that(f"{name} {labels}: buckets ascend", buckets == sorted(buckets) and
                        [value for _, value in buckets] == sorted(value for _, value in buckets), buckets)
            checks.equal(f"{name} {labels}: the last bucket has all", buckets[-1], (float("inf"), count))

    def check_names(self, documented):
        """By the table of the document."""
        found = {name: family.type for name, family in self.families.items()}
        checks.equal("the names and types are the documented ones", found,
                     {name: kind for name, (kind, _) in documented.items()})
        for name, family in self.families.items():
            for sample in family.samples:
                labels = set(sample.labels) - ({"le"} if sample.name.endswith("_bucket") else set())
                checks.equal(f"the labels of {sample.name}", labels, documented.get(name, ("", set()))[1])

    def check_growth_since(self, earlier):
        for key, value in earlier.values.items():
            if key[0].endswith(("_total", "_bucket", "_count", "_sum")):
                checks.that(f"{key} does not fall", self.values.get(key, -1) >= value, self.values.get(key))


def documented():
    """Kinds and labels by name."""
    rows = {}
    with open(DOCUMENT, encoding="utf-8") as document:
        for line in document:
            cells = [cell.strip() for cell in line.split("|")]
            if len(cells) == 6 and cells[2] in ("counter", "gauge", "histogram"):
                rows[cells[1].strip("`")] = (cells[2], set(re.findall(r"`(\w+)`", cells[3])))
    return rows


class Course:
    def __init__(self, binary, directory):
        self.binary, self.directory = binary, directory
        self.data = os.path.join(directory, "data")
        os.mkdir(self.data, 0o700)
        self.key = processes.create_hub(binary, self.data, HUB)[FULL]
        processes.create_hub(binary, self.data, OTHER_HUB)
        self.token_file = os.path.join(directory, "token")
        certificates.write_private(self.token_file, TOKEN.encode() + b"\n")
        self.server = processes.Server(
            binary, self.data, os.path.join(directory, "server.log"), "--simulator", "--simulator-listen",
            "127.0.0.1:0", "--metrics-token-file", self.token_file)

    # Who may read.

    def read(self, authorization=None):
        """The status, the type and the text."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.server.port}/metrics")
        if authorization:
            request.add_header("Authorization", authorization)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.headers["Content-Type"], answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers["Content-Type"], error.read().decode()

    def scrape(self):
        status, kind, text = self.read(f"Bearer {TOKEN}")
        checks.equal("the status", status, 200)
        checks.equal("the type", kind, "text/plain; version=0.0.4; charset=utf-8")
        found = Scrape(text)
        found.check_form()
        return found

    def check_readers(self):
        for sentence, authorization in (
            ("nobody", None), ("a wrong token", f"Bearer {TOKEN}x"), ("a part of it", f"Bearer {TOKEN[:-1]}"),
            ("another scheme", f"Basic {TOKEN}"), ("no token", "Bearer ")):
            status, _, text = self.read(authorization)
            checks.equal(f"{sentence} is refused", status, 401)
            checks.that(f"{sentence} is told nothing", "martlet_" not in text)
        printed = Scrape(processes.martlet(self.binary, "metrics", "--data", self.data))
        checks.equal("the admin socket tells the same names", set(printed.families), set(documented()))

    # The simulator.

    def simulator(self, method, path, body=None):
        request = urllib.request.Request(
            f"{self.simulator_origin}/simulator/{path}", method=method,
            data=None if body is None else json.dumps(body).encode(), headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, context=self.trust, timeout=60) as answer:
            content = answer.read()
            return json.loads(content) if content else None

    # The hub.

    async def call(self, method, path, fields=None, body=b"", wanted=200):
        target = f"/{HUB}/{path}?{hub_client.API_VERSION}"
        fields = {"Authorization": self.signature} | (fields or {})
        status, answered, content = await self.connection.request(method, target, fields, body)
        if status != wanted:
            raise processes.Failed(f"{method} {path} is answered {status}: {content}")
        return answered, content

    async def install(self, name, platform):
        handle = self.simulator("POST", "devices", {"platform": platform})["handle"]
        body = {"installationId": name, "platform": platform, "pushChannel": handle}
        await self.call("PUT", f"installations/{name}", {"Content-Type": "application/json"}, json.dumps(body).encode())
        return handle

    async def send(self, form, path="messages", **more):
        fields = {"ServiceBusNotification-Format": form, "Content-Type": "application/json;charset=utf-8"} | more
        answered, _ = await self.call("POST", path, fields, BODIES[form], wanted=201)
        return answered["location"].rpartition("/")[2].partition("?")[0]

    async def comes_to_its_end(self, message):
        deadline = time.monotonic() + WAIT
        while time.monotonic() < deadline:
            _, content = await self.call("GET", f"messages/{message}")
            if ElementTree.fromstring(content).findtext(f"{{{hub_client.SERVICE}}}State") == "Completed":
                return
            await asyncio.sleep(0.05)
        checks.that(f"{message} comes to its end", False)

    # The course.

    async def run(self):
        line = await self.server.start()
        self.simulator_origin = re.search(r" simulator=(\S+)", line)[1]
        self.trust = ssl.create_default_context(cafile=os.path.join(self.data, "simulator-ca.pem"))
        self.signature = hub_client.signature(hub_client.namespace_resource(self.server.port), FULL, self.key)
        self.connection = hub_client.Connection(self.server.port, timeout=60)
        names = documented()
        self.check_readers()
        before = self.scrape()
        before.check_names(names)
        self.check_credential()
        dead = [await self.install(f"phone{number}", "apns") for number in range(6)][:2]
        for number in range(4):
            await self.install(f"tablet{number}", "adm")
        rules = [{"fault": "unregistered", "handle": handle} for handle in dead]
        self.simulator("PUT", "faults", {"seed": 1, "faults": rules})
        for _ in range(3):
            await self.comes_to_its_end(await self.send("apple"))
        for _ in range(2):
            await self.comes_to_its_end(await self.send("adm"))
        later = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() + 86_400))
        await self.send("apple", "schedulednotifications", **{"ServiceBusNotification-ScheduleTime": later})
        # A count follows its record by a moment.
        deadline = time.monotonic() + WAIT
        while (after := self.scrape()).total("martlet_push_outcomes_total") < 6 + 4 + 4 + 4 + 4 \
                and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        after.check_names(names)
        after.check_growth_since(before)
        self.check_counts(after)
        await self.end()

    def check_credential(self):
        file = os.path.join(self.directory, "client.pem")
        certificates.make_client_identity(file, "com.example.news")
        processes.martlet(self.binary, "hub", "credential", "set", OTHER_HUB, "apns", "--certificate-file", file,
                          "--topic", "com.example.news", "--data", self.data)
        with open(file, "rb") as pem:
            end = x509.load_pem_x509_certificate(pem.read()).not_valid_after_utc.timestamp()
        found = self.scrape().value("martlet_credential_expiry_seconds", hub=OTHER_HUB, platform="apns")
        checks.that("a certificate's end is told", abs(found - (end - time.time())) < 60, found)

    def check_counts(self, found):
        counters = self.simulator("GET", "counters")
        apns, adm = counters["apns"], counters["adm"]
        tokens = adm.get("tokens.200", 0)
        checks.equal("immediate", found.value("martlet_notifications_accepted_total", timing="immediate"), 5)
        checks.equal("scheduled", found.value("martlet_notifications_accepted_total", timing="scheduled"), 1)
        attempts = "martlet_push_attempts_total"
        checks.equal("attempts at APNs", found.value(attempts, platform="apns"), apns["requests"])
        checks.equal("attempts at ADM", found.value(attempts, platform="adm"), adm["requests"] - tokens)
        outcomes = "martlet_push_outcomes_total"
        checks.equal("successes at APNs", found.value(outcomes, platform="apns", outcome="Success"), apns["accepted"])
        checks.equal("successes at ADM", found.value(outcomes, platform="adm", outcome="Success"), adm["accepted"])
        checks.equal("dead tokens", found.value(outcomes, platform="apns", outcome="ExpiredChannel"), 2)
        checks.equal("all outcomes", found.total(outcomes), 6 + 4 + 4 + 4 + 4)
        renewals = "martlet_token_renewals_total"
        checks.equal("tokens of ADM", found.value(renewals, platform="adm", result="succeeded"), tokens)
        checks.that("a token was asked for", tokens >= 1)
        checks.equal("tokens of APNs", found.value(renewals, platform="apns", result="succeeded"), 1)
        latency = "martlet_accept_to_wire_seconds_count"
        checks.equal("pages at APNs", found.value(latency, platform="apns"), 3)
        checks.equal("pages at ADM", found.value(latency, platform="adm"), 2)
        checks.that("there is a connection to APNs", found.value("martlet_push_connections", platform="apns") >= 1)
        checks.equal("nothing is unfinished", found.value("martlet_deliveries_unfinished"), 0)
        checks.equal("nothing is old", found.value("martlet_delivery_oldest_age_seconds"), 0)
        checks.that("the database has memory", found.value("martlet_database_memory_bytes") > 0)
        checks.that("the database has a size", found.value("martlet_database_bytes", file="database") > 0)
        checks.that("there were commits", found.value("martlet_database_commit_seconds_count") >= 10)
        checks.that("loops were busy", found.total("martlet_loop_busy_seconds_total") > 0)
        checks.that("sends were counted", found.value("martlet_http_requests_total", area="hub", code="2xx") >= 16)
        checks.equal("refusals were counted", found.value("martlet_http_requests_total", area="metrics", code="4xx"), 5)
        self.check_process(found)

    def check_process(self, found):
        process = self.server.process.pid
        with open(f"/proc/{process}/statm", encoding="ascii") as statm:
            resident = int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        told = found.value("process_resident_memory_bytes")
        checks.that("the memory is the process's", resident / 2 < told < resident * 2, (told, resident))
        checks.that("it began a while ago", 0 < time.time() - found.value("process_start_time_seconds") < 3600)
        checks.that("files are open", 10 < found.value("process_open_fds") <= found.value("process_max_fds"))
        checks.that("it has worked", found.value("process_cpu_seconds_total") > 0)

    async def end(self):
        self.connection.close()
        code, _ = await self.server.stop()
        checks.equal("SIGTERM ends the server with 0", code, 0)


if __name__ == "__main__":
    checks.finish_on_a_server(Course)
