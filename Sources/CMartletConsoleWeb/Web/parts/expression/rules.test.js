import assert from "node:assert/strict";
import { test } from "node:test";

import { isTag, limits, toGroups, toText } from "./rules.js";

const groups = (all = [], any = [], none = []) => ({ all, any, none });

test("nothing chosen is no expression", () => {
  assert.equal(toText(groups()), "");
  assert.deepEqual(toGroups("  "), groups());
});

test("chips become an expression and come back", () => {
  for (const [chips, text] of [
    [groups(["news"], [], ["beta"]), "news && !beta"],
    [groups([], ["a", "b"]), "a || b"],
    [groups(["news"], ["a", "b"], ["c", "d"]), "news && (a || b) && !c && !d"],
    [groups([], [], ["quiet"]), "!quiet"],
    [groups(["$InstallationId:{phone 7}"]), "$InstallationId:{phone 7}"],
  ]) {
    assert.equal(toText(chips), text);
    assert.deepEqual(toGroups(text), chips);
  }
});

test("what chips cannot say stays a text", () => {
  for (const text of ["(a || b) && (c || d)", "a && (b || !c)", "!(a || b)", "a &&", "(a", "a)", "a b"]) assert.equal(toGroups(text), null, text);
});

test("one alternative is a tag that all have", () => {
  assert.deepEqual(toGroups(toText(groups([], ["a"]))), groups(["a"]));
});

test("more tags fit where they are alternatives alone", () => {
  assert.deepEqual(limits(groups(["a"], ["b"], ["c"])), { count: 3, limit: 6 });
  assert.deepEqual(limits(groups([], ["b", "c"])), { count: 2, limit: 20 });
});

test("a tag has no spaces, operators or brackets", () => {
  for (const tag of ["news", "city:köln".normalize(), "a b", "a&&b", "", "(a)", "x".repeat(121)]) assert.equal(isTag(tag), tag === "news", tag);
});
