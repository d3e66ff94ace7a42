// `node --test web`
import assert from "node:assert/strict";
import { test } from "node:test";
import { view } from "./study.mjs";
import { layout, ticks } from "./trials-picture.mjs";

const trial = (number, purpose, load, verdict, line) => ({ number, purpose, load, verdict, text: `because of ${number}`, throughput_per_s: 100, p95_s: 0.1, line });
const interval = (low, load, high) => ({ low, load, high });
const FIND = {
  by: "users", confidence_ratio: 0.9, phase: "search", trials_left: 3, highest_passed: 380, lowest_failed: 436,
  line: { ...interval(390, 404, 420), wide: false },
  trials: [
    trial(1, "warm_up", 10, "not_used"), trial(2, "ramp", 380, "passed"), trial(3, "ramp", 436, "missed", interval(300, 410, 500)),
    trial(4, "search", 410, "not_valid", interval(300, 410, 500)), trial(5, "search", 400, "passed_as_seen", interval(390, 404, 420)),
  ],
};
const study = (known, more = {}) => ({ text: "so far", over: false, left_s: 80, under_way: [{ number: 6, arm: 1, block: 0, purpose: "search", load: 415 }], known, ...more });
const texts = (row) => row.map((cell) => (Array.isArray(cell) ? cell[0] : cell));

test("a find has its line with its interval, a row for each trial and one for the trial under way", () => {
  const { title, figures, rows } = view(study({ find: FIND }));
  assert.match(title, /so far: narrowing it/);
  assert.deepEqual(figures[0], ["Load line so far, 90 % interval", "404 users [390, 420]"]);
  assert.deepEqual(Object.fromEntries(figures).Trials, "5, about 3 left");
  assert.equal(rows.length, 6);
  assert.deepEqual(texts(rows[2]), ["3, ramp", "436 users", "missed", "100", "100 ms", "410 users [300, 500]", "because of 3"]);
  assert.deepEqual(texts(rows[5]).slice(0, 3), ["6, search", "415 users", "under way"]);
  const begun = view(study({ find: { ...FIND, line: undefined, trials: [], highest_passed: undefined } }));
  assert.deepEqual(begun.figures.slice(0, 2).map(([, value]) => value), ["not yet known", "–"]);
});

test("in its picture marks stand at their loads, words inside of it, and the band narrows", () => {
  for (const width of [300, 900]) {
    const { marks, bands, axis, height } = layout(FIND, study().under_way, width);
    assert.deepEqual(marks.map(({ word }) => word), ["not used", "passed", "missed", "not valid", "passed, few samples", "under way"]);
    assert.ok(marks[1].x < marks[2].x && marks[1].y < marks[2].y);
    assert.ok(marks.every(({ x, before }) => x > 0 && (before ? x > 110 : x + 110 <= width)), JSON.stringify(marks));
    assert.equal(bands.length, 4, "three trials with a line, and the one under way");
    assert.ok(bands.at(-1).width < bands[0].width && bands.every(({ x, width: wide, at }) => x <= at && at <= x + wide && x + wide <= width));
    assert.ok(axis.every(({ x }) => x <= width) && axis[0].label === "0" && height > 6 * 18);
  }
  assert.equal(layout({ by: "users", trials: [] }, [], 300).marks.length, 0);
});

test("labels of loads are round", () => {
  assert.deepEqual(ticks(450, 4), [0, 200, 400]);
  assert.deepEqual(ticks(0.9, 3), [0, 0.5]);
  assert.deepEqual(ticks(10, 5), [0, 2, 4, 6, 8, 10]);
});

test("a comparison says that it is no result yet, and what spoiled a pair", () => {
  const known = {
    arms: ["default", "web.MaxRequestWorkers=8"], figure: "mean response time", unit: "seconds", confidence_ratio: 0.95, max_blocks: 20, valid: 1, spoiled: 1,
    change: "2.1 % slower", effect: { ratio: 1.021 }, blocks: [{ number: 0, values: [0.1, 0.1021] }, { number: 1, spoiled_by: "the generator was late" }],
  };
  const shown = view(study({ compare: known }));
  assert.deepEqual(shown.figures.slice(0, 2), [["So far", "B is 2.1 % slower"], ["Valid pairs", "1 of at most 20"]]);
  const later = { ...known, effect: { ratio: 1.021, low: 0.996, high: 1.046 } };
  assert.equal(view(study({ compare: later })).figures[0][0], "So far, 95 % interval");
  assert.match(shown.note, /no result yet/);
  assert.deepEqual(texts(shown.rows[0]), ["1", "100 ms", "102 ms", "1.021", "valid"]);
  assert.equal(texts(shown.rows[1]).at(-1), "not valid: the generator was late");
  assert.equal(view(study({ compare: known }, { over: true })).note, "");
});

test("a sweep has a row for each cell: what came of its repeats, that it is under way, or that it waits", () => {
  const factors = [{ name: "web.workers", title: "Workers", levels: ["2", "8"] }, { name: "users", title: "Users", levels: ["5", "20"] }];
  const figures = (verdict, per_s) => ({ figures: { verdict, throughput_per_s: per_s, p95_s: 0.01 } });
  const cells = [{ levels: [0, 0], repeats: [figures("passed", 50), figures("missed", 52)] }, { levels: [0, 1], repeats: [] }, { levels: [1, 0], repeats: [] }];
  const shown = view(study({ sweep: { title: "Two", factors, repeats: 2, done: 2, all: 6, cells } }));
  assert.deepEqual(shown.rows.map(texts), [
    ["2", "5", "50 · 52", "10.0 ms · 10.0 ms", "passed · missed", "measured, 2 of 2 repeats"],
    ["2", "20", "–", "–", "–", "under way, 0 of 2 repeats"],
    ["8", "5", "–", "–", "–", "waits"],
  ]);
  const lines = [{ levels: [0, 0], repeats: [{ line: interval(390, 404, 420) }, { no_line: "no load line: it fails at 1 user: why" }] }];
  const of_lines = view(study({ sweep: { title: "Two", factors, lines_by: "users", repeats: 2, done: 2, all: 6, cells: lines } }, { under_way: [] }));
  assert.equal(texts(of_lines.rows[0])[2], "404 users [390, 420] · no load line: it fails at 1 user");
});

test("of a kind of study that the page doesn't know, nothing is made up", () => {
  assert.equal(view(study({ tune: {} })), null);
});
