"""What the models of the SDKs' readers share: a parser that knows literal names, and the tables of NotificationHubs.md.

The readers are written from the SDKs' rules and not from the hub's. Whatever would throw in an SDK, or lose something
there, raises `Unreadable` here.
"""

import datetime
import re
import xml.parsers.expat

SERVICE = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
ATOM = "http://www.w3.org/2005/Atom"
INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
ARRAYS = "http://schemas.microsoft.com/2003/10/Serialization/Arrays"


class Unreadable(Exception):
    """An SDK would have thrown, or would have lost a value."""


class Element:
    """An element with its literal name (prefix and all), attributes, and children: elements and texts in order."""

    def __init__(self, name, attributes):
        self.name, self.attributes, self.children, self.namespaces = name, attributes, [], {}

    @property
    def elements(self):
        return [child for child in self.children if isinstance(child, Element)]

    @property
    def text(self):
        return "".join(child for child in self.children if isinstance(child, str))

    @property
    def local(self):
        return self.name.rpartition(":")[2]

    @property
    def namespace(self):
        return self.namespaces.get(self.name.rpartition(":")[0], "")

    def all(self, name):
        """Every element of this literal name in and below this one, in order."""
        found = [self] if self.name == name else []
        for child in self.elements:
            found += child.all(name)
        return found

    def child(self, name):
        return next((child for child in self.elements if child.name == name), None)


def parse(data):
    """The root element; documents with a DTD, a declaration in the wrong place or bad nesting are unreadable."""
    root, path = [], []

    def start(name, attributes):
        element = Element(name, attributes)
        element.namespaces = dict(path[-1].namespaces) if path else {}
        for attribute, value in attributes.items():
            if attribute == "xmlns" or attribute.startswith("xmlns:"):
                element.namespaces[attribute[6:]] = value
        (path[-1].children if path else root).append(element)
        path.append(element)

    def text(characters):
        if path[-1].children and isinstance(path[-1].children[-1], str):
            path[-1].children[-1] += characters
        else:
            path[-1].children.append(characters)

    def doctype(*_):
        raise Unreadable("a document type")

    parser = xml.parsers.expat.ParserCreate()
    parser.StartElementHandler, parser.CharacterDataHandler = start, text
    parser.EndElementHandler = lambda _: path.pop()
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(data, True)
    except xml.parsers.expat.ExpatError as error:
        raise Unreadable(f"not well-formed: {error}: {data[:300]!r}") from error
    return root[0]


def xsd_time(text):
    """`xsd:dateTime` with any number of digits in the fraction, with or without a zone."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)?", text)
    if not found:
        raise ValueError(f"{text!r} is no xsd:dateTime")
    return datetime.datetime.fromisoformat(found[1] + "+00:00") if found[3] in (None, "Z") else \
        datetime.datetime.fromisoformat(found[1] + found[3])


def one_of(*names):
    def convert(text):
        if text not in names:
            raise ValueError(f"{text!r} is none of {names}")
        return text

    return convert


def comma_separated(text):
    return {tag.strip() for tag in text.split(",")}


HANDLES = {
    "Apple": ["DeviceToken"], "Windows": ["ChannelUri"], "Mpns": ["ChannelUri"], "Gcm": ["GcmRegistrationId"],
    "FcmV1": ["FcmV1RegistrationId"], "Adm": ["AdmRegistrationId"], "Baidu": ["BaiduUserId", "BaiduChannelId"],
    "Browser": ["Endpoint", "P256DH", "Auth"], "Xiaomi": ["XiaomiRegistrationId"],
}
HEADERS = {"Apple": "ApnsHeader", "Windows": "WnsHeader", "Mpns": "MpnsHeader"}
STATES = "Enqueued Processing Completed NoTargetFound Abandoned Scheduled Canceled Unknown".split()
JOB_TYPES = ["ExportRegistrations"]
JOB_TYPES += [f"Import{verb}Registrations" for verb in ("Create", "Update", "Delete", "Upsert")]
JOB_STATES = "Started Running Completed Failed".split()


def blob_names(data):
    """The names in a listing of blobs, as the published sample of feedback finds them."""
    root = parse(data)
    if root.name != "EnumerationResults" or root.child("Blobs") is None:
        raise Unreadable(f"no listing of blobs: {data[:300]!r}")
    return [blob.child("Name").text for blob in root.child("Blobs").all("Blob")]


def feedback_lines(data):
    """The refusals in a file of feedback, none of whose elements the published sample expects to be missing."""
    read = []
    for line in data.decode().split("\r\n")[:-1]:
        root = parse(line.encode())
        names = [child.name for child in root.children if isinstance(child, Element)]
        if root.name != "PnsFeedback" or names != [
            "FeedbackTime", "NotificationSystemError", "Platform", "PnsHandle", "RegistrationId", "InstallationId",
            "NotificationId", "NewPnsHandle",
        ]:
            raise Unreadable(f"no line of feedback: {line!r}")
        read.append({name: root.child(name).text for name in names})
    if not read:
        raise Unreadable(f"no lines: {data[:300]!r}")
    return read


def error_detail(data, status):
    """The detail of an error body: `Code` before `Detail`, no namespace, with the tracking id and the American time."""
    root = parse(data)
    shape = (root.name, root.attributes, [child.name for child in root.children if isinstance(child, Element)])
    if shape != ("Error", {}, ["Code", "Detail"]) or data.lstrip().startswith(b"<?xml"):
        raise Unreadable(f"an error of another shape: {data[:300]!r}")
    if root.child("Code").text != str(status):
        raise Unreadable(f"the code is {root.child('Code').text}, the status {status}")
    pattern = r"(.*)\.TrackingId:[0-9a-f-]{36}_G\d+,TimeStamp:\d{1,2}/\d{1,2}/\d{4} \d{1,2}:\d\d:\d\d [AP]M"
    found = re.fullmatch(pattern, root.child("Detail").text, re.DOTALL)
    if not found:
        raise Unreadable(f"the detail is {root.child('Detail').text!r}")
    return found[1]
