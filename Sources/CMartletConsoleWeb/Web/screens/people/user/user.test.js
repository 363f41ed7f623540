import assert from "node:assert/strict";
import { test } from "node:test";

import { merged } from "./user.js";

const send = (/** @type {string} */ id, /** @type {string} */ acceptedAt, verdict = "delivered") => ({ id, acceptedAt, verdict });

test("a send that was meant for two devices is one row with two verdicts", () => {
  const rows = merged([
    { device: { installation: "a" }, page: { sends: [send("2", "2026-01-02"), send("1", "2026-01-01")], next: null } },
    { device: { installation: "b" }, page: { sends: [send("2", "2026-01-02", "refused")], next: null } },
  ]);
  assert.deepEqual(rows.map((row) => [row.send.id, row.results.map((one) => one.name)]), [["2", ["delivered", "refused"]], ["1", ["delivered"]]]);
});

test("nothing is told of a time for which one device's list goes on", () => {
  const rows = merged([
    { device: { installation: "a" }, page: { sends: [send("3", "2026-01-03"), send("2", "2026-01-02")], next: "17" } },
    { device: { installation: "b" }, page: { sends: [send("1", "2026-01-01")], next: null } },
  ]);
  assert.deepEqual(rows.map((row) => row.send.id), ["3", "2"]);
});
