"""PyPI's azure-storage-blob against the containers of a real `martlet serve`, over http and https, by signed URL alone.

    blob_client.py MARTLET
"""

import hashlib
import os
import sys
import tempfile

from azure.core.exceptions import (
    ClientAuthenticationError, HttpResponseError, ResourceExistsError, ResourceNotFoundError,
)
from azure.storage.blob import BlobClient, ContainerClient

import processes
from checks import Checks

checks = Checks("blob-client")
MEGABYTE = 1024 * 1024


class Course:
    def __init__(self, url, read_only, options):
        self._url, self._read_only, self._options = url, read_only, options

    def run(self):
        container = ContainerClient.from_container_url(self._url, retry_total=0, **self._options)
        self._small(container)
        self._ranges(container)
        self._large(container)
        self._list(container)
        self._refusals(container)
        self._delete(container)

    def _blob(self, name, url=None):
        path, _, query = (url or self._url).partition("?")
        return BlobClient.from_blob_url(f"{path}/{name}?{query}", retry_total=0, **self._options)

    def _small(self, container):
        checks.that("the container exists", container.exists())
        first = container.upload_blob("hub/job one/Output ü.txt", b"first")
        checks.equal("what was uploaded comes back", first.download_blob().readall(), b"first")
        properties = first.get_blob_properties()
        checks.equal("its size", properties.size, 5)
        checks.raises(
            "a blob is not overwritten by mistake", ResourceExistsError,
            lambda: container.upload_blob("hub/job one/Output ü.txt", b"second"))
        second = container.upload_blob("hub/job one/Output ü.txt", b"second", overwrite=True)
        checks.equal("it is where that is meant", second.download_blob().readall(), b"second")
        checks.that("another content has another etag", second.get_blob_properties().etag != properties.etag)
        flat = self._blob("flat.txt")
        flat.upload_blob(b"", overwrite=True)
        checks.equal("an empty blob is one", flat.download_blob().readall(), b"")

    def _ranges(self, container):
        blob = container.upload_blob("numbers", b"0123456789", overwrite=True)
        checks.equal("a part of a blob", blob.download_blob(offset=2, length=3).readall(), b"234")
        checks.equal("its end", blob.download_blob(offset=8).readall(), b"89")
        error = checks.raises(
            "a part beyond the end", HttpResponseError, lambda: blob.download_blob(offset=10, length=1).readall())
        checks.equal("its code", error and error.status_code, 416)

    def _large(self, container):
        content = os.urandom(MEGABYTE) * 70
        large = container.upload_blob("large/seventy.bin", content, max_concurrency=2)
        checks.equal("a blob in blocks has its size", large.get_blob_properties().size, len(content))
        digest = hashlib.sha256()
        for piece in large.download_blob(max_concurrency=2).chunks():
            digest.update(piece)
        checks.equal("it comes back as it was", digest.digest(), hashlib.sha256(content).digest())
        # One request of 60 MB, streamed from something without a length known beforehand.
        whole = container.upload_blob("large/sixty.bin", content[: 60 * MEGABYTE])
        checks.equal("a blob in one request has its size", whole.get_blob_properties().size, 60 * MEGABYTE)

    def _list(self, container):
        names = ["flat.txt", "hub/job one/Output ü.txt", "large/seventy.bin", "large/sixty.bin", "numbers"]
        checks.equal("the listing has all blobs in order", [blob.name for blob in container.list_blobs()], names)
        pages = container.list_blobs(results_per_page=2).by_page()
        checks.equal("pages", [[blob.name for blob in page] for page in pages], [names[:2], names[2:4], names[4:]])
        found = {blob.name: blob.size for blob in container.list_blobs(name_starts_with="large/")}
        wanted = {"large/seventy.bin": 70 * MEGABYTE, "large/sixty.bin": 60 * MEGABYTE}
        checks.equal("a prefix", found, wanted)

    def _refusals(self, container):
        reader = ContainerClient.from_container_url(self._read_only, retry_total=0, **self._options)
        checks.equal("a reader reads", reader.download_blob("numbers").readall(), b"0123456789")
        cases = [
            ("a reader that writes", lambda: reader.upload_blob("x", b"x")),
            ("a reader that deletes", lambda: reader.delete_blob("numbers")),
            ("a reader that lists", lambda: list(reader.list_blobs())),
            ("a later expiry", lambda: self._blob("numbers", self._url.replace("se=20", "se=21")).download_blob()),
            ("more rights", lambda: self._blob("x", self._read_only.replace("sp=r", "sp=rw")).upload_blob(b"x")),
            ("another container", lambda: self._blob("numbers", self._url.replace("/jobs?", "/other?")).exists()),
            ("no signature", lambda: self._blob("numbers", self._url.partition("?")[0] + "?").download_blob()),
        ]
        for name, work in cases:
            error = checks.raises(f"{name} is refused", (HttpResponseError, ClientAuthenticationError), work)
            checks.equal(f"{name} answers 403", error and error.status_code, 403)
        checks.raises("no blob", ResourceNotFoundError, lambda: container.download_blob("nowhere"))
        checks.raises("a blob below a blob", ResourceExistsError, lambda: container.upload_blob("numbers/one", b"x"))

    def _delete(self, container):
        for blob in list(container.list_blobs()):
            container.delete_blob(blob.name)
        checks.equal("nothing is left", list(container.list_blobs()), [])
        checks.that("what was deleted is gone", not self._blob("numbers").exists())


async def course(binary):
    with tempfile.TemporaryDirectory() as directory:
        data = os.path.join(directory, "data")
        server = processes.Server(
            binary, data, os.path.join(directory, "log"), "--tls-listen", "127.0.0.1:0", "--tls-self-signed")
        await server.start()
        authority = os.path.join(data, "tls", "ca.pem")
        command = ["--data", data]
        try:
            printed = processes.martlet(binary, "container", "create", "jobs", *command).strip()
            checks.that("a new container's URL is signed", "/$containers/jobs?sv=" in printed, printed)
            processes.martlet(binary, "container", "create", "other", *command)
            reading = processes.martlet(binary, "container", "url", "jobs", "--rights", "r", *command).strip()
            for scheme, options in ("http", {}), ("https", {"connection_verify": authority}):
                address = f"{scheme}://127.0.0.1:{server.ports[scheme]}/$containers"
                urls = [address + url.partition("/$containers")[2] for url in (printed, reading)]
                Course(*urls, options).run()
            processes.martlet(binary, "container", "delete", "other", "--yes", *command)
            checks.equal("one is left", processes.martlet(binary, "container", "list", *command), "jobs\n")
        finally:
            await server.stop()


if __name__ == "__main__":
    checks.finish(course(sys.argv[1]))
