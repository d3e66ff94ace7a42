// Users that are asked for by hand, in a browser: ORIGIN is where the page is, LINK signs a runner in, and what is being measured is
// recorded: a job that explores, with 5 users of 50. `cargo test -p plimsoll page_browser` makes it and runs this.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { AxeBuilder } from "@axe-core/playwright";
import { chromium } from "playwright-core";
import { tooWide } from "./width.mjs";

const { ORIGIN: origin, LINK: link, SHOTS: shots } = process.env;
let browser;
let runner;

before(async () => {
  const args = ["--no-sandbox", "--disable-dev-shm-usage", "--host-resolver-rules=MAP *.localhost 127.0.0.1"];
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args });
  const context = await browser.newContext();
  await (await context.newPage()).goto(link);
  runner = await context.storageState();
  await context.close();
  if (shots) mkdirSync(shots, { recursive: true });
});
after(() => browser?.close());

async function live(use, { scripts = true, width = 1200, theme = "light" } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme, storageState: runner, javaScriptEnabled: scripts });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto(`${origin}/live`);
  await page.locator("#by-hand").waitFor();
  await use(page);
  await context.close();
}

// Does something, and gives the number that was asked for, and what came of it.
async function asks(page, act) {
  const [answer] = await Promise.all([page.waitForResponse((one) => one.url().endsWith("/users")), act()]);
  return [answer.request().postDataJSON().users, answer.status()];
}

test("a number is asked for by keys, by steps and by a slider, and what is not given is told", async () => {
  await live(async (page) => {
    await page.waitForFunction(() => document.querySelector("#asked-now").textContent.includes("there"));
    assert.equal(await page.textContent("#asked-now"), "5 asked for, 4 there, more are coming; at most 50.");
    assert.equal(await page.inputValue("#asked-users"), "5");
    await page.focus("#asked-users");
    await page.keyboard.press("Control+A");
    await page.keyboard.type("12");
    assert.deepEqual(await asks(page, () => page.keyboard.press("Enter")), [12, 200]);
    await page.waitForFunction(() => document.querySelector("#asked-now").textContent.startsWith("12 asked for, 4 there"));
    assert.deepEqual(await asks(page, () => page.click('[data-step="1"]')), [13, 200]);
    assert.deepEqual(await asks(page, () => page.click('[data-step="-1"]')), [12, 200]);
    await page.focus("#users-slider");
    assert.deepEqual(await asks(page, () => page.keyboard.press("End")), [50, 200]);
    assert.equal(await page.inputValue("#asked-users"), "50");
    await page.locator("#by-hand").evaluate((form) => (form.noValidate = true));
    await page.fill("#asked-users", "51");
    assert.deepEqual(await asks(page, () => page.keyboard.press("Enter")), [51, 400]);
    await page.locator("#asked-problem:not([hidden])").waitFor();
    assert.match(await page.textContent("#asked-problem"), /at most 50/);
  });
});

test("where no script runs the form asks, and comes back to what is being measured", async () => {
  await live(async (page) => {
    assert.ok(!(await page.isVisible("#users-slider")));
    await page.fill("#asked-users", "7");
    await Promise.all([page.waitForURL(`${origin}/live`), page.click('#by-hand button[value="users"]')]);
    assert.match(await page.textContent("h1"), /Live/);
  }, { scripts: false });
});

test("the control is accessible, large enough to be met and no wider than its window", async () => {
  for (const [width, theme] of [[390, "light"], [390, "dark"], [1200, "light"], [1200, "dark"]]) {
    await live(async (page) => {
      await page.waitForFunction(() => document.querySelector("#asked-now").textContent.includes("there"));
      if (shots) await page.screenshot({ path: `${shots}/users-${width}-${theme}.png`, fullPage: true });
      const wide = await tooWide(page);
      assert.ok(wide <= 0, `${wide} px wider than ${width} px`);
      const boxes = await page.locator("#by-hand button, #by-hand input").evaluateAll((all) => all.map((one) => one.getBoundingClientRect()));
      assert.ok(boxes.every(({ width: across, height }) => across >= 24 && height >= 24), JSON.stringify(boxes));
      const { violations } = await new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]).analyze();
      assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`), []);
    }, { width, theme });
  }
});
