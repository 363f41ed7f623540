import assert from "node:assert/strict";
import { test } from "node:test";

import { translator } from "../../lib/text.js";
import { times } from "../../lib/time.js";
import { sentence, waitsFor } from "./held.js";
import texts from "./text.en.js";

const view = /** @type {any} */ ({ t: translator("en", texts), time: times("en", "UTC") });
const now = Date.parse("2026-11-26T14:00:00Z");
const canary = { control: "holding", goesOnAt: "2026-11-26T14:10:00Z" };

test("a canary waits for its time, for results when that is over, and without a time for a person", () => {
  assert.equal(waitsFor(canary, now), "time");
  assert.equal(waitsFor(canary, now + 600_000), "answers");
  assert.equal(waitsFor({ ...canary, waitsFor: "answers" }, now), "answers");
  assert.equal(waitsFor({ control: "holding", goesOnAt: null }, now), "approval");
  assert.equal(waitsFor({ control: "paused" }, now), "paused");
});

test("it is said until when it waits, and what would prevent that it goes on", () => {
  assert.equal(sentence(view, canary, now), "The first devices have it. The rest goes out by itself: Nov 26, 2026, 14:10 UTC.");
  assert.match(sentence(view, { ...canary, rollout: { halt: { percent: 5 } } }, now), /It halts instead if more than 5 % of the first fail\.$/);
  // In a list, the roll-out of a send is a text.
  assert.doesNotMatch(sentence(view, { ...canary, rollout: "first=2; wait=PT600S; halt=5%" }, now), /halts/);
  assert.match(sentence(view, { control: "paused", expiresAt: "2026-11-27T14:00:00Z" }, now), /expires Nov 27/);
});
