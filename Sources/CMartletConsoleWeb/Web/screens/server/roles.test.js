import assert from "node:assert/strict";
import { test } from "node:test";

import { free, grantOf, textOf } from "./roles.js";

test("roles are read and written as they were", () => {
  const texts = ["viewer", "sender@shop", "admin@other.hub"];
  assert.deepEqual(texts.map(grantOf).map(textOf), texts);
});

test("a further role is for all hubs or for a hub that has none, whatever its case", () => {
  assert.deepEqual(free([], ["shop"]), ["", "shop"]);
  assert.deepEqual(free(["viewer", "sender@Shop", "admin@gone"].map(grantOf), ["shop", "other"]), ["other"]);
});
