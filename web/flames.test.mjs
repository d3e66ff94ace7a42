import assert from "node:assert/strict";
import test from "node:test";
import { bars, tree } from "./flames.mjs";

const stacks = [
  { path: ["app", "php", "waiting for a lock", "flock", "orders"], doing: "lock", s: 1 },
  { path: ["app", "php", "waiting for a disk", "fsync"], doing: "disk", s: 2 },
  { path: ["db", "mariadbd", "waiting for a disk", "fsync"], doing: "disk", s: 1 },
  { path: ["app", "php", "waiting for a disk", "fsync"], doing: "disk", s: 0.5 },
];

test("the same path is one bar, and the longest come first", () => {
  const root = tree(stacks);
  assert.equal(root.s, 4.5);
  assert.deepEqual(root.children.map(({ name, s }) => [name, s]), [["app", 3.5], ["db", 1]]);
  const php = root.children[0].children[0];
  assert.deepEqual(php.children.map(({ name, s, doing }) => [name, s, doing]), [
    ["waiting for a disk", 2.5, "disk"],
    ["waiting for a lock", 1, "lock"],
  ]);
});

test("bars lie below the one that they are a part of, and those too narrow are left out", () => {
  const found = bars(tree(stacks), 0.3);
  assert.deepEqual(found.map(({ node, x, width, depth }) => [node.name, x, Number(width.toFixed(3)), depth]).slice(0, 3), [
    ["all", 0, 1, 0],
    ["app", 0, 0.778, 1],
    ["php", 0, 0.778, 2],
  ]);
  assert.ok(found.every(({ width }) => width >= 0.3));
  assert.ok(!found.some(({ node }) => node.name === "db"));
});

test("of nothing nothing is drawn", () => assert.deepEqual(bars(tree([]), 0.01), []));
