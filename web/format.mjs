// Numbers as people read them: three significant digits and a unit. The same rules as crates/model/src/units.rs; the cases
// that both are held to are in format.cases.json.

const NOTHING = "–";

function decimals(value) {
  const magnitude = Math.abs(value);
  return magnitude >= 100 || magnitude === 0 ? 0 : magnitude >= 10 ? 1 : magnitude >= 1 ? 2 : 3;
}

// The value that three significant digits show.
function shown(value) {
  return Number(value.toFixed(decimals(value)));
}

export function significant(value) {
  const rounded = shown(value);
  return rounded.toFixed(decimals(rounded));
}

export function time(seconds) {
  if (seconds == null || !Number.isFinite(seconds)) return NOTHING;
  const magnitude = Math.abs(seconds);
  if (magnitude === 0) return "0 s";
  if (magnitude >= 119.5) {
    const whole = Math.round(magnitude);
    const sign = seconds < 0 ? "-" : "";
    return `${sign}${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
  }
  // By what is shown: 999.6 ms is a second.
  const [unit, scale] = [["s", 1], ["ms", 1e3]].find(([, scale]) => shown(magnitude * scale) >= 1) ?? ["µs", 1e6];
  return `${significant(seconds * scale)} ${unit}`;
}

export function number(value) {
  if (value == null || !Number.isFinite(value)) return NOTHING;
  const text = significant(value);
  const plain = text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
  if (/^[-0.]*$/.test(plain)) return "0";
  const [whole, fraction] = plain.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
  return fraction ? `${grouped}.${fraction}` : grouped;
}

// A share: 12 %, 0.31 %.
export function percent(ratio) {
  if (ratio == null || !Number.isFinite(ratio)) return NOTHING;
  const value = ratio * 100;
  if (value >= 99.95 && value < 100) return "over 99.9 %";
  if (value >= 99.5 && value < 99.95) return `${value.toFixed(1)} %`;
  const text = Math.abs(value) >= 10 ? value.toFixed(0) : significant(value);
  return `${text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text} %`;
}

// A size: 1.40 GB, powers of 1000.
export function size(bytes) {
  if (bytes == null || !Number.isFinite(bytes)) return NOTHING;
  const units = ["B", "kB", "MB", "GB", "TB"];
  let [value, unit] = [Math.max(0, Math.round(bytes)), 0];
  for (; shown(value) >= 1000 && unit < units.length - 1; unit += 1) value /= 1000;
  return `${significant(value)} ${units[unit]}`;
}

// A value of a series in the series' own unit: 1.90 MB/s, 2 140 queries/s, 11 %. As crates/report/src/figures.rs has it.
export function measured(value, unit) {
  if (value == null || !Number.isFinite(value)) return NOTHING;
  switch (unit) {
    case "": case "1": case "s/s": return number(value);
    case "s": case "seconds": return time(value);
    case "ratio": return percent(value);
    case "bytes": return size(value);
    case "bytes/s": return `${size(value)}/s`;
    case "1/s": return `${number(value)}/s`;
    case "1/min": return `${number(value)}/min`;
    default: return `${number(value)} ${unit}`;
  }
}

// A label of a time axis, short and without false digits: 20 ms, 1.5 s. All labels of an axis share `unit`.
export function timeTick(seconds, unit) {
  if (seconds === 0) return "0";
  return `${Number((seconds / unit.scale).toPrecision(6))} ${unit.name}`;
}

// The unit in which the labels of an axis up to `largest` seconds are read best.
export function timeUnit(largest) {
  if (largest >= 1) return { name: "s", scale: 1 };
  if (largest >= 1e-3) return { name: "ms", scale: 1e-3 };
  return { name: "µs", scale: 1e-6 };
}

// A moment of the run: 45 s, 2:05, 1:00:05.
export function clock(seconds) {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const two = (part) => String(part).padStart(2, "0");
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

// 95 for p95, 99.9 for p99.9.
export function percentile(percent) {
  return `p${Number(percent.toFixed(4))}`;
}
