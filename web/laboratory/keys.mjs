// Keys of the pages, for those who like them: they do nothing while something is being written, and can be switched off.
const OFF = "plimsoll-keys-off";

function isOff() {
  try {
    return localStorage.getItem(OFF) === "1";
  } catch {
    return false;
  }
}

const isWriting = (target) => target.closest("input, textarea, select, [contenteditable]") != null;
const rows = () => [...document.querySelectorAll("table.cards tbody tr")];
const current = () => rows().findIndex((row) => row.classList.contains("chosen-row"));

function go(step) {
  const all = rows();
  if (all.length === 0) return;
  const from = current();
  const to = Math.min(all.length - 1, Math.max(0, from < 0 ? 0 : from + step));
  all.forEach((row, index) => row.classList.toggle("chosen-row", index === to));
  all[to].querySelector("a")?.focus();
}

const ACTIONS = {
  "/": () => {
    const field = document.querySelector("input[type=search]");
    if (field) field.focus();
    else location.href = "/runs";
  },
  j: () => go(1),
  k: () => go(-1),
  x: () => rows()[current()]?.querySelector("input[type=checkbox]")?.click(),
  c: () => document.querySelector("#chosen")?.requestSubmit(document.querySelector("#chosen button")),
  n: () => (location.href = "/new"),
  "?": () => (location.href = "/help"),
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || isOff() || isWriting(event.target)) return;
  const act = ACTIONS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

const toggle = document.querySelector("#keys");
if (toggle) {
  const show = () => {
    toggle.textContent = isOff() ? "Keys are off" : "Keys are on";
    toggle.setAttribute("aria-pressed", String(!isOff()));
  };
  toggle.hidden = false;
  show();
  toggle.addEventListener("click", () => {
    try {
      localStorage.setItem(OFF, isOff() ? "0" : "1");
    } catch {
      // A browser that keeps nothing has keys on.
    }
    show();
  });
}
