// A study's charts, drawn by uPlot: points with their intervals, lines, a limit, shaded parts. Which ones is in the data.
import { axis, colour, markLine, write } from "./canvas.mjs";
import { beside, shortened, spread } from "./series.mjs";

// Pixels below which a chart has the fewer labels.
const NARROW = 500;
// Of a letter of an axis, in pixels.
const LETTER = 6.8;
// How near to a point the pointer must be, in pixels.
const REACH = 24;

const labelsOf = (side, u) => (u.width < NARROW ? side.narrow : side.broad);
const inside = (value, { min, max }) => Math.min(max, Math.max(min, value));

function bands({ x_band, y_band }) {
  return (u) => {
    const { ctx, bbox } = u;
    const ends = (band, scale) => band.map((value) => u.valToPos(inside(value, u.scales[scale]), scale, true));
    ctx.save();
    ctx.globalAlpha = 0.24;
    ctx.fillStyle = colour("open");
    if (x_band) {
      const [left, right] = ends(x_band, "x");
      ctx.fillRect(left, bbox.top, Math.max(right - left, devicePixelRatio), bbox.height);
    }
    if (y_band) {
      const [bottom, top] = ends(y_band, "y");
      ctx.fillRect(bbox.left, top, bbox.width, Math.max(bottom - top, devicePixelRatio));
    }
    ctx.restore();
  };
}

// Everything between the axes: what lies outside is cut off.
function clipped(draw) {
  return (u) => {
    const { ctx, bbox } = u;
    const margin = 6 * devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left - margin, bbox.top - margin, bbox.width + 2 * margin, bbox.height + 2 * margin);
    ctx.clip();
    draw(u, ctx, devicePixelRatio);
    ctx.restore();
  };
}

const joined = (lines) => clipped((u, ctx, ratio) => {
  ctx.lineWidth = 1.75 * ratio;
  ctx.lineJoin = "round";
  for (const { ink, dotted, points } of lines) {
    ctx.strokeStyle = colour(ink);
    ctx.setLineDash(dotted ? [2 * ratio, 3 * ratio] : []);
    ctx.beginPath();
    points.forEach(([x, y]) => ctx.lineTo(u.valToPos(x, "x", true), u.valToPos(inside(y, u.scales.y), "y", true)));
    ctx.stroke();
  }
});

// The interval of a mark, along the axis that has no names.
function whisker(u, ctx, mark, across, ratio) {
  const [low, high] = mark.interval.map((value) => {
    const scale = across ? "x" : "y";
    return u.valToPos(inside(value, u.scales[scale]), scale, true);
  });
  const cap = 3 * ratio;
  ctx.strokeStyle = colour(mark.ink);
  ctx.lineWidth = (across ? 2.5 : 1) * ratio;
  ctx.globalAlpha = across ? 1 : 0.6;
  ctx.beginPath();
  if (across) {
    const y = u.valToPos(mark.y, "y", true);
    ctx.moveTo(low, y);
    ctx.lineTo(high, y);
  } else {
    const x = u.valToPos(mark.x, "x", true);
    ctx.moveTo(x, low);
    ctx.lineTo(x, high);
    for (const end of [low, high]) {
      ctx.moveTo(x - cap, end);
      ctx.lineTo(x + cap, end);
    }
  }
  ctx.stroke();
  ctx.globalAlpha = 1;
}

function outline(ctx, shape, x, y, ratio) {
  ctx.beginPath();
  if (shape === "square") {
    ctx.rect(x - 3.5 * ratio, y - 3.5 * ratio, 7 * ratio, 7 * ratio);
  } else if (shape === "diamond") {
    const size = 5.5 * ratio;
    [[0, -size], [size, 0], [0, size], [-size, 0]].forEach(([right, down]) => ctx.lineTo(x + right, y + down));
    ctx.closePath();
  } else {
    ctx.arc(x, y, (shape === "dot" ? 2.5 : 4) * ratio, 0, 2 * Math.PI);
  }
}

const marked = (marks, across) => clipped((u, ctx, ratio) => {
  ctx.setLineDash([]);
  marks.filter((mark) => mark.interval).forEach((mark) => whisker(u, ctx, mark, across, ratio));
  for (const mark of marks) {
    const solid = mark.style === "solid";
    ctx.fillStyle = colour(solid ? mark.ink : "page");
    ctx.strokeStyle = colour(solid ? "page" : mark.ink);
    ctx.lineWidth = (solid ? 1 : 1.5) * ratio;
    outline(ctx, mark.shape, u.valToPos(mark.x, "x", true), u.valToPos(mark.y, "y", true), ratio);
    ctx.fill();
    ctx.stroke();
  }
});

// Each line's name beside it, in its colour; a narrow chart has no room beside the lines, and its legend names them.
const bearingNames = (lines, marks) => clipped((u, ctx, ratio) => {
  if (u.width < NARROW) return;
  const pixels = ([x, y]) => [u.valToPos(x, "x", true), u.valToPos(y, "y", true)];
  const { left, top, width, height } = u.bbox;
  const area = { left, right: left + width, top, bottom: top + height };
  ctx.font = `${11 * ratio}px system-ui, sans-serif`;
  const named = lines.map(({ name, points }) => ({ points: points.map(pixels), width: ctx.measureText(name).width }));
  const places = beside(named, marks.map((mark) => pixels([mark.x, mark.y])), area, { height: 14 * ratio, gap: 7 * ratio });
  [ctx.textAlign, ctx.textBaseline] = ["left", "middle"];
  places.forEach((place, index) => {
    if (!place) return;
    ctx.fillStyle = colour(lines[index].ink);
    write(ctx, lines[index].name, place.left, place.middle);
  });
});

// The labels below, as many as there is room for, and what both axes count.
function named({ x, y }) {
  return (u) => {
    const { ctx, bbox } = u;
    const ratio = devicePixelRatio;
    const [right, bottom] = [bbox.left + bbox.width, bbox.top + bbox.height];
    ctx.save();
    ctx.font = `${12 * ratio}px system-ui, sans-serif`;
    ctx.fillStyle = ctx.strokeStyle = colour("muted");
    ctx.lineWidth = ratio;
    ctx.beginPath();
    ctx.moveTo(bbox.left, bottom);
    ctx.lineTo(right, bottom);
    const ticks = labelsOf(x, u);
    const letters = Math.max(4, Math.floor((bbox.width / ratio / Math.max(1, ticks.length) - 8) / LETTER));
    const labels = ticks.filter(([, text]) => text).map(([value, text]) => {
      const label = shortened(text, letters);
      return { at: u.valToPos(value, "x", true), label, width: ctx.measureText(label).width };
    });
    [ctx.textAlign, ctx.textBaseline] = ["center", "alphabetic"];
    for (const { at, middle, label } of spread(labels, ctx.canvas.width, 8 * ratio)) {
      ctx.moveTo(at, bottom);
      ctx.lineTo(at, bottom + 4 * ratio);
      ctx.fillText(label, middle, bottom + 18 * ratio);
    }
    ctx.stroke();
    ctx.textAlign = "right";
    ctx.fillText(x.unit, right, bottom + 35 * ratio);
    ctx.textAlign = "left";
    if (y.unit) write(ctx, y.unit, bbox.left + 6 * ratio, bbox.top + 10 * ratio);
    ctx.restore();
  };
}

// What the pointer shows: the point that it is near to, in words.
function tip(marks, u) {
  const { left, top } = u.cursor;
  const there = marks.map((mark) => ({ mark, x: u.valToPos(mark.x, "x"), y: u.valToPos(mark.y, "y") }));
  const away = (one) => Math.hypot(one.x - left, one.y - top);
  const nearest = there.reduce((best, one) => (best && away(best) <= away(one) ? best : one), null);
  let box = u.over.querySelector(".tip");
  if (!box) {
    box = u.over.appendChild(document.createElement("div"));
    box.className = "tip";
  }
  const near = left >= 0 && nearest && away(nearest) <= REACH;
  box.hidden = !near;
  if (!near) return;
  box.textContent = nearest.mark.title;
  const width = u.over.clientWidth;
  const middle = Math.min(Math.max(nearest.x, box.offsetWidth / 2), Math.max(width - box.offsetWidth / 2, 0));
  box.style.left = `${middle - box.offsetWidth / 2}px`;
  box.style.top = nearest.y > box.offsetHeight + 12 ? `${nearest.y - box.offsetHeight - 10}px` : `${nearest.y + 12}px`;
}

export function points(chart) {
  const { x, y, lines, names, marks, limit, height } = chart;
  // Names stand beside the rows that they name; everything else is read along the height.
  const across = y.fixed;
  const texts = (u) => {
    const most = Math.floor((u.width * 0.4) / LETTER);
    return labelsOf(y, u).map(([value, text]) => [value, shortened(text, most)]);
  };
  const scale = ({ low, high, log }) => ({ time: false, distr: log ? 3 : 1, range: () => [low, high] });
  const grid = (shown) => (shown ? { stroke: colour("grid"), width: 1 } : { show: false });
  return {
    options: {
      height,
      padding: [12, 16, 0, 0],
      scales: { x: scale(x), y: scale(y) },
      axes: [
        axis({ splits: (u) => labelsOf(x, u).map(([value]) => value), filter: (_, splits) => splits, values: (_, splits) => splits.map(() => ""),
          grid: grid(across), size: 42 }),
        axis({ splits: (u) => texts(u).map(([value]) => value), filter: (_, splits) => splits, values: (u) => texts(u).map(([, text]) => text),
          grid: grid(!across), size: (u) => 14 + LETTER * Math.max(0, ...texts(u).map(([, text]) => text.length)) }),
      ],
      series: [{}, { points: { show: false } }],
      legend: { show: false },
      cursor: { x: false, y: false, points: { show: false }, drag: { x: false, y: false } },
      hooks: {
        drawClear: [bands(chart)],
        draw: [joined(lines), marked(marks, across), ...(names ? [bearingNames(lines, marks)] : []), ...(limit ? [markLine(limit[0], limit[1], "bad", "left")] : []), named(chart)],
      },
    },
    // The axes reach as far as the chart says; there is no series of values at the same places.
    data: [[x.low, x.high], [null, null]],
    show: (_, u) => tip(marks, u),
  };
}
