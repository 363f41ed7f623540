"""How the .NET SDK reads: data contracts, which drop what is out of their order."""

import decimal
import re

from sdk.documents import (
    ARRAYS, ATOM, HANDLES, JOB_STATES, JOB_TYPES, SERVICE, STATES, Unreadable, comma_separated, one_of, parse, xsd_time,
)


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
_HANDLE_ORDER = {kind: {f"required_{handle}": str for handle in handles} for kind, handles in HANDLES.items()}
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


def _contract(kind):
    native = kind.removesuffix("Template")
    members = {"ETag": str, "ExpirationTime": xsd_time, "RegistrationId": str, "Tags": comma_separated}
    members |= {"PushVariables": str} | _HANDLE_ORDER[native]
    return Contract(**members | (_template_members(native) if kind.endswith("Template") else {}))


def _content(entry, kinds):
    """What follows the start of `content` at once, which the reader takes by its literal name."""
    content = next((child for child in entry.all("content")), None)
    if content is None or not content.children or isinstance(content.children[0], str):
        raise Unreadable(f".NET expects an element right after <content>: {content and content.children[:1]!r}")
    if content.elements[0].name not in kinds or content.elements[0].namespace != SERVICE:
        raise Unreadable(f".NET: Unknown entity type {content.elements[0].name}")
    return content.elements[0]


_KINDS = [f"{kind}{form}RegistrationDescription" for kind in HANDLES if kind != "Xiaomi"
              for form in ("", "Template")]


def _registration(entry):
    element = _content(entry, _KINDS)
    kind = element.name.removesuffix("RegistrationDescription")
    return _contract(kind)(element) | {"kind": kind}


def _rooted(data, name, namespace=ATOM):
    root = parse(data)
    if root.name != name or root.namespace != namespace:
        raise Unreadable(f".NET: Required '{name}' element is missing, there is {root.name} in {root.namespace!r}")
    return root


def registration(data):
    return _registration(_rooted(data, "entry"))


def registrations(data):
    return [_registration(entry) for entry in _rooted(data, "feed").all("entry")]


def line(data):
    """A registration by itself, as a line of an export."""
    root = parse(data)
    kind = root.name.removesuffix("RegistrationDescription")
    if kind.removesuffix("Template") not in HANDLES:
        raise Unreadable(f".NET: Unknown entity type {root.name}")
    return _contract(kind)(root) | {"kind": kind}


def feedback(line):
    """One line of a file of feedback, all of whose members the published sample takes for granted."""
    members = {f"required_{name}": str for name in (
        "NotificationSystemError", "Platform", "PnsHandle", "RegistrationId", "InstallationId", "NotificationId",
        "NewPnsHandle",
    )}
    return Contract(required_FeedbackTime=xsd_time, **members)(_rooted(line, "PnsFeedback", SERVICE))


_counts = items("Outcome", Contract(Name=str, Count=int))


def telemetry(data):
    members = {"NotificationId": str, "Location": _absolute, "State": _state}
    members |= {name: xsd_time for name in ("EnqueueTime", "StartTime", "EndTime")}
    members |= {name: str for name in ("NotificationBody", "Tags", "TargetPlatforms")}
    members |= {f"{name}OutcomeCounts": _counts for name in ("Apns", "Mpns", "Wns", "Gcm", "Adm")}
    members |= {"PnsErrorDetailsUri": str} | {f"{name}OutcomeCounts": _counts for name in ("Fcm", "FcmV1")}
    return Contract(**members)(_rooted(data, "NotificationDetails", SERVICE))


def outcome(data):
    result = Contract(ApplicationPlatform=str, PnsHandle=str, RegistrationId=str, Outcome=str)
    contract = Contract(Success=int, Failure=int, Results=items("RegistrationResult", result))
    return contract(_rooted(data, "NotificationOutcome", SERVICE))


_job_contract = Contract(
    JobId=str, Progress=decimal.Decimal, required_Type=_job_type, Status=_job_state,
    required_OutputContainerUri=_absolute,
    ImportFileUri=_absolute, InputProperties=items("KeyValueOfstringstring", Contract(Key=str, Value=str)), Failure=str,
    OutputProperties=items("KeyValueOfstringstring", Contract(Key=str, Value=str)), CreatedAt=xsd_time,
    UpdatedAt=xsd_time)


def job(data):
    return _job_contract(_content(_rooted(data, "entry"), ["NotificationHubJob"]))


def jobs(data):
    return [_job_contract(_content(entry, ["NotificationHubJob"]))
            for entry in _rooted(data, "feed").all("entry")]


def _rule(element):
    if element.attributes.get("i:type") != "SharedAccessAuthorizationRule":
        raise Unreadable(f".NET: an abstract rule: {element.attributes}")
    rights = items("AccessRights", lambda one: one_of("Listen", "Manage", "Send")(one.text))
    return Contract(
        ClaimType=str, ClaimValue=str, Rights=rights,
        CreatedTime=xsd_time, ModifiedTime=xsd_time, required_KeyName=str, required_PrimaryKey=str, SecondaryKey=str,
    )(element)


def _credential(element):
    return Contract(BlockedOn=xsd_time, Properties=items("Property", Contract(Name=str, Value=str)))(element)


def hub(data):
    """The title, which is the hub's path, and the description."""
    entry = _rooted(data, "entry")
    members = {"ApnsCredential": _credential, "RegistrationTtl": _duration, "WnsCredential": _credential}
    members |= {"AuthorizationRules": items("AuthorizationRule", _rule), "GcmCredential": _credential}
    members |= {"MpnsCredential": _credential, "DailyOperations": int, "DailyMaxActiveDevices": int}
    members |= {"DailyMaxActiveRegistrations": int, "UserMetadata": str, "AdmCredential": _credential}
    members |= {"BaiduCredential": _credential, "Status": str, "FcmV1Credential": _credential}
    members |= {"BrowserCredential": _credential}
    read = Contract(**members)(_content(entry, ["NotificationHubDescription"]))
    return entry.child("title").text, read
