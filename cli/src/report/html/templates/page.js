"use strict";
// The page works without this: it only sorts, filters and folds.
for (const table of document.querySelectorAll("table.sorted")) {
  const body = table.tBodies[0];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    button.type = "button";
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = (row) => row.cells[column].dataset.n ?? row.cells[column].textContent.trim();
      // Only a column of numbers is sorted by them: the name of a scenario may end with one, and a date begins with one.
      const number = (text) => (head.classList.contains("n") && /^[-+$]*[\d.]+/.test(text) && !/^\d+-\d/.test(text)
        ? Number.parseFloat(text.replace("$", "")) : Number.NaN);
      const order = (one, next) => {
        const [a, b] = [number(key(one)), number(key(next))];
        // What is unknown comes last, whichever way.
        if (Number.isNaN(a) !== Number.isNaN(b)) return Number.isNaN(a) ? 1 : -1;
        const by = Number.isNaN(a) ? key(one).localeCompare(key(next), undefined, { numeric: true }) : a - b;
        return down ? -by : by;
      };
      body.append(...[...body.rows].sort(order));
    });
  });
}
const tools = (before, ...made) => {
  const bar = document.createElement("div");
  bar.className = "tools";
  bar.append(...made);
  before.before(bar);
};
for (const table of document.querySelectorAll("table.filtered")) {
  const box = document.createElement("input");
  box.type = "search";
  box.placeholder = table.dataset.filter;
  box.setAttribute("aria-label", table.dataset.filter);
  box.addEventListener("input", () => {
    const wanted = box.value.toLowerCase();
    for (const row of table.tBodies[0].rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  });
  tools(table.closest(".wide"), box);
}
for (const part of document.querySelectorAll(".folded")) {
  const button = document.createElement("button");
  const all = [...part.querySelectorAll("details")];
  if (all.length < 2) continue;
  button.type = "button";
  const show = () => (button.textContent = all.every((one) => one.open) ? "Fold all" : "Unfold all");
  button.addEventListener("click", () => {
    const open = !all.every((one) => one.open);
    for (const one of all) one.open = open;
    show();
  });
  show();
  tools(part, button);
}
addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details:not(.data)")) one.open = true;
});
// A link to something folded opens it.
const unfold = () => {
  for (let at = document.getElementById(location.hash.slice(1)); at; at = at.parentElement)
    if (at.tagName === "DETAILS") at.open = true;
};
addEventListener("hashchange", unfold);
unfold();
