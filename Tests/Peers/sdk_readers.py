"""How strictly the SDKs read answers: models of their XML readers, written from their rules and not from the hub's.

Java matches literal names by Digester patterns and calls setters, .NET reads data contracts in their order and drops
what is out of it, JavaScript reads names with their prefixes, the phones walk over elements. Whatever would throw
there, or lose something, raises `Unreadable` here.
"""

import datetime
import decimal
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


# Java


class Digester:
    """Apache's Digester: rules by pattern, of which only those of the longest matching pattern fire."""

    def __init__(self, *rules):
        self._rules = {}
        for pattern, *rule in rules:
            self._rules.setdefault(pattern, []).append(rule)

    def parse(self, data):
        self._objects, self._parameters, self._root = [], [], None
        self._element(parse(data), "")
        if self._root is None:
            raise Unreadable(f"Java would return null for {data[:300]!r}")
        return self._root

    def _matching(self, path):
        if path in self._rules:
            return self._rules[path]
        wild = [name for name in self._rules if name[:2] == "*/" and (path == name[2:] or path.endswith(name[1:]))]
        return self._rules[max(wild, key=len)] if wild else []

    def _element(self, element, above):
        path = f"{above}/{element.name}" if above else element.name
        rules = self._matching(path)
        for kind, *details in rules:
            if kind == "create":
                self._push(details[0](element) if details[0] is by_type else details[0]())
            elif kind == "call":
                self._parameters.append([None] * details[1])
        for child in element.elements:
            self._element(child, path)
        for kind, *details in reversed(rules):
            if kind == "parameter":
                if not self._parameters or details[0] >= len(self._parameters[-1]):
                    raise Unreadable(f"Java has no call to give {path} to")
                self._parameters[-1][details[0]] = element.text.strip()
            elif kind == "call":
                self._call(details[0], self._parameters.pop())
            elif kind == "next":
                self._invoke(self._objects[-2], details[0], [self._objects[-1]])
            else:
                self._objects.pop()

    def _push(self, item):
        self._root = self._root if self._root is not None else item
        self._objects.append(item)

    def _call(self, method, parameters):
        if len(parameters) == 1 and parameters[0] is None:
            return
        if not self._objects:
            raise Unreadable(f"Java has no object to call {method} of")
        self._invoke(self._objects[-1], method, parameters)

    @staticmethod
    def _invoke(target, method, parameters):
        try:
            target.call(method, parameters)
        except (KeyError, ValueError, decimal.InvalidOperation) as error:
            raise Unreadable(f"Java: {target.kind}.{method}{tuple(parameters)}: {error!r}") from error


class Bean:
    """A Java object: its values by its setters, which convert and may throw. Other calls are no methods of it."""

    def __init__(self, kind, setters):
        self.kind, self._setters, self.values = kind, setters, {}

    def call(self, method, parameters):
        convert = self._setters[method]
        if method in ("addHeader", "put"):
            if parameters[0] is not None:
                self.values[parameters[0]] = convert(parameters[1])
        elif method == "setProperty":
            if parameters[0] not in convert:
                raise KeyError(f"no setter for the property {parameters[0]}")
            self.values[parameters[0]] = parameters[1]
        elif method.startswith("add"):
            self.values.setdefault("items", []).append(parameters[0])
        else:
            self.values[method[3:]] = convert(parameters[0])

    def __getitem__(self, name):
        return self.values.get(name)


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


_COMMON = {
    "setRegistrationId": str, "setEtag": str, "setTagsFromString": comma_separated,
    "setExpirationTimeFromString": xsd_time,
}
_HANDLES = {
    "Apple": ["DeviceToken"], "Windows": ["ChannelUri"], "Mpns": ["ChannelUri"], "Gcm": ["GcmRegistrationId"],
    "FcmV1": ["FcmV1RegistrationId"], "Adm": ["AdmRegistrationId"], "Baidu": ["BaiduUserId", "BaiduChannelId"],
    "Browser": ["Endpoint", "P256DH", "Auth"], "Xiaomi": ["XiaomiRegistrationId"],
}
_HEADERS = {"Apple": "ApnsHeader", "Windows": "WnsHeader", "Mpns": "MpnsHeader"}
STATES = "Enqueued Processing Completed NoTargetFound Abandoned Scheduled Canceled Unknown".split()
JOB_TYPES = ["ExportRegistrations"] + [f"Import{verb}Registrations" for verb in ("Create", "Update", "Delete", "Upsert")]
JOB_STATES = "Started Running Completed Failed".split()


def _java_registration(kind):
    setters = dict(_COMMON) | {f"set{handle}": str for handle in _HANDLES[kind.removesuffix("Template")]}
    if kind.endswith("Template"):
        setters["setBodyTemplate"] = str
        if kind.removesuffix("Template") in _HEADERS:
            setters["addHeader"] = str
        if kind == "AppleTemplate":
            setters["setExpiry"] = str
    return Bean(kind, setters)


JAVA_KINDS = [kind + form for kind in _HANDLES if kind != "Xiaomi" for form in ("", "Template")]


def by_type(element):
    kind = (element.attributes.get("i:type") or "").removesuffix("RegistrationDescription")
    if kind not in JAVA_KINDS:
        raise Unreadable(f"unknown type: {kind}")
    return _java_registration(kind)


def _set(pattern, setter):
    return [(f"*/{pattern}", "call", setter, 1), (f"*/{pattern}", "parameter", 0)]


def _java_registration_rules():
    rules = [("*/RegistrationDescription", "create", by_type)]
    rules += [
        (f"*/{kind}RegistrationDescription", "create", lambda kind=kind: _java_registration(kind))
        for kind in JAVA_KINDS
    ]
    for handle in {handle for handles in _HANDLES.values() for handle in handles} - {"XiaomiRegistrationId"}:
        rules += _set(handle, f"set{handle}")
    rules += _set("RegistrationId", "setRegistrationId") + _set("ETag", "setEtag") + _set("Tags", "setTagsFromString")
    rules += _set("BodyTemplate", "setBodyTemplate") + _set("Expiry", "setExpiry")
    rules += _set("ExpirationTime", "setExpirationTimeFromString")
    for header in ("WnsHeader", "MpnsHeader"):
        rules += [
            (f"*/{header}", "call", "addHeader", 2), (f"*/{header}/Header", "parameter", 0),
            (f"*/{header}/Value", "parameter", 1),
        ]
    return rules


def java_registration(data):
    return Digester(*_java_registration_rules()).parse(data)


def java_registrations(data):
    rules = _java_registration_rules() + [("feed", "create", lambda: Bean("CollectionResult", {"addRegistration": None}))]
    rules += [(f"*/{kind}RegistrationDescription", "next", "addRegistration") for kind in JAVA_KINDS]
    return Digester(*rules).parse(data)["items"] or []


def java_telemetry(data):
    platforms = ["Apns", "Mpns", "Wns", "Gcm", "Fcm", "FcmV1", "Adm", "Baidu", "Browser"]
    setters = {
        "setNotificationStatusFromString": one_of(*STATES), "setEnqueueTimeFromString": xsd_time,
        "setStartTimeFromString": xsd_time, "setEndTimeFromString": xsd_time,
    }
    texts = ["NotificationId", "Location", "NotificationBody", "TargetPlatforms", "PnsErrorDetailsUri"]
    setters |= {f"set{name}": str for name in texts}
    setters |= {f"set{platform}OutcomeCounts": lambda counts: counts.values for platform in platforms}
    rules = [("*/NotificationDetails", "create", lambda: Bean("NotificationTelemetry", setters))]
    for name in texts:
        rules += _set(name, f"set{name}")
    rules += _set("State", "setNotificationStatusFromString")
    for name in ("EnqueueTime", "StartTime", "EndTime"):
        rules += _set(name, f"set{name}FromString")
    for platform in platforms:
        rules += [
            (f"*/{platform}OutcomeCounts", "create", lambda: Bean("HashMap", {"put": java_integer})),
            ("*/Outcome", "call", "put", 2), ("*/Name", "parameter", 0), ("*/Count", "parameter", 1),
            (f"*/{platform}OutcomeCounts", "next", f"set{platform}OutcomeCounts"),
        ]
    return Digester(*rules).parse(data)


def java_integer(text):
    return None if text is None else int(text)


def _java_job_rules():
    setters = {name: str for name in ("setJobId", "setOutputContainerUri", "setImportFileUri", "setFailure")}
    setters |= {
        "setProgressFromString": float, "setJobTypeFromString": one_of(*JOB_TYPES),
        "setJobStatusFromString": one_of(*JOB_STATES), "setCreatedAtFromString": xsd_time,
        "setUpdatedAtFromString": xsd_time, "setOutputProperties": lambda properties: properties.values,
    }
    rules = [("*/entry", "create", lambda: Bean("NotificationHubJob", setters))]
    for name in ("JobId", "OutputContainerUri", "ImportFileUri", "Failure"):
        rules += _set(name, f"set{name}")
    for name, setter in {"Progress": "Progress", "Type": "JobType", "Status": "JobStatus"}.items():
        rules += _set(name, f"set{setter}FromString")
    for name in ("CreatedAt", "UpdatedAt"):
        rules += _set(name, f"set{name}FromString")
    return rules + [
        ("*/OutputProperties", "create", lambda: Bean("HashMap", {"put": str})),
        ("*/d3p1:KeyValueOfstringstring", "call", "put", 2), ("*/d3p1:Key", "parameter", 0),
        ("*/d3p1:Value", "parameter", 1), ("*/OutputProperties", "next", "setOutputProperties"),
    ]


def java_job(data):
    return Digester(*_java_job_rules()).parse(data)


def java_jobs(data):
    rules = [("*/feed", "create", lambda: Bean("LinkedList", {"add": None}))] + _java_job_rules()
    return Digester(*rules, ("*/entry", "next", "add")).parse(data)["items"] or []


CREDENTIALS = {
    "Apns": "Endpoint ApnsCertificate CertificateKey Thumbprint Token KeyId AppName AppId",
    "Wns": "PackageSid SecretKey WindowsLiveEndpoint", "Gcm": "GcmEndpoint GoogleApiKey",
    "FcmV1": "PrivateKey ProjectId ClientEmail", "Mpns": "MpnsCertificate CertificateKey",
    "Adm": "ClientId ClientSecret AuthTokenUrl SendUrlTemplate", "Baidu": "BaiduApiKey BaiduSecretKey BaiduEndPoint",
    "Browser": "Subject VapidPublicKey VapidPrivateKey",
}


def _java_hub_rules():
    setters = {"setPath": str} | {f"set{name}Credential": lambda one: one.values for name in CREDENTIALS}
    rules = [("*/entry", "create", lambda: Bean("NotificationHubDescription", setters))]
    rules += [("*/entry/title", "call", "setPath", 1), ("*/entry/title", "parameter", 0)]
    for name, properties in CREDENTIALS.items():
        known = properties.split()
        rules += [
            (f"*/{name}Credential", "create", lambda known=known: Bean("PnsCredential", {"setProperty": known})),
            (f"*/{name}Credential", "next", f"set{name}Credential"),
        ]
    return rules + [("*/Property", "call", "setProperty", 2), ("*/Name", "parameter", 0), ("*/Value", "parameter", 1)]


def java_hub(data):
    return Digester(*_java_hub_rules()).parse(data)


def java_hubs(data):
    rules = [("*/feed", "create", lambda: Bean("LinkedList", {"add": None}))] + _java_hub_rules()
    return Digester(*rules, ("*/entry", "next", "add")).parse(data)["items"] or []


# JavaScript


def js_object(data):
    """As `parseXML` with its root: literal names, attributes in `$`, text beside them in `_`, arrays where repeated."""
    root = parse(data)
    if found := re.search(rb"&(?!(amp|lt|gt|quot|apos);)[^;]{0,9};", re.sub(rb"<!\[CDATA\[.*?]]>", b"", data, flags=re.S)):
        raise Unreadable(f"JavaScript knows five entities and leaves {found[0]} as it is")
    return {root.name: _js_value(root)}


def _js_value(element):
    value = {}
    for child in element.elements:
        found = _js_value(child)
        if child.name not in value:
            value[child.name] = found
        elif isinstance(value[child.name], list):
            value[child.name].append(found)
        else:
            value[child.name] = [value[child.name], found]
    if element.text:
        value["_"] = element.text
    if element.attributes:
        value["$"] = element.attributes
    if list(value) == ["_"]:
        return value["_"]
    return value or ""


def _js_string(found, name):
    if name not in found:
        raise Unreadable(f'JavaScript: "{name}" expected to be a string value and not undefined')
    if not isinstance(found[name], str):
        raise Unreadable(f"JavaScript reads {name} as an object: {found[name]!r}")
    return found[name]


def _js_list(found):
    return found if isinstance(found, list) else [found]


def _js_registration(content):
    names = [name for name in content if name not in ("$", "_")]
    if next(iter(content)) != names[0] or "_" in content:
        raise Unreadable(f"JavaScript takes the first key of the content: {list(content)}")
    kind, raw = names[0].removesuffix("RegistrationDescription"), content[names[0]]
    if kind.removesuffix("Template") not in _HANDLES:
        raise Unreadable(f"{names[0]} is not a supported registration type")
    read = {"kind": kind, "registrationId": _js_string(raw, "RegistrationId"), "etag": _js_string(raw, "ETag")}
    read["expirationTime"] = xsd_time(_js_string(raw, "ExpirationTime"))
    read["tags"] = set(raw["Tags"].split(",")) if "Tags" in raw else None
    for handle in _HANDLES[kind.removesuffix("Template")]:
        read[handle] = _js_string(raw, handle)
    if kind.endswith("Template"):
        read["bodyTemplate"] = _js_string(raw, "BodyTemplate")
        read["templateName"] = raw.get("TemplateName")
        header = _HEADERS.get(kind.removesuffix("Template"))
        if header and isinstance(raw.get(header + "s"), dict) and header in raw[header + "s"]:
            read["headers"] = {one["Header"]: one["Value"] for one in _js_list(raw[header + "s"][header])}
    read["pushVariables"] = raw.get("PushVariables")
    return read


def js_registration(data):
    return _js_registration(js_object(data)["entry"]["content"])


def js_registrations(data):
    feed = js_object(data)["feed"]
    return [_js_registration(entry["content"]) for entry in _js_list(feed["entry"])] if "entry" in feed else []


def js_telemetry(data):
    raw = js_object(data)["NotificationDetails"]
    read = {name: raw.get(name) for name in ("NotificationId", "Location", "State", "TargetPlatforms")}
    for name in ("EnqueueTime", "StartTime", "EndTime"):
        read[name] = xsd_time(raw[name]) if name in raw else None
    read["NotificationBody"], read["PnsErrorDetailsUri"] = raw.get("NotificationBody"), raw.get("PnsErrorDetailsUri")
    for platform in ("Apns", "Adm", "Baidu", "Gcm", "FcmV1", "Xiaomi", "Wns", "Browser"):
        if f"{platform}OutcomeCounts" in raw:
            counts = raw[f"{platform}OutcomeCounts"]
            if not isinstance(counts, dict) or "Outcome" not in counts:
                raise Unreadable(f"JavaScript: Cannot read properties of undefined ({platform}OutcomeCounts)")
            read[platform] = {one["Name"]: int(one["Count"]) for one in _js_list(counts["Outcome"])}
    return read


def js_outcome(data):
    """The answer of a test send: successes, failures, results."""
    raw = js_object(data)["NotificationOutcome"]
    if "Results" not in raw:
        raise Unreadable("JavaScript: Cannot read properties of undefined (reading 'RegistrationResult')")
    results = raw["Results"].get("RegistrationResult") if isinstance(raw["Results"], dict) else None
    names = ("ApplicationPlatform", "RegistrationId", "Outcome", "PnsHandle")
    read = [{name: _js_string(one, name) for name in names} for one in _js_list(results)] if results else []
    return int(_js_string(raw, "Success")), int(_js_string(raw, "Failure")), read


def _js_job(raw):
    read = {"jobId": raw.get("JobId"), "status": raw.get("Status"), "failure": raw.get("Failure")}
    read["type"], read["outputContainerUrl"] = _js_string(raw, "Type"), _js_string(raw, "OutputContainerUri")
    read["progress"] = float(raw["Progress"]) if "Progress" in raw else None
    read["createdAt"] = xsd_time(_js_string(raw, "CreatedAt"))
    if "OutputProperties" in raw:
        pairs = raw["OutputProperties"]
        if not isinstance(pairs, dict) or "d3p1:KeyValueOfstringstring" not in pairs:
            raise Unreadable("JavaScript: Cannot read properties of undefined (reading 'd3p1:Key')")
        read["outputProperties"] = {
            one["d3p1:Key"]: one["d3p1:Value"] for one in _js_list(pairs["d3p1:KeyValueOfstringstring"])
        }
    return read


def js_job(data):
    return _js_job(js_object(data)["entry"]["content"]["NotificationHubJob"])


def js_jobs(data):
    feed = js_object(data)["feed"]
    entries = _js_list(feed["entry"]) if "entry" in feed else []
    return [_js_job(entry["content"]["NotificationHubJob"]) for entry in entries]


# .NET


def _absolute(text):
    if not re.match(r"[a-z]+://[^/]+/", text):
        raise ValueError(f"{text!r} is no absolute URI")
    return text


def _duration(text):
    if not re.fullmatch(r"P(\d+D)?(T(\d+H)?(\d+M)?(\d+(\.\d{1,7})?S)?)?", text):
        raise ValueError(f"{text!r} is no duration")
    return text


class Contract:
    """A data contract: members in order, each with how it is read, `!` before the name of one that is required."""

    def __init__(self, **members):
        self._members = {name.removeprefix("required_"): read for name, read in members.items()}
        self._required = [name.removeprefix("required_") for name in members if name.startswith("required_")]

    def __call__(self, element):
        names, read, last = list(self._members), {}, -1
        for child in element.elements:
            if child.namespace not in (SERVICE, ARRAYS):
                raise Unreadable(f".NET: {child.name} is in {child.namespace!r}")
            if child.local not in names:
                continue
            if names.index(child.local) <= last:
                raise Unreadable(f".NET would drop {child.local} behind {names[last]}")
            last = names.index(child.local)
            if child.attributes.get("i:nil") == "true":
                read[child.local] = None
                continue
            try:
                convert = self._members[child.local]
                read[child.local] = convert(child.text) if convert in _TEXTS else convert(child)
            except (ValueError, decimal.InvalidOperation) as error:
                raise Unreadable(f".NET: {child.local}: {error}") from error
        if missing := [name for name in self._required if name not in read]:
            raise Unreadable(f".NET: required members are missing: {missing}")
        return read


def items(name, contract):
    """A collection of elements of one name."""
    def convert(element):
        if any(child.local != name for child in element.elements):
            raise Unreadable(f".NET: {element.name} holds {[child.name for child in element.elements]}")
        return [contract(child) for child in element.elements]

    return convert


_state, _job_type, _job_state = one_of(*STATES), one_of(*JOB_TYPES), one_of(*JOB_STATES)
_TEXTS = (str, int, xsd_time, decimal.Decimal, _absolute, _duration, _state, _job_type, _job_state, comma_separated)
_HANDLE_ORDER = {kind: {f"required_{handle}": str for handle in handles} for kind, handles in _HANDLES.items()}
_HANDLE_ORDER["Windows"] = _HANDLE_ORDER["Mpns"] = {"required_ChannelUri": _absolute, "SecondaryTileName": str}


def _pairs(plural):
    return items(plural[:-1], Contract(Header=str, Value=str))


def _template_members(kind):
    members = {"required_BodyTemplate": str}
    if kind == "Apple":
        return members | {
            "Expiry": str, "TemplateName": str, "Priority": str, "ApnsHeaders": _pairs("ApnsHeaders"),
        }
    if kind in ("Windows", "Mpns"):
        plural = "WnsHeaders" if kind == "Windows" else "MpnsHeaders"
        return members | {f"required_{plural}": _pairs(plural), "TemplateName": str}
    return members | {"TemplateName": str} | ({"MessageType": str} if kind == "Baidu" else {})


def _net_contract(kind):
    native = kind.removesuffix("Template")
    members = {"ETag": str, "ExpirationTime": xsd_time, "RegistrationId": str, "Tags": comma_separated}
    members |= {"PushVariables": str} | _HANDLE_ORDER[native]
    return Contract(**members | (_template_members(native) if kind.endswith("Template") else {}))


def _net_content(entry, kinds):
    """What follows the start of `content` at once, which the reader takes by its literal name."""
    content = next((child for child in entry.all("content")), None)
    if content is None or not content.children or isinstance(content.children[0], str):
        raise Unreadable(f".NET expects an element right after <content>: {content and content.children[:1]!r}")
    if content.elements[0].name not in kinds or content.elements[0].namespace != SERVICE:
        raise Unreadable(f".NET: Unknown entity type {content.elements[0].name}")
    return content.elements[0]


_NET_KINDS = [f"{kind}{form}RegistrationDescription" for kind in _HANDLES if kind != "Xiaomi"
              for form in ("", "Template")]


def _net_registration(entry):
    element = _net_content(entry, _NET_KINDS)
    kind = element.name.removesuffix("RegistrationDescription")
    return _net_contract(kind)(element) | {"kind": kind}


def _rooted(data, name, namespace=ATOM):
    root = parse(data)
    if root.name != name or root.namespace != namespace:
        raise Unreadable(f".NET: Required '{name}' element is missing, there is {root.name} in {root.namespace!r}")
    return root


def net_registration(data):
    return _net_registration(_rooted(data, "entry"))


def net_registrations(data):
    return [_net_registration(entry) for entry in _rooted(data, "feed").all("entry")]


def net_line(data):
    """A registration by itself, as a line of an export."""
    root = parse(data)
    kind = root.name.removesuffix("RegistrationDescription")
    if f"{kind}RegistrationDescription" not in _NET_KINDS + ["XiaomiRegistrationDescription", "XiaomiTemplateRegistrationDescription"]:
        raise Unreadable(f".NET: Unknown entity type {root.name}")
    return _net_contract(kind)(root) | {"kind": kind}


_counts = items("Outcome", Contract(Name=str, Count=int))


def net_telemetry(data):
    members = {"NotificationId": str, "Location": _absolute, "State": _state}
    members |= {name: xsd_time for name in ("EnqueueTime", "StartTime", "EndTime")}
    members |= {name: str for name in ("NotificationBody", "Tags", "TargetPlatforms")}
    members |= {f"{name}OutcomeCounts": _counts for name in ("Apns", "Mpns", "Wns", "Gcm", "Adm")}
    members |= {"PnsErrorDetailsUri": str} | {f"{name}OutcomeCounts": _counts for name in ("Fcm", "FcmV1")}
    return Contract(**members)(_rooted(data, "NotificationDetails", SERVICE))


def net_outcome(data):
    result = Contract(ApplicationPlatform=str, PnsHandle=str, RegistrationId=str, Outcome=str)
    contract = Contract(Success=int, Failure=int, Results=items("RegistrationResult", result))
    return contract(_rooted(data, "NotificationOutcome", SERVICE))


_net_job_contract = Contract(
    JobId=str, Progress=decimal.Decimal, required_Type=_job_type, Status=_job_state, required_OutputContainerUri=_absolute,
    ImportFileUri=_absolute, InputProperties=items("KeyValueOfstringstring", Contract(Key=str, Value=str)), Failure=str,
    OutputProperties=items("KeyValueOfstringstring", Contract(Key=str, Value=str)), CreatedAt=xsd_time,
    UpdatedAt=xsd_time)


def net_job(data):
    return _net_job_contract(_net_content(_rooted(data, "entry"), ["NotificationHubJob"]))


def net_jobs(data):
    return [_net_job_contract(_net_content(entry, ["NotificationHubJob"]))
            for entry in _rooted(data, "feed").all("entry")]


def _net_rule(element):
    if element.attributes.get("i:type") != "SharedAccessAuthorizationRule":
        raise Unreadable(f".NET: an abstract rule: {element.attributes}")
    return Contract(
        ClaimType=str, ClaimValue=str, Rights=items("AccessRights", lambda one: one_of("Listen", "Manage", "Send")(one.text)),
        CreatedTime=xsd_time, ModifiedTime=xsd_time, required_KeyName=str, required_PrimaryKey=str, SecondaryKey=str,
    )(element)


def _net_credential(element):
    return Contract(BlockedOn=xsd_time, Properties=items("Property", Contract(Name=str, Value=str)))(element)


def net_hub(data):
    """The title, which is the hub's path, and the description."""
    entry = _rooted(data, "entry")
    members = {"ApnsCredential": _net_credential, "RegistrationTtl": _duration, "WnsCredential": _net_credential}
    members |= {"AuthorizationRules": items("AuthorizationRule", _net_rule), "GcmCredential": _net_credential}
    members |= {"MpnsCredential": _net_credential, "DailyOperations": int, "DailyMaxActiveDevices": int}
    members |= {"DailyMaxActiveRegistrations": int, "UserMetadata": str, "AdmCredential": _net_credential}
    members |= {"BaiduCredential": _net_credential, "Status": str, "FcmV1Credential": _net_credential}
    members |= {"BrowserCredential": _net_credential}
    read = Contract(**members)(_net_content(entry, ["NotificationHubDescription"]))
    return entry.child("title").text, read


# The phones


def ios_registrations(data):
    """As the legacy iOS parser: concrete Apple elements alone, one pattern of time, the texts of leaves."""
    found, current, value = [], None, []

    def walk(element):
        nonlocal current, value
        if element.name in ("AppleRegistrationDescription", "AppleTemplateRegistrationDescription"):
            current = {}
        for child in element.children:
            if isinstance(child, str):
                value.append(child)
            else:
                walk(child)
        if element.name in ("AppleRegistrationDescription", "AppleTemplateRegistrationDescription"):
            found.append(current)
            return
        if element.name == "ExpirationTime" and not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "".join(value)):
            raise Unreadable(f"iOS reads no expiration from {''.join(value)!r}")
        if current is not None:
            current[element.name] = "".join(value)
        value = []

    walk(parse(data))
    return found


def android_registrations(data, kind):
    """As the legacy Android SDK: elements by their literal name, wherever they stand."""
    read = []
    for payload in parse(data).all(f"{kind}RegistrationDescription"):
        names = ["ETag", "ExpirationTime", "RegistrationId", "Tags", "BodyTemplate", "TemplateName"]
        names += _HANDLES[kind.removesuffix("Template")]
        texts = {name: payload.all(name) for name in names}
        read.append({name: elements[0].text for name, elements in texts.items() if elements})
    return read


# All of them


def blob_names(data):
    """The names in a listing of blobs, as the published sample of feedback finds them."""
    root = parse(data)
    if root.name != "EnumerationResults" or root.child("Blobs") is None:
        raise Unreadable(f"no listing of blobs: {data[:300]!r}")
    return [blob.child("Name").text for blob in root.child("Blobs").all("Blob")]


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
