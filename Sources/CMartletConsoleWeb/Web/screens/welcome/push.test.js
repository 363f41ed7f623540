import assert from "node:assert/strict";
import { test } from "node:test";

import { mismatch, shown } from "./push.js";

test("a push arrives where the hub and the browser have the same Web Push", () => {
  const [simulator, real] = ["https://127.0.0.1:9447", "https://updates.push.services.mozilla.com/wpush/v2/a"];
  assert.equal(mismatch(`${simulator}/wpush/v2/a`, simulator, true), null);
  assert.equal(mismatch(real, simulator, false), null);
  assert.equal(mismatch(real, undefined, false), null);
  assert.equal(mismatch(real, simulator, true), "elsewhere");
  assert.equal(mismatch(`${simulator}/wpush/v2/a`, simulator, false), "ownKey");
});

test("a notification has its title once", () => {
  assert.equal(shown("Martlet: Hello: you", "Martlet"), "Hello: you");
  assert.equal(shown("Hello", "Martlet"), "Hello");
  assert.equal(shown(null, "Martlet"), "");
});
