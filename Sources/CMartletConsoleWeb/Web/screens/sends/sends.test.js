import assert from "node:assert/strict";
import { test } from "node:test";

import { claimOf } from "../compose/sending.js";
import { isClaim } from "./sends.js";

test("what an Undo sends in the place of a send that has not arrived is known by its audience", () => {
  const { fields } = claimOf({ asked: "2026-11-27T20:00:00.000Z" }, crypto.randomUUID());
  assert.equal(isClaim({ expression: fields["servicebusnotification-tags"] }), true);
  for (const expression of [null, "undone", "undone:yes", "news || undone:yes", "user:undone"]) assert.equal(isClaim({ expression }), false);
});
