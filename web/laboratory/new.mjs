// The form of a measurement: each change is checked by the server, whose sentences stand at their fields.

const form = document.querySelector("#new");
const verb = form.action.split("/").at(-1);
// A pause in writing after which what is written is checked.
const PAUSE_MS = 350;
let asked = 0;
let timer;

const values = () => [...new FormData(form)].filter(([name, value]) => name !== "do" && value.trim() !== "");
const field = (name) => form.querySelector(`[data-name="${CSS.escape(name)}"]`);

function address() {
  const query = new URLSearchParams(values()).toString();
  return `/new/${verb}?${query}`;
}

// What the server makes of the form as it is: its own page, from which the parts that can have changed are taken.
async function check() {
  const number = (asked += 1);
  const place = address();
  const answer = await fetch(place, { headers: { accept: "text/html" } }).catch(() => null);
  if (!answer || number !== asked) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  history.replaceState(null, "", place);
  for (const one of form.querySelectorAll("[data-name]")) {
    const now = page.querySelector(`[data-name="${CSS.escape(one.dataset.name)}"]`);
    if (now) take(one, now);
  }
  for (const part of ["#plan", "#command", "#recipe", "#summary"]) {
    const [here, there] = [document.querySelector(part), page.querySelector(part)];
    // What was opened stays open.
    const [open, other] = [here?.querySelector("details[open]"), there?.querySelector("details")];
    if (open && other) other.open = true;
    if (here && there && here.innerHTML !== there.innerHTML) here.replaceChildren(...there.childNodes);
  }
}

// The state of a field as the server sees it; what is being written in it stays.
function take(one, now) {
  one.className = now.className;
  const [problem, other] = [one.querySelector(".problem"), now.querySelector(".problem")];
  problem.textContent = other.textContent;
  problem.hidden = other.hidden;
  const [input, checked] = [one.querySelector("input, select, textarea"), now.querySelector("input, select, textarea")];
  for (const name of ["aria-invalid", "aria-describedby"]) {
    const value = checked.getAttribute(name);
    if (value == null) input.removeAttribute(name);
    else input.setAttribute(name, value);
  }
}

form.addEventListener("input", (event) => {
  if (!event.target.name) return;
  clearTimeout(timer);
  timer = setTimeout(check, PAUSE_MS);
});

// Another kit or stack has other fields.
form.addEventListener("change", ({ target }) => {
  if (target.name === "kit") location.href = `/new/${verb}?kit=${encodeURIComponent(target.value)}`;
  if (target.name === "stack") location.href = address();
});

// Words of a setting's name and of what it does, all of which it must have.
const search = document.querySelector("#find-setting");
if (search) {
  search.closest(".only-script").hidden = false;
  const settings = [...form.querySelectorAll("details [data-name]")];
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let hidden = 0;
    for (const one of settings) {
      const text = `${one.dataset.name} ${one.textContent}`.toLowerCase();
      one.hidden = !words.every((word) => text.includes(word));
      hidden += one.hidden ? 1 : 0;
    }
    for (const group of form.querySelectorAll("details")) {
      const some = group.querySelector("[data-name]:not([hidden])") != null;
      group.hidden = words.length > 0 && !some;
      if (words.length > 0 && some) group.open = true;
    }
    document.querySelector("#hidden-settings").textContent = words.length > 0 ? `${settings.length - hidden} shown, ${hidden} hidden` : "";
  });
}

const copy = document.querySelector("#copy");
if (navigator.clipboard) {
  copy.hidden = false;
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.querySelector("#command").textContent.trim());
    copy.textContent = "Copied";
  });
}

// After a form that was refused, what is wrong is read first.
document.querySelector("#problems")?.focus();
