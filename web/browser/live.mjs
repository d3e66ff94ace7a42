// The live page of a find, a comparison and a sweep in Debian's Chromium, from recorded lines: ORIGIN is where the pages are, LINK signs
// in, MEASURING is the file of what is being measured. `cargo test -p plimsoll page_browser` starts the server and runs this.
// The comparison and the sweep were measured on Apache; the find is that of the simulated stack of `testkit`, whose line is known.
import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { AxeBuilder } from "@axe-core/playwright";
import { chromium } from "playwright-core";
import { tooWide } from "./width.mjs";

const { ORIGIN: origin, LINK: link, MEASURING: measuring, SHOTS: shots } = process.env;
const WINDOWS = [[390, "light"], [390, "dark"], [1200, "light"], [1200, "dark"]];
let browser;
let state;

before(async () => {
  const args = ["--no-sandbox", "--disable-dev-shm-usage", "--host-resolver-rules=MAP *.localhost 127.0.0.1"];
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args });
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  state = await context.storageState();
  await context.close();
  if (shots) mkdirSync(shots, { recursive: true });
});
after(() => browser?.close());

// The lines of a study that was measured, as if this process measured it now.
function recorded(name) {
  const lines = readFileSync(new URL(`recorded/${name}.jsonl`, import.meta.url), "utf8").trim().split("\n").map((line) => JSON.parse(line));
  const start = Number(readFileSync("/proc/self/stat", "utf8").split(")").pop().trim().split(/\s+/)[19]);
  lines[0].process = { id: process.pid, start };
  return lines;
}

const written = (lines) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");

// A new file in place of the one before, as whoever measures makes it.
function begin(lines) {
  writeFileSync(`${measuring}.new`, written(lines));
  renameSync(`${measuring}.new`, measuring);
}

async function open(place, use, { width = 1200, theme = "light" } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme, storageState: state });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const heard = [];
  page.on("console", (message) => heard.push(message.text()));
  page.on("pageerror", (error) => heard.push(String(error)));
  try {
    await page.goto(origin + place);
    await use(page, context);
    assert.deepEqual(heard, [], place);
  } finally {
    await context.close();
  }
}

const says = (page, text) => page.waitForFunction((text) => document.querySelector("#study-text").textContent === text, text);
const rows = (page) => page.$$eval("#study-table tbody tr", (all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));

// Accessible, and no wider than its window.
async function looks(page, name) {
  for (const [width, theme] of WINDOWS) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: theme });
    const wide = await tooWide(page);
    assert.ok(wide <= 0, `${name} is ${wide} px wider than ${width} px`);
    await page.waitForFunction(() => !document.querySelector("#trials .plot svg") || document.querySelector("#trials .plot svg").clientWidth <= document.querySelector("#study").clientWidth);
    if (shots) await page.screenshot({ path: `${shots}/live-${name}-${width}-${theme}.png`, fullPage: true });
    const { violations } = await new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]).analyze();
    const told = violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html, any }) => `${html.slice(0, 120)} ${any[0]?.message ?? ""}`).join("; ")}`);
    assert.deepEqual(told, [], `${name} at ${width} px, ${theme}`);
  }
  await page.setViewportSize({ width: 1200, height: 900 });
}

for (const [name, check] of Object.entries({ find, compare, sweep })) {
  test(`of a ${name} everything known so far is there, as it comes and for who comes late`, async () => {
    const lines = recorded(name);
    const studies = lines.flatMap((line, index) => (line.kind === "study" ? [index] : []));
    const middle = studies[Math.floor(studies.length * 0.6)];
    const [early, late] = [lines[middle], lines.findLast((line) => line.kind === "study")];
    begin(lines.slice(0, middle + 1));
    await open("/live", async (page, context) => {
      await says(page, early.text);
      await check(page, early);
      await page.$eval("#study-table", (table) => { table.open = true; });
      await looks(page, name);
      await page.click("#lively button");
      appendFileSync(measuring, written(lines.slice(middle + 1)));
      await says(page, late.text);
      assert.ok(late.over);
      await check(page, late);
      const other = await context.newPage();
      await other.goto(`${origin}/live`);
      await says(other, late.text);
      assert.deepEqual(await rows(other), await rows(page), "a tab that comes later is told what was told before");
    });
    // Somebody else, and as if nothing more had come yet: home says it in a line.
    begin(lines.slice(0, middle + 1));
    await open("/", async (page) => {
      assert.equal(await page.textContent("#study"), early.text);
      if (shots) await page.screenshot({ path: `${shots}/live-${name}-home.png` });
      await page.goto(`${origin}/live`);
      await says(page, early.text);
      await check(page, early);
    });
  });
}

async function find(page, { known: { find: known }, under_way: underWay }) {
  const shown = await rows(page);
  assert.equal(shown.length, known.trials.length + underWay.length);
  known.trials.forEach((trial, index) => assert.ok(shown[index].includes(trial.text), `${shown[index]}`));
  const words = await page.$$eval("#trials .word", (all) => all.map((word) => word.textContent));
  assert.deepEqual(words, shown.map((cells) => cells[2]), "each mark has its outcome's word");
  const bands = await page.$$eval("#trials .band", (all) => all.map((band) => Number(band.getAttribute("width"))));
  const known_after = known.trials.filter((trial) => trial.line).length;
  assert.equal(bands.length, known_after + (known.line ? underWay.length : 0));
  if (known.line) assert.match(await page.textContent("#study-figures"), new RegExp(`${known.line.load} users \\[${known.line.low}, ${known.line.high}\\]`));
}

async function compare(page, { known: { compare: known }, under_way: underWay, over }) {
  const shown = await rows(page);
  assert.equal(shown.length, known.blocks.length + Math.min(1, underWay.length));
  known.blocks.forEach((block, index) => {
    if (block.values) assert.equal(shown[index][3], (block.values[1] / block.values[0]).toFixed(3));
    else assert.match(shown[index][4], /^not valid: /);
  });
  assert.ok((await page.textContent("#study-figures")).includes(known.change));
  assert.equal((await page.textContent("#study-note")).includes("no result yet"), !over);
}

async function sweep(page, { known: { sweep: known }, under_way: underWay }) {
  const shown = await rows(page);
  assert.equal(shown.length, known.cells.length);
  const states = shown.map((cells) => cells.at(-1));
  known.cells.forEach((cell, index) => {
    const isNow = underWay.some((trial) => trial.arm === index);
    assert.match(states[index], isNow ? /^under way/ : cell.repeats.length > 0 ? /^measured/ : /^waits/);
  });
  assert.match(await page.textContent("#study-figures"), new RegExp(`${known.done} of ${known.all}`));
}
