import assert from "node:assert/strict";
import { test } from "node:test";

import { changed, commandOf } from "./settings.js";

test("only what was changed is sent, so that another operator's change stays", () => {
  const found = { requestRate: null, backlog: 5000 };
  assert.deepEqual(changed(found, { requestRate: null, backlog: 222 }), { backlog: 222 });
  assert.deepEqual(changed(found, { requestRate: 111, backlog: null }), { requestRate: 111, backlog: null });
  assert.deepEqual(changed(found, { requestRate: null, backlog: 5000 }), {});
});

test("the command changes the same", () => {
  assert.equal(commandOf("shop", { backlog: 222 }), "martlet hub limits shop --backlog 222");
  assert.equal(commandOf("shop", { requestRate: null, backlog: 1 }), "martlet hub limits shop --requests usual --backlog 1");
  assert.equal(commandOf("shop", {}), "martlet hub limits shop");
});
