import assert from "node:assert/strict";
import { test } from "node:test";

import { turn } from "./fresh.js";

test("data is read again while the page is used, and not in the middle of something", () => {
  assert.equal(turn(60_000, 0, false), "read");
  assert.equal(turn(60_000, 0, true), "wait");
});

test("a page that nobody has touched for ten minutes reads nothing, and says from when its data is", () => {
  assert.equal(turn(600_000, 0, false), "old");
  assert.equal(turn(600_000, 0, true), "old");
  assert.equal(turn(600_000, 1, false), "read");
});
