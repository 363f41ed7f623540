"""How the phones' old SDKs read: they walk over elements by literal names."""

import re

from sdk.documents import HANDLES, Unreadable, parse

_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


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
        if element.name == "ExpirationTime" and not re.fullmatch(_TIME, "".join(value)):
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
        names += HANDLES[kind.removesuffix("Template")]
        texts = {name: payload.all(name) for name in names}
        read.append({name: elements[0].text for name, elements in texts.items() if elements})
    return read
