// From the page's data to what a chart draws. Pure: no document, no chart library.

// Columns on top of each other: the running sum up to and with each column. A step without any figure stays a gap.
export function stack(columns) {
  const sums = [];
  columns.forEach((column, index) => {
    const below = sums[index - 1];
    sums.push(column.map((value, step) => {
      const under = below ? below[step] : null;
      return value == null ? under : (under ?? 0) + value;
    }));
  });
  return sums;
}

// A percentile as its place on the curve's axis: one of how many is slower. 90 -> 10, 99.9 -> 1000.
export function oneOf(percent) {
  return 1 / (1 - percent / 100);
}

// The curve's points as two columns, the percentiles that have no place (100) left out.
export function curveColumns(curve) {
  const points = curve.filter(([percent, seconds]) => percent < 100 && seconds > 0);
  return [points.map(([percent]) => oneOf(percent)), points.map(([, seconds]) => seconds)];
}

const LANDMARKS = [0, 50, 75, 90, 95, 99, 99.9, 99.99, 99.999, 99.9999];

// The percentiles worth a label on a curve that ends at `largest` of the axis.
export function percentileTicks(largest) {
  return LANDMARKS.filter((percent) => oneOf(percent) <= largest * 1.0001);
}

// The percentiles that have room for their label, the rounder ones first. `place` gives where one stands, in pixels.
export function roomy(percents, place, apart) {
  const rounder = (percent) => (percent === 75 || percent === 95 ? 1 : 0);
  const kept = [];
  for (const percent of [...percents].sort((a, b) => rounder(a) - rounder(b) || b - a)) {
    if (kept.every((other) => Math.abs(place(other) - place(percent)) >= apart)) kept.push(percent);
  }
  return kept.sort((a, b) => a - b);
}

// 1, 2, 5, 10, 20 … between two positive numbers; only powers of ten when there would be more than `most`.
export function logTicks(low, high, most) {
  const ticks = (steps) => {
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
      for (const step of steps) {
        const tick = Number(`${step}e${power}`);
        if (tick >= low * 0.999 && tick <= high * 1.001) found.push(tick);
      }
    }
    return found;
  };
  const fine = ticks([1, 2, 5]);
  return fine.length <= most ? fine : ticks([1]);
}

// A range around positive numbers for an axis on a log scale, its ends on 1, 2 or 5.
export function logRange(low, high) {
  const steps = logTicks(low / 10, high * 10, Infinity);
  const from = steps.filter((step) => step <= low * 1.0001).pop() ?? low;
  const to = steps.find((step) => step >= high * 0.9999) ?? high;
  return from < to ? [from, to] : [from / 2, to * 2];
}

// The phases that a chart from `from` to `to` seconds shows, each with its part of it.
export function phases(setup, from, to) {
  const steady = setup.ramp_up_s + setup.steady_s;
  return [
    { name: "ramp-up", from: 0, to: setup.ramp_up_s, counts: false },
    { name: "steady state", from: setup.ramp_up_s, to: steady, counts: true },
    { name: "ramp-down", from: steady, to: steady + setup.ramp_down_s, counts: false },
  ]
    .map((phase) => ({ ...phase, from: Math.max(phase.from, from), to: Math.min(phase.to, to) }))
    .filter((phase) => phase.to > phase.from);
}

// The events that a chart from `from` to `to` seconds shows.
export function within(events, from, to) {
  return events.filter(({ second }) => second >= from && second <= to);
}

// The largest figure of some columns; 0 without any.
export function largest(columns) {
  return columns.flat().reduce((most, value) => (value != null && value > most ? value : most), 0);
}

// The top of a time axis: room for the data, and for the limits that are near enough not to flatten it.
export function ceiling(top, limits) {
  const near = limits.filter((limit) => limit <= top * 2.5);
  return Math.max(top, ...near) * 1.16 || 1;
}

// `text` in at most that many letters. Only names are cut: a number that is cut would be another number.
export function shortened(text, letters) {
  return text.length > letters && /^\p{L}/u.test(text) ? `${text.slice(0, Math.max(0, letters - 1))}…` : text;
}

// The labels that have room beside each other, `apart` between them, each moved so that it ends within `width`: what
// stands `at` a place gets its `middle`.
export function spread(labels, width, apart) {
  const shown = [];
  let free = -Infinity;
  for (const label of labels) {
    const half = label.width / 2;
    const middle = Math.max(half, Math.min(label.at, width - half));
    if (middle - half < free) continue;
    free = middle + half + apart;
    shown.push({ ...label, middle });
  }
  return shown;
}

// A line as points that are at most `step` apart.
function dense(points, step) {
  const all = points.slice(0, 1);
  points.slice(1).forEach(([x, y], index) => {
    const [fromX, fromY] = points[index];
    const steps = Math.max(1, Math.ceil(Math.hypot(x - fromX, y - fromY) / step));
    for (let at = 1; at <= steps; at += 1) all.push([fromX + ((x - fromX) * at) / steps, fromY + ((y - fromY) * at) / steps]);
  });
  return all;
}

// Points that a name may cover: a line that crosses it has about so many.
const COVERED = 4;

// Where the names of lines stand: each right or left of its own line, near the middle of the height, and on as little else as
// can be. `lines` have their `points` and the `width` of their name, `marks` are points too, `area` is where names may stand;
// all in pixels. A name without room is null.
export function beside(lines, marks, area, { height, gap }) {
  const drawn = lines.map(({ points }) => dense(points, height / 3));
  const others = [...drawn.flat(), ...marks];
  const fits = (box) => box.left >= area.left && box.right <= area.right && box.top >= area.top && box.bottom <= area.bottom;
  const apart = (box, other) => box.right < other.left || box.left > other.right || box.bottom <= other.top || box.top >= other.bottom;
  const covered = (box) => others.filter(([x, y]) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom).length;
  const taken = [];
  return lines.map(({ width }, own) => {
    const places = drawn[own].filter((_, index) => index % 3 === 0).flatMap(([x, y]) =>
      [x + gap, x - gap - width].map((left) => ({ left, right: left + width, top: y - height / 2, bottom: y + height / 2 })));
    const free = places.filter((box) => fits(box) && taken.every((other) => apart(box, other)));
    const middle = (area.top + area.bottom) / 2;
    const rated = free.map((box) => ({ ...box, covers: covered(box), away: Math.abs((box.top + box.bottom) / 2 - middle) }));
    const best = rated.reduce((a, b) => (a && (a.covers < b.covers || (a.covers === b.covers && a.away <= b.away)) ? a : b), null);
    if (!best || best.covers > COVERED) return null;
    taken.push(best);
    return { left: best.left, middle: (best.top + best.bottom) / 2 };
  });
}
