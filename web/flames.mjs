// Where time went by samples: a bar for each tier, thread, call and function, below the one that it is a part of. How wide
// it is says how long.
import { percent, time } from "./format.mjs";

// Pixels of a bar's height, of a letter, and below which a bar isn't drawn.
const BAR = 19;
const LETTER_WIDTH = 6.3;
const LEAST = 0.6;
const WIDTH = 960;
const SVG = "http://www.w3.org/2000/svg";

// The stacks as a tree: every node with its seconds, the longest child first.
export function tree(stacks) {
  const root = { name: "all", s: 0, doing: "", children: [] };
  for (const { path, doing, s } of stacks) {
    root.s += s;
    let node = root;
    path.forEach((name, depth) => {
      let child = node.children.find((one) => one.name === name && (depth < 2 || one.doing === doing));
      if (!child) {
        child = { name, s: 0, doing: depth < 2 ? "" : doing, children: [], parent: node };
        node.children.push(child);
      }
      child.s += s;
      node = child;
    });
  }
  const sort = (node) => {
    node.children.sort((one, other) => other.s - one.s);
    node.children.forEach(sort);
  };
  sort(root);
  return root;
}

// The bars of `node` and below: where they lie, in parts of the whole width.
export function bars(node, least) {
  const found = [];
  const add = (one, x, depth) => {
    const width = one.s / node.s;
    if (width < least) return;
    found.push({ node: one, x, width, depth });
    let left = x;
    for (const child of one.children) {
      add(child, left, depth + 1);
      left += child.s / node.s;
    }
  };
  if (node.s > 0) add(node, 0, 0);
  return found;
}

function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  return made;
}

function bar({ node, x, width, depth }, all, enlarge) {
  const group = element("g", { class: node.doing, tabindex: 0 });
  const pixels = width * WIDTH;
  const title = element("title", {});
  title.textContent = `${node.name}: ${time(node.s)}, ${percent(node.s / all)}`;
  const rect = element("rect", { x: x * WIDTH, y: depth * BAR, width: pixels, height: BAR - 1, rx: 2 });
  const text = element("text", { x: x * WIDTH + 4, y: depth * BAR + 13 });
  const room = Math.floor((pixels - 8) / LETTER_WIDTH);
  text.textContent = room >= node.name.length ? node.name : room > 3 ? `${node.name.slice(0, room - 1)}…` : "";
  group.append(title, rect, text);
  group.addEventListener("click", () => enlarge(node));
  group.addEventListener("keydown", (event) => event.key === "Enter" && enlarge(node));
  return group;
}

// Draws the stacks of waits, or of computing, into a figure. A click on a bar makes it as wide as the page, one on the
// topmost goes back to what it is a part of.
export function flames(figure, stacks) {
  const computing = figure.dataset.flames === "computing";
  const root = tree(stacks.filter(({ doing }) => (doing === "running") === computing));
  const place = figure.querySelector(".flames");
  let shown = null;
  const draw = (node) => {
    shown = node;
    const found = bars(node, LEAST / WIDTH);
    const height = (Math.max(0, ...found.map(({ depth }) => depth)) + 1) * BAR;
    const svg = element("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": figure.querySelector("h3").textContent });
    const enlarge = (one) => draw(one === shown ? (one.parent ?? root) : one);
    svg.append(...found.map((one) => bar(one, root.s, enlarge)));
    place.replaceChildren(svg);
  };
  draw(root);
}
