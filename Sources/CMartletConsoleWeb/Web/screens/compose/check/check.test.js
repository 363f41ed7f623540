import assert from "node:assert/strict";
import { test } from "node:test";

import { translator } from "../../../lib/text.js";
import texts from "../text.en.js";
import { tooLarge } from "./check.js";
import own from "./text.en.js";

test("a payload that is too large is told in the operator's language, with the box that cuts the text", () => {
  const t = translator("en", own, texts);
  const refusal = { code: "payload-too-large", error: "In other words.", platform: "apns", size: 5092, limit: 4096, isTruncated: false };
  assert.match(tooLarge(t, refusal), /^APNs: the message has 5,092 bytes and may have 4,096\. Shorten the text, or tick “Cut the text/);
  assert.match(tooLarge(t, { ...refusal, language: "de", isTruncated: true }), /^APNs \(de\): .* does not fit even without its text/);
});
