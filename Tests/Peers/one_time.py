"""Codes of authenticator apps."""

import base64
import hashlib
import hmac
import struct


def one_time_password(secret, step):
    """The code of a step (RFC 6238), written down a second time."""
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    digest = hmac.digest(key, struct.pack(">q", step), hashlib.sha1)
    offset = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[offset:offset + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"
