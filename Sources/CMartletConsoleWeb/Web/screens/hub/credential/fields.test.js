import assert from "node:assert/strict";
import { test } from "node:test";

import { inputsOf, kindsOf, members } from "./fields.js";

const field = (/** @type {string} */ name, /** @type {any} */ rest = {}) => ({ name, flag: name.toLowerCase(), kind: null, isUsual: true, file: null, ...rest });

test("of two kinds of credentials, only the fields of one are asked for", () => {
  const fields = [field("Token", { kind: "key" }), field("KeyId", { kind: "key" }), field("App"), field("Certificate", { kind: "certificate" }), field("Endpoint", { isUsual: false })];
  assert.deepEqual(kindsOf(fields), ["key", "certificate"]);
  assert.deepEqual(inputsOf(fields, "key").map((list) => list.map((one) => one.name)), [["Token", "KeyId", "App"], ["Endpoint"]]);
  assert.deepEqual(inputsOf(fields, "certificate")[0].map((one) => one.name), ["App", "Certificate"]);
});

test("a file with several properties is asked for in their place, and taken apart", () => {
  const fields = [field("Key", { file: { flag: "account", member: "private_key" } }), field("Project", { file: { flag: "account", member: "project_id" } }), field("Rate", { isUsual: false })];
  const [usual, others] = inputsOf(fields, null);
  assert.deepEqual([usual.map((one) => one.flag), others.map((one) => one.flag)], [["account"], ["rate"]]);
  const text = JSON.stringify({ private_key: "k", project_id: "p", other: 1 });
  assert.deepEqual(members([[usual[0], text], [others[0], "5"]], fields), { Key: "k", Project: "p", Rate: "5" });
  assert.deepEqual(members([[usual[0], "no JSON"], [others[0], ""]], fields), {});
});
