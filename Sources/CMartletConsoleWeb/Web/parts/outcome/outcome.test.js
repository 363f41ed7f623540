import assert from "node:assert/strict";
import { test } from "node:test";

import { translator } from "../../lib/text.js";
import { needsCause, needsPerson, told } from "./outcome.js";
import texts from "./text.en.js";

const t = translator("en", texts);

test("what the hub itself decided is said in the words of the server alone", () => {
  const reason = "The hub's credential does not allow subscriptions of this push service.";
  assert.deepEqual(told(t, "BadChannel", reason), { text: "Nothing was sent to this device.", todo: "", quote: reason, isAtServices: false });
  assert.deepEqual(told(t, "InvalidCredentials", "The credential cannot be read.").quote, "The credential cannot be read.");
});

test("what a push service answered is said in the reader's words", () => {
  assert.match(told(t, "BadChannel", "BadDeviceToken").todo, /register again/);
  assert.equal(told(t, "Superseded", "").quote, "");
  assert.deepEqual(told(t, "SomethingNew", "x"), { text: "", todo: "", quote: "", isAtServices: false });
  assert.ok(needsCause("BadChannel") && !needsCause("ExpiredChannel"));
});

test("what passes by itself is sent again", () => {
  for (const outcome of ["PnsUnavailable", "PnsServerError", "Throttled"]) assert.equal(told(t, outcome, "").todo, "Sending again helps.");
  assert.equal(told(t, "AbandonedNotificationMessages", "").todo, "");
});

test("a refused credential says that nobody gets anything until it is mended, and leads to where that is", () => {
  for (const reason of ["InvalidProviderToken", "ExpiredProviderToken", "BadCertificate", "UNAUTHENTICATED", "status 401", "The credential cannot be read."]) {
    const { todo, isAtServices } = told(t, "InvalidCredentials", reason);
    assert.match(todo, /^Nobody on this platform gets anything until/, reason);
    assert.ok(isAtServices, reason);
  }
  assert.ok(needsPerson("InvalidCredentials") && !needsPerson("PnsUnavailable"));
});

test("what is wrong in the project at Firebase is not looked for in the hub", () => {
  const { todo, isAtServices } = told(t, "InvalidCredentials", "THIRD_PARTY_AUTH_ERROR");
  assert.match(todo, /Firebase console/);
  assert.ok(!isAtServices);
});
