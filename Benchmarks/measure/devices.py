"""The devices that are registered for a measurement: their tokens, tags and templates are the same in every run."""
import hashlib
from xml.sax.saxutils import escape

SERVICE = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
# Each has all four properties.
TEMPLATES = [
    '{"aps":{"alert":{"title":"$(title)","subtitle":"$(place)","body":"$(text)"}},"link":"$(link)"}',
    '{"aps":{"alert":"{$(title) + \': \' + $(text) + \', \' + $(place)}","sound":"default"},"link":"$(link)"}',
    '{"aps":{"alert":{"body":"$(text)"},"category":"news"},"title":"$(title)","place":"$(place)","link":"$(link)"}',
]
PROPERTIES = (
    '{"title":"News","text":"A message of usual length for everybody","place":"Lisbon","link":"https://example.com/1"}')
DEVICES_OF_A_USER = 3
LANGUAGES = ("en", "de", "fr", "pt", "ko")


def token(device):
    """64 hexadecimal digits without an order, as Apple's are."""
    return hashlib.sha256(b"%d" % device).hexdigest()


def tags(device):
    """a on all, b on a tenth, c on a hundredth, which is some of those with b."""
    return ["a"] + (["b"] if device % 10 == 0 else []) + (["c"] if device % 100 == 0 else [])


def native(device):
    return description("Apple", tags(device), device)


def with_template(device):
    template = f"<BodyTemplate>{escape(TEMPLATES[device % len(TEMPLATES)])}</BodyTemplate>"
    return description("AppleTemplate", tags(device), device, template)


def of_user(device):
    user = device // DEVICES_OF_A_USER
    language = ("en", "de", "fr", "pt")[user % 4]
    return description("Apple", [f"username:u{user}", f"lang:{language}", f"city:{user % 1000}", "news"], device)


def numbered(device, change):
    """With an id of its own, so that it can be written again; of its four tags one is another after each change."""
    tags = [f"username:u{device // DEVICES_OF_A_USER}", f"city:{device % 1000}", "news", f"version:{change}"]
    return description("Apple", tags, device, f"<RegistrationId>bench-{device}</RegistrationId>")


def with_language(device):
    """A fifth of the devices speaks each language, and each has a variable of its own."""
    variables = escape('{"name":"Name %d"}' % device)
    language = f"lang:{LANGUAGES[device % len(LANGUAGES)]}"
    return description("Apple", tags(device) + [language], device, f"<PushVariables>{variables}</PushVariables>")


# What a data directory can be made of: a line of an import for a device.
KINDS = {"native": native, "templates": with_template, "users": of_user, "languages": with_language}


def description(kind, tags, device, more=""):
    return (
        f'<{kind}RegistrationDescription xmlns="{SERVICE}"><Tags>{",".join(tags)}</Tags>'
        f"<DeviceToken>{token(device)}</DeviceToken>{more}</{kind}RegistrationDescription>\n")


def is_gone(device, percent):
    """Whether the sink answers that it is unregistered, as it decides that itself."""
    return int(token(device)[:4], 16) * 100 < percent << 16
