// What was told of a measurement, kept within bounds: the seconds of the run under way, the study so far, and what happened.

// Points of a chart; a longer run is thinned to half of them.
export const MAX_POINTS = 1200;
const MAX_TOLD = 200;

export class History {
  constructor() {
    this.begin();
  }

  // A measurement of which nothing is known yet.
  begin(command = "") {
    Object.assign(this, { command, step: "", below: "", study: null, told: [], over: false });
    this.run("");
  }

  // A run of it.
  run(id) {
    Object.assign(this, { id, second: null, seconds: [], step_s: 1 });
  }

  // A line of the progress file.
  take(line) {
    const { kind, text } = line;
    if (kind === "begin") this.begin(words(line.command));
    else if (kind === "step" || kind === "advance") this.step = text;
    else if (kind === "below") this.below = text;
    else if (kind === "study") this.study = line;
    else if (kind === "second") this.takeSecond(line);
    else if (kind === "end" || kind === "over") this.over = true;
    if (["done", "note", "problem"].includes(kind)) this.told = [...this.told, text].slice(-MAX_TOLD);
  }

  takeSecond(line) {
    if (line.run !== this.id) this.run(line.run);
    // What is told again after a break is known already.
    if (this.second && line.second <= this.second.second) return;
    this.second = line;
    this.step = line.phase;
    if (line.second % this.step_s !== 0) return;
    const { all } = line;
    const cpu = Object.fromEntries(line.cpu_cores ?? []);
    this.seconds.push({ at: line.second, rate: [all.completed, all.failed], response: [all.p50_s, all.p95_s, all.p99_s], cpu });
    if (this.seconds.length > MAX_POINTS) {
      this.step_s *= 2;
      this.seconds = this.seconds.filter(({ at }) => at % this.step_s === 0);
    }
  }

  // Tiers whose CPU was seen, in the order of the last second.
  tiers() {
    return (this.second?.cpu_cores ?? []).map(([tier]) => tier);
  }

  // What a chart is drawn from: seconds, then a column for each line.
  columns(name, labels) {
    const value = (second, index) => (name === "cpu" ? second.cpu[labels[index]] : second[name][index]) ?? null;
    return [this.seconds.map(({ at }) => at), ...labels.map((_, index) => this.seconds.map((second) => value(second, index)))];
  }
}

// A command line without what only says where its progress is told.
export function words(command) {
  const [, ...rest] = command;
  const shown = rest.filter((word, index) => word !== "--progress-file" && rest[index - 1] !== "--progress-file");
  return ["plimsoll", ...shown.map((word) => (/^[\w.=,%:/+@-]+$/.test(word) ? word : `'${word}'`))].join(" ");
}
