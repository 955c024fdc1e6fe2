// One step of a test scenario, in a world of its own. Gives back data alone: `done`, a point to click at, or why not.
(verb, on, text) => {
  const plain = (words) => String(words ?? "").normalize("NFC").replace(/\s+/g, " ").trim().toLowerCase();
  const short = (words) => String(words ?? "").replace(/\s+/g, " ").trim().slice(0, 100);
  const wanted = plain(on);
  const isShown = (element) => {
    const style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    return style.visibility !== "hidden" && Number(style.opacity) > 0 && box.width > 0 && box.height > 0;
  };
  const all = (selector) => [...document.querySelectorAll(selector)].slice(0, 5000).filter(isShown);
  const referred = (element) =>
    (element.getAttribute("aria-labelledby") || "").split(/\s+/).filter(Boolean)
      .map((id) => document.getElementById(id)?.innerText).join(" ");
  // The one of exactly this name, or the first whose name has these words in it.
  const pick = (elements, names) => {
    const named = elements.map((element) => [element, names(element).map(plain).filter(Boolean)]);
    const exact = named.find(([, known]) => known.includes(wanted));
    return (exact || named.find(([, known]) => known.some((name) => name.includes(wanted))))?.[0];
  };
  const where = (element) => short(element.id ? `${element.localName}#${element.id}` : element.localName);

  if (verb === "see" || verb === "miss") {
    const typed = all("input:not([type=password]), textarea").map((field) => field.value).join(" ");
    const seen = plain(`${document.body ? document.body.innerText : ""} ${typed}`);
    const isThere = seen.includes(wanted);
    if (isThere === (verb === "see")) return { done: true };
    return { why: verb === "see" ? `the page shows “${short(seen)}”` : "it is there" };
  }

  if (verb === "fill") {
    const field = pick(all("input, textarea, select, [contenteditable]"), (one) => [
      ...[...(one.labels || [])].map((label) => label.innerText),
      one.getAttribute("aria-label"), referred(one), one.getAttribute("placeholder"), one.getAttribute("name"),
    ]);
    if (!field) return { why: "there is no such field" };
    if (field.disabled || field.readOnly) return { why: "the field is disabled or read-only" };
    if (field.localName === "select") {
      const choice = [...field.options].find((option) => plain(option.label) === plain(text) || option.value === text);
      if (!choice) return { why: `the field has no choice “${short(text)}”` };
      field.value = choice.value;
      field.dispatchEvent(new Event("input", { bubbles: true }));
      field.dispatchEvent(new Event("change", { bubbles: true }));
      return { done: true };
    }
    field.focus();
    if (field.select) field.select();
    else getSelection().selectAllChildren(field);
    return { type: true };
  }

  const controls = "a[href], button, summary, label, [onclick], input:not([type=hidden]), [role=button], [role=link], " +
    "[role=tab], [role=menuitem], [role=switch], [role=checkbox], [role=radio], [role=option]";
  const names = (one) => [
    one.getAttribute("aria-label"), referred(one), one.innerText,
    ["button", "submit", "reset"].includes(one.type) ? one.value : "",
    ...[...(one.labels || [])].map((label) => label.innerText),
    one.getAttribute("alt"), one.getAttribute("title"), one.querySelector("img[alt]")?.getAttribute("alt"),
  ];
  const control = pick(all(controls), names);
  if (!control) return { why: "there is nothing of that name to click" };
  if (control.disabled) return { why: "it is disabled" };
  control.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  const box = control.getClientRects()[0];
  const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
  const hit = document.elementFromPoint(x, y);
  if (!hit || !(control.contains(hit) || hit.contains(control))) {
    return { why: hit ? `${where(hit)} is in front of it` : "it is outside the window" };
  }
  return { x, y };
}
