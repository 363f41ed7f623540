import assert from "node:assert/strict";
import { test } from "node:test";

import { first, follow, forget, fresh, hold, keep, kept, others, problems } from "./draft.js";
import { besides } from "./drafts/drafts.js";
import { message, read, rollout } from "./message.js";
import { became, claimOf, found, isOpen, next, noteSent, sentBefore, useKey } from "./sending.js";

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

/** A browser's storage. @param {boolean} [isFull] */
function storage(isFull = false) {
  const items = new Map();
  const made = {
    getItem: (key) => items.get(key) ?? null, removeItem: (key) => items.delete(key), key: (index) => [...items.keys()][index] ?? null,
    setItem: (key, value) => {
      if (isFull) throw new Error("full");
      items.set(key, value);
    },
    get length() {
      return items.size;
    },
  };
  return /** @type {any} */ (made);
}

test("a draft that another takes the place of is kept beside it", () => {
  globalThis.localStorage = storage();
  const own = draft({ title: "Half price" });
  const other = draft({ to: "$InstallationId:{phone}" });
  assert.ok(keep("shop", own));
  assert.equal(besides("shop", own, other), other);
  assert.deepEqual(others("shop", other.id).map((one) => one.title), ["Half price"]);
  const audience = draft({ to: "username:alice" });
  keep("shop", audience);
  assert.equal(besides("shop", audience, other), other);
  assert.equal(others("shop", other.id).length, 1, "an audience alone is no loss");
  const expression = draft({ to: "news && !beta" });
  keep("shop", expression);
  assert.equal(besides("shop", expression, other), other);
  assert.equal(others("shop", other.id).length, 2, "an expression is");
  const same = draft({ title: "A copy" });
  assert.equal(besides("shop", same, draft({ title: "A copy" })), same);
  globalThis.localStorage = storage(true);
  assert.equal(keep("shop", draft({ title: "No room" })), false);
});

test("two tabs that change one draft keep both, and a draft that is sent removes only itself", () => {
  globalThis.localStorage = storage();
  globalThis.sessionStorage = storage();
  const own = draft({ title: "Half price" });
  keep("shop", own);
  hold("shop", own.id);
  assert.equal(kept("shop")?.title, "Half price");
  // What another tab writes is not read by this one.
  localStorage.setItem(`draft::shop:${own.id}`, JSON.stringify({ ...own, title: "By the other tab" }));
  own.title = "By this tab";
  keep("shop", own);
  assert.deepEqual(others("shop").map((one) => one.title).sort(), ["By the other tab", "By this tab"]);
  forget("shop", own);
  assert.deepEqual(others("shop").map((one) => one.title), ["By the other tab"]);
  const [left] = others("shop");
  localStorage.setItem(`draft::shop:${left.id}`, JSON.stringify({ ...left, title: "Changed again" }));
  forget("shop", { ...left });
  assert.deepEqual(others("shop").map((one) => one.title), ["Changed again"], "what somebody has changed meanwhile is not removed");
});

test("of a confidential draft, only its send is stored", () => {
  globalThis.localStorage = storage();
  const own = draft({ title: "Secret", confidential: true });
  assert.equal(keep("shop", own), false);
  own.sending = asked();
  useKey(own);
  assert.ok(keep("shop", own));
  const text = localStorage.getItem(`draft::shop:${own.id}`) ?? "";
  assert.ok(!text.includes("Secret") && !text.includes(own.keyOf), "nor its digest");
  noteSent("shop", own, "a");
  assert.equal(sentBefore("shop", own), null);
});

test("Undo stays wanted whatever another tab stores of the same send", () => {
  globalThis.localStorage = storage();
  const own = draft({ title: "Half price", sending: asked() });
  useKey(own);
  keep("shop", own);
  const store = (changes) => localStorage.setItem(`draft::shop:${own.id}`, JSON.stringify({ ...own, ...changes }));
  // This tab has not read that Undo was pressed in another one.
  store({ sending: asked({ undo: true, dues: ["2026-11-27T20:00:23.000Z"] }) });
  own.sending = asked({ id: "n0" });
  keep("shop", own);
  assert.deepEqual(others("shop").map((one) => [one.id, one.sending.id, one.sending.undo]), [[own.id, "n0", true]]);
  // Another tab has written what it knew before.
  store({ sending: asked({ id: "n0", undo: false }) });
  follow("shop", own);
  assert.equal(own.sending.undo, true);
  // Another tab calls the send over. What became of the Undo is found out here.
  store({ sending: null });
  follow("shop", own);
  assert.equal(own.sending?.undo, true);
  own.sending.undo = false;
  follow("shop", own);
  assert.equal(own.sending, null);
  // A send with another key is another send.
  own.sending = asked({ undo: true });
  store({ key: "another", sending: asked() });
  follow("shop", own);
  assert.equal(own.sending.undo, false);
});

const second = 1000;
const began = Date.parse("2026-11-27T20:00:00.000Z");
/** A send that was asked for at `began`. @returns {any} */
const asked = (changes = {}) => ({ asked: "2026-11-27T20:00:00.000Z", ahead: 0, dues: ["2026-11-27T20:00:10.000Z"], isLater: false, replaces: null, id: null, undo: false, count: 5, first: 0, ...changes });

test("a send whose answer was lost is asked for again at the same time, then at a later one, then only looked for", () => {
  const after = (seconds, changes, hasBody = true) => next(asked(changes), began + seconds * second, hasBody);
  assert.equal(after(1), "repeat");
  assert.equal(after(9), "renew", "it would begin without a time to undo it");
  assert.equal(after(9, { isLater: true }), "find", "another time than the operator has chosen is not taken");
  assert.equal(after(121), "find", "nobody may be looking any more");
  assert.equal(after(1, {}, false), "find", "its content is not known any more");
  assert.equal(after(11, { ahead: 3 * second, dues: ["2026-11-27T20:00:23.000Z"] }), "repeat", "the server's clock counts");
});

test("a send that was accepted waits, is looked at when it is due, and is undone for as long as it is wanted", () => {
  const after = (seconds, undo) => next(asked({ id: "a", undo }), began + seconds * second, true);
  assert.deepEqual([after(1, false), after(11, false), after(1, true), after(11, true)], ["wait", "look", "takeBack", "takeBack"]);
});

test("after Undo, the send is not asked for any more: its key is claimed, or what it replaces is taken back", () => {
  const after = (seconds, changes, hasBody = true) => next(asked({ undo: true, ...changes }), began + seconds * second, hasBody);
  assert.deepEqual([after(1), after(9), after(121), after(1, {}, false)], ["claim", "claim", "claim", "claim"]);
  assert.equal(after(1, { replaces: "a" }), "takeBack");
  const { body, fields } = claimOf(asked(), "k");
  assert.deepEqual(body, { title: "Undone" }, "nothing of the draft is in it");
  assert.equal(fields["servicebusnotification-tags"], "undone:k");
  assert.equal(fields["servicebusnotification-scheduletime"], "2026-12-04T20:00:00.000Z");
  assert.deepEqual(claimOf(asked({ dues: ["2026-11-27T20:00:23.000Z"] }), "k").fields, fields, "it is the same each time");
});

test("only a status says what became of a send", () => {
  const startedAt = "2026-11-27T20:00:10.010Z";
  assert.equal(became({ state: "Scheduled", control: "running", startedAt: null, endedAt: null }), "due");
  assert.equal(became({ state: "Canceled", control: "canceled", startedAt: null, endedAt: startedAt }), "undone");
  assert.equal(became({ state: "Processing", control: "canceled", startedAt, endedAt: null }), "stopped");
  assert.equal(became({ state: "Completed", control: null, startedAt, endedAt: startedAt }), "begun");
  assert.equal(became({ state: "NoTargetFound", control: null, startedAt: null, endedAt: startedAt }), "begun");
});

test("no answer, and a failure of the server, leave it open whether a send was accepted", () => {
  assert.deepEqual([0, 401, 408, 500, 502, 504].map(isOpen), Array(6).fill(true));
  assert.deepEqual([400, 403, 404, 422, 429, 503, 507].map(isOpen), Array(7).fill(false));
});

test("a send is found by when it was asked for and when it was to begin", () => {
  const sends = [
    { id: "c", acceptedAt: "2026-11-27T20:00:03.000Z", dueAt: "2026-11-27T20:00:13.000Z" },
    { id: "b", acceptedAt: "2026-11-27T20:00:00.100Z", dueAt: "2026-11-27T20:00:10.000Z" },
    { id: "a", acceptedAt: "2026-11-27T19:00:00.000Z", dueAt: "2026-11-27T20:00:10.000Z" },
  ];
  assert.equal(found(sends, asked()).id, "b");
  assert.equal(found(sends, asked({ dues: ["2026-11-27T20:00:11.000Z"] })), null);
});

test("a content has one idempotency key, another content another", () => {
  const own = draft({ title: "Half price" });
  useKey(own);
  const { key } = own;
  useKey(own);
  assert.equal(own.key, key);
  own.title = "Half price!";
  useKey(own);
  assert.notEqual(own.key, key);
});

test("the same content is known to have been sent", () => {
  globalThis.localStorage = storage();
  noteSent("shop", draft({ title: "Half price" }), "a");
  assert.equal(sentBefore("shop", draft({ title: "Half price" }))?.id, "a");
  assert.equal(sentBefore("shop", draft({ title: "Half price!" })), null);
});

test("each draft is a send of its own", () => {
  assert.notEqual(fresh().id, fresh().id);
});
