"""The pixels of a small PNG as Chromium writes it: eight bits for each of three or four channels, not interlaced."""

import struct
import zlib


def grey(data):
    """Height and width, and one byte for each pixel, from the mean of red, green and blue."""
    width, height, _, kind = struct.unpack(">IIBB", data[16:26])
    channels, packed, at = {2: 3, 6: 4}[kind], b"", 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        if name == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    raw, stride, found = zlib.decompress(packed), width * channels, bytearray()
    above = bytes(stride)
    for row in range(height):
        start = row * (stride + 1)
        line = bytearray(raw[start + 1:start + 1 + stride])
        for index in range(stride):
            left = line[index - channels] if index >= channels else 0
            corner = above[index - channels] if index >= channels else 0
            line[index] = (line[index] + predicted(raw[start], left, above[index], corner)) & 255
        found += bytes(sum(line[index:index + 3]) // 3 for index in range(0, stride, channels))
        above = line
    return (height, width), found


def predicted(kind, left, up, corner):
    """What a filter of PNG adds to a byte."""
    if kind == 4:
        distances = [(abs(left + up - corner - one), one) for one in (left, up, corner)]
        return min(distances, key=lambda one: one[0])[1]
    return (0, left, up, (left + up) // 2)[kind]
