// Numbers as people read them: three significant digits and a unit. The same rules as crates/model/src/units.rs.

const NOTHING = "–";

export function significant(value) {
  const magnitude = Math.abs(value);
  const decimals = magnitude >= 100 || magnitude === 0 ? 0 : magnitude >= 10 ? 1 : magnitude >= 1 ? 2 : 3;
  return value.toFixed(decimals);
}

export function time(seconds) {
  if (seconds == null || !Number.isFinite(seconds)) return NOTHING;
  const magnitude = Math.abs(seconds);
  if (magnitude >= 120) {
    return `${Math.floor(seconds / 60)} min ${(seconds % 60).toFixed(0).padStart(2, "0")} s`;
  }
  if (magnitude >= 1) return `${significant(seconds)} s`;
  if (magnitude >= 1e-3) return `${significant(seconds * 1e3)} ms`;
  return `${significant(seconds * 1e6)} µs`;
}

export function number(value) {
  if (value == null || !Number.isFinite(value)) return NOTHING;
  const text = significant(value);
  const plain = text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
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
  for (; value >= 1000 && unit < units.length - 1; unit += 1) value /= 1000;
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
