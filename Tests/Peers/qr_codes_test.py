"""The QR codes of the console, of every size, are read by a reader of others."""

import json
import os
import subprocess
import unittest

import zxingcpp

CODE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Sources/CMartletConsoleWeb/Web/parts/qr/code.js")
PROGRAM = """
import { pathToFileURL } from "node:url";
const { qrCode } = await import(pathToFileURL(process.argv[1]));
for (const text of JSON.parse(process.argv[2])) console.log(JSON.stringify(qrCode(text).map((row) => row.map(Number))));
"""
QUIET, SCALE = 4, 3
# The bytes of the longest text of each version, 1 to 20, by the table of the standard for level M.
LONGEST = [14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 450, 504, 560, 624, 666]


def read(rows):
    """What the reader reads in a picture of the modules, and the error correction level."""
    blank = [0] * QUIET
    padded = [[*blank, *row, *blank] for row in rows]
    padded = [[0] * len(padded[0])] * QUIET + padded + [[0] * len(padded[0])] * QUIET
    pixels = b"".join(bytes(255 * (1 - module) for module in row for _ in range(SCALE)) * SCALE for row in padded)
    size = len(padded) * SCALE
    return [(one.text, one.ec_level) for one in zxingcpp.read_barcodes(memoryview(pixels).cast("B", shape=(size, size)))]


class QRCodesTest(unittest.TestCase):
    def test_every_version_is_read_back(self):
        long = "otpauth://totp/Martlet:größe-편지" + "xY9." * 200
        texts = [long.encode()[:length].decode(errors="ignore") for length in (1, *LONGEST, *(length + 1 for length in LONGEST[:-1]))]
        printed = subprocess.run(["node", "--input-type=module", "-e", PROGRAM, CODE, json.dumps(texts)], capture_output=True, text=True, check=True)
        found = [json.loads(line) for line in printed.stdout.splitlines()]
        self.assertEqual({(len(rows) - 17) // 4 for rows in found}, set(range(1, 21)))
        for text, rows in zip(texts, found, strict=True):
            self.assertEqual(read(rows), [(text, "M")])


if __name__ == "__main__":
    unittest.main()
