import assert from "node:assert/strict";
import { test } from "node:test";

import { times } from "../../lib/time.js";
import { numbers, translator } from "../../lib/text.js";
import { advice, outage } from "./outage.js";

test("an outage says since when, how many pushes wait, when Martlet tries again, and what to do", async () => {
  const view = /** @type {any} */ ({ language: "en", t: translator("en"), n: numbers("en"), time: times("en", "UTC") });
  const failure = { origin: "https://api.push.apple.com", origins: 1, status: 503, reason: "ServiceUnavailable", since: "2020-01-01T10:02:00Z" };
  const waiting = { pushes: 10_000, isPartial: true, notifications: 2, nextAt: "2020-01-01T10:06:41Z", expiresAt: "2020-01-01T22:02:00Z" };
  const lines = await outage(view, "apns", failure, waiting);
  assert.equal(lines[0], "APNs has answered 503 to everything since Jan 1, 10:02");
  assert.equal(lines[1], "api.push.apple.com · ServiceUnavailable");
  assert.match(lines[2] ?? "", /^Pushes waiting: 10,000\+, of 2 sends\. .*10:06:41.*Jan 1, 22:02/);
  assert.match(lines[3] ?? "", /No action needed/);
});

test("an outage without waiting pushes does not name a next attempt", async () => {
  const view = /** @type {any} */ ({ language: "en", t: translator("en"), n: numbers("en"), time: times("en", "UTC") });
  const lines = await outage(view, "apns", { origin: "https://x", origins: 3, status: null, reason: "", since: "2020-01-01T10:02:00Z" }, null);
  assert.equal(lines[0], "APNs has not answered since Jan 1, 10:02");
  assert.equal(lines[1], "x and 2 more addresses");
  assert.equal(lines[2], "No pushes are waiting.");
});

test("what is to be done depends on the answer", () => {
  assert.deepEqual([null, 503, 429, 401].map(advice), ["network", "service", "rate", "refused"]);
});
