// How many pixels a page is wider than its window, once its pictures have taken a new width: they do in the frame after the
// window has it, which a busy machine draws late.
export async function tooWide(page) {
  await page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth, null, { timeout: 10_000 }).catch(() => {});
  return page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
}
