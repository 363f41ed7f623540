import assert from "node:assert/strict";
import { test } from "node:test";

import { fresh, problems } from "./draft.js";
import { message, rollout } from "./message.js";

const draft = (changes) => ({ ...fresh(), ...changes });

test("what is empty or usual is left out of the message", () => {
  assert.deepEqual(message(draft({ title: " Half price ", text: "Every bike" })), { title: "Half price", text: "Every bike", sound: "default" });
  assert.deepEqual(message(draft({ sound: "none", badge: "+1", data: [["sale", "17"], ["", "x"]], silent: true })), { badge: "+1", data: { sale: "17" }, silent: true });
  assert.equal(message(draft({ badge: "3" })).badge, 3);
});

test("a field that the server would refuse is named before", () => {
  assert.deepEqual(problems(draft({ link: "https://shop.example/sale", picture: "https://shop.example/p.jpg", badge: "7", collapse: "sale" })), {});
  assert.deepEqual(Object.keys(problems(draft({ link: "javascript:alert(1)", picture: "http://x.example/", badge: "many", collapse: "a b" }))), ["link", "picture", "badge", "collapse"]);
  assert.deepEqual(Object.keys(problems(draft({ title: "ü".repeat(513) }))), ["title"]);
});

test("a roll-out is said as the header says it", () => {
  assert.equal(rollout(draft({}), true), null);
  assert.equal(rollout(draft({ rate: "2,000", halt: "5 %" }), true), "rate=2000; halt=5%");
  assert.equal(rollout(draft({ first: "1000", rate: "2000" }), true), "first=1000; rate=2000");
  assert.equal(rollout(draft({ first: "1000" }), false), null);
  assert.equal(rollout(draft({ halt: "5" }), true), null);
});

test("each draft is a send of its own", () => {
  assert.notEqual(fresh().id, fresh().id);
});
