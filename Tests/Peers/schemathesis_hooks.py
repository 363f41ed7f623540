"""What schemathesis is told besides the description: texts are sent as they are, and who succeeded is written down."""

import os

import schemathesis

MULTIPART = "multipart/mixed"
# As the judge writes multipart bodies; others have no such parts.
BOUNDARY = "b"


@schemathesis.serializer("application/xml", "application/atom+xml", MULTIPART)
def text(context, value):
    """The description says of such bodies no more than that they are text, which schemathesis would wrap in an element
    or in a part."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.media_type == MULTIPART:
        case.headers["Content-Type"] = f"{MULTIPART}; boundary={BOUNDARY}"


@schemathesis.hook
def after_call(context, case, response):
    with open(os.environ["JUDGE_ANSWERS"], "a", encoding="utf-8") as out:
        out.write(f"{response.status_code} {case.operation.label}\n")
