"""How the Java SDK reads: Apache's Digester matches literal names by patterns and calls setters, which may throw."""

import decimal

from sdk.documents import (
    HANDLES, HEADERS, JOB_STATES, JOB_TYPES, STATES, Unreadable, comma_separated, one_of, parse, xsd_time,
)


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


_COMMON = {
    "setRegistrationId": str, "setEtag": str, "setTagsFromString": comma_separated,
    "setExpirationTimeFromString": xsd_time,
}


def _registration(kind):
    setters = dict(_COMMON) | {f"set{handle}": str for handle in HANDLES[kind.removesuffix("Template")]}
    if kind.endswith("Template"):
        setters["setBodyTemplate"] = str
        if kind.removesuffix("Template") in HEADERS:
            setters["addHeader"] = str
        if kind == "AppleTemplate":
            setters["setExpiry"] = str
    return Bean(kind, setters)


JAVA_KINDS = [kind + form for kind in HANDLES if kind != "Xiaomi" for form in ("", "Template")]


def by_type(element):
    kind = (element.attributes.get("i:type") or "").removesuffix("RegistrationDescription")
    if kind not in JAVA_KINDS:
        raise Unreadable(f"unknown type: {kind}")
    return _registration(kind)


def _set(pattern, setter):
    return [(f"*/{pattern}", "call", setter, 1), (f"*/{pattern}", "parameter", 0)]


def _registration_rules():
    rules = [("*/RegistrationDescription", "create", by_type)]
    rules += [
        (f"*/{kind}RegistrationDescription", "create", lambda kind=kind: _registration(kind))
        for kind in JAVA_KINDS
    ]
    for handle in {handle for handles in HANDLES.values() for handle in handles} - {"XiaomiRegistrationId"}:
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


def registration(data):
    return Digester(*_registration_rules()).parse(data)


def registrations(data):
    rules = _registration_rules() + [("feed", "create", lambda: Bean("CollectionResult", {"addRegistration": None}))]
    rules += [(f"*/{kind}RegistrationDescription", "next", "addRegistration") for kind in JAVA_KINDS]
    return Digester(*rules).parse(data)["items"] or []


def telemetry(data):
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
            (f"*/{platform}OutcomeCounts", "create", lambda: Bean("HashMap", {"put": integer})),
            ("*/Outcome", "call", "put", 2), ("*/Name", "parameter", 0), ("*/Count", "parameter", 1),
            (f"*/{platform}OutcomeCounts", "next", f"set{platform}OutcomeCounts"),
        ]
    return Digester(*rules).parse(data)


def integer(text):
    return None if text is None else int(text)


def _job_rules():
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


def job(data):
    return Digester(*_job_rules()).parse(data)


def jobs(data):
    rules = [("*/feed", "create", lambda: Bean("LinkedList", {"add": None}))] + _job_rules()
    return Digester(*rules, ("*/entry", "next", "add")).parse(data)["items"] or []


CREDENTIALS = {
    "Apns": "Endpoint ApnsCertificate CertificateKey Thumbprint Token KeyId AppName AppId",
    "Wns": "PackageSid SecretKey WindowsLiveEndpoint", "Gcm": "GcmEndpoint GoogleApiKey",
    "FcmV1": "PrivateKey ProjectId ClientEmail", "Mpns": "MpnsCertificate CertificateKey",
    "Adm": "ClientId ClientSecret AuthTokenUrl SendUrlTemplate", "Baidu": "BaiduApiKey BaiduSecretKey BaiduEndPoint",
    "Browser": "Subject VapidPublicKey VapidPrivateKey",
}


def _hub_rules():
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


def hub(data):
    return Digester(*_hub_rules()).parse(data)


def hubs(data):
    rules = [("*/feed", "create", lambda: Bean("LinkedList", {"add": None}))] + _hub_rules()
    return Digester(*rules, ("*/entry", "next", "add")).parse(data)["items"] or []
