"""Import and export as every SDK has them: a file of lines in a container, a job, and the files that it leaves."""

from urllib.parse import urlsplit

from sdk import documents, dotnet_reader
from sdk.course import eventually
from sdk.documents import INSTANCE, SERVICE
from sdk.transport import HTTP1

ENTRY = "application/atom+xml; type=entry; charset=utf-8"
FEED = "application/atom+xml; type=feed; charset=utf-8"


class Container:
    """A container behind its signed URL, used with the plain verbs of blob services."""

    def __init__(self, place, url):
        self._connection = HTTP1(place.port, place.authority)
        self.path, self.query = urlsplit(url).path, urlsplit(url).query
        self._origin = f"https://127.0.0.1:{place.port}"

    @property
    def url(self):
        return f"{self._origin}{self.path}?{self.query}"

    def blob(self, name):
        return f"{self._origin}{self.path}/{name}?{self.query}"

    def put(self, name, content):
        return self._connection.request(
            "PUT", f"{self.path}/{name}?{self.query}", {"x-ms-blob-type": "BlockBlob"}, content)

    def list(self):
        return self._connection.request("GET", f"{self.path}?{self.query}&restype=container&comp=list", {})

    def get_whole(self):
        """What the URL itself names."""
        return self._connection.request("GET", f"{self.path}?{self.query}", {})

    def get(self, name):
        return self._connection.request("GET", f"{self.path}/{name}?{self.query}", {})


def line(root, content, kind=None):
    """A registration as .NET serialises it into a file."""
    typed = f' i:type="{kind}"' if kind else ""
    return f'<{root} xmlns:i="{INSTANCE}"{typed} xmlns="{SERVICE}">{content}</{root}>'


class Jobs:
    """A course of jobs; how an SDK writes and reads one is the SDK's: `submit_job`, `job_at`, `job_list`, `as_job`."""

    def __init__(self, place, sdk, mark):
        self.sdk, self.mark = sdk, mark
        self.container = Container(place, place.containers[sdk.hub])

    def run(self):
        token = f"{self.mark}31" * 16
        lines = [
            line("AppleRegistrationDescription", f"<Tags>imported</Tags><DeviceToken>{token}</DeviceToken>"),
            line("RegistrationDescription", f"<Tags>imported</Tags><FcmV1RegistrationId>{self.mark}-imported"
                 "</FcmV1RegistrationId>", "FcmV1RegistrationDescription"),
            line("AppleRegistrationDescription", "<DeviceToken>this is no token</DeviceToken>"),
            line("AppleTemplateRegistrationDescription", f"<DeviceToken>{token}</DeviceToken>"
                 '<BodyTemplate><![CDATA[{"aps":]]>&#10;<![CDATA[{"alert":"$(a)"}}]]></BodyTemplate>'),
        ]
        put = self.container.put("import.txt", "\r\n".join(lines).encode())
        self.sdk.expect("a blob that is put", put, 201)
        imported = self._job("ImportCreateRegistrations", self.container.blob("import.txt"))
        if imported:
            output, failed = (self._file(imported, name) for name in ("OutputFilePath", "FailedFilePath"))
            self.sdk.equal("three lines are imported", [row.split("\t")[0] for row in output], ["1", "2", "4"])
            self.sdk.equal("one line is refused", [row.split("\t")[0] for row in failed], ["3"])
        exported = self._job("ExportRegistrations")
        if exported:
            rows = self._file(exported, "OutputFilePath")
            found = [self._registration(row) for row in rows]
            tokens = [one.get("DeviceToken") for one in found if one]
            self.sdk.equal("what was imported is exported", tokens.count(token), 2)
            bodies = [one.get("BodyTemplate") for one in found if one]
            self.sdk.that("a line break stays", '{"aps":\n{"alert":"$(a)"}}' in bodies, rows)
        answer = self.sdk.job_list()
        if self.sdk.expect("a list of jobs", answer, 200):
            self.sdk.field("a list of jobs", answer, "content-type", FEED)
            found = [self.sdk.as_job(one) for one in self.sdk.read("a list of jobs", self.sdk.jobs_reader, answer)]
            wanted = {job["id"] for job in (imported, exported) if job}
            self.sdk.that("the jobs are listed", wanted <= {one["id"] for one in found}, found)
        elsewhere = self.sdk.submit_job("ExportRegistrations", "https://elsewhere.example/container?sv=1&sig=x")
        self.sdk.refused("a container elsewhere", elsewhere, 400)
        self.sdk.refused("no job", self.sdk.job_at("1234567890123456789none"), 404)

    def _job(self, kind, source=None):
        """A job brought to its end, as the SDK reads it."""
        sdk = self.sdk
        answer = sdk.submit_job(kind, self.container.url, source)
        if not sdk.expect(f"a job {kind}", answer, 201):
            return None
        sdk.field(f"a job {kind}", answer, "content-type", ENTRY)
        submitted = sdk.as_job(sdk.read(f"a job {kind}", sdk.job_reader, answer))
        sdk.equal(f"a job {kind} has its type", submitted["type"], kind)
        sdk.field(f"a job {kind}", answer, "location", sdk.address("jobs", submitted["id"]))
        sdk.equal(f"a job {kind} has its container", submitted["output"], self.container.url)

        def finished():
            found = sdk.job_at(submitted["id"])
            ended = any(f"<Status>{state}</Status>" in found.text for state in ("Completed", "Failed"))
            return found if ended else None

        last = eventually(finished) or sdk.job_at(submitted["id"])
        if not sdk.expect(f"the job {kind} at its end", last, 200):
            return None
        job = sdk.as_job(sdk.read(f"the job {kind} at its end", sdk.job_reader, last))
        sdk.equal(f"the job {kind} is done", (job["status"], job["progress"]), ("Completed", 100))
        return job

    def _file(self, job, name):
        """The lines of one of its files, where its property says that it is."""
        path = (job["properties"] or {}).get(name)
        wanted = f"{self.sdk.hub}/{job['id']}/" + {"OutputFilePath": "Output.txt", "FailedFilePath": "Failed.txt"}[name]
        self.sdk.equal(f"the property {name}", path, wanted)
        answer = self.container.get(path)
        return answer.text.splitlines() if self.sdk.expect(f"the file of {name}", answer, 200) else []

    def _registration(self, row):
        try:
            return dotnet_reader.line(row.encode())
        except (documents.Unreadable, KeyError, ValueError) as error:
            self.sdk.that("a line of an export is a registration", False, f"{error!r} in {row}")
            return None
