import assert from "node:assert/strict";
import { test } from "node:test";

import { inputs, makePage, press, settled, submit, view } from "../../../lib/page.test.js";
import { show } from "./fetches.js";

test("more fetches are those of the last search, whatever is typed meanwhile", async () => {
  const { asked, answers } = makePage();
  const page = Array.from({ length: 100 }, () => ({ user: "alice", payload: 7, at: "", address: "", outcome: "read" }));
  answers.push([], page, page, []);
  const node = show(view);
  await settled();
  const [user, payload] = inputs(node);
  user.value = "alice ";
  payload.value = "7";
  await submit(node);
  user.value = "bob";
  payload.value = "8";
  await press(node, "fetches.more");
  await submit(node);
  assert.deepEqual(asked, ["/audit?limit=100", "/audit?user=alice&payload=7&limit=100", "/audit?user=alice&payload=7&limit=1000", "/audit?user=bob&payload=8&limit=100"]);
});
