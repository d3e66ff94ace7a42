import assert from "node:assert/strict";
import { test } from "node:test";
import { state, stepped } from "./users.mjs";

test("a step is a tenth of the number, at least one, and stays within its limits", () => {
  assert.deepEqual([20, 1, 4, 200, 195].map((users) => stepped(users, 1, 200)), [22, 2, 5, 200, 200]);
  assert.deepEqual([20, 1, 4, 200].map((users) => stepped(users, -1, 200)), [18, 1, 3, 180]);
});

test("what was asked for is told beside what there is of it", () => {
  const second = (asked, busy, thinking) => state({ by_hand: { asked_users: asked, max_users: 50 }, busy_users: busy, thinking_users: thinking });
  assert.equal(second(20, 4.6, 0.5), "20 asked for, 5 there, more are coming; at most 50.");
  assert.equal(second(2, 1.2, 18.7), "2 asked for, 20 there, some are leaving; at most 50.");
  assert.equal(second(5, 0.3, 4.7), "5 asked for, 5 there; at most 50.");
});
