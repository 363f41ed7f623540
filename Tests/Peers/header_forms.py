"""How each field of a header block was written (RFC 7541, section 6), read from the bytes alone.

hpack decodes a block but does not say which representation carried a field. APNs asks that `:path` and
`authorization` never enter the header table, so the peer reads the representation bits itself.
"""

import hpack

INDEXED = "indexed"
INCREMENTAL = "literal with incremental indexing"
PLAIN = "literal without indexing"
NEVER = "literal never indexed"


def forms(block):
    """The representation of each field of `block`, in order; table size updates carry no field."""
    found, position = [], 0
    while position < len(block):
        first = block[position]
        if first & 0x80:
            found.append(INDEXED)
            _, position = _integer(block, position, 7)
        elif first & 0xE0 == 0x20:
            _, position = _integer(block, position, 5)
        else:
            incremental = bool(first & 0x40)
            found.append(INCREMENTAL if incremental else NEVER if first & 0x10 else PLAIN)
            name_index, position = _integer(block, position, 6 if incremental else 4)
            if name_index == 0:
                position = _after_string(block, position)
            position = _after_string(block, position)
    return found


def _integer(block, position, prefix):
    limit = (1 << prefix) - 1
    value = block[position] & limit
    position += 1
    if value < limit:
        return value, position
    shift = 0
    while True:
        byte = block[position]
        position += 1
        value += (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, position


def _after_string(block, position):
    length, position = _integer(block, position, 7)
    return position + length


class WatchingDecoder(hpack.Decoder):
    """hpack's decoder, which also reports the fields that entered or came from the header table."""

    def __init__(self, watched, report):
        super().__init__()
        self._watched = watched
        self._report = report

    def decode(self, data, raw=False):
        fields = super().decode(data, raw)
        for (name, _), form in zip(fields, forms(bytes(data)), strict=True):
            name = name if isinstance(name, bytes) else name.encode()
            if name in self._watched and form in (INDEXED, INCREMENTAL):
                self._report(name.decode(), form)
        return fields
