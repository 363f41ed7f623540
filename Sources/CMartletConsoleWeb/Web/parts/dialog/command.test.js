import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

import { curl, quoted, sendLine } from "./command.js";

const words = (/** @type {string} */ line) => execFileSync("sh", ["-c", `printf '%s\\n' ${line.replace("$TOKEN", "T")}`], { encoding: "utf8" }).trimEnd().split("\n");
const FORMAT = { "servicebusnotification-format": "message" };

test("a send has its audience, its time, its roll-out and its very message", () => {
  const fields = { ...FORMAT, "servicebusnotification-tags": "news && !beta", "servicebusnotification-scheduletime": "2026-11-28T09:30:00.000Z", "martlet-rollout": "first=2; rate=5; halt=5%", "martlet-confidential": "true" };
  const body = { title: "It's $5", sound: "default" };
  const line = words(sendLine("shop", fields, body));
  assert.deepEqual(line, ["martlet", "send", "shop", "--platform", "message", "--tags", "news && !beta", "--at", "2026-11-28T09:30:00.000Z", "--rollout", "first=2; rate=5; halt=5%", "--confidential", "--body", JSON.stringify(body)]);
  const request = words(curl("schedule", { path: { hub: "shop" }, fields, body }, "https://hub.example"));
  for (const [name, value] of Object.entries(fields)) assert.ok(request.includes(`${name}: ${value}`), name);
  assert.equal(request.at(-1), "https://hub.example/shop/schedulednotifications");
  assert.ok(request.includes(JSON.stringify(body)));
});

test("a plain message is written with options, and everybody is said", () => {
  assert.equal(sendLine("shop", { ...FORMAT, "martlet-everybody": "true" }, { title: "Hi", text: "a b" }), "martlet send shop --platform message --everybody --title Hi --text 'a b'");
  assert.ok(!curl("post", { path: { hub: "shop" }, fields: { "martlet-everybody": "true" } }).includes("everybody"));
});

test("what a hub answers is asked there, and all else at the socket", () => {
  const path = { hub: "shop", id: "1" };
  assert.equal(curl("status", { path }, "https://h"), 'curl -H "authorization: $TOKEN" https://h/shop/messages/1/status');
  assert.equal(curl("failed", { path }, "https://h"), 'curl -H "authorization: $TOKEN" https://h/shop/deadletters');
  assert.equal(curl("keys", { path }, "https://h"), "curl --unix-socket admin.sock http://localhost/hubs/shop/keys");
  assert.equal(curl("makeBackup", { body: {} }), "curl --unix-socket admin.sock -X POST -H 'content-type: application/json' --data '{}' http://localhost/backups");
});

test("nothing in a word is read by the shell", () => {
  const wild = "a'b \"c\" $HOME `x` \\ !y";
  assert.deepEqual(words(quoted(wild)), [wild]);
});
