import assert from "node:assert/strict";
import test from "node:test";
import {
  beside, ceiling, curveColumns, largest, logRange, logTicks, oneOf, percentileTicks, phases, roomy, shortened, spread, stack, within,
} from "./series.mjs";

test("columns are put on top of each other, and a gap in all of them stays a gap", () => {
  assert.deepEqual(stack([[1, null, null], [2, 3, null]]), [[1, null, null], [3, 3, null]]);
  assert.deepEqual(stack([[1, 2], [null, 0]]), [[1, 2], [1, 2]], "what one tier lacks does not hide the others");
  assert.deepEqual(stack([]), []);
});

test("a percentile stands where one of so many is slower", () => {
  assert.equal(oneOf(0), 1);
  assert.ok(Math.abs(oneOf(99.9) - 1000) < 1e-6);
  assert.deepEqual(curveColumns([[0, 0.001], [50, 0.002], [100, 9]]), [[1, 2], [0.001, 0.002]], "100 has no place");
});

test("a curve has labels up to where it ends, and only where there is room", () => {
  assert.deepEqual(percentileTicks(100), [0, 50, 75, 90, 95, 99]);
  const place = (percent) => Math.log10(oneOf(percent)) * 100;
  assert.deepEqual(roomy(percentileTicks(1000), place, 29), [0, 50, 75, 90, 95, 99, 99.9]);
  assert.deepEqual(roomy(percentileTicks(1000), place, 60), [50, 90, 99, 99.9]);
});

test("ticks of a log axis are 1, 2 and 5, or powers of ten when those are too many", () => {
  assert.deepEqual(logTicks(0.01, 0.1, 9), [0.01, 0.02, 0.05, 0.1]);
  assert.deepEqual(logTicks(0.001, 10, 6), [0.001, 0.01, 0.1, 1, 10]);
});

test("the range of a log axis ends on 1, 2 or 5 and is never empty", () => {
  assert.deepEqual(logRange(0.0023, 0.31), [0.002, 0.5]);
  assert.deepEqual(logRange(0.02, 0.02), [0.01, 0.04]);
});

test("phases are cut to what is shown, and those that did not happen are left out", () => {
  const setup = { ramp_up_s: 20, steady_s: 60, ramp_down_s: 0 };
  assert.deepEqual(phases(setup, 10, 40).map(({ name, from, to }) => [name, from, to]),
    [["ramp-up", 10, 20], ["steady state", 20, 40]]);
  assert.equal(phases(setup, 0, 90).filter((phase) => phase.counts).length, 1);
});

test("events stand only in charts that reach to them", () => {
  const events = [{ second: 5, text: "a" }, { second: 51.5, text: "b" }];
  assert.deepEqual(within(events, 10, 60).map(({ text }) => text), ["b"]);
  assert.deepEqual(within(events, 0, 60).length, 2);
  assert.deepEqual(within([], 0, 60), []);
});

test("a limit far above the data does not flatten it, a near one is seen", () => {
  assert.ok(ceiling(0.1, [2]) < 0.2);
  assert.ok(ceiling(0.1, [0.2]) > 0.2);
  assert.equal(ceiling(0, []), 1);
  assert.equal(largest([[null, 1], [3, 2]]), 3);
});

test("labels that would cover each other or leave the picture are left out or moved", () => {
  const label = (at) => ({ at, width: 20 });
  const shown = spread([label(5), label(20), label(40), label(95)], 100, 5);
  assert.deepEqual(shown.map(({ at, middle }) => [at, middle]), [[5, 10], [40, 40], [95, 90]]);
});

test("names are cut to their room, numbers never", () => {
  assert.deepEqual([shortened("lighttpd", 5), shortened("12345678", 5), shortened("nginx", 5)], ["ligh…", "12345678", "nginx"]);
});

test("a name stands beside its own line, on nothing else, and none where there is no room", () => {
  const rising = (x) => ({ width: 40, points: [[x, 300], [x + 20, 0]] });
  const area = { left: 0, right: 400, top: 0, bottom: 300 };
  const size = { height: 12, gap: 6 };
  const at = (lines, marks = []) => beside(lines, marks, area, size);
  const [only] = at([rising(100)]);
  assert.ok(Math.abs(only.middle - 150) <= 12 && only.left > 100 && only.left < 130, `at its middle, right of it: ${JSON.stringify(only)}`);
  const [first, second] = at([rising(100), rising(130)]);
  assert.ok(first.left + 40 < 105 && second.left > 130, `on either side of two that are close: ${JSON.stringify([first, second])}`);
  const [moved] = at([rising(100)], Array.from({ length: 30 }, (_, index) => [60 + 4 * index, 150]));
  assert.ok(Math.abs(moved.middle - 150) > 6, "what is marked is not covered");
  assert.deepEqual(at([{ width: 500, points: rising(100).points }]), [null], "wider than the chart");
  assert.deepEqual(at([{ width: 40, points: [] }]), [null]);
});
