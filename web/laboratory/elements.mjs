// Parts of a page, found and made; texts are set as texts, never as markup.

export const part = (id) => document.getElementById(id);

export function text(id, value) {
  const element = part(id);
  if (element.textContent !== value) element.textContent = value;
}

export function show(id, shown) {
  part(id).hidden = !shown;
}

// An element with attributes and children, some of which are texts.
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// A row of a table, its first cell the row's head; `kinds` are the cells' classes, `labels` what each is called where a row is a card.
export function row(cells, kinds = [], labels = []) {
  const made = cells.map((value, index) => {
    if (index === 0) return element("th", { scope: "row", class: "left" }, value);
    return element("td", { ...(kinds[index] && { class: kinds[index] }), ...(labels[index] && { "data-label": labels[index] }) }, value);
  });
  return element("tr", {}, ...made);
}
