// What is told of a measurement: one stream for all tabs of a browser. A browser has six connections to a server, and a tab that takes one
// of them for good would stop the seventh; so one tab holds the stream, and the others listen to it.

// Lines that a tab is told that comes later: of a long measurement the first one, and the last.
const MAX_PAST = 1500;

export class Stream {
  // Each line that is told is given to `take`; the server looks for more every `every_s` seconds.
  constructor(take, every_s) {
    Object.assign(this, { take, every_s, past: [], source: null, isBegun: false });
    this.channel = new BroadcastChannel("plimsoll-live");
    this.channel.addEventListener("message", ({ data }) => this.hear(data));
    this.channel.postMessage({ kind: "hello" });
    this.hold();
  }

  // From now on the server looks that often.
  look(every_s) {
    this.every_s = every_s;
    if (this.source) this.follow();
  }

  // What the stream tells, for this tab and the others.
  pass(line) {
    if (line.kind === "begin") this.past.length = 0;
    this.past.push(line);
    if (this.past.length > MAX_PAST) this.past.splice(1, this.past.length - MAX_PAST);
    this.give(line);
    this.channel.postMessage(line);
  }

  give(line) {
    if (line.kind === "begin") this.isBegun = true;
    this.take(line);
  }

  follow() {
    this.source?.close();
    this.past.length = 0;
    this.source = new EventSource(`/api/v1/live?every=${this.every_s}`);
    this.source.addEventListener("message", (event) => this.pass(JSON.parse(event.data)));
    this.source.addEventListener("over", () => this.pass({ kind: "over" }));
  }

  // Another tab asks what was told before it came, or is told.
  hear(data) {
    if (data.kind === "hello") {
      if (this.source) this.channel.postMessage({ kind: "past", lines: this.past });
    } else if (data.kind === "past") {
      if (!this.isBegun) data.lines.forEach((line) => this.give(line));
    } else {
      this.give(data);
    }
  }

  hold() {
    if (!navigator.locks) {
      this.follow();
      return;
    }
    navigator.locks.request("plimsoll-live", () => new Promise((release) => {
      const change = () => {
        if (!document.hidden) return;
        this.source?.close();
        this.source = null;
        document.removeEventListener("visibilitychange", change);
        release();
        this.holdWhenShown();
      };
      document.addEventListener("visibilitychange", change);
      if (document.hidden) change();
      else this.follow();
    }));
  }

  // A tab that was hidden asks again when it is looked at.
  holdWhenShown() {
    const again = () => {
      if (document.hidden) return;
      document.removeEventListener("visibilitychange", again);
      this.hold();
    };
    document.addEventListener("visibilitychange", again);
  }
}
