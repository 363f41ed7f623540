import assert from "node:assert/strict";
import { test } from "node:test";

import { address, call, gate, isSilent, isUnreached, Refusal } from "./api.js";
import { match, sendState } from "./screen.js";
import { chooseLanguage, numbers, translator } from "./text.js";
import { duration, largestUnit, times } from "./time.js";
import { instants, wallClock } from "./zone.js";

test("an address has its parts encoded, absent items left out and bare names bare", () => {
  assert.equal(address("trace", { path: { hub: "shop", id: "1", device: "a/b?c" } }), "/console/api/hubs/shop/messages/1/devices/a%2Fb%3Fc");
  assert.equal(address("post", { path: { hub: "shop" }, query: { "api-version": "1", dryRun: "", tags: null } }), "/console/api/rest/shop/messages?api-version=1&dryRun");
});

test("the more special route comes first, and parts are decoded", () => {
  const routes = [["/console/hubs/{hub}/sends/new", "compose"], ["/console/hubs/{hub}/sends/{id}", "send"]];
  assert.equal(match(routes, "/console/hubs/shop/sends/new").name, "compose");
  assert.deepEqual(match(routes, "/console/hubs/a%20b/sends/7").params, { hub: "a b", id: "7" });
  assert.deepEqual(match(routes, "/console/hubs/%E0/sends/7").params.hub, "%E0");
  assert.equal(match(routes, "/console/hubs"), null);
});

test("a plural is chosen by the language's own rules", () => {
  const texts = { devices: { one: "{n} device", other: "{n} devices" } };
  const t = translator("en", texts);
  assert.equal(t("devices", { n: 1 }), "1 device");
  assert.equal(t("devices", { n: 12_000 }), "12,000 devices");
  assert.equal(translator("ko", { devices: { other: "기기 {n}대" } })("devices", { n: 1 }), "기기 1대");
  assert.equal(t("nothing"), "nothing");
});

test("a placeholder that has no value stays, and values are not read as texts", () => {
  const t = translator("en", { a: "{x} and {y}" });
  assert.equal(t("a", { x: "{y}" }), "{y} and {y}");
});

test("a name that would turn the text around it is isolated, and cannot end that", () => {
  const t = translator("en", { by: "by {name} (console)" });
  assert.equal(t("by", { name: "ops" }), "by ops (console)");
  assert.equal(t("by", { name: "عربي" }), "by \u2068عربي\u2069 (console)");
  assert.equal(t("by", { name: "\u202eops" }), "by \u2068\u202eops\u2069 (console)");
  assert.equal(t("by", { name: "\u2069\u202eops" }), "by \u2068\u202eops\u2069 (console)");
});

test("what a proxy answers is no answer of the server, and its markup is not shown", async () => {
  globalThis.window = /** @type {any} */ (globalThis);
  gate.between = (status) => `Between: ${status}`;
  const answer = (status, type, body, fields = {}) => {
    globalThis.fetch = /** @type {any} */ (async () => ({ ok: status >= 200 && status < 300, status, type: status ? "basic" : "opaqueredirect", headers: { get: (name) => ({ "content-type": type, ...fields })[name] ?? null }, text: async () => body }));
    return call("now").then(() => null, (error) => [error.status, error.code, error.message, error.retryAfter]);
  };
  for (const status of [502, 404, 429, 403, 200, 400, 408, 413, 414, 417, 431, 501]) {
    assert.deepEqual(await answer(status, "text/html", "<html><h1>Bad</h1>"), [0, "between", `Between: ${status}`, null]);
  }
  for (const status of [400, 408, 413, 414, 417, 431, 501]) {
    assert.deepEqual(await answer(status, "text/plain", "The server's sentence."), [status, `status-${status}`, "The server's sentence.", null]);
    assert.deepEqual(await answer(status, "text/plain", "\n<html>"), [0, "between", `Between: ${status}`, null]);
  }
  assert.deepEqual(await answer(0, "", ""), [0, "between", "Between: 3xx", null]);
  assert.deepEqual(await answer(503, "text/plain", "no healthy upstream"), [0, "between", "Between: 503", null], "a proxy may have passed the request on");
  assert.deepEqual(await answer(404, "application/json", '{"error":"There is nothing here.","code":"not-found"}'), [404, "not-found", "There is nothing here.", null]);
  assert.deepEqual(await answer(429, "application/json", '{"error":"Wait."}'), [429, "status-429", "Wait.", null], "no time is not no seconds");
  assert.deepEqual(await answer(429, "application/json", '{"error":"Wait."}', { "retry-after": "7" }), [429, "status-429", "Wait.", 7]);
  assert.equal(await answer(200, "application/json", "{}"), null);
});

test("the first language that there are texts in is chosen", () => {
  assert.equal(chooseLanguage(["fr-CA", "de-AT", "en"]), "de");
  assert.equal(chooseLanguage(["fr"]), "en");
});

test("numbers are short where they are large", () => {
  assert.equal(numbers("en").short(9_876), "9,876");
  assert.equal(numbers("en").short(726_097), "726.1K");
  assert.equal(numbers("de").share(0.004), "0,4\u00a0%");
  assert.equal(numbers("en").bytes(1), "1 byte");
  assert.equal(numbers("en").bytes(412_000_000), "412 MB");
});

test("the largest unit that fits says how long ago it was", () => {
  assert.deepEqual(largestUnit(-59), [-59, "second"]);
  assert.deepEqual(largestUnit(-3_560), [-59, "minute"]);
  assert.deepEqual(largestUnit(90_000), [1, "day"]);
});

test("how long ago it was is rounded to the nearest, not down", () => {
  assert.deepEqual(largestUnit(-(3 * 3600 - 60)), [-3, "hour"]);
  assert.deepEqual(largestUnit(-3_599), [-1, "hour"]);
  assert.deepEqual(largestUnit(-59.7), [-1, "minute"]);
  assert.deepEqual(largestUnit(86_399), [1, "day"]);
  assert.equal(times("en", "UTC").relative("2026-11-26T07:01:00Z", new Date("2026-11-26T10:00:00Z")), "3 hours ago");
});

test("a duration has at most two units", () => {
  assert.equal(duration("en", 0.006), "6 ms");
  assert.equal(duration("en", 41), "41 sec");
  assert.equal(duration("en", 3_660), "1 hr 1 min");
  assert.equal(duration("en", 12 * 86_400), "12 days");
});

test("times are shown in the chosen zone", () => {
  const time = times("en", "Asia/Seoul");
  assert.equal(time.precise("2026-11-25T10:00:03.918Z"), "19:00:03.918");
  assert.equal(time.brief("2026-11-25T10:00:00Z", new Date("2026-11-25T11:00:00Z")), "19:00");
  assert.equal(time.brief("2026-11-24T10:00:00Z", new Date("2026-11-25T11:00:00Z")), "Nov 24, 19:00");
});

test("how many days ahead is by the calendar of the zone", () => {
  const now = new Date("2026-11-26T10:40:00Z");
  assert.equal(times("en", "UTC").relative("2026-11-28T09:30:00Z", now), "in 2 days");
  assert.equal(times("en", "UTC").relative("2026-11-27T23:30:00Z", now), "tomorrow");
  assert.equal(times("en", "Asia/Seoul").relative("2026-11-27T23:30:00Z", now), "in 2 days");
  assert.equal(times("de", "UTC").relative("2026-11-25T09:00:00Z", now), "gestern");
  assert.equal(times("en", "UTC").relative("2026-11-26T20:40:00Z", now), "in 10 hours");
});

test("a time of a form is one instant, none where clocks skip it, and two where they show it twice", () => {
  const one = instants("2026-11-25T18:00", "Europe/Berlin");
  assert.deepEqual(one.map((time) => time.toISOString()), ["2026-11-25T17:00:00.000Z"]);
  assert.deepEqual(instants("2026-03-29T02:30", "Europe/Berlin"), []);
  assert.deepEqual(instants("2026-10-25T02:30", "Europe/Berlin").map((time) => time.toISOString()), ["2026-10-25T00:30:00.000Z", "2026-10-25T01:30:00.000Z"]);
  assert.deepEqual(instants("", "UTC"), []);
  assert.equal(wallClock(new Date("2026-11-25T17:00:00Z"), "Asia/Kathmandu"), "2026-11-25T22:45");
});

test("the state of a send is what matters of state and control", () => {
  assert.equal(sendState({ state: "Processing", control: "running" }), "running");
  assert.equal(sendState({ state: "Processing", control: "halted" }), "halted");
  assert.equal(sendState({ state: "Scheduled", control: "paused" }), "paused");
  assert.equal(sendState({ state: "Completed", control: "paused", succeeded: 1 }), "done");
  assert.equal(sendState({ state: "Completed", control: "running", succeeded: 0, failed: 2 }), "failed");
  assert.equal(sendState({ state: "Processing", control: "canceled" }), "stopped");
  assert.equal(sendState({ state: "NoTargetFound", control: "running", succeeded: 0, failed: 0 }), "done");
});

test("a page is not live when nothing was heard for some seconds, whatever the browser thinks of the stream", () => {
  assert.equal(isSilent(10_000, 9_000, 0), false);
  assert.equal(isSilent(10_000, 5_000, 0), true);
  // A new stream, for example of a tab that was hidden, has a second for its first event; without any before, four.
  assert.equal(isSilent(10_000, 1_000, 9_500), false);
  assert.equal(isSilent(10_000, null, 7_000), false);
  assert.equal(isSilent(10_000, null, 5_000), true);
  // A server that is polled every ten seconds.
  assert.equal(isSilent(20_000, 9_000, 0, 15_000), false);
});

test("a module that could not be loaded is a server that was not reached, and a fault of the page is not", () => {
  for (const text of ["Failed to fetch dynamically imported module: http://h/a.js", "error loading dynamically imported module: http://h/a.js", "Importing a module script failed."]) {
    assert.ok(isUnreached(new TypeError(text)), text);
  }
  assert.ok(isUnreached(new Refusal(0, null)));
  assert.ok(!isUnreached(new Refusal(0, { code: "page", error: "x" })));
  assert.ok(!isUnreached(new Refusal(503, null)));
  assert.ok(!isUnreached(new TypeError("x is not a function")));
});
