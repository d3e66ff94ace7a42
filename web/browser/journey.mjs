// One way through the laboratory, with the DVD Store on its real servers: ORIGIN is where the page is, LINK signs in, LAST is a run of the DVD Store
// that is kept already. `cargo test -p plimsoll page_browser` starts the server and runs this.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const { ORIGIN: origin, LINK: link, LAST: last, STACK: stack } = process.env;
// A run begins when its data is there, which is made once; and a machine under load is slow.
const PATIENCE_MS = 200_000;
let browser;

before(async () => {
  const args = ["--no-sandbox", "--disable-dev-shm-usage", "--host-resolver-rules=MAP *.localhost 127.0.0.1"];
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args });
});
after(() => browser?.close());

test("from a form with a wrong knob to a result, a comparison with the last one and a find for the night", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const heard = [];
  page.on("console", (message) => heard.push(message.text()));
  page.on("pageerror", (error) => heard.push(String(error)));
  await page.goto(link);

  await page.click("nav >> text=New");
  await page.click("main >> text=Run");
  // The form's script is there when it offers to look for a setting.
  await page.waitForSelector("#find-setting");
  await page.selectOption('[name="stack"]', stack);
  await page.waitForURL(/stack=/);
  await page.waitForSelector("#find-setting");
  for (const [name, value] of [["users", "3"], ["ramp_up", "1s"], ["steady", "8s"]]) await page.fill(`[name="${name}"]`, value);
  await page.fill("#find-setting", "pm.max_children");
  const knob = page.locator('[data-name="set.app.pm.max_children"]');
  await knob.locator("input").fill("0");
  await knob.locator(".problem:not([hidden])").waitFor();
  assert.match(await knob.locator(".problem").textContent(), /out of range/);
  await knob.locator("input").fill("6");
  await page.waitForFunction(() => document.querySelector("#command").textContent.includes("max_children=6") && document.querySelector("#problems") == null);
  await page.click('button[value="queue"]');
  await page.waitForURL(`${origin}/`);
  assert.match(await page.textContent(".jobs"), /max_children=6/);

  await page.click("nav >> text=Live");
  await page.waitForFunction(() => !document.querySelector("#figures").hidden);
  assert.match(await page.textContent("#what"), /plimsoll run dvdstore/);
  await page.waitForFunction(() => document.querySelectorAll("#charts canvas").length === 3);
  const second = await context.newPage();
  await second.goto(`${origin}/live`);
  await second.waitForFunction(() => !document.querySelector("#figures").hidden && document.querySelectorAll("#charts canvas").length === 3);
  assert.match(await second.textContent("#what"), /plimsoll run dvdstore/, "a tab that comes later is told what was told before");
  await second.close();
  await page.bringToFront();
  await page.waitForFunction(() => document.querySelectorAll("#targets tbody tr").length > 0 && document.querySelectorAll("#checks li").length > 5);
  await page.waitForFunction(() => document.querySelector("#step").textContent === "It is over.");

  await page.click("nav >> text=Now");
  await page.click("tbody tr:first-child a");
  await page.waitForURL(/\/runs\//);
  const run = page.url().split("/").at(-1);
  assert.notEqual(run, last);
  assert.match(await page.textContent(".verdict"), /3 users/);
  assert.match(await page.textContent("#tiers"), /viewer/, "the page itself is in the result");

  await page.goto(`${origin}/runs?where=kit:dvdstore`);
  for (const id of [run, last]) await page.check(`input[value="${id}"]`);
  await page.click('#chosen button:has-text("Compare")');
  await page.waitForURL(/\/compare/);
  assert.match(await page.textContent("h1"), /2 runs side by side/);
  assert.match(await page.textContent("#differences"), /app\.pm\.max_children/);

  await page.click("nav >> text=New");
  await page.click("main >> text=Find");
  await page.waitForSelector("#find-setting");
  await page.selectOption('[name="stack"]', stack);
  await page.waitForURL(/stack=/);
  await page.waitForSelector("#find-setting");
  await page.check('[name="quick"]');
  await page.waitForFunction(() => document.querySelector("#command").textContent.includes("--quick"));
  // It is not begun: whoever runs this has no night.
  await page.goto(`${origin}/`);
  await page.evaluate(() => fetch("/api/v1/queue/paused", { method: "PUT", body: JSON.stringify({ paused: true }) }));
  await page.goto(`${origin}/new/find?kit=dvdstore&stack=${stack}&quick=on`);
  await page.click('button[value="queue"]');
  await page.waitForURL(`${origin}/`);
  assert.match(await page.textContent(".jobs"), /plimsoll find dvdstore --stack \S+ --quick/);
  assert.match(await page.textContent("main"), /Paused/);
  assert.deepEqual(heard, []);
});
