#!/usr/bin/env node
// What `plimsoll serve` costs, for docs/results/serve.md: `node benches/serve.mjs target/release RECORD.json [PAIRS [PART...]]`. target/release has
// plimsoll and long_run (`cargo build --release -p plimsoll -p bench`), RECORD.json is the run.json of a run as large as they are; PAIRS runs of
// the DVD Store are measured with the page followed and PAIRS without, in turn. The parts are killed, list, hour and pages; all of them where
// none is named. Needs the packages of the DVD Store's default stack (`plimsoll doctor --install`), Chromium and what drives it
// (`npm ci` in web/browser), and nothing else to do for the machine.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [programs, record, pairs = "10", ...wanted] = process.argv.slice(2);
const program = join(programs, "plimsoll");
const RUNS = 10_000;
const VIEWERS = 4;
const TICKS_PER_S = 100;
const home = (name) => mkdtempSync(join(tmpdir(), `plimsoll-${name}-`));
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// A page over a home: its process, and how to ask it.
async function serve(dir) {
  const child = spawn(program, ["serve", "--listen", "127.0.0.1:0"], { env: { ...process.env, PLIMSOLL_HOME: dir }, stdio: ["ignore", "pipe", "ignore"] });
  const began = performance.now();
  const link = await new Promise((resolve) => child.stdout.once("data", (data) => resolve(new URL(String(data).trim()))));
  const ask = (path, headers = {}, onData) => new Promise((resolve, reject) => {
    const start = performance.now();
    const options = { host: "127.0.0.1", port: link.port, path, headers: { host: link.host, ...headers }, agent: false };
    get(options, (answer) => {
      let bytes = 0;
      answer.on("data", (data) => ((bytes += data.length), onData?.(data)));
      answer.on("end", () => resolve({ status: answer.statusCode, headers: answer.headers, bytes, ms: performance.now() - start }));
      answer.on("error", reject);
    }).on("error", reject);
  });
  const signedIn = await ask(link.pathname + link.search);
  const cookie = signedIn.headers["set-cookie"][0].split(";")[0];
  const [name, value] = cookie.split("=");
  return {
    child,
    origin: link.origin,
    cookie: { name, value, url: link.origin },
    ready_ms: performance.now() - began,
    ask: (path, onData) => ask(path, { cookie }, onData),
  };
}

// CPU seconds and memory of a process, its children not included.
function usage(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const mb = (name) => Number(status.match(new RegExp(`${name}:\\s+(\\d+)`))[1]) / 1024;
  return { cpu_s: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S, now_mb: mb("VmRSS"), peak_mb: mb("VmHWM") };
}

function end(child, signal = "SIGINT") {
  child.kill(signal);
  return new Promise((resolve) => child.once("exit", resolve));
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

// How long a page takes to its last byte, and what it takes of the CPUs.
async function asked(page, path) {
  const before = usage(page.child.pid);
  const times = [];
  for (let at = 0; at < 15; at += 1) {
    times.push((await page.ask(path)).ms);
    await sleep(200);
  }
  return { ms: median(times), largest_ms: Math.max(...times), cpu_ms: ((usage(page.child.pid).cpu_s - before.cpu_s) / times.length) * 1000 };
}

// A list of many runs, with and without an index.
async function list() {
  const dir = home("list");
  const text = readFileSync(record, "utf8");
  const old = JSON.parse(text).id;
  for (let at = 0; at < RUNS; at += 1) {
    const id = `20260101-${String(at).padStart(6, "0")}-dvdstore-0000`;
    mkdirSync(join(dir, "runs", id), { recursive: true });
    writeFileSync(join(dir, "runs", id, "run.json"), text.replaceAll(old, id));
  }
  console.log(`${RUNS} records of ${Math.round(text.length / 1000)} kB`);
  const page = await serve(dir);
  const began = performance.now();
  const first = await page.ask("/runs");
  console.log(`index cold: first rows ${first.ms.toFixed(0)} ms`);
  await page.ask("/api/v1/runs");
  console.log(`index cold: complete ${((performance.now() - began) / 1000).toFixed(1)} s`);
  for (const path of ["/runs?where=kit:dvdstore&fold=none", "/runs", "/runs?sort=-p95&fold=none", "/runs?fold=setup", "/", "/new/run?kit=dvdstore&set.web.MaxRequestWorkers=64"]) {
    const { ms, cpu_ms, largest_ms } = await asked(page, path);
    console.log(`index warm: ${path} ${ms.toFixed(0)} ms (of 15, up to ${largest_ms.toFixed(0)}), CPU ${cpu_ms.toFixed(0)} ms each`);
  }
  const warm = usage(page.child.pid);
  console.log(`memory: ${warm.now_mb.toFixed(0)} MB, peak ${warm.peak_mb.toFixed(0)} MB`);
  await end(page.child);
  rmSync(dir, { recursive: true });
}

const RUN = ["run", "dvdstore", "--users", "20", "--ramp-up", "5s", "--steady", "20s", "--ramp-down", "0s", "--json"];

// A run, with so many who follow it or without a page; its record and what the page took.
async function run(dir, viewers) {
  const page = viewers > 0 ? await serve(dir) : null;
  for (let at = 0; at < viewers; at += 1) page.ask("/api/v1/live?every=1").catch(() => {});
  const before = page && usage(page.child.pid);
  const began = performance.now();
  const measured = spawn(program, RUN, { env: { ...process.env, PLIMSOLL_HOME: dir }, stdio: ["ignore", "pipe", "ignore"] });
  let text = "";
  measured.stdout.on("data", (data) => (text += data));
  const code = await new Promise((resolve) => measured.once("exit", resolve));
  const cores = page && (usage(page.child.pid).cpu_s - before.cpu_s) / ((performance.now() - began) / 1000);
  if (page) await end(page.child, "SIGKILL");
  return { code, record: JSON.parse(text), cores };
}

// What an operation costs the stack, in seconds of CPU time.
const cpu = ({ record: { tiers } }) => tiers.filter(({ tier }) => ["web", "app", "db"].includes(tier)).reduce((sum, one) => sum + one.cpu_s_per_operation, 0);
const all = ({ record: { operations } }) => operations.filter(({ kind }) => kind === "operation").reduce((sum, one) => sum + one.per_s, 0);

async function pages() {
  const dir = home("pairs");
  spawnSync("chmod", ["755", dir]);
  await run(dir, 0);
  const rows = [];
  for (let at = 0; at < Number(pairs); at += 1) {
    // Which comes first changes: whatever drifts is in both.
    const order = at % 2 === 0 ? [0, VIEWERS] : [VIEWERS, 0];
    const [one, other] = [await run(dir, order[0]), await run(dir, order[1])];
    const [without, open] = order[0] === 0 ? [one, other] : [other, one];
    const viewer = open.record.tiers.find(({ tier }) => tier === "viewer")?.cpu_cores;
    rows.push({ ratio: cpu(open) / cpu(without), rate: all(open) / all(without), cores: open.cores, viewer, codes: [without.code, open.code] });
    console.log(`pair ${at + 1}: CPU an operation x${rows.at(-1).ratio.toFixed(4)}, operations/s x${rows.at(-1).rate.toFixed(4)}, page ${(open.cores * 100).toFixed(2)} % of a core (in the result ${(viewer * 100).toFixed(2)} %), exit codes ${rows.at(-1).codes}`);
  }
  for (const [name, values] of [["CPU an operation, page open / not", rows.map(({ ratio }) => Math.log(ratio))], ["operations/s", rows.map(({ rate }) => Math.log(rate))]]) {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const sd = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
    // Student's t for 95 % and as many pairs; close enough beyond 30.
    const t = { 5: 2.776, 8: 2.365, 10: 2.262, 12: 2.201, 15: 2.145, 20: 2.093 }[values.length] ?? 2;
    const half = (t * sd) / Math.sqrt(values.length);
    const percent = (value) => `${((Math.exp(value) - 1) * 100).toFixed(2)} %`;
    console.log(`${name}: ${percent(mean)} [${percent(mean - half)}, ${percent(mean + half)}], 95 %, ${values.length} pairs`);
  }
  rmSync(dir, { recursive: true });
}

async function killed() {
  const dir = home("killed");
  const queue = (...words) => spawnSync(program, ["queue", ...words], { env: { ...process.env, PLIMSOLL_HOME: dir }, encoding: "utf8" }).stdout;
  queue("pause");
  for (let at = 0; at < 100; at += 1) queue("add", "run", "static", "--users", String(at + 1));
  const before = queue("list", "--json");
  const ready = [];
  for (let at = 0; at < 10; at += 1) {
    const page = await serve(dir);
    ready.push(page.ready_ms);
    await end(page.child, "SIGKILL");
  }
  console.log(`kill -9, ten times: 100 jobs ${queue("list", "--json") === before ? "intact" : "CHANGED"}, ready after ${median(ready).toFixed(0)} ms (up to ${Math.max(...ready).toFixed(0)})`);
  rmSync(dir, { recursive: true });
}

// The report of a run of an hour: from asking to its last byte, and in a browser until its charts are drawn.
async function hour() {
  const dir = home("hour");
  const id = spawnSync(join(programs, "long_run"), [dir, "3600"], { encoding: "utf8" }).stdout.trim();
  const page = await serve(dir);
  const { bytes } = await page.ask(`/runs/${id}`);
  const { ms, cpu_ms } = await asked(page, `/runs/${id}`);
  console.log(`report of an hour: ${(bytes / 1e6).toFixed(2)} MB, ${ms.toFixed(0)} ms to its last byte, CPU ${cpu_ms.toFixed(0)} ms; memory ${usage(page.child.pid).now_mb.toFixed(0)} MB`);
  const { chromium } = await import("../web/browser/node_modules/playwright-core/index.mjs");
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--host-resolver-rules=MAP *.localhost 127.0.0.1"] });
  const context = await browser.newContext();
  await context.addCookies([page.cookie]);
  const times = [];
  for (let at = 0; at < 5; at += 1) {
    const tab = await context.newPage();
    const began = performance.now();
    await tab.goto(`${page.origin}/runs/${id}`);
    await tab.waitForFunction(() => document.documentElement.dataset.ready != null);
    times.push(performance.now() - began);
    await tab.close();
  }
  console.log(`report of an hour: drawn after ${median(times).toFixed(0)} ms (of 5, up to ${Math.max(...times).toFixed(0)}) in headless Chromium`);
  await browser.close();
  await end(page.child);
  rmSync(dir, { recursive: true });
}

const parts = { killed, list, hour, pages };
for (const part of wanted.length > 0 ? wanted : Object.keys(parts)) await parts[part]();
