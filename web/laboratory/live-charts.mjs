// The charts of the run that goes on: its operations, response times and CPU, second by second.
import { axis, colour } from "./canvas.mjs";
import { clock, number, time, timeTick, timeUnit } from "./format.mjs";

const CHARTS = {
  rate: { lines: [["completed", "ink-1"], ["failed", "bad"]], tick: number, read: number },
  response: { lines: [["p50", "p50"], ["p95", "p95"], ["p99", "p99"]], tick: null, read: time },
  cpu: { lines: [], tick: number, read: number },
};

const plots = new Map();

export function drawCharts(history) {
  for (const figure of document.querySelectorAll("#charts figure")) drawChart(figure, history);
}

// Other colours, or another width: they are made anew when they are drawn next.
export function forgetCharts() {
  plots.forEach(({ plot }) => plot.destroy());
  plots.clear();
}

function options(figure, name, lines) {
  const { tick, read } = CHARTS[name];
  const width = figure.querySelector(".plot").clientWidth;
  const unit = (u) => timeUnit(u.scales.y.max ?? 1);
  const values = tick ? (_, ticks) => ticks.map(tick) : (u, ticks) => ticks.map((one) => timeTick(one, unit(u)));
  const series = lines.map(([label, tone]) => ({ label, stroke: colour(tone), width: 1.75, points: { show: false } }));
  const legend = figure.querySelector(".legend");
  legend.replaceChildren(...lines.map(([label, tone]) => {
    const entry = document.createElement("span");
    const [mark, value] = [document.createElement("i"), document.createElement("b")];
    mark.style.background = colour(tone);
    entry.append(mark, label, value);
    return entry;
  }));
  const setLegend = (u) => [...legend.querySelectorAll("b")].forEach((value, index) => {
    const at = u.cursor.idx ?? u.data[0].length - 1;
    value.textContent = read(u.data[index + 1]?.[at]);
  });
  return {
    width,
    height: 190,
    padding: [10, 16, 0, 0],
    legend: { show: false },
    scales: { x: { time: false }, y: { range: (_, _low, high) => [0, (high || 1) * 1.1] } },
    axes: [axis({ values: (_, ticks) => ticks.map(clock), grid: { show: false }, space: 64, size: 30 }), axis({ values, size: 64, space: 36 })],
    series: [{}, ...series],
    cursor: { y: false, drag: { x: false, y: false } },
    hooks: { setCursor: [setLegend], setData: [setLegend] },
  };
}

function drawChart(figure, history) {
  const name = figure.dataset.chart;
  const lines = name === "cpu" ? history.tiers().map((tier, index) => [tier, tone(tier, index)]) : CHARTS[name].lines;
  const columns = history.columns(name, lines.map(([label]) => label));
  const known = plots.get(name);
  if (known && known.lines === lines.length) {
    known.plot.setData(columns);
    return;
  }
  known?.plot.destroy();
  if (lines.length === 0) return;
  const plot = new uPlot(options(figure, name, lines), columns, figure.querySelector(".plot"));
  plots.set(name, { plot, lines: lines.length });
}

function tone(tier, index) {
  const named = ["web", "app", "db", "cache", "generator", "observers"].includes(tier);
  return named ? `tier-${tier}` : `tier-other-${(index % 3) + 1}`;
}
