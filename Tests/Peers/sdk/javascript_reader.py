"""How the JavaScript SDK reads: names with their prefixes, five entities, texts that must be texts."""

import re

from sdk.documents import HANDLES, HEADERS, Unreadable, parse, xsd_time


def parsed(data):
    """As `parseXML` with its root: literal names, attributes in `$`, text beside them in `_`, arrays where repeated."""
    root = parse(data)
    outside = re.sub(rb"<!\[CDATA\[.*?]]>", b"", data, flags=re.S)
    if found := re.search(rb"&(?!(amp|lt|gt|quot|apos);)[^;]{0,9};", outside):
        raise Unreadable(f"JavaScript knows five entities and leaves {found[0]} as it is")
    return {root.name: _value(root)}


def _value(element):
    value = {}
    for child in element.elements:
        found = _value(child)
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


def _string(found, name):
    if name not in found:
        raise Unreadable(f'JavaScript: "{name}" expected to be a string value and not undefined')
    if not isinstance(found[name], str):
        raise Unreadable(f"JavaScript reads {name} as an object: {found[name]!r}")
    return found[name]


def _list(found):
    return found if isinstance(found, list) else [found]


def _registration(content):
    names = [name for name in content if name not in ("$", "_")]
    if next(iter(content)) != names[0] or "_" in content:
        raise Unreadable(f"JavaScript takes the first key of the content: {list(content)}")
    kind, raw = names[0].removesuffix("RegistrationDescription"), content[names[0]]
    if kind.removesuffix("Template") not in HANDLES:
        raise Unreadable(f"{names[0]} is not a supported registration type")
    read = {"kind": kind, "registrationId": _string(raw, "RegistrationId"), "etag": _string(raw, "ETag")}
    read["expirationTime"] = xsd_time(_string(raw, "ExpirationTime"))
    read["tags"] = set(raw["Tags"].split(",")) if "Tags" in raw else None
    for handle in HANDLES[kind.removesuffix("Template")]:
        read[handle] = _string(raw, handle)
    if kind.endswith("Template"):
        read["bodyTemplate"] = _string(raw, "BodyTemplate")
        read["templateName"] = raw.get("TemplateName")
        header = HEADERS.get(kind.removesuffix("Template"))
        if header and isinstance(raw.get(header + "s"), dict) and header in raw[header + "s"]:
            read["headers"] = {one["Header"]: one["Value"] for one in _list(raw[header + "s"][header])}
    read["pushVariables"] = raw.get("PushVariables")
    return read


def registration(data):
    return _registration(parsed(data)["entry"]["content"])


def registrations(data):
    feed = parsed(data)["feed"]
    return [_registration(entry["content"]) for entry in _list(feed["entry"])] if "entry" in feed else []


def telemetry(data):
    raw = parsed(data)["NotificationDetails"]
    read = {name: raw.get(name) for name in ("NotificationId", "Location", "State", "TargetPlatforms")}
    for name in ("EnqueueTime", "StartTime", "EndTime"):
        read[name] = xsd_time(raw[name]) if name in raw else None
    read["NotificationBody"], read["PnsErrorDetailsUri"] = raw.get("NotificationBody"), raw.get("PnsErrorDetailsUri")
    for platform in ("Apns", "Adm", "Baidu", "Gcm", "FcmV1", "Xiaomi", "Wns", "Browser"):
        if f"{platform}OutcomeCounts" in raw:
            counts = raw[f"{platform}OutcomeCounts"]
            if not isinstance(counts, dict) or "Outcome" not in counts:
                raise Unreadable(f"JavaScript: Cannot read properties of undefined ({platform}OutcomeCounts)")
            read[platform] = {one["Name"]: int(one["Count"]) for one in _list(counts["Outcome"])}
    return read


def outcome(data):
    """The answer of a test send: successes, failures, results."""
    raw = parsed(data)["NotificationOutcome"]
    if "Results" not in raw:
        raise Unreadable("JavaScript: Cannot read properties of undefined (reading 'RegistrationResult')")
    results = raw["Results"].get("RegistrationResult") if isinstance(raw["Results"], dict) else None
    names = ("ApplicationPlatform", "RegistrationId", "Outcome", "PnsHandle")
    read = [{name: _string(one, name) for name in names} for one in _list(results)] if results else []
    return int(_string(raw, "Success")), int(_string(raw, "Failure")), read


def _job(raw):
    read = {"jobId": raw.get("JobId"), "status": raw.get("Status"), "failure": raw.get("Failure")}
    read["type"], read["outputContainerUrl"] = _string(raw, "Type"), _string(raw, "OutputContainerUri")
    read["progress"] = float(raw["Progress"]) if "Progress" in raw else None
    read["createdAt"] = xsd_time(_string(raw, "CreatedAt"))
    if "OutputProperties" in raw:
        pairs = raw["OutputProperties"]
        if not isinstance(pairs, dict) or "d3p1:KeyValueOfstringstring" not in pairs:
            raise Unreadable("JavaScript: Cannot read properties of undefined (reading 'd3p1:Key')")
        read["outputProperties"] = {
            one["d3p1:Key"]: one["d3p1:Value"] for one in _list(pairs["d3p1:KeyValueOfstringstring"])
        }
    return read


def job(data):
    return _job(parsed(data)["entry"]["content"]["NotificationHubJob"])


def jobs(data):
    feed = parsed(data)["feed"]
    entries = _list(feed["entry"]) if "entry" in feed else []
    return [_job(entry["content"]["NotificationHubJob"]) for entry in entries]
