import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { clock, measured, number, percent, percentile, significant, size, time, timeTick, timeUnit } from "./format.mjs";

const cases = JSON.parse(await readFile(new URL("format.cases.json", import.meta.url), "utf8"));

// The thousands of the page are set apart by a narrow space that doesn't break.
const spaced = (text) => text.replace(/(\d) (?=\d{3})/g, "$1\u202f");

for (const [kind, show] of Object.entries({ time, number, percent, bytes: size })) {
  test(`${kind} is shown as in Rust`, () => {
    for (const [value, text] of cases[kind]) assert.equal(show(value), kind === "number" ? spaced(text) : text, String(value));
  });
}

test("what is no number is a dash", () => {
  for (const value of [null, undefined, Number.NaN]) assert.deepEqual([time(value), number(value)], ["–", "–"]);
  assert.equal(significant(-12.34), "-12.3");
});

test("the labels of an axis share a unit", () => {
  assert.deepEqual([0, 0.005, 0.01].map((tick) => timeTick(tick, timeUnit(0.01))), ["0", "5 ms", "10 ms"]);
  assert.equal(timeTick(1.5, timeUnit(2)), "1.5 s");
  assert.equal(timeTick(0.3, timeUnit(0.3)), "300 ms", "no digits from binary fractions");
  assert.equal(timeTick(2e-5, timeUnit(2e-5)), "20 µs");
});

test("moments read as on a clock", () => {
  assert.deepEqual([0, 45, 60, 125, 3605].map(clock), ["0 s", "45 s", "1:00", "2:05", "1:00:05"]);
});

test("percentiles read as people write them", () => {
  assert.equal(percentile(100 * (1 - 1 / 1000)), "p99.9");
  assert.equal(percentile(95), "p95");
});

test("a value of a series has the series' own unit, as in Rust", () => {
  const table = [
    [1.9e6, "bytes/s", "1.90 MB/s"], [2140.2, "queries/s", "2\u202f140 queries/s"], [0.11, "ratio", "11 %"],
    [4.2, "s/s", "4.2"], [0.0007, "s", "700 µs"], [9400, "1/s", "9\u202f400/s"], [null, "threads", "–"],
  ];
  for (const [value, unit, text] of table) assert.equal(measured(value, unit), text, unit);
  assert.deepEqual([0.9999, 0.997, 0.0031, 1].map(percent), ["over 99.9 %", "99.7 %", "0.31 %", "100 %"]);
  assert.deepEqual([0, 999, 1000, 1.4e9].map(size), ["0 B", "999 B", "1.00 kB", "1.40 GB"]);
});
