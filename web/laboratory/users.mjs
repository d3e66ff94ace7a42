// The number of users that is asked for by hand: a field, a slider and steps that ask the API, and what came of it.

// By so much of the number a step changes it.
const STEP_RATIO = 0.1;
// A slider that is drawn says many numbers: what it stays at for this long is asked for.
const PAUSE_MS = 250;

// The number after a step down (-1) or up (1), within 1 and the most.
export function stepped(users, direction, most) {
  const step = Math.max(1, Math.round(users * STEP_RATIO));
  return Math.min(most, Math.max(1, users + direction * step));
}

// What is asked for and what there is of it, in words.
export function state({ by_hand: asked, busy_users: busy, thinking_users: thinking }) {
  const there = Math.round(busy + thinking);
  const way = there === asked.asked_users ? "" : there < asked.asked_users ? ", more are coming" : ", some are leaving";
  return `${asked.asked_users} asked for, ${there} there${way}; at most ${asked.max_users}.`;
}

// The form's part of the page; `show` takes the last second, or null where there is none any more.
export function byHand(form) {
  if (!form) return { show() {} };
  const [field, slider] = [form.querySelector("#asked-users"), form.querySelector("#users-slider")];
  const [now, problem] = [form.querySelector("#asked-now"), form.querySelector("#asked-problem")];
  let asked = 0;
  let last = null;
  let timer;
  form.querySelectorAll(".only-script").forEach((part) => (part.hidden = false));

  async function ask(users) {
    clearTimeout(timer);
    [field.value, slider.value] = [users, users];
    const answer = await fetch(`/api/v1/queue/${form.dataset.job}/users`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ users }),
    }).catch(() => null);
    const told = await answer?.json().catch(() => null);
    const wrong = answer?.ok ? "" : (told?.problems?.[0]?.what ?? "The laboratory does not answer.");
    problem.hidden = wrong === "";
    problem.textContent = wrong;
    if (wrong !== "") return;
    asked = told.asked_users;
    // The next second may be told only seconds later.
    if (last) now.textContent = state({ ...last, by_hand: told });
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    ask(field.valueAsNumber);
  });
  for (const button of form.querySelectorAll("[data-step]")) {
    button.addEventListener("click", () => ask(stepped(Number(slider.value), Number(button.dataset.step), Number(slider.max))));
  }
  slider.addEventListener("input", () => {
    field.value = slider.value;
    clearTimeout(timer);
    timer = setTimeout(() => ask(Number(slider.value)), PAUSE_MS);
  });

  return {
    show(second) {
      last = second;
      form.hidden = second?.by_hand == null;
      if (form.hidden) return;
      const { asked_users: users, max_users: most } = second.by_hand;
      [field.max, slider.max] = [most, most];
      // What is being written or drawn stays; somebody else may have asked for another number.
      const edits = form.contains(document.activeElement) && [field, slider].includes(document.activeElement);
      if (users !== asked && !edits) [field.value, slider.value] = [users, users];
      asked = users;
      const words = state(second);
      if (now.textContent !== words) now.textContent = words;
    },
  };
}
