// What a study knows so far, as figures and a table: from what was told of it (`StudyProgress`), nothing is worked out here.
import { measured, number, percent, time } from "./format.mjs";

const NOTHING = "–";
const PURPOSES = { warm_up: "warm-up", ramp: "ramp", search: "search", confirm: "confirm", measure: "measure" };
const PHASES = {
  warm_up: "filling caches", ramp: "looking for the region", search: "narrowing it", confirm: "confirming it",
};
const VERDICTS = {
  passed: ["passed", "met"], passed_as_seen: ["passed, few samples", "met"], missed: ["missed", "missed"],
  overloaded: ["overloaded", "missed"], not_valid: ["not valid", "quiet"], not_used: ["not used", "quiet"],
};
const UNDER_WAY = "under way";

// A verdict in words, and the class of its colour.
export function verdict(name) {
  return VERDICTS[name] ?? [name, "quiet"];
}

export function load(by, value) {
  if (by === "rate") return `${number(value)} sessions/s`;
  return value === 1 ? "1 user" : `${number(value)} users`;
}

// `404 users [390, 421]`.
export function line(by, known) {
  return known ? `${load(by, known.load)} [${number(known.low)}, ${number(known.high)}]` : NOTHING;
}

// A title, figures with their names, and a table: its heads and rows of cells, each a text or a text with a class. Of a study of a
// kind that this page doesn't know, nothing.
export function view(study) {
  const [kind] = Object.keys(study.known);
  const make = { find, compare, sweep }[kind];
  return make ? make(study.known[kind], study) : null;
}

function find(known, study) {
  const { by, trials } = known;
  const title = study.over ? "The find" : `The find so far: ${PHASES[known.phase] ?? "done"}`;
  const figures = [
    [`Load line so far, ${percent(known.confidence_ratio)} interval`, known.line ? line(by, known.line) : "not yet known"],
    ["Highest that passed", known.highest_passed == null ? NOTHING : load(by, known.highest_passed)],
    ["Lowest that failed", known.lowest_failed == null ? NOTHING : load(by, known.lowest_failed)],
    ["Trials", study.over ? `${trials.length}` : `${trials.length}, about ${known.trials_left} left`],
  ];
  const rows = trials.map((trial) => {
    const [word, kind] = verdict(trial.verdict);
    return [
      `${trial.number}, ${PURPOSES[trial.purpose]}`, load(by, trial.load), [word, `left ${kind}`], number(trial.throughput_per_s),
      time(trial.p95_s), line(by, trial.line), [trial.text, "left words"],
    ];
  });
  for (const trial of study.under_way) {
    rows.push([`${trial.number}, ${PURPOSES[trial.purpose]}`, load(by, trial.load), [UNDER_WAY, "left quiet"], NOTHING, NOTHING, NOTHING, ["", "left words"]]);
  }
  const heads = [["Trial", "left"], "Load", ["Verdict", "left"], "Operations/s", "p95", "Load line after it", ["Because", "left"]];
  return { title, figures, note: "", caption: "The trials as a table", heads, rows };
}

function compare(known, study) {
  const [a, b] = known.arms;
  const { unit } = known;
  const pairs = `${known.valid} of at most ${known.max_blocks}`;
  const interval = known.effect?.low == null ? "" : `, ${percent(known.confidence_ratio)} interval`;
  const figures = [
    [`${study.over ? "B against A" : "So far"}${interval}`, known.change ? `B is ${known.change}` : "not yet known"],
    ["Valid pairs", pairs],
    ["Spoiled", number(known.spoiled)],
  ];
  const rows = known.blocks.map((block) => {
    const name = `${block.number + 1}`;
    if (!block.values) return [name, NOTHING, NOTHING, NOTHING, [`not valid: ${block.spoiled_by ?? ""}`, "left words quiet"]];
    const [one, other] = block.values;
    return [name, measured(one, unit), measured(other, unit), (other / one).toFixed(3), ["valid", "left"]];
  });
  const open = study.under_way.at(0);
  if (open) rows.push([`${open.block + 1}`, NOTHING, NOTHING, NOTHING, [UNDER_WAY, "left quiet"]]);
  const heads = [["Pair", "left"], `A: ${a}`, `B: ${b}`, "B/A", ["", "left"]];
  const note = study.over ? "" : "So far, and no result yet: it ends when its own rule finds that enough is known, whoever looks meanwhile.";
  return { title: `Pair by pair: ${known.figure}`, figures, note, caption: "The pairs as a table", heads, rows };
}

function sweep(known, study) {
  const { factors, cells, lines_by: by } = known;
  const now = study.under_way.map((trial) => trial.arm);
  const label = (cell) => cell.levels.map((level, index) => `${factors[index].title} = ${factors[index].levels[level]}`).join(", ");
  const figures = [["Measurements", `${known.done} of ${known.all}`]];
  if (now.length > 0) figures.push(["Under way", label(cells[now[0]])]);
  const rows = cells.map((cell, index) => {
    const levels = cell.levels.map((level, factor) => [factors[factor].levels[level], "left"]);
    return [...levels.map((one, at) => (at === 0 ? one[0] : one)), ...outcomes(cell.repeats, by, known.repeats), [state(cell, now.includes(index), known.repeats), "left quiet"]];
  });
  const columns = by ? ["Load line"] : ["Operations/s", "p95", ["Verdict", "left"]];
  const heads = [...factors.map((factor) => [factor.title, "left"]), ...columns, ["", "left"]];
  return { title: study.over ? known.title : `${known.title}, so far`, figures, note: "", caption: "The cells as a table", heads, rows };
}

// What came of a cell's repeats, one after the other.
function outcomes(repeats, by) {
  const all = (value) => repeats.map(value).join(" · ") || NOTHING;
  if (by) return [all((one) => (one.line ? line(by, one.line) : one.no_line.split(":").slice(0, 2).join(":")))];
  const figures = repeats.map((one) => one.figures);
  const words = [...new Set(figures.map((one) => one.verdict))];
  const kind = words.length === 1 ? verdict(words[0])[1] : "quiet";
  return [
    all((one) => number(one.figures.throughput_per_s)), all((one) => time(one.figures.p95_s)),
    [words.map((word) => verdict(word)[0]).join(" · ") || NOTHING, `left ${kind}`],
  ];
}

function state(cell, isNow, repeats) {
  const count = repeats > 1 ? `, ${cell.repeats.length} of ${repeats} repeats` : "";
  if (isNow) return `${UNDER_WAY}${count}`;
  return cell.repeats.length === 0 ? "waits" : `measured${count}`;
}
