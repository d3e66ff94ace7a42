// The study that goes on, above its trial under way: its figures, a picture of a find's trials, its table.
import { element, part, row, show, text } from "./elements.mjs";
import { view } from "./study.mjs";
import { draw } from "./trials-picture.mjs";

// What is shown already: a study is told again and again.
let shown = null;
let width = 0;
// Whose table was opened, or left to whoever wants it, already.
let opened = "";

// `below` is what a study says that tells no figures.
export function showStudy(study, below) {
  const known = study && view(study);
  show("study", known != null || below !== "");
  const free = part("study").clientWidth;
  if (study != null && study === shown && free === width) return;
  [shown, width] = [study, free];
  show("study-figures", known != null);
  show("study-table", known != null);
  show("trials", known != null && study.known.find != null);
  text("study-title", known?.title ?? "The study so far");
  text("study-text", known ? study.text : below);
  text("study-note", known?.note ?? "");
  if (!known) return;
  part("study-figures").replaceChildren(...known.figures.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
  if (opened !== study.study) {
    opened = study.study;
    part("study-table").open = study.known.find == null;
  }
  part("study-table").querySelector("summary").textContent = known.caption;
  table(known);
  if (study.known.find) part("trials").querySelector(".plot").replaceChildren(draw(study.known.find, study.under_way, Math.max(260, free), study.text));
}

const pair = (one) => (Array.isArray(one) ? one : [one, ""]);

function table({ caption, heads, rows }) {
  const scroll = part("study-table").querySelector(".scroll");
  scroll.setAttribute("aria-label", caption);
  const labels = heads.map((one) => pair(one)[0]);
  const head = element("tr", {}, ...heads.map(pair).map(([name, kind]) => element("th", { scope: "col", class: kind }, name)));
  const body = rows.map((cells) => row(cells.map((cell) => pair(cell)[0]), cells.map((cell) => pair(cell)[1]), labels));
  scroll.querySelector("thead").replaceChildren(head);
  scroll.querySelector("tbody").replaceChildren(...body);
}
