import assert from "node:assert/strict";
import { test } from "node:test";

import { gate } from "../../../lib/api.js";
import { inputs, json, makePage, press, settled, submit, view } from "../../../lib/page.test.js";
import { newPassword, show } from "./users.js";

test("a new password has 20 characters that are not easily confused, and is never the same", () => {
  const made = Array.from({ length: 100 }, newPassword);
  for (const one of made) assert.match(one, /^[a-km-np-z2-9]{20}$/);
  assert.equal(new Set(made).size, 100);
});

test("more users are those of the last search, whatever is typed meanwhile", async () => {
  const { asked, answers } = makePage();
  const users = (...names) => names.map((name) => ({ name, roles: [] }));
  answers.push({ users: users("bob"), next: null }, { users: users("alan", "alex"), next: "alex" }, { users: users("alice"), next: null });
  const node = show(view);
  await settled();
  const [input] = inputs(node);
  input.value = " al ";
  await submit(node);
  input.value = "b";
  await press(node, "users.more");
  assert.deepEqual(asked, ["/users?limit=50", "/users?prefix=al&limit=50", "/users?prefix=al&after=alex&limit=50"]);
  assert.match(node.textContent, /alan.*alex.*alice/);
});

test("more users are those of the list, although a later search has failed", async () => {
  const { asked, answers } = makePage();
  answers.push({ users: [{ name: "alan", roles: [] }], next: "alan" }, json({ error: "Not now." }, 503), { users: [], next: null });
  const node = show(view);
  await settled();
  inputs(node)[0].value = "b";
  await submit(node);
  await press(node, "users.more");
  assert.deepEqual(asked, ["/users?limit=50", "/users?prefix=b&limit=50", "/users?after=alan&limit=50"]);
});

test("a new password is for a user who is there, and needs the operator's password again", async (context) => {
  const { asked, headers, answers, body } = makePage();
  const alice = { name: "alice", roles: [], sessions: 0, createdAt: "" };
  answers.push({ users: [alice], next: null }, alice, json({ error: "Enter your password.", code: "not-fresh" }, 403), json({ error: "There is no user named 'alice'." }, 404));
  const confirm = context.mock.method(gate, "confirm", async () => true);
  const node = show(view);
  await settled();
  await press(node, "users.account");
  await press(body, "users.renew");
  await submit(body);
  assert.deepEqual(asked.slice(2), ["/users/alice", "/users/alice"]);
  assert.deepEqual(headers.slice(2).map((fields) => fields["if-match"]), ["*", "*"]);
  assert.equal(confirm.mock.callCount(), 1);
  assert.match(body.textContent, /There is no user named 'alice'/);
  assert.doesNotMatch(body.textContent, /users.renewed/);
});
