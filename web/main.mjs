// The report's page: everything that can be read is in the document; this draws the charts.
import { cpu, errors, lag, percentiles, response, signal, throughput, users } from "./charts.mjs";
import { flames } from "./flames.mjs";
import { points } from "./points.mjs";

const data = JSON.parse(document.getElementById("data").textContent);
const drawn = new Map();
// Widths of a chart on paper, in pixels: A4 and Letter have room for one large or three small ones.
const PAPER = { large: 660, small: 200 };
let scope = 0;
let zoom = null;

const kinds = {
  throughput: () => throughput(data, data.timeline.scopes[scope]),
  response: () => response(data, data.timeline.scopes[scope]),
  users: () => users(data),
  percentiles: () => percentiles(data, data.timeline.scopes[scope], scope),
  cpu: () => cpu(data),
  errors: () => errors(data),
  lag: () => lag(data),
  points: (figure) => points(data.charts[Number(figure.dataset.number)]),
};

// What draws a figure's chart.
const drawing = (figure) => kinds[figure.dataset.chart]?.bind(null, figure) ?? (() => signal(data, Number(figure.dataset.signal)));

// What the pointer shows in a small chart: its value.
function now(figure, u) {
  const step = u.cursor.idx;
  figure.querySelector(".now").textContent = step == null ? "" : u.series[1].read(u.data[1][step]);
}

// What the pointer shows: the moment, and each series' own value there.
function legend(figure, u) {
  const place = figure.querySelector(".legend");
  const step = u.cursor.idx;
  const there = step != null;
  const parts = u.series.slice(1).map((series, index) => {
    const item = document.createElement("span");
    const swatch = document.createElement("i");
    swatch.style.background = series.swatch ?? (typeof series.stroke === "function" ? series.stroke(u) : series.stroke);
    const value = document.createElement("b");
    value.textContent = there ? series.read(u.data[index + 1][step], step) : "";
    item.append(swatch, series.label, value);
    return item;
  });
  // A stack is drawn from its top, and read from its top.
  const moment = document.createElement("span");
  moment.className = "moment";
  moment.textContent = there ? u.series[0].read(u.data[0][step]) : "";
  place.replaceChildren(...parts, moment);
}

// Zooms every chart over time as `u` was zoomed.
function follow(u, key) {
  if (key !== "x") return;
  const { min, max } = u.scales.x;
  for (const other of drawn.values()) {
    const apart = other.shares && (other.scales.x.min !== min || other.scales.x.max !== max);
    if (apart) other.setScale("x", { min, max });
  }
  const whole = min <= 0 && max >= u.end;
  document.querySelectorAll("details.folded").forEach((one) => one.addEventListener("toggle", unfold));
  document.getElementById("unzoom").hidden = whole;
  zoom = whole ? null : { min, max };
}

function draw(figure) {
  drawn.get(figure)?.destroy();
  drawn.delete(figure);
  const place = figure.querySelector(".plot");
  const chart = drawing(figure)();
  place.replaceChildren();
  figure.hidden = chart == null;
  if (!chart) return;
  const { options, data: columns, end } = chart;
  const show = chart.show ?? (figure.dataset.chart ? legend : now);
  const shares = end != null;
  const paper = figure.dataset.chart ? PAPER.large : PAPER.small;
  options.width = "print" in document.documentElement.dataset ? paper : place.clientWidth;
  options.hooks.setCursor = [(u) => show(figure, u)];
  const u = new uPlot(options, columns, place);
  u.end = end;
  u.shares = shares;
  drawn.set(figure, u);
  if (shares) {
    u.setScale("x", { min: zoom?.min ?? 0, max: zoom?.max ?? end });
    u.hooks.setScale = [...(u.hooks.setScale ?? []), follow];
    // uPlot itself resets to the data's own range, which ends half a step early.
    place.addEventListener("dblclick", () => queueMicrotask(unzoom));
  }
  show(figure, u);
}

function unzoom() {
  zoom = null;
  for (const u of drawn.values()) {
    if (u.shares) u.setScale("x", { min: 0, max: u.end });
  }
}

const figures = [...document.querySelectorAll("[data-chart], [data-signal]")];
const folded = (figure) => figure.closest("details:not([open])") != null;
// What is folded away has no width yet, and is drawn when it is opened.
const drawAll = () => figures.filter((figure) => !folded(figure)).forEach(draw);

function unfold({ target }) {
  const inside = figures.filter((figure) => target.contains(figure));
  if (target.open) inside.filter((figure) => !drawn.has(figure)).forEach(draw);
}

function choose(event) {
  scope = Number(event.target.value);
  figures.filter((figure) => figure.hasAttribute("data-scoped")).forEach(draw);
}

function fit() {
  for (const figure of figures) {
    const u = drawn.get(figure);
    const width = figure.querySelector(".plot").clientWidth;
    if (u && width > 0 && width !== u.width) u.setSize({ width, height: u.height });
  }
}

if (data.charts || data.timeline.at_s.length > 1) {
  drawAll();
  document.getElementById("scope")?.addEventListener("change", choose);
  document.querySelectorAll("details.folded").forEach((one) => one.addEventListener("toggle", unfold));
  document.getElementById("unzoom")?.addEventListener("click", unzoom);
  new ResizeObserver(fit).observe(document.body);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => [...drawn.keys()].forEach(draw));
  addEventListener("beforeprint", () => { document.documentElement.dataset.print = ""; drawAll(); });
  addEventListener("afterprint", () => { delete document.documentElement.dataset.print; drawAll(); });
}
document.querySelectorAll("[data-flames]").forEach((figure) => flames(figure, data.flames ?? []));
const drawnKinds = [...drawn.keys()].map((figure) => figure.dataset.chart).filter(Boolean);
document.documentElement.dataset.ready = drawnKinds.join(" ") || "nothing to draw";
document.documentElement.dataset.drawn = drawn.size;
