import assert from "node:assert/strict";
import { test } from "node:test";

import { newPassword } from "./users.js";

test("a new password has 20 characters that are not easily confused, and is never the same", () => {
  const made = Array.from({ length: 100 }, newPassword);
  for (const one of made) assert.match(one, /^[a-km-np-z2-9]{20}$/);
  assert.equal(new Set(made).size, 100);
});
