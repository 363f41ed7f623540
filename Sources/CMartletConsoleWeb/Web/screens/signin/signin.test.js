import assert from "node:assert/strict";
import { test } from "node:test";

import { told } from "./signin.js";

test("the sign-in page says of a send only what is known, and nothing once it is over", () => {
  const due = Date.parse("2026-11-27T20:00:10.000Z");
  const after = (seconds, id, undo) => told({ id, undo, ahead: 0, dues: ["2026-11-27T20:00:10.000Z"] }, due + seconds * 1000);
  assert.deepEqual([after(-1, "n0", false), after(-1, null, false)], ["pending", "pending.perhaps"]);
  assert.deepEqual([after(-1, "n0", true), after(-1, null, true)], ["pending.undo", "pending.undo.perhaps"]);
  assert.deepEqual([after(1, "n0", true), after(1, null, true)], ["pending.begun", "pending.begun"]);
  assert.deepEqual([after(1, "n0", false), after(3601, "n0", true), told(null, due)], ["", "", ""]);
});
