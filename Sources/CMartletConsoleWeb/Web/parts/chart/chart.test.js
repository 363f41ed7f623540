import assert from "node:assert/strict";
import { test } from "node:test";

import { outline, rounded, thinned } from "./chart.js";
import { steps } from "./table.js";

test("of each few values the highest is kept, and nothing known stays nothing", () => {
  assert.deepEqual(thinned([1, 9, 2, null, null, null, 3, null, 1], 3), [9, null, 3]);
  assert.deepEqual(thinned([1, 2], 300), [1, 2]);
});

test("what is not known is a gap in the line", () => {
  assert.equal(outline([0, 10, null, 5], 10), "M0.0 100.0L200.0 0.0M600.0 50.0");
  assert.equal(outline([], 1), "");
});

test("the upper edge is a round number", () => {
  assert.deepEqual([0, 0.3, 1, 7, 12, 1_581].map(rounded), [1, 0.5, 1, 10, 20, 2_000]);
});

test("the table leaves no second out: rates are added up, of other values the highest is told", () => {
  const values = [...Array(44).fill(0), 90, null, null];
  assert.deepEqual(steps(values, 45, 1), [90, null]);
  assert.deepEqual(steps([2, 4, null, 6], 2, 60), [360, 360]);
  assert.deepEqual(steps([3, 9, null, null, 1], 2, 0), [9, null, 1]);
});
