// What is being measured, as it is told: figures at once, charts where they are wanted.
import { part, row, show, text } from "./elements.mjs";
import { measured, number, time } from "./format.mjs";
import { History } from "./history.mjs";
import { byHand } from "./users.mjs";
import { drawCharts, forgetCharts } from "./live-charts.mjs";
import { showStudy } from "./live-study.mjs";
import { Stream } from "./stream.mjs";

// A browser on the machine that is measured takes CPU time from it: until charts are asked for it looks less often.
const CALM_S = 5;
const LIVELY_S = 1;
// Readers of screens are told so often at most.
const SAY_EVERY_MS = 10_000;
const LINES = 40;

const history = new History();
const users = byHand(part("by-hand"));
let said = 0;
let waiting = false;

function showTargets(targets) {
  show("targets", targets.length > 0);
  const rows = targets.map((one) => {
    const state = one.met == null ? "not yet known" : one.met ? "met" : "missed";
    const kind = one.met == null ? "left quiet" : `left ${state}`;
    const samples = one.samples_needed ? `${number(one.samples)} of ${number(one.samples_needed)}` : number(one.samples);
    return row([one.target, state, measured(one.observed, one.unit), samples], ["", kind]);
  });
  part("targets").querySelector("tbody").replaceChildren(...rows);
}

const STATES = { holds: ["met", "holds so far"], fails: ["missed", "fails"], unknown: ["quiet", "not yet known"] };

function showChecks(checks) {
  show("checks", checks.length > 0);
  const items = checks.map((one) => {
    const [kind, word] = STATES[one.state] ?? STATES.unknown;
    const item = document.createElement("li");
    for (const [name, value] of [[kind, word], ["", one.title ?? one.id], ["quiet", one.sentence ?? ""]]) {
      const piece = document.createElement("span");
      [piece.className, piece.textContent] = [name, value];
      item.append(piece);
    }
    return item;
  });
  part("checks").querySelector("ul").replaceChildren(...items);
}

function showOperations(operations) {
  show("operations", operations.length > 0);
  const rows = operations.map((one) => row([one.name, number(one.completed), number(one.failed), time(one.p50_s), time(one.p95_s), time(one.p99_s)]));
  part("operations").querySelector("tbody").replaceChildren(...rows);
}

// Options stay on one line: browsers may break `--users` after either of its hyphens.
function showCommand(command) {
  const code = document.createElement("code");
  const words = command.split(" ").flatMap((word, index) => {
    const piece = Object.assign(document.createElement("span"), { textContent: word });
    if (word.startsWith("--")) piece.className = "unbroken";
    return index === 0 ? [piece] : [" ", piece];
  });
  code.append(...words);
  part("what").replaceChildren(code);
}

// The state as words and figures; charts only where they are open.
function draw() {
  waiting = false;
  const { second } = history;
  showCommand(history.command || "Nothing is being measured");
  text("step", history.over ? "It is over." : history.step);
  show("done", second != null && !history.over);
  show("figures", second != null);
  users.show(history.over ? null : second);
  show("charts", second != null);
  showStudy(history.study, history.below);
  show("told", history.told.length > 0);
  part("told").querySelector("ol").replaceChildren(...history.told.slice(-LINES).reverse().map((line) => Object.assign(document.createElement("li"), { textContent: line })));
  if (!second) return;
  part("done").value = second.done_ratio;
  text("users", number(second.busy_users + second.thinking_users));
  text("doing", `${Math.round(second.busy_users)} wait, ${Math.round(second.thinking_users)} think`);
  text("rate", `${number(second.all.completed)}/s`);
  text("p95", time(second.all.p95_s));
  text("failed", `${number(second.all.failed)}/s`);
  if (Date.now() - said > SAY_EVERY_MS) {
    said = Date.now();
    text("phase", `${second.phase}: ${number(second.all.completed)} operations a second, p95 ${time(second.all.p95_s)}`);
  }
  showTargets(second.targets ?? []);
  showChecks(second.checks ?? []);
  showOperations(second.operations ?? []);
  drawCharts(history);
}

function take(line) {
  history.take(line);
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(draw);
}

const redraw = () => {
  forgetCharts();
  draw();
};
addEventListener("resize", redraw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

const isNear = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname) || location.hostname.endsWith(".localhost");
const stream = new Stream(take, isNear ? CALM_S : LIVELY_S);
const lively = part("lively");
if (isNear && lively) {
  lively.hidden = false;
  lively.querySelector("button").addEventListener("click", () => {
    lively.hidden = true;
    stream.look(LIVELY_S);
  });
}
