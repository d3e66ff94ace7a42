// What all charts share: colours of the page, axes, words and lines on a canvas.

const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export function axis(extra) {
  return {
    stroke: colour("muted"),
    font: FONT,
    grid: { stroke: colour("grid"), width: 1 },
    ticks: { show: false },
    gap: 6,
    ...extra,
  };
}

// A word on a chart: what it stands on does not strike it through.
export function write(ctx, text, x, y) {
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.lineWidth = 3 * devicePixelRatio;
  ctx.strokeStyle = colour("page");
  ctx.setLineDash([]);
  ctx.lineJoin = "round";
  ctx.strokeText(text, x, y);
  ctx.fillText(text, x, y);
}

// A dashed line at a height of the axis, with its name beneath its right end, or above its left one.
export function markLine(at, name, tone, side = "right") {
  return (u) => {
    const { ctx, bbox } = u;
    const [ratio, y] = [devicePixelRatio, u.valToPos(at, "y", true)];
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colour(tone);
    ctx.lineWidth = ratio;
    ctx.setLineDash([5 * ratio, 4 * ratio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    // What would reach beyond the top stands beneath.
    const above = side === "left" && y > bbox.top + 26 * ratio;
    [ctx.textAlign, ctx.textBaseline] = [side, above ? "bottom" : "top"];
    const x = side === "left" ? bbox.left + 6 * ratio : bbox.left + bbox.width - 4 * ratio;
    write(ctx, name, x, y + (above ? -3 : 3) * ratio);
    ctx.restore();
  };
}
