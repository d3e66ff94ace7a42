// The trials of a find as a picture: a line for each, the load across, its outcome as a mark with a word, and behind them the load line's
// interval as it was known after each trial. First where everything lies, then the drawing.
import { number } from "./format.mjs";
import { load, verdict } from "./study.mjs";

const ROW = 18;
const AXIS = 22;
const LEFT = 26;
const RIGHT = 10;
// A word is written on the side of its mark where there is room.
const WORD = 110;
const SVG = "http://www.w3.org/2000/svg";

// Round loads from 0 up to at most `most`, about `count` of them.
export function ticks(most, count) {
  const rough = most / Math.max(1, count);
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * unit).find((one) => one >= rough);
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, index) => index * step);
}

// Where everything lies in a picture of `width` px.
export function layout(find, underWay, width) {
  const shown = [...find.trials, ...underWay.map((trial) => ({ ...trial, verdict: "under_way", line: find.line }))];
  const loads = shown.flatMap((trial) => [trial.load, trial.line?.high ?? 0]);
  const most = 1.04 * Math.max(1, ...loads);
  const x = (value) => LEFT + (value / most) * (width - LEFT - RIGHT);
  const bands = shown.flatMap(({ line }, index) => (line ? [{ x: x(line.low), width: x(line.high) - x(line.low), at: x(line.load), y: index * ROW }] : []));
  const marks = shown.map((trial, index) => {
    const at = x(trial.load);
    const [word] = trial.verdict === "under_way" ? ["under way"] : verdict(trial.verdict);
    return { number: trial.number, x: at, y: (index + 0.5) * ROW, verdict: trial.verdict, word, before: at + WORD > width, title: `trial ${trial.number}: ${load(find.by, trial.load)}, ${word}` };
  });
  const axis = ticks(most, Math.max(2, Math.floor(width / 90))).map((value) => ({ x: x(value), label: number(value) }));
  return { width, height: shown.length * ROW + AXIS, bottom: shown.length * ROW, bands, marks, axis };
}

// Shapes of outcomes, told apart without their colours: a disc, a ring, a cross, a dot.
const SHAPES = {
  passed: ["circle", { r: 4.5, class: "passed" }],
  passed_as_seen: ["circle", { r: 4, class: "passed few" }],
  missed: ["path", { d: "M-4,-4L4,4M-4,4L4,-4", class: "failed" }],
  overloaded: ["path", { d: "M-4,-4L4,4M-4,4L4,-4", class: "failed" }],
  not_valid: ["circle", { r: 4, class: "void" }],
  under_way: ["path", { d: "M-4,-5L5,0L-4,5Z", class: "now" }],
};
const DOT = ["circle", { r: 2, class: "void" }];

function shape(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function draw(find, underWay, width, label) {
  const { height, bottom, bands, marks, axis } = layout(find, underWay, width);
  const svg = shape("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "trials" });
  for (const { x, label: words } of axis) {
    svg.append(shape("path", { d: `M${x},0V${bottom}`, class: "grid" }), shape("text", { x, y: bottom + 15, class: "tick" }, words));
  }
  for (const { x, width: wide, at, y } of bands) {
    svg.append(shape("rect", { x, y, width: Math.max(1, wide), height: ROW, class: "band" }), shape("path", { d: `M${at},${y}v${ROW}`, class: "line" }));
  }
  for (const { number: name, x, y, verdict: outcome, word, before, title } of marks) {
    const [kind, attributes] = SHAPES[outcome] ?? DOT;
    const beside = { x: before ? x - 9 : x + 9, y: y + 4, class: before ? "word before" : "word" };
    svg.append(
      shape("text", { x: LEFT - 8, y: y + 4, class: "number" }, `${name}`),
      shape("g", { transform: `translate(${x},${y})` }, shape("title", {}, title), shape(kind, attributes)),
      shape("text", beside, word),
    );
  }
  return svg;
}
