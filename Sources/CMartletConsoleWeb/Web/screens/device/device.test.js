import assert from "node:assert/strict";
import { test } from "node:test";

import { tagOf } from "./device.js";

test("a send to a device is for no other device of its user", () => {
  assert.equal(tagOf({ registration: "1-2-3", installation: null, user: "alice" }), "$RegistrationId:{1-2-3}");
  assert.equal(tagOf({ registration: "1-2-3", installation: "phone", user: "alice" }), "$InstallationId:{phone}");
});
