import assert from "node:assert/strict";
import { test } from "node:test";

import { translator } from "../../lib/text.js";
import { needsCause, told } from "./outcome.js";
import texts from "./text.en.js";

const t = translator("en", texts);

test("what the hub itself decided is said in the words of the server alone", () => {
  const reason = "The hub's credential does not allow subscriptions of this push service.";
  assert.deepEqual(told(t, "BadChannel", reason), { text: "Nothing was sent to this device.", todo: "", quote: reason });
  assert.deepEqual(told(t, "InvalidCredentials", "The credential cannot be read.").quote, "The credential cannot be read.");
});

test("what a push service answered is said in the reader's words", () => {
  assert.match(told(t, "BadChannel", "BadDeviceToken").todo, /register again/);
  assert.equal(told(t, "Superseded", "").quote, "");
  assert.deepEqual(told(t, "SomethingNew", "x"), { text: "", todo: "", quote: "" });
  assert.ok(needsCause("BadChannel") && !needsCause("ExpiredChannel"));
});
