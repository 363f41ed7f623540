import assert from "node:assert/strict";
import { test } from "node:test";

import { qrCode } from "./code.js";

const drawn = (rows) => rows.map((row) => row.map((isDark) => (isDark ? "#" : ".")).join(""));

test("a code has three finder patterns and timing patterns between them", () => {
  const rows = drawn(qrCode("otpauth://totp/x"));
  const finder = ["#######.", "#.....#.", "#.###.#.", "#.###.#.", "#.###.#.", "#.....#.", "#######.", "........"];
  const mirrored = (lines) => lines.map((line) => [...line].reverse().join(""));
  assert.deepEqual(rows.slice(0, 8).map((row) => row.slice(0, 8)), finder);
  assert.deepEqual(rows.slice(0, 8).map((row) => row.slice(-8)), mirrored(finder));
  assert.deepEqual(rows.slice(-8).map((row) => row.slice(0, 8)), [...finder].reverse());
  assert.match(rows[6].slice(8, -8), /^#?(\.#)*\.?$/);
});

test("a code is as large as its text needs, and a text that fits in none is refused", () => {
  const versions = [14, 15, 26, 27, 213, 214, 666].map((length) => (qrCode("x".repeat(length)).length - 17) / 4);
  assert.deepEqual(versions, [1, 2, 2, 3, 10, 11, 20]);
  assert.throws(() => qrCode("x".repeat(667)), RangeError);
});
