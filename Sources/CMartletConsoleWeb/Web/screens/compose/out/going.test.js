import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { fresh } from "../draft.js";
import { useKey } from "../sending.js";
import { goingOf, Questions } from "./going.js";

const realNow = Date.now;

/** A page, a server that knows what an idempotency key is, and a link between them, all by one clock.
 * @param {(name: string, seconds: number) => any} link What happens to a request: "refuse", "lose" its answer, or a number of
 *   seconds by which its answer is late, or of seconds by which the request itself is ({request}). */
function world(link) {
  const began = Date.parse("2026-11-27T20:00:00.000Z");
  let now = began;
  /** @type {{at: number, act: () => any}[]} */
  const timers = [];
  const after = (ms, act) => {
    const one = { at: now + ms, act };
    timers.push(one);
    return one;
  };
  Date.now = () => now;
  globalThis.window = /** @type {any} */ ({ setTimeout: (act, ms) => after(ms, act), clearTimeout: (one) => timers.includes(one) && timers.splice(timers.indexOf(one), 1) });
  const items = new Map();
  globalThis.localStorage = /** @type {any} */ ({ getItem: (key) => items.get(key) ?? null, setItem: (key, value) => items.set(key, value), removeItem: (key) => items.delete(key), key: (index) => [...items.keys()][index], get length() { return items.size; } });
  /** @type {any[]} */
  const sends = [];
  const iso = () => new Date(now).toISOString();
  const hasBegun = (one) => !one.isCanceled && Date.parse(one.dueAt) <= now;
  const status = (one) => ({ ...one, state: one.isCanceled ? "Canceled" : hasBegun(one) ? "Processing" : "Scheduled", control: one.isCanceled ? "canceled" : "running", startedAt: hasBegun(one) ? one.dueAt : null, endedAt: one.endedAt ?? null });
  const server = (method, path, init) => {
    const id = path.split("/").find((part) => /^n\d/.test(part));
    const known = sends.find((one) => one.id === id);
    if (path.endsWith("/session")) return [200, { now: iso() }];
    if (method === "POST" && path.endsWith("/schedulednotifications")) {
      const print = init.body + init.headers["servicebusnotification-scheduletime"] + init.headers["servicebusnotification-tags"];
      const same = sends.find((one) => one.key === init.headers["idempotency-key"]);
      if (same && same.print !== print) return [422, { error: "used" }];
      const one = same ?? { id: `n${sends.length}`, key: init.headers["idempotency-key"], print, tags: init.headers["servicebusnotification-tags"], dueAt: init.headers["servicebusnotification-scheduletime"], acceptedAt: iso(), isCanceled: false };
      if (!same) sends.push(one);
      return [201, null, `/shop/schedulednotifications/${one.id}?x`];
    }
    if (path.endsWith("/sends")) return [200, { sends: [...sends].reverse().map(status), next: null }];
    if (!known) return [404, { error: "none" }];
    if (path.endsWith("/status")) return [200, status(known)];
    if (method === "DELETE") {
      if (known.isCanceled || hasBegun(known)) return [404, { error: "too late" }];
      known.isCanceled = true;
      return [200, {}];
    }
    return [404, { error: "none" }];
  };
  /** @type {string[]} */
  const asked = [];
  globalThis.fetch = /** @type {any} */ ((url, init) => new Promise((resolve, reject) => {
    const path = url.split("?")[0];
    const name = `${init.method} ${path.split("/").at(-1)}`;
    const weather = link(name, (now - began) / 1000) ?? 0;
    asked.push(`${name}${init.headers["servicebusnotification-tags"]?.startsWith("undone:") ? " claim" : ""}`);
    init.signal?.addEventListener("abort", () => reject(Object.assign(new Error("aborted"), { name: "AbortError" })));
    if (weather === "refuse") return reject(new TypeError("refused"));
    const arrive = () => {
      const [code, document, location] = server(init.method, path, init);
      if (weather === "lose") return reject(new TypeError("reset"));
      const answer = () => resolve({ ok: code < 300, status: code, type: "basic", headers: { get: (field) => (field === "location" ? location ?? null : field === "content-type" ? "application/json" : null) }, text: async () => (document ? JSON.stringify(document) : "") });
      if (weather > 0) after(weather * 1000, answer);
      else answer();
    };
    if (weather.request) after(weather.request * 1000, arrive);
    else arrive();
  }));
  const settle = async () => { for (let turn = 0; turn < 20; turn += 1) await new Promise((done) => setImmediate(done)); };
  return {
    sends, asked, hasBegun,
    /** @param {number} seconds */
    async run(seconds) {
      const until = now + seconds * 1000;
      for (;;) {
        await settle();
        const due = timers.filter(({ at }) => at <= until).sort((one, other) => one.at - other.at)[0];
        if (!due) break;
        timers.splice(timers.indexOf(due), 1);
        now = Math.max(now, due.at);
        due.act();
      }
      now = until;
      await settle();
    },
    /** Asks for a send as the composer does. @param {any} [changes] */
    begin(changes = {}, isNew = true) {
      const draft = { ...fresh(), title: "Half price", to: "news", ...changes };
      useKey(draft);
      draft.sending = { asked: iso(), ahead: 0, dues: [new Date(now + 10_000).toISOString()], isLater: false, replaces: null, id: null, undo: false, count: 5, first: 0 };
      const going = goingOf("shop", draft, /** @type {any} */ ({ session: { features: [] }, t: (key) => key, toast: () => {} }), isNew);
      going.listen = () => {};
      going.turn();
      return going;
    },
    end: () => { Date.now = realNow; },
    items,
    iso,
    after,
  };
}

/** The code as another tab has it, with nothing in common with this one but the browser's storage. */
async function tab() {
  const folder = mkdtempSync(`${tmpdir()}/tab-`);
  const web = fileURLToPath(new URL("../../..", import.meta.url));
  for (const part of ["package.json", "lib", "screens/compose"]) cpSync(web + part, `${folder}/${part}`, { recursive: true });
  try {
    const [drafts, going, rest] = await Promise.all(["draft.js", "out/going.js", "message.js"].map((name) => import(`file://${folder}/screens/compose/${name}`)));
    return { ...rest, ...drafts, ...going };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Opens the composer of the hub in another tab, which shows the stored drafts once a second and asks what became of those that are
 * being sent (`show` and `goOn` of drafts.js).
 * @param {ReturnType<typeof world>} where @param {string[]} toasts */
async function openOther({ after }, toasts) {
  const code = await tab();
  const view = { session: { features: [] }, t: (key) => key, toast: (text) => toasts.push(text) };
  /** @type {Map<string, any>} */
  const goings = new Map();
  const show = () => {
    for (const draft of code.others("shop", "another")) {
      if (!draft.sending || (goings.has(draft.key) && !goings.get(draft.key).outcome)) continue;
      const going = code.goingOf("shop", draft, view, false);
      goings.set(draft.key, going);
      going.turn();
    }
    after(1000, show);
  };
  show();
  return goings;
}

test("after Undo, the send that the server never had is not made, whatever gets through and whatever answer is lost", async () => {
  const { run, sends, asked, hasBegun, begin, end } = world((name, seconds) => (seconds < 6 ? "refuse" : seconds < 7.5 ? "lose" : seconds < 22 ? "refuse" : 0));
  const going = begin();
  await run(4);
  going.undo();
  await run(26);
  assert.equal(going.outcome, "undone");
  assert.deepEqual(sends.map((one) => one.tags.startsWith("undone:")), [true], "only what goes to nobody was accepted");
  assert.ok(!sends.some(hasBegun));
  assert.ok(!asked.slice(asked.findIndex((one) => one.endsWith("claim"))).includes("POST schedulednotifications"), asked.join(", "));
  end();
});

test("a request that is held on its way does not make the send after its Undo", async () => {
  let isFirst = true;
  const { run, sends, begin, end } = world((name) => {
    if (name !== "POST schedulednotifications" || !isFirst) return 0;
    isFirst = false;
    return { request: 8 };
  });
  const going = begin();
  await run(2);
  going.undo();
  await run(20);
  assert.equal(going.outcome, "undone");
  assert.deepEqual(sends.map((one) => [one.tags.startsWith("undone:"), one.isCanceled]), [[true, true]]);
  end();
});

test("Undo of a send whose answer was lost finds it and takes it back", async () => {
  let isFirst = true;
  const { run, sends, begin, end } = world((name) => {
    if (name !== "POST schedulednotifications" || !isFirst) return 0;
    isFirst = false;
    return "lose";
  });
  const going = begin();
  going.undo();
  await run(3);
  assert.equal(going.outcome, "undone");
  assert.deepEqual(sends.map((one) => [one.tags, one.isCanceled]), [["news", true]]);
  end();
});

test("Undo while the page asks for a new time does not ask for the send", async () => {
  const { run, sends, asked, begin, end } = world((name, seconds) => (seconds < 9 ? { request: 100 } : name === "GET session" && seconds < 30 ? { request: 100 } : 0));
  const going = begin();
  // Two requests had no answer, so the question for the time may take twenty seconds.
  await run(30);
  asked.length = 0;
  going.undo();
  await run(60);
  assert.equal(going.outcome, "undone");
  assert.ok(!asked.includes("POST schedulednotifications"), asked.join(", "));
  assert.ok(sends.every((one) => one.isCanceled || one.tags.startsWith("undone:")));
  end();
});

test("a confidential send that is loaded again is looked for, and is found when its request arrives late", async () => {
  const { run, sends, begin, end } = world(() => 0);
  const going = begin({ confidential: true }, false);
  await run(60);
  assert.equal(going.outcome, null, "one empty look says nothing");
  sends.push({ id: "n0", tags: "news", dueAt: going.sending.dues[0], acceptedAt: new Date(Date.now()).toISOString(), isCanceled: false });
  await run(5);
  assert.equal(going.outcome, "begun");
  const lost = begin({ confidential: true, title: "Another" }, false);
  await run(119);
  assert.equal(lost.outcome, null);
  await run(5);
  assert.equal(lost.outcome, "none");
  end();
});

test("an answer that takes ten seconds arrives, and a send that is asked for so has its ten seconds", async () => {
  const { run, sends, asked, begin, end } = world(() => 10);
  const questions = new Questions();
  /** @type {any} */
  let clock = null;
  questions.time().then((found) => { clock = found; });
  await run(40);
  assert.equal(clock.at - Date.parse(clock.asked), 10_000, "the trip counts");
  asked.length = 0;
  const going = begin();
  await run(70);
  assert.equal(going.outcome, "begun");
  assert.equal(sends.length, 1);
  assert.ok(asked.filter((one) => one.startsWith("POST")).length <= 4, asked.join(", "));
  end();
});

/** Two tabs of one browser, the first of which has asked for a send whose answer was lost.
 * @param {(request: {isClaim: boolean, isOther: boolean, number: number}) => any} link What happens to the requests for the send. */
async function twoTabs(link) {
  let number = 0;
  let isOther = false;
  const where = world((name) => {
    if (name !== "POST schedulednotifications") return 0;
    number += 1;
    return link({ isClaim: where.isClaim, isOther, number });
  });
  const real = globalThis.fetch;
  globalThis.fetch = /** @type {any} */ ((url, init) => {
    where.isClaim = Boolean(init.headers["servicebusnotification-tags"]?.startsWith("undone:"));
    isOther = new Error().stack?.includes("/tab-") ?? false;
    return real(url, init);
  });
  const going = where.begin();
  const draft = await import("../draft.js");
  assert.ok(draft.keep("shop", going.draft));
  /** @type {any[]} */
  const told = [];
  going.listen = (outcome) => outcome && told.push(outcome);
  // What the form does when another tab has stored the draft.
  const hear = () => {
    const before = where.items.get(`draft::shop:${going.draft.id}`);
    if (before && !going.outcome) draft.follow("shop", going.draft);
    where.after(500, hear);
  };
  hear();
  /** @type {string[]} */
  const toasts = [];
  const others = await openOther(where, toasts);
  return { ...where, going, told, toasts, other: () => others.get(going.draft.key), draft };
}

test("Undo is not lost when another tab asks for the same send, and its request is accepted first", async () => {
  // Of this tab nothing arrives for eight seconds. The other one's request takes three to the server.
  const { run, sends, hasBegun, going, told, toasts, draft, end } = await twoTabs(({ isOther, number }) => (isOther ? { request: 3 } : number < 8 ? "refuse" : 0));
  await run(1);
  going.undo();
  await run(40);
  assert.deepEqual(sends.map((one) => [one.tags, one.isCanceled]), [["news", true]]);
  assert.ok(!sends.some(hasBegun));
  assert.deepEqual([told, toasts], [["undone"], []], "it is told once, where it was wanted");
  assert.equal(draft.stored("shop", going.draft.id)?.sending, null);
  end();
});

test("Undo whose claim is accepted first takes the claim back and says so, whatever another tab is told", async () => {
  for (const late of [0, 0.5, 3]) {
    const { run, sends, going, told, toasts, draft, end } = await twoTabs(({ isOther, isClaim }) => (isClaim ? late : isOther ? { request: 2 } : "refuse"));
    await run(1);
    going.undo();
    await run(40);
    assert.deepEqual(sends.map((one) => [one.tags.startsWith("undone:"), one.isCanceled]), [[true, true]]);
    assert.deepEqual([told, toasts], [["undone"], []], String(late));
    assert.equal(draft.others("shop").length, 1, "there is no second draft");
    end();
  }
});

test("Undo goes on in another tab when its own is closed", async () => {
  const { run, sends, going, other, end } = await twoTabs(({ isOther }) => (isOther ? 0 : "refuse"));
  await run(1);
  assert.equal(other().sending.id, "n0", "the other tab knows the send, and waits");
  window.clearTimeout(going.timer);
  going.turn = async () => {};
  going.undo();
  await run(4);
  assert.deepEqual(sends.map((one) => [one.tags, one.isCanceled]), [["news", true]]);
  assert.equal(other().outcome, "undone");
  end();
});

test("a send that another tab has ended during a question is over here too", async () => {
  const { run, begin, end } = world((name) => (name === "POST schedulednotifications" ? 2 : 0));
  const going = begin();
  await run(1);
  going.draft.sending = null;
  await run(3);
  assert.equal(going.outcome, "elsewhere");
  end();
});

test("Undo of an old send looks for it first: the server has forgotten its key", async () => {
  const { run, sends, begin, iso, end } = world(() => 0);
  const going = begin({}, false);
  await run(0);
  // Its answer was lost, and the page was closed. Two days later Undo is pressed.
  Object.assign(going.sending, { id: null });
  Object.assign(sends[0], { key: "" });
  window.clearTimeout(going.timer);
  await run(2 * 86_400);
  sends[0].endedAt = iso();
  going.sending.id = null;
  going.undo();
  await run(5);
  assert.equal(going.outcome, "late");
  assert.equal(sends.length, 1, "nothing was claimed");
  end();
});

test("a send that ends after another tab has stored it leaves one draft, which is not being sent", async () => {
  const { run, begin, items, end } = world((name) => (name.startsWith("DELETE") ? 2 : 0));
  const draft = await import("../draft.js");
  const going = begin();
  draft.keep("shop", going.draft);
  await run(1);
  going.undo();
  await run(1);
  const key = `draft::shop:${going.draft.id}`;
  items.set(key, JSON.stringify({ ...JSON.parse(items.get(key)), changedAt: 1, sending: { ...going.sending, count: 6 } }));
  await run(5);
  assert.equal(going.outcome, "undone");
  assert.deepEqual(draft.others("shop").map((one) => [one.id, one.sending]), [[going.draft.id, null]]);
  end();
});
