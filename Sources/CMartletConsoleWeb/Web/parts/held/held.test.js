import assert from "node:assert/strict";
import { test } from "node:test";

import { translator } from "../../lib/text.js";
import { times } from "../../lib/time.js";
import { decide, sentence, waitsFor } from "./held.js";
import texts from "./text.en.js";

const view = /** @type {any} */ ({ t: translator("en", texts), time: times("en", "UTC") });
const now = Date.parse("2026-11-26T14:00:00Z");
const canary = { control: "holding", goesOnAt: "2026-11-26T14:10:00Z" };

test("a canary waits for its time, for results when that is over, and without a time for a person", () => {
  assert.equal(waitsFor(canary, now), "time");
  assert.equal(waitsFor(canary, now + 600_000), "answers");
  assert.equal(waitsFor({ ...canary, waitsFor: "answers" }, now), "answers");
  assert.equal(waitsFor({ control: "holding", goesOnAt: null }, now), "approval");
  assert.equal(waitsFor({ control: "paused" }, now), "paused");
});

test("it is said until when it waits, and what would prevent that it goes on", () => {
  assert.equal(sentence(view, canary, now), "The first devices have it. The rest goes out by itself: Nov 26, 2026, 14:10 UTC.");
  assert.match(sentence(view, { ...canary, rollout: { halt: { percent: 5 } } }, now), /It halts instead if more than 5 % of the first fail\.$/);
  // In a list, the roll-out of a send is a text.
  assert.doesNotMatch(sentence(view, { ...canary, rollout: "first=2; wait=PT600S; halt=5%" }, now), /halts/);
  assert.match(sentence(view, { control: "paused", expiresAt: "2026-11-27T14:00:00Z" }, now), /expires Nov 27/);
});

/**
 * Answers each request with the next of these, and then with none.
 *
 * @param {any} context @param {any[]} answers
 * @returns {() => Promise<number>} Lets a pause pass and what is asked then be answered; the number of requests.
 */
function server(context, answers) {
  /** @type {(() => void)[]} */
  let pauses = [];
  /** @type {any} */ (globalThis).window = {
    setTimeout: (/** @type {() => void} */ work, /** @type {number} */ length) => length === 2000 && pauses.push(work), clearTimeout: () => {},
  };
  const asked = context.mock.method(globalThis, "fetch", async () => {
    if (answers.length === 0) throw new TypeError("Failed to fetch");
    return new Response(JSON.stringify(answers.shift()));
  });
  return async () => {
    const due = pauses;
    pauses = [];
    for (const work of due) work();
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    return asked.mock.callCount();
  };
}

test("a pause without an answer is said, and asked for again until there is one", async (context) => {
  /** @type {any[]} */
  const answers = [];
  const pass = server(context, answers);
  /** @type {string[]} */
  const told = [];
  const done = decide({ ...view, toast: (/** @type {string} */ text) => told.push(text) }, { hub: "shop", id: "1" }, "pause", (text) => told.push(text));
  assert.equal(await pass(), 1);
  assert.equal(await pass(), 2);
  answers.push({ control: "paused" });
  assert.equal(await pass(), 3);
  assert.deepEqual(await done, { control: "paused" });
  assert.deepEqual(told, [texts["unsure.pause"], texts["unsure.pause"], "", "Paused."]);
});

test("who decides otherwise meanwhile is not contradicted, and Continue is not repeated", async (context) => {
  const pass = server(context, []);
  /** @type {string[]} */
  const told = [];
  const path = { hub: "shop", id: "2" };
  const first = decide(view, path, "pause", () => {});
  await pass();
  const second = decide(view, path, "resume", (text) => told.push(text));
  const count = await pass();
  assert.equal(await first, null);
  assert.equal(await second, null);
  assert.equal(await pass(), count);
  assert.deepEqual(told, [texts["unsure.resume"]]);
});
