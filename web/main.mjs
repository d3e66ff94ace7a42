// The report's page: everything that can be read is in the document; this draws the charts.
import { cpu, errors, lag, percentiles, response, throughput, users } from "./charts.mjs";

const data = JSON.parse(document.getElementById("data").textContent);
const drawn = new Map();
// Width of a chart on paper, in pixels: A4 and Letter have room for it.
const PAPER = 660;
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
};

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
  document.getElementById("unzoom").hidden = whole;
  zoom = whole ? null : { min, max };
}

function draw(figure) {
  const kind = figure.dataset.chart;
  drawn.get(kind)?.destroy();
  drawn.delete(kind);
  const place = figure.querySelector(".plot");
  const chart = kinds[kind]();
  place.replaceChildren();
  figure.hidden = chart == null;
  if (!chart) return;
  const { options, data: columns, end } = chart;
  const shares = end != null;
  options.width = "print" in document.documentElement.dataset ? PAPER : place.clientWidth;
  options.hooks.setCursor = [(u) => legend(figure, u)];
  const u = new uPlot(options, columns, place);
  u.end = end;
  u.shares = shares;
  drawn.set(kind, u);
  if (shares) {
    u.setScale("x", { min: zoom?.min ?? 0, max: zoom?.max ?? end });
    u.hooks.setScale = [...(u.hooks.setScale ?? []), follow];
    // uPlot itself resets to the data's own range, which ends half a step early.
    place.addEventListener("dblclick", () => queueMicrotask(unzoom));
  }
  legend(figure, u);
}

function unzoom() {
  zoom = null;
  for (const u of drawn.values()) {
    if (u.shares) u.setScale("x", { min: 0, max: u.end });
  }
}

const figures = [...document.querySelectorAll("[data-chart]")];
const drawAll = () => figures.forEach(draw);

function choose(event) {
  scope = Number(event.target.value);
  figures.filter((figure) => figure.hasAttribute("data-scoped")).forEach(draw);
}

function fit() {
  for (const figure of figures) {
    const u = drawn.get(figure.dataset.chart);
    const width = figure.querySelector(".plot").clientWidth;
    if (u && width > 0 && width !== u.width) u.setSize({ width, height: u.height });
  }
}

if (data.timeline.at_s.length > 1) {
  drawAll();
  document.getElementById("scope")?.addEventListener("change", choose);
  document.getElementById("unzoom").addEventListener("click", unzoom);
  new ResizeObserver(fit).observe(document.body);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  addEventListener("beforeprint", () => { document.documentElement.dataset.print = ""; drawAll(); });
  addEventListener("afterprint", () => { delete document.documentElement.dataset.print; drawAll(); });
}
document.documentElement.dataset.ready = [...drawn.keys()].join(" ") || "nothing to draw";
