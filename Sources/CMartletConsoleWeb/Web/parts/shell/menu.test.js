import assert from "node:assert/strict";
import { test } from "node:test";

import { endSession } from "./menu.js";

test("only the server's own word that it could not end the session lets the page call it signed out", async () => {
  globalThis.window = /** @type {any} */ (globalThis);
  const answer = (status, document) => {
    globalThis.fetch = /** @type {any} */ (async () => ({ ok: status < 300, status, type: "basic", headers: { get: () => null }, text: async () => (document ? JSON.stringify(document) : "") }));
    return endSession().catch((error) => error.code);
  };
  assert.equal(await answer(204), true);
  assert.equal(await answer(503, { code: "not-ended", error: "The disk is full." }), false);
  assert.equal(await answer(503, { code: "busy", error: "There is no memory for the body now; try again." }), "busy");
  assert.equal(await answer(502), "status-502");
});
