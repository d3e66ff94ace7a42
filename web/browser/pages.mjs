// The reports of recorded runs, of a find and of a study beside published figures in Debian's Chromium: PAGES has NAME.html and the NAME.json behind it.
// `cargo test -p report browser` makes them and runs this.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { number, time } from "../format.mjs";
import { tooWide } from "./width.mjs";

const pages = process.env.PAGES;
// Each is looked at in the other theme as well, when that is changed while it is open.
const WINDOWS = [[400, "light"], [800, "dark"], [1200, "light"], [1200, "dark"]];
const RUNS = ["failed", "by-rate", "many-operations"];
const ALL = [...RUNS, "find", "published"];
let browser;

before(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
});
after(() => browser?.close());

const record = (name) => JSON.parse(readFileSync(`${pages}/${name}.json`, "utf8"));
const plain = (text) => text.replace(/\u202f/g, " ").replace(/\s+/g, " ").trim();
const plainNumber = (value) => plain(number(value));
const plainTime = (value) => plain(time(value));

// Opens a page, does something with it, and fails on any word on the console and on any request beside the page.
async function open(name, { width = 1200, theme = "light" }, use) {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: theme });
  // A machine under load is slow, and that is no fault of the page.
  page.setDefaultTimeout(120_000);
  const heard = [];
  page.on("console", (message) => heard.push(message.text()));
  page.on("pageerror", (error) => heard.push(String(error)));
  page.on("request", (request) => {
    if (request.url() !== `file://${pages}/${name}.html`) heard.push(`a request: ${request.url()}`);
  });
  try {
    await page.goto(`file://${pages}/${name}.html`);
    await page.waitForFunction(() => document.readyState === "complete");
    await use(page);
    assert.deepEqual(heard, [], `${name} at ${width} px, ${theme}`);
  } finally {
    await page.close();
  }
}

// The cells of a table's rows, without rows that span it.
const cells = (page, table) =>
  page.$$eval(`${table} tbody tr:not(.group)`, (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));

// The parts of a page that reach beyond its window, and texts whose colour is too near to what is behind them.
function faults() {
  const found = [];
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) found.push(`the page is ${root.scrollWidth} px wide in a window of ${innerWidth}`);
  const inside = (element) => element.closest(".scroll, pre, svg, .visually-hidden") != null;
  for (const element of document.querySelectorAll("main *")) {
    const box = element.getBoundingClientRect();
    if (box.width > 0 && box.right > innerWidth + 1 && !inside(element)) {
      found.push(`${element.tagName} .${element.className} ends at ${box.right}`);
    }
  }
  const painter = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  // Read back once for each colour: that waits for the painter, and a page has a thousand texts in a dozen colours.
  const known = new Map();
  const channels = (css) => {
    if (!known.has(css)) {
      painter.clearRect(0, 0, 1, 1);
      painter.fillStyle = css;
      painter.fillRect(0, 0, 1, 1);
      known.set(css, [...painter.getImageData(0, 0, 1, 1).data]);
    }
    return known.get(css);
  };
  // WCAG 2.2, relative luminance and contrast ratio.
  const light = (css) => {
    const [r, g, b] = channels(css).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const back = getComputedStyle(one).backgroundColor;
      if (channels(back)[3] > 250) return back;
    }
    return "white";
  };
  const texts = "h1, h2, h3, h4, .quiet, .lead, .answer, .met, .missed, .cited, .summary, .sure + span, .word, td, th, dt, dd, summary";
  for (const element of document.querySelectorAll(texts)) {
    if (element.closest(".heat")) continue;
    const [a, b] = [light(getComputedStyle(element).color), light(behind(element))].sort((one, other) => other - one);
    if ((a + 0.05) / (b + 0.05) < 4.5) found.push(`contrast ${((a + 0.05) / (b + 0.05)).toFixed(2)}: ${element.className} ${element.textContent.slice(0, 30)}`);
  }
  return [...new Set(found)].slice(0, 10);
}

for (const name of ALL) {
  test(`${name} is clean, readable and no wider than its window at three widths, in both themes and in print`, async () => {
    for (const [width, theme] of WINDOWS) {
      await open(name, { width, theme }, async (page) => {
        for (const details of await page.$$("details:not([open]) > summary")) await details.click();
        assert.deepEqual(await page.evaluate(faults), [], `${name} at ${width} px, ${theme}`);
        await page.emulateMedia({ colorScheme: theme === "dark" ? "light" : "dark" });
        assert.deepEqual(await page.evaluate(faults), [], `${name} at ${width} px, from ${theme} to the other theme`);
      });
    }
    await open(name, { width: 718, theme: "dark" }, async (page) => {
      const paper = await page.pdf({ format: "A4", margin: { left: "10mm", right: "10mm" } });
      assert.equal(paper.subarray(0, 5).toString(), "%PDF-");
      await page.emulateMedia({ media: "print" });
      // As the browser does before it prints: the charts take the widths of paper.
      await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
      const wide = await tooWide(page);
      assert.ok(wide <= 0, `${name} is ${wide} px wider than its paper`);
    });
  });
}

for (const name of RUNS) {
  test(`the figures of ${name} are those of its JSON`, async () => {
    const { operations, targets, tiers, diagnosis, verdict } = record(name);
    await open(name, {}, async (page) => {
      const rows = (await cells(page, "#operations table")).map((row) => row.slice(0, 10).map(plain));
      const kinds = ["operation", "session", "request"];
      // A session of one operation that bears its name is shown once.
      const twice = (row) => row.kind === "session" && operations.some((one) => one.kind === "operation" && one.name === row.name);
      const expected = kinds.flatMap((kind) => operations.filter((row) => row.kind === kind && !twice(row))).map((row) => {
        const { mean_s, sd_s, p50_s, p95_s, p99_s, max_s } = row.response;
        const failed = Object.values(row.errors).reduce((sum, count) => sum + count, 0);
        return [row.name, ...[row.completed, row.per_s, failed].map(plainNumber), ...[mean_s, sd_s, p50_s, p95_s, p99_s, max_s].map(plainTime)];
      });
      assert.deepEqual(rows, expected.map((row) => row.map(plain)));
      const seen = (await cells(page, "#targets table")).map((row) => [plain(row[0]), plain(row[1]), plain(row[5])]);
      assert.equal(seen.length, targets.length);
      targets.forEach((target, index) => {
        assert.ok(seen[index][0].startsWith(target.target), seen[index][0]);
        assert.equal(seen[index][1], target.pass ? "met" : "missed");
        assert.ok(seen[index][2].startsWith(plainNumber(target.samples)), seen[index][2]);
      });
      const cores = (await cells(page, "#tiers table")).map((row) => [plain(row[0]), plain(row[1]), plain(row[3])]);
      assert.deepEqual(cores, tiers.map((one) => [one.tier, plainNumber(one.cpu_cores), plainTime(one.cpu_s_per_operation)]));
      const answer = plain(await page.textContent(".verdict"));
      // A command in it is set as one, without its backticks.
      const sentence = diagnosis.sentence.replaceAll("`", "");
      assert.ok(answer.toLowerCase().includes(sentence.toLowerCase()), answer);
      // The word above it says whether the run is valid and whether it passed.
      const said = verdict.sentence.split(" — ").at(-1);
      assert.ok(answer.includes(said), `${said} is not in ${answer}`);
      const parts = (await page.$$eval(".parts b", (all) => all.map((one) => one.textContent))).map(plain);
      const { ledger } = diagnosis;
      const all = [...ledger.parts.map((part) => part.s_per_operation), ledger.unaccounted_s];
      const whole = Math.max(ledger.response_s, all.reduce((sum, part) => sum + part, 0));
      assert.deepEqual(parts, all.filter((part) => part / whole >= 0.005).map(plainTime), "parts too small to see are left out");
    });
  });
}

test("the figures of the find are those of its JSON", async () => {
  const { trials, question, diagnosis } = record("find");
  await open("find", {}, async (page) => {
    const rows = (await cells(page, "#trials table")).map((row) => row.map(plain));
    assert.equal(rows.length, trials.length);
    const figure = (trial, name) => trial.measured.figures.find((one) => one.name === name && one.operation == null)?.value;
    trials.forEach((trial, index) => {
      const [, load, , , per_s, p95] = rows[index];
      assert.deepEqual([load, per_s, p95], [plainNumber(trial.load), plainNumber(figure(trial, "throughput")), plainTime(figure(trial, "p95"))]);
    });
    const top = plain(await page.textContent(".figures"));
    assert.ok(top.includes(`${plainNumber(question.find.answer.load_line.load)} users`), top);
    const text = plain(await page.textContent("main"));
    assert.ok(text.toLowerCase().includes(diagnosis.sentence.toLowerCase()));
    assert.equal((await page.$$("#curve canvas")).length, 3, "the capacity curve is drawn");
  });
});

// The points of a chart of a study: from the data in the page.
async function marks(page, section) {
  const { charts } = JSON.parse(await page.textContent("#data"));
  const number = await page.getAttribute(`${section} [data-chart=points]`, "data-number");
  return charts[Number(number)].marks;
}

for (const width of [1200, 400]) {
  test(`a point of a study's chart says what it is where the pointer is, at ${width} px`, async () => {
    await open("find", { width }, async (page) => {
      const all = await marks(page, "#curve");
      const over = page.locator("#curve .u-over").first();
      await over.scrollIntoViewIfNeeded();
      const box = await over.boundingBox();
      const seen = new Set();
      for (let at = 0; at <= 60; at += 1) {
        for (const height of [0.05, 0.3, 0.6, 0.9]) {
          await page.mouse.move(box.x + (box.width * at) / 60, box.y + box.height * height);
          const tip = page.locator("#curve .tip").first();
          if (await tip.isVisible()) seen.add(await tip.textContent());
        }
      }
      assert.ok(seen.size > 5, `${[...seen]}`);
      for (const text of seen) assert.ok(all.some((mark) => mark.title === text), text);
      assert.deepEqual(await page.evaluate(faults), [], "what is shown stays inside of the window");
    });
  });
}

test("without JavaScript the points of each chart are a list, and the tables are there", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`file://${pages}/find.html`);
  const { trials } = record("find");
  assert.equal(await page.locator("#trials tbody tr").count(), trials.length);
  const list = plain(await page.locator("#curve figure ul").first().innerText());
  const measured = trials.filter((trial) => trial.purpose !== "warm_up");
  for (const trial of measured) assert.ok(list.includes(`trial ${trial.number} (${trial.purpose}): `), list);
  await context.close();
});

// Where a part of a chart's width lies, on the screen.
async function spot(page, figure, share) {
  const over = page.locator(`${figure} .u-over`).first();
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  return [box.x + box.width * share, box.y + box.height / 2];
}

async function drag(page, figure, from, to) {
  const [left, y] = await spot(page, figure, from);
  const [right] = await spot(page, figure, to);
  await page.mouse.move(left, y);
  await page.mouse.down();
  await page.mouse.move(right, y, { steps: 5 });
  await page.mouse.up();
}

// The moment that a chart shows where the pointer is, in seconds.
async function moment(page, figure, share) {
  await page.mouse.move(...(await spot(page, figure, share)));
  const text = await page.textContent(`${figure} .moment`);
  const [seconds, minutes = "0"] = text.replace(" s", "").split(":").reverse();
  return Number(minutes) * 60 + Number(seconds);
}

for (const name of RUNS) {
  test(`over ${name} the pointer shows the values of all charts at one moment`, async () => {
    await open(name, {}, async (page) => {
      const data = JSON.parse(await page.textContent("#data"));
      const { at_s, step_s, scopes } = data.timeline;
      await page.mouse.move(...(await spot(page, "[data-chart=throughput]", 0.6)));
      const shown = await page.textContent("[data-chart=throughput] .legend b");
      const end = at_s.at(-1) + step_s;
      const index = Math.floor((0.6 * end) / step_s);
      const near = [index - 1, index, index + 1].map((step) => number(scopes[0].per_s[step]));
      assert.ok(near.includes(shown), `${shown} is none of ${near}`);
      const others = await page.$$eval("[data-chart]:not([hidden]):not([data-chart=percentiles]) .moment", (all) => all.map((one) => one.textContent));
      assert.equal(new Set(others).size, 1, `all charts tell one moment: ${others}`);
      const small = await page.$$eval(".multiples", (all) => all[0].querySelectorAll(".now").length);
      const told = await page.$$eval(".multiples", (all) => [...all[0].querySelectorAll(".now")].filter((one) => one.textContent).length);
      assert.ok(small > 0 && told === small, `${told} of ${small} small charts tell their value`);
    });
  });
}

test("published figures stand beside ours, and the chart has a mark for each", async () => {
  const tables = record("published").question.sweep.published;
  const rows = tables.flatMap((table) => table.rows);
  await open("published", {}, async (page) => {
    const shown = await cells(page, "#published table");
    assert.equal(shown.length, rows.length);
    for (const [index, row] of rows.entries()) {
      const [label, , published, ours] = shown[index].map(plain);
      assert.deepEqual([label, published, ours], [row.label, String(row.value), row.ours ? plainNumber(row.ours.value) : "–"]);
    }
    const { charts } = JSON.parse(await page.textContent("#data"));
    const inks = charts.flatMap((chart) => chart.marks).map((mark) => mark.ink);
    assert.equal(inks.filter((ink) => ink === "muted").length, rows.length);
    assert.equal(inks.filter((ink) => ink === "ink-1").length, rows.filter((row) => row.ours).length);
    assert.equal(await page.locator("#published canvas").count(), tables.length);
  });
});

test("response times are a line for each server, and the pointer says our percentiles and the published ones", async () => {
  const { factors, cells: combinations } = record("published").question.sweep;
  const [servers, sizes] = factors.map((factor) => factor.levels);
  await open("published", {}, async (page) => {
    const { charts } = JSON.parse(await page.textContent("#data"));
    const numbers = await page.$$eval("#response-times [data-chart=points]", (all) => all.map((one) => Number(one.dataset.number)));
    assert.equal(numbers.length, sizes.length);
    assert.equal(await page.locator("#response-times canvas").count(), sizes.length, "each is drawn");
    for (const number of numbers) {
      const { lines, legend } = charts[number];
      assert.deepEqual([lines, legend].map((all) => all.map((one) => one.name)), [servers, servers]);
      assert.equal(new Set(lines.map((line) => line.ink)).size, servers.length);
    }
    await page.click("#response-times details > summary");
    assert.equal((await cells(page, "#response-times table")).length, combinations.length);
    const { marks } = charts[numbers.at(-1)];
    const over = page.locator("#response-times .u-over").last();
    await over.scrollIntoViewIfNeeded();
    const box = await over.boundingBox();
    const seen = new Set();
    for (const height of [0.05, 0.25, 0.5, 0.75, 0.95]) {
      for (let at = 0; at <= 80; at += 1) {
        await page.mouse.move(box.x + (box.width * at) / 80, box.y + box.height * height);
        const tip = page.locator("#response-times .tip").last();
        if (await tip.isVisible()) seen.add(await tip.textContent());
      }
    }
    for (const text of seen) assert.ok(marks.some((mark) => mark.title === text), text);
    assert.ok([...seen].some((text) => text.startsWith("nginx: 50 % within ")), `${[...seen]}`);
    assert.ok(seen.has("Apache, published: 95 % within 662 ms"), `${[...seen]}`);
  });
});

test("zooming one chart zooms the others, large and small, and a double click shows the whole run again", async () => {
  await open("failed", {}, async (page) => {
    const cpu = "[data-chart=cpu]";
    const { at_s, step_s } = JSON.parse(await page.textContent("#data")).timeline;
    const end = at_s.at(-1) + step_s;
    assert.ok((await moment(page, cpu, 0.02)) < 0.05 * end);
    await drag(page, "[data-chart=throughput]", 0.4, 0.6);
    assert.ok(await page.isVisible("#unzoom"));
    const [left, right] = [await moment(page, cpu, 0.02), await moment(page, cpu, 0.98)];
    assert.ok(left > 0.37 * end && right < 0.63 * end, `from ${left} to ${right} s`);
    // A chart that is drawn only now shows the same part.
    await page.click("details.folded > summary");
    await page.mouse.move(...(await spot(page, "details.folded [data-signal]", 0.02)));
    const there = await page.textContent(`${cpu} .moment`);
    assert.ok(Number(there.replace(" s", "")) > 0.37 * end, there);
    await page.mouse.dblclick(...(await spot(page, cpu, 0.5)));
    assert.ok(!(await page.isVisible("#unzoom")));
    assert.ok((await moment(page, "[data-chart=response]", 0.02)) < 0.05 * end);
    await drag(page, ".multiples [data-signal]", 0.5, 0.9);
    const begin = await moment(page, "[data-chart=response]", 0.02);
    assert.ok(begin > 0.44 * end && begin < 0.58 * end, `the small chart zoomed the large one to ${begin} s`);
    await page.click("#unzoom");
    assert.ok((await moment(page, cpu, 0.98)) > 0.94 * end);
  });
});

test("an operation can be chosen, and what is folded is drawn when it is opened", async () => {
  await open("many-operations", { width: 400 }, async (page) => {
    const drawn = () => page.$$eval("canvas", (all) => all.length);
    const first = await drawn();
    for (const summary of await page.$$("details.folded > summary")) await summary.click();
    await page.waitForFunction(() => [...document.querySelectorAll("[data-signal] .plot")].every((plot) => plot.firstChild));
    assert.ok((await drawn()) > first);
    await page.selectOption("#scope", { label: "BestSellers" });
    const data = JSON.parse(await page.textContent("#data"));
    const best = data.timeline.scopes.find((scope) => scope.operation === "BestSellers");
    await page.mouse.move(...(await spot(page, "[data-chart=throughput]", 0.5)));
    const shown = await page.textContent("[data-chart=throughput] .legend b");
    assert.ok(best.per_s.map(number).includes(shown), shown);
  });
});
