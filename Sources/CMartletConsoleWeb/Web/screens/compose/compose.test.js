import assert from "node:assert/strict";
import { test } from "node:test";

import { first, fresh, others, problems } from "./draft.js";
import { besides } from "./drafts/drafts.js";
import { message, read, rollout } from "./message.js";

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

test("a canary goes on after a time", () => {
  assert.equal(rollout(draft({ first: "1000", wait: "10", halt: "2" }), true), "first=1000; wait=PT10M; halt=2%");
  assert.equal(rollout(draft({ wait: "10" }), true), null);
  assert.deepEqual(["0.5", "ten", "10081", "1", "10080"].map((wait) => "wait" in problems(draft({ wait }))), [true, true, true, false, false]);
});

const inTwoLanguages = {
  title: { en: "Half price", de: "Halber Preis" }, text: "$(name)", language: "en", sound: "default", variables: { name: "Hello" },
  actions: [{ id: "buy", title: { en: "Buy", de: "Kaufen" }, link: "https://shop.example/buy" }],
};

test("a message in two languages, with a variable and a button, is read as it is written", () => {
  assert.deepEqual(message(draft(read(inTwoLanguages))), inTwoLanguages);
  const copy = draft(read({ title: "Hi", sound: "default", badge: "+1", data: { sale: "17" }, silent: true }));
  assert.deepEqual(message(copy), { title: "Hi", sound: "default", badge: "+1", data: { sale: "17" }, silent: true });
});

test("what another language says is needed in the message's own", () => {
  const languages = [{ tag: "de", title: "Halber Preis", text: "", buttons: [] }];
  assert.deepEqual(problems(draft({ language: "en", languages })), { language: "problem.ownText" });
  assert.deepEqual(problems(draft({ language: "en", title: "Half price", languages })), {});
  assert.deepEqual(problems(draft({ language: "english please", title: "Half price", languages })), { language: "problem.tag" });
  assert.deepEqual(Object.keys(problems(draft({ actions: [{ id: "", title: "", link: "" }] }))), ["actions"]);
});

test("how many get it first is read as the roll-out reads it", () => {
  assert.equal(first(draft({ first: "1,000" })), 1000);
  assert.equal(first(draft({ first: "" })), 0);
  assert.equal(first(draft({ first: "some" })), 0);
});

test("a draft that another takes the place of is kept beside it", () => {
  const stored = new Map();
  globalThis.localStorage = /** @type {any} */ ({ getItem: (key) => stored.get(key) ?? null, setItem: (key, value) => stored.set(key, value) });
  const own = draft({ title: "Half price" });
  const other = draft({ to: "$InstallationId:{phone}" });
  assert.equal(besides("shop", own, other), other);
  assert.deepEqual(others("shop").map((one) => one.title), ["Half price"]);
  assert.equal(besides("shop", draft({ to: "username:alice" }), other), other);
  assert.equal(others("shop").length, 1, "an audience alone is no loss");
  assert.equal(besides("shop", draft({ to: "news && !beta" }), other), other);
  assert.equal(others("shop").length, 2, "an expression is");
  assert.equal(besides("shop", draft({ title: "Half price" }), other), other);
  assert.equal(others("shop").length, 2, "once is enough");
  const same = draft({ title: "A copy" });
  assert.equal(besides("shop", same, draft({ title: "A copy" })), same);
  globalThis.localStorage = /** @type {any} */ ({ getItem: () => null, setItem: () => { throw new Error("full"); } });
  assert.equal(besides("shop", own, other), own, "where there is no room, nothing is replaced");
});

test("each draft is a send of its own", () => {
  assert.notEqual(fresh().id, fresh().id);
});
