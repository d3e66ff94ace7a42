// The visit of benches/catalogue/kits/flow/session.lua, for k6. Cookies are kept from visit to visit, as there.
import http from "k6/http";
import { check } from "k6";

export const options = { noCookiesReset: true, noUsageReport: true };
const base = __ENV.BASE;

export default function () {
  let page = http.post(`${base}/login`, { username: `user${__VU}`, password: "password" });
  const before = 'name="customer" value="';
  const start = page.body.indexOf(before) + before.length;
  const id = page.body.substring(start, page.body.indexOf('"', start));
  check(page, { "a welcome": (page) => page.body.includes("Welcome") });

  for (let category = 1; category <= 3; category++) {
    page = http.get(`${base}/search?category=${category}&customer=${id}`);
    check(page, { "a table of results": (page) => page.body.includes("<table") });
  }

  page = http.post(`${base}/order`, { customer: id, item: 7, quantity: 1 });
  check(page, { "an order": (page) => page.body.includes("Thank you") });
}
