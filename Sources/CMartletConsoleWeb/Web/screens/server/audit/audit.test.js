import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import texts from "./text.en.js";
import { isSend, word } from "./words.js";

/** Every audited route, read from the table of the server's own test. */
const source = readFileSync(new URL("../../../../../../Tests/MartletConsoleTests/GateMatrixTests.swift", import.meta.url), "utf8");
const routes = [...source.matchAll(/"((?:GET|POST|PUT|DELETE) \/[^"]*)":/g)].map((match) => match[1] ?? "");
/** Changes that are not recorded in the audit log. */
const SILENT = ["POST /link", "POST /link/use", "POST /sign-in", "POST /sign-in/provider", "POST /sign-in/provider/finish", "POST /sign-out", "POST /session/touch", "POST /session/confirm", "PUT /session/settings", "POST /hubs/{hub}/devices/search", "POST /hubs/{hub}/devices/former"];

/** Changes that can be made only through the admin socket. */
const ON_SOCKET = ["POST /operators/link", "POST /reload", "POST /namespace/keys/{rule}/{key}", "PUT /containers/{name}", "DELETE /containers/{name}", "POST /hubs/{hub}/migration"];

test("every change has words", () => {
  const changes = routes.filter((route) => !route.startsWith("GET ") && !SILENT.includes(route));
  assert.ok(changes.length > 40, String(changes.length));
  for (const route of changes) assert.ok(word(route) in texts, `${route}: ${word(route)}`);
  for (const action of ["sign in", "sign in by provider", "use a link", "confirm", "GET /hubs/{hub}/keys", "GET /hubs/{hub}/sends/{id}", "GET /hubs/{hub}/messages/{id}/devices/{device}", "GET /backups/{backup}", "GET /hubs/{hub}/jobs/{job}/failed", "POST /rest/{hub}/messages?test", ...ON_SOCKET]) {
    assert.ok(word(action) in texts, `${action}: ${word(action)}`);
  }
});

test("only a send can be opened", () => {
  for (const action of ["POST /rest/{hub}/messages", "POST /rest/{hub}/schedulednotifications", "POST /hubs/{hub}/messages/{id}/cancel", "GET /hubs/{hub}/sends/{id}"]) assert.ok(isSend(action), action);
  for (const action of ["PUT /hubs/{hub}/limits", "POST /rest/{hub}/messages?test", "GET /hubs/{hub}/messages/{id}/devices/{device}"]) assert.ok(!isSend(action), action);
});
