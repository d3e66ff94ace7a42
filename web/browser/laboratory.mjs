// The laboratory's pages in Debian's Chromium, over recorded runs: ORIGIN is where they are, LINKS a one-time link a line, the first
// ones for runners, the last one for a reader. `cargo test -p plimsoll page_browser` starts the server and runs this.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { AxeBuilder } from "@axe-core/playwright";
import { chromium } from "playwright-core";
import { tooWide } from "./width.mjs";

const { ORIGIN: origin, SHOTS: shots } = process.env;
const links = process.env.LINKS.trim().split("\n");
const RUN = "20260101-000000-dvdstore-000a";
const OTHER = "20260101-000100-dvdstore-000b";
const PAGES = [
  "/", "/new", "/new/run", "/new/run?kit=dvdstore&stack=lighttpd-fpm-mariadb&set.app.pm.max_children=0&users=0", "/new/find",
  "/new/compare", "/new/sweep", "/new/explore?users=5&max_users=4", "/live", "/runs", "/runs?where=users%3C", "/compare", `/compare?run=${RUN}&run=${OTHER}`,
  `/runs/${RUN}`, `/runs/${RUN}/files`, `/runs/${RUN}/log/run.json?find=web`, "/runs?fold=setup", "/studies", "/limits", "/machine", "/trend",
  `/trend?run=${RUN}`, "/help", "/nowhere",
];
const WINDOWS = [[390, "light"], [390, "dark"], [768, "light"], [768, "dark"], [1200, "light"], [1200, "dark"]];
const JUDGED = ["390 light", "1200 dark"];
let browser;
let runner;
let reader;

before(async () => {
  const args = ["--no-sandbox", "--disable-dev-shm-usage", "--host-resolver-rules=MAP *.localhost 127.0.0.1"];
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args });
  runner = await signIn(links[0]);
  reader = await signIn(links.at(-1));
  if (shots) mkdirSync(shots, { recursive: true });
});
after(() => browser?.close());

// The cookies of whoever came by a link.
async function signIn(link) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  assert.equal(page.url(), `${origin}/`, "the token is gone from the address at once");
  const state = await context.storageState();
  await context.close();
  return state;
}

// Opens a page, does something with it, and fails on any word on the console but those that are expected.
async function open(place, use, { width = 1200, theme = "light", who = runner, scripts = true, expected = [] } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme, storageState: who, javaScriptEnabled: scripts });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const heard = [];
  page.on("console", (message) => heard.push(message.text()));
  page.on("pageerror", (error) => heard.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith(`${origin}/`)) heard.push(`a request: ${request.url()}`);
  });
  try {
    await page.goto(origin + place);
    await use(page, context);
    const unexpected = heard.filter((words) => !expected.some((known) => words.includes(known)));
    assert.deepEqual(unexpected, [], `${place} at ${width} px, ${theme}`);
  } finally {
    await context.close();
  }
}

// What a page answers with a status of failure is on the console as well.
const FAILED = ["status of 4"];

async function looks(page, what) {
  const wide = await tooWide(page);
  const reaching = wide <= 0 ? [] : await page.evaluate(() => [...document.querySelectorAll("body *")]
    .filter((one) => (one.getBoundingClientRect().right > innerWidth || one.scrollWidth > innerWidth) && !one.closest(".scroll, pre, svg"))
    .map((one) => one.outerHTML.slice(0, 100)));
  assert.ok(wide <= 0, `${what} is ${wide} px wider than its window: ${reaching.slice(-3).join("; ")}`);
  const small = await page.evaluate(() => [...document.querySelectorAll(".laboratory button, .laboratory a.button, .laboratory input[type=checkbox], .laboratory select")]
    .filter((one) => one.checkVisibility() && !one.closest("label") && !one.classList.contains("default-button"))
    .map((one) => [one, one.getBoundingClientRect()])
    .filter(([one, box]) => box.width > 0 && (box.height < 24 || box.width < 24) && one.type !== "checkbox")
    .map(([one, box]) => `${one.outerHTML.slice(0, 60)} is ${box.width} by ${box.height} px`));
  assert.deepEqual(small, [], what);
}

for (const place of PAGES) {
  test(`${place} is accessible, no wider than its window and silent at three widths in both themes and in print`, async () => {
    await open(place, async (page) => {
      for (const [width, theme] of WINDOWS) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme: theme });
        const what = `${place} at ${width} px, ${theme}`;
        if (shots) await page.screenshot({ path: `${shots}/${place.replace(/[^a-z0-9]+/gi, "-")}-${width}-${theme}.png`, fullPage: true });
        await looks(page, what);
        // The rules take a second a page: the narrowest in the light and the widest in the dark have every element that there is.
        if (!JUDGED.includes(`${width} ${theme}`)) continue;
        const { violations } = await new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]).analyze();
        const told = violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html, any }) => `${html.slice(0, 120)} ${any[0]?.message ?? ""}`).join("; ")}`);
        assert.deepEqual(told, [], what);
      }
      await page.setViewportSize({ width: 718, height: 900 });
      await page.emulateMedia({ media: "print" });
      await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
      const wide = await tooWide(page);
      assert.ok(wide <= 0, `${place} is ${wide} px wider than its paper`);
    }, { expected: FAILED });
  });
}

// What a machine, a path or a kit is called is known only where it is looked at.
const LONG = "/a/home/of-somebody-with-a-long-name".repeat(8).replaceAll("-", "_");

test("a word that is wider than the window is broken, on whichever page it stands", async () => {
  for (const place of PAGES) {
    await open(place, async (page) => {
      await page.evaluate((word) => {
        for (const one of document.querySelectorAll(".laboratory main :is(p, li, li > span, dd, h1, h2, h3, code, legend, .field label)")) {
          if (!one.closest("svg, pre, button, .visually-hidden, .figures, td, th")) one.append(word);
        }
      }, LONG);
      await looks(page, `${place} with a long word`);
    }, { width: 390, expected: FAILED });
  }
});

test("a link signs one browser in, and the second one that uses it is told why not", async () => {
  await signIn(links[1]);
  const context = await browser.newContext();
  const page = await context.newPage();
  const answer = await page.goto(links[1]);
  assert.equal(answer.status(), 401);
  assert.match(await page.textContent("main"), /used before/);
  assert.equal((await context.cookies()).length, 0);
  await context.close();
});

test("a wrong knob is told at its field as it is written, is corrected, and the job waits", async () => {
  await open("/new/run?kit=dvdstore&stack=lighttpd-fpm-mariadb", async (page) => {
    await page.fill("#find-setting", "max_children");
    const field = page.locator('[data-name="set.app.pm.max_children"]');
    await field.locator("input").fill("0");
    await field.locator(".problem:not([hidden])").waitFor();
    assert.match(await field.locator(".problem").textContent(), /^0 is out of range; it must be between 1 and/);
    assert.equal(await field.locator("input").getAttribute("aria-invalid"), "true");
    assert.match(await page.textContent("#problems"), /set\.app\.pm\.max_children/);
    await page.click('button[value="queue"]');
    await page.waitForLoadState();
    assert.match(await page.textContent("#problems"), /out of range/, "it is not queued");
    await page.locator('[data-name="set.app.pm.max_children"] input').fill("16");
    await page.waitForFunction(() => document.querySelector("#command").textContent.includes("=16"));
    await page.locator("#problems").waitFor({ state: "detached" });
    assert.match(await page.textContent("#command"), /^plimsoll run dvdstore --stack lighttpd-fpm-mariadb --set app\.pm\.max_children=16$/);
    assert.match(await page.textContent("#plan"), /users of DVD Store/);
    assert.match(await page.textContent("#recipe pre"), /"app\.pm\.max_children" = "16"/);
    await page.click('button[value="queue"]');
    await page.waitForURL(`${origin}/`);
    assert.match(await page.textContent(".jobs"), /app\.pm\.max_children=16/);
    await page.click('.jobs button[value="remove"]');
    await page.waitForLoadState();
    assert.equal(await page.locator(".jobs").count(), 0);
  }, { expected: FAILED });
});

test("settings are looked for by words, and those that are hidden are counted", async () => {
  await open("/new/run", async (page) => {
    await page.fill("#find-setting", "buffer pool size");
    assert.match(await page.textContent("#hidden-settings"), /^\d+ shown, \d+ hidden$/);
    assert.ok(await page.isVisible('[data-name="set.db.innodb_buffer_pool_size"]'));
    assert.ok(!(await page.isVisible('[data-name="set.web.MaxRequestWorkers"]')));
  });
});

test("runs are filtered, sorted, chosen by keys and compared; what a filter hides is counted", async () => {
  await open("/runs", async (page) => {
    await page.keyboard.press("/");
    await page.keyboard.type("verdict:failed");
    await page.keyboard.press("Enter");
    await page.waitForURL(/where=verdict%3Afailed/);
    assert.match(await page.textContent("main"), /1 run; 2 more are hidden/);
    await page.goto(`${origin}/runs?where=kit:dvdstore`);
    await page.click("thead >> text=Users");
    await page.waitForURL(/sort=-users/);
    assert.equal(await page.getAttribute('th[aria-sort]', "aria-sort"), "descending");
    for (const key of ["j", "x", "j", "x", "c"]) await page.keyboard.press(key);
    await page.waitForURL(/\/compare\?run=/);
    assert.match(await page.textContent("h1"), /2 runs side by side/);
    assert.match(await page.textContent("#differences"), /users/);
    await page.click("text=Measure these two in pairs");
    await page.waitForURL(/\/new\/compare/);
    assert.match(await page.textContent("#command"), /^plimsoll compare .* --kit dvdstore/);
  });
});

test("two kits are not compared, and the page says why", async () => {
  await open(`/compare?run=${RUN}&run=20260101-000200-static-000c`, async (page) => {
    assert.match(await page.textContent("main"), /Not comparable/);
    assert.equal(await page.locator("#figures").count(), 0);
  });
});

test("a note, tags and a pin are kept; what is pinned is not removed, and no run is by accident", async () => {
  await open(`/runs/${OTHER}`, async (page) => {
    await page.click("text=Note, tags, removal");
    await page.fill('textarea[name="note"]', "before <b>the</b> upgrade");
    await page.fill('input[name="tags"]', "night base-line");
    await page.check('input[name="pinned"]');
    await page.click("text=Keep");
    await page.waitForLoadState();
    assert.match(await page.textContent(".run-bar"), /pinned\s*base-line\s*night\s*before <b>the<\/b> upgrade/);
    for (const [end, why] of [["zzzz", /last 4 letters/], ["000b", /pinned/]]) {
      await page.goto(`${origin}/runs/${OTHER}`);
      await page.click("text=Note, tags, removal");
      await page.fill('input[name="end"]', end);
      await page.click("button.danger");
      await page.waitForLoadState();
      assert.match(await page.textContent("#problems"), why);
    }
    await page.goto(`${origin}/runs?where=tag:night`);
    assert.match(await page.textContent("main"), /1 run; 2 more are hidden/);
  }, { expected: FAILED });
});

test("runs are tagged together, a log is searched, and nothing is removed by a wrong number, without scripts as well", async () => {
  for (const scripts of [true, false]) {
    await open("/runs", async (page) => {
      for (const run of [RUN, OTHER]) await page.check(`input[value="${run}"]`);
      await page.fill('input[name="tag"]', "together");
      await page.click("text=Add the tag");
      await page.waitForLoadState();
      assert.equal(await page.locator("tbody tr", { hasText: "together" }).count(), 2);
      await page.check(`input[value="${RUN}"]`);
      await page.fill('input[name="number"]', "2");
      await page.click("button.danger");
      await page.waitForLoadState();
      assert.match(await page.textContent("#problems"), /1 runs? (is|are) chosen/);
      await page.goto(`${origin}/runs`);
      for (const run of [RUN, OTHER]) await page.check(`input[value="${run}"]`);
      await page.fill('input[name="tag"]', "together");
      await page.click("text=Take it back");
      await page.waitForLoadState();
      assert.equal(await page.locator("tbody tr", { hasText: "together" }).count(), 0);
      await page.goto(`${origin}/runs/${RUN}/files`);
      await page.click("text=run.json");
      await page.fill("#find", "apache");
      await page.click("text=Search");
      await page.waitForURL(/find=apache/);
      assert.match(await page.textContent("main"), /lines with apache\./);
    }, { expected: FAILED, scripts });
  }
});

test("a reader sees everything and is offered nothing that changes something", async () => {
  for (const place of ["/", "/new/run", "/runs", `/runs/${RUN}`]) {
    await open(place, async (page) => {
      const offered = await page.$$eval('form[method="post"] button:not([type="button"])', (all) => all.map((one) => one.textContent));
      assert.deepEqual(offered.filter((text) => !["Sign out", "Check"].includes(text)), [], place);
    }, { who: reader });
  }
});

test("without scripts lists, forms and results work", async () => {
  await open("/runs?where=kit:dvdstore", async (page) => {
    assert.equal(await page.locator("tbody tr").count(), 2);
    await page.goto(`${origin}/runs/${RUN}`);
    assert.match(await page.textContent(".verdict"), /Passed/);
    await page.goto(`${origin}/new/run?kit=static`);
    await page.fill('[name="users"]', "0");
    await page.click('.plan button[value="check"]');
    await page.waitForURL(/users=0/);
    assert.match(await page.textContent('[data-name="users"] .problem'), /at least one user/);
    await page.fill('[name="users"]', "3");
    await page.click('button[value="queue"]');
    await page.waitForURL(`${origin}/`);
    assert.match(await page.textContent(".jobs"), /plimsoll run static --users 3/);
    await page.click('.jobs button[value="remove"]');
    await page.waitForLoadState();
  }, { scripts: false });
});

test("the keyboard alone reaches everything, in the order in which it is read", async () => {
  await open("/", async (page) => {
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "To the content");
    await page.keyboard.press("Enter");
    await page.keyboard.press("n");
    await page.waitForURL(`${origin}/new`);
    for (let at = 0; at < 40; at += 1) {
      await page.keyboard.press("Tab");
      if (await page.evaluate(() => document.activeElement.textContent === "Run")) break;
    }
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/new\/run/);
    await page.goto(`${origin}/help`);
    await page.click("#keys");
    await page.keyboard.press("n");
    assert.equal(page.url(), `${origin}/help`, "keys are off");
    await page.click("#keys");
  });
});

test("ten tabs of one browser are all answered, and one of them holds the stream", async () => {
  const context = await browser.newContext({ storageState: runner });
  const streams = [];
  context.on("request", (request) => {
    if (request.url().includes("/api/v1/live")) streams.push(request);
  });
  context.on("requestfailed", (request) => streams.splice(streams.indexOf(request), 1));
  const pages = [];
  for (let at = 0; at < 10; at += 1) {
    const page = await context.newPage();
    await page.goto(`${origin}/live`);
    pages.push(page);
  }
  for (const page of pages) assert.match(await page.textContent("h1"), /Live/);
  assert.ok(streams.length <= 1, `${streams.length} streams`);
  await context.close();
});
