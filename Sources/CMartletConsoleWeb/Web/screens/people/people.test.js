import assert from "node:assert/strict";
import { test } from "node:test";

import { shortened } from "./people.js";

test("the end of a handle stays, which tells it from others", () => {
  assert.equal(shortened("f1fd…e4f5"), "f1fd…e4f5");
  assert.equal(shortened("https://127.0.0.1:21012/…ab12cd"), "…ab12cd");
});
