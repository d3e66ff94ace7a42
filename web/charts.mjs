// The report's charts, drawn by uPlot. One function a chart; each gives uPlot's options and data.
import { axis, colour, markLine, write } from "./canvas.mjs";
import { clock, measured, number, percentile, time, timeTick, timeUnit } from "./format.mjs";
import { ceiling, curveColumns, largest, logRange, logTicks, oneOf, percentileTicks, phases, roomy, stack, within } from "./series.mjs";

// Steps of the time axis that read well on a clock.
const CLOCK_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400];

const timeAxis = () => axis({ incrs: CLOCK_STEPS, values: (_, ticks) => ticks.map(clock), grid: { show: false }, space: 64, size: 30 });
const leftAxis = (values) => axis({ values: (_, ticks) => ticks.map(values), size: 64, space: 36 });

// Shades what does not count.
function shade(setup) {
  return (u) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.fillStyle = colour("shade");
    for (const phase of phases(setup, u.scales.x.min, u.scales.x.max).filter((one) => !one.counts)) {
      const left = u.valToPos(phase.from, "x", true);
      ctx.fillRect(left, bbox.top, u.valToPos(phase.to, "x", true) - left, bbox.height);
    }
    ctx.restore();
  };
}

// Names the phases where there is room.
function phaseNames(setup) {
  return (u) => {
    const { ctx, bbox } = u;
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.font = `${11 * ratio}px system-ui, sans-serif`;
    [ctx.textAlign, ctx.textBaseline, ctx.fillStyle] = ["center", "top", colour("muted")];
    for (const phase of phases(setup, u.scales.x.min, u.scales.x.max)) {
      const left = u.valToPos(phase.from, "x", true);
      const width = u.valToPos(phase.to, "x", true) - left;
      if (width > ctx.measureText(phase.name).width + 12 * ratio) write(ctx, phase.name, left + width / 2, bbox.top + 4 * ratio);
    }
    ctx.restore();
  };
}

// A dashed line at each limit that the chart has room for.
function limitLines(limits) {
  return (u) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.strokeStyle = colour("bad");
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
    for (const limit of limits.filter((one) => one.seconds <= u.scales.y.max)) {
      const y = u.valToPos(limit.seconds, "y", true);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
    }
    ctx.restore();
  };
}

// A line at the moment of each event; where `named`, with its text beside it.
function eventLines(events, named) {
  return (u) => {
    const { ctx, bbox } = u;
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.font = `${11 * ratio}px system-ui, sans-serif`;
    ctx.textBaseline = "bottom";
    ctx.lineWidth = 1.5 * ratio;
    for (const event of within(events, u.scales.x.min, u.scales.x.max)) {
      const x = u.valToPos(event.second, "x", true);
      ctx.strokeStyle = ctx.fillStyle = colour(["note", "load"].includes(event.kind) ? "doubtful" : "bad");
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      const [gap, width] = [5 * ratio, ctx.measureText(event.text).width];
      const right = x + gap + width < bbox.left + bbox.width;
      ctx.textAlign = right ? "left" : "right";
      if (named && (right || x - gap - width > bbox.left)) {
        ctx.fillText(event.text, right ? x + gap : x - gap, bbox.top + bbox.height - 4 * ratio);
      }
    }
    ctx.restore();
  };
}

const line = (label, name, show, extra = {}) =>
  ({ label, stroke: colour(name), width: 1.75, points: { show: false }, show: true, read: show, ...extra });

// Where every chart over time ends.
const lastSecond = ({ timeline: { at_s, step_s } }) => at_s[at_s.length - 1] + step_s;

// The axis of all charts over time: as it was zoomed, or the whole run.
const wholeRun = (end) => ({ time: false, range: (_, from, to) => [from ?? 0, to ?? end] });

// One moment under the pointer, one part of the run, in all charts over time.
const together = () => ({ sync: { key: "run" }, points: { size: 7 }, y: false, drag: { x: true, y: false } });

function overTime(data, series, columns, y, hooks = {}) {
  const { at_s, step_s } = data.timeline;
  const end = lastSecond(data);
  return {
    options: {
      height: 210,
      padding: [10, 20, 0, 0],
      scales: { x: wholeRun(end), y: { range: [0, y.top] } },
      axes: [timeAxis(), leftAxis(y.tick)],
      series: [{ read: clock }, ...series],
      legend: { show: false },
      cursor: together(),
      hooks: { drawClear: [shade(data.setup)], draw: [...(hooks.draw ?? []), phaseNames(data.setup), eventLines(data.events, hooks.named)] },
    },
    // A step's point stands at its middle.
    data: [at_s.map((at) => at + step_s / 2), ...columns],
    end,
  };
}

export function throughput(data, scope) {
  const top = largest([scope.per_s]) * 1.12 || 1;
  const series = [line("completed per second", "ink-1", number, { width: 2, fill: colour("fill-1") })];
  return overTime(data, series, [scope.per_s], { top, tick: number });
}

export function response(data, scope) {
  const limits = data.limits.filter((limit) => limit.operation === scope.operation);
  const columns = [scope.p50_s, scope.p95_s, scope.p99_s];
  const top = ceiling(largest(columns), limits.map((limit) => limit.seconds));
  const unit = timeUnit(top);
  const series = [line("p50", "p50", time), line("p95", "p95", time, { width: 2.25 }), line("p99", "p99", time)];
  const y = { top, tick: (tick) => timeTick(tick, unit) };
  return overTime(data, series, columns, y, { draw: [limitLines(limits)] });
}

export function users(data) {
  const top = largest([data.timeline.users]) * 1.35 || 1;
  const series = [line("users", "ink-1", number, { width: 2, fill: colour("fill-1") })];
  const chart = overTime(data, series, [data.timeline.users], { top, tick: number }, { named: true });
  chart.options.height = 130;
  return chart;
}

// Columns on top of each other. The highest sum is drawn first, so that each lower one covers its part of it.
function stacked(data, columns, colours, y, read, bars) {
  const sums = stack(columns.map((column) => column.values)).reverse();
  const names = columns.map((column) => column.name).reverse();
  const paths = bars ? uPlot.paths.bars({ size: [1, 40], gap: 0 }) : undefined;
  const series = names.map((name, index) => {
    const own = columns[columns.length - 1 - index].values;
    const fill = colour(colours(name));
    return { label: name, stroke: bars ? fill : colour("page"), swatch: fill, fill, width: bars ? 0 : 1, paths,
      points: { show: false }, read: (_, step) => read(own[step]) };
  });
  return overTime(data, series, sums, y);
}

export function cpu(data) {
  const known = ["web", "app", "db", "cache", "generator", "observers", "viewer"];
  const spare = ["other-1", "other-2", "other-3"];
  const others = data.timeline.cpu.map((column) => column.name).filter((name) => !known.includes(name));
  const colours = (name) => `tier-${known.includes(name) ? name : spare[others.indexOf(name) % spare.length]}`;
  const total = largest(stack(data.timeline.cpu.map((column) => column.values)));
  const top = Math.max(data.cpus, total) * 1.14;
  const chart = stacked(data, data.timeline.cpu, colours, { top, tick: number }, (cores) => `${number(cores)} cores`, false);
  const name = data.cpus === 1 ? "the machine's CPU" : `all ${data.cpus} CPUs`;
  chart.options.hooks.draw.unshift(markLine(data.cpus, name, "muted"));
  return chart;
}

export function lag(data) {
  const columns = [data.timeline.lag_p99_s];
  if (largest(columns) === 0) return null;
  const limits = data.lag_limit_s == null ? [] : [{ seconds: data.lag_limit_s }];
  const top = ceiling(largest(columns), limits.map((limit) => limit.seconds));
  const unit = timeUnit(top);
  const y = { top, tick: (tick) => timeTick(tick, unit) };
  const chart = overTime(data, [line("p99", "p99", time, { width: 2 })], columns, y, { draw: [limitLines(limits)] });
  chart.options.height = 150;
  return chart;
}

export function errors(data) {
  const sums = stack(data.timeline.errors.map((column) => column.values));
  const y = { top: largest(sums) * 1.12 || 1, tick: number };
  return stacked(data, data.timeline.errors, (kind) => `error-${kind}`, y, (rate) => `${number(rate)}/s`, true);
}

// A figure of a tier, its server or the machine, small: no axes, its numbers stand around it.
export function signal(data, index) {
  const { at_s, step_s, signals } = data.inside;
  const { unit, limit, values } = signals[index];
  const most = largest([values]);
  const top = ceiling(most, limit == null ? [] : [limit]);
  const end = lastSecond(data);
  const limits = limit == null || limit > top ? [] : [markLine(limit, "limit", "bad")];
  return {
    options: {
      height: 64,
      padding: [4, 0, 0, 0],
      scales: { x: wholeRun(end), y: { range: [0, top] } },
      axes: [{ show: false }, { show: false }],
      series: [{ read: clock }, line("", "ink-1", (value) => measured(value, unit), { width: 1.5, fill: colour("fill-1") })],
      legend: { show: false },
      cursor: { ...together(), points: { size: 5 } },
      hooks: { drawClear: [shade(data.setup)], draw: [...limits, eventLines(data.events, false)] },
    },
    data: [at_s.map((at) => at + step_s / 2), values],
    end,
  };
}

// Marks each limit of a percentile where the curve has to stay below it.
function limitMarks(limits) {
  return (u) => {
    const { ctx } = u;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colour("bad");
    ctx.lineWidth = 2 * devicePixelRatio;
    for (const limit of limits.filter((one) => one.percent && oneOf(one.percent) <= u.scales.x.max)) {
      const [x, y] = [u.valToPos(oneOf(limit.percent), "x", true), u.valToPos(limit.seconds, "y", true)];
      if (y < u.bbox.top || y > u.bbox.top + u.bbox.height) continue;
      const arm = 14 * devicePixelRatio;
      ctx.beginPath();
      ctx.moveTo(x - arm, y);
      ctx.lineTo(x + arm, y);
      ctx.stroke();
    }
    ctx.restore();
  };
}

export function percentiles(data, scope, index) {
  const [x, y] = curveColumns(data.curves[index] ?? []);
  if (x.length < 2) return null;
  const limits = data.limits.filter((limit) => limit.operation === scope.operation);
  const [top, bottom] = [y[y.length - 1], y[0]];
  const near = limits.map((limit) => limit.seconds).filter((seconds) => seconds <= top * 4);
  const range = logRange(bottom, Math.max(top, ...near));
  const ticks = percentileTicks(x[x.length - 1]);
  const label = (tick) => (tick <= 1 ? "min" : percentile(100 * (1 - 1 / tick)));
  return {
    options: {
      height: 260,
      padding: [10, 24, 0, 0],
      scales: { x: { time: false, distr: 3, range: () => [1, x[x.length - 1]] }, y: { distr: 3, range: () => range } },
      axes: [
        axis({ splits: (u) => roomy(ticks, (tick) => u.valToPos(oneOf(tick), "x"), 44).map(oneOf), filter: (_, splits) => splits, size: 30,
          values: (_, splits) => splits.map(label) }),
        axis({ splits: () => logTicks(range[0], range[1], 9), filter: (_, splits) => splits, size: 64,
          values: (_, splits) => splits.map((tick) => timeTick(tick, timeUnit(tick))) }),
      ],
      series: [{ read: (tick) => label(tick) }, line("response time", "p95", time, { width: 2.25 })],
      legend: { show: false },
      cursor: { points: { size: 7 }, y: false, drag: { x: false, y: false } },
      hooks: { draw: [limitMarks(limits)] },
    },
    data: [x, y],
  };
}
