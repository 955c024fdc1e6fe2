// One step of a test scenario. Gives back data alone: `done`, `type`, a point to click at, or why not.
(verb, on, text, typed) => {
  const plain = (words) => String(words ?? "").normalize("NFC").replace(/\s+/g, " ").trim().toLowerCase();
  const wanted = plain(on);
  const shown = (selector) => all(selector).filter(isShown);
  const referred = (element) =>
    (element.getAttribute("aria-labelledby") || "").split(/\s+/).filter(Boolean)
      .map((id) => document.getElementById(id)?.innerText).join(" ");
  // The one of exactly this name, or the first whose name has these words in it.
  const pick = (elements, names) => {
    const named = elements.map((element) => [element, names(element).map(plain).filter(Boolean)]);
    const exact = named.find(([, known]) => known.includes(wanted));
    return (exact || named.find(([, known]) => known.some((name) => name.includes(wanted))))?.[0];
  };

  if (verb === "see" || verb === "miss") {
    // What the scenario itself has typed is no answer of the page.
    const values = shown("input:not([type=password]), textarea").map((field) => field.value);
    const told = values.filter((value) => !typed.includes(value)).join(" ");
    const seen = plain(`${document.body ? document.body.innerText : ""} ${told}`);
    if (seen.includes(wanted) === (verb === "see")) return { done: true };
    return { why: verb === "see" ? `the page shows “${short(seen)}”` : "the page shows this text" };
  }

  if (verb === "fill" || verb === "filled") {
    const field = pick(shown("input, textarea, select, [contenteditable]"), (one) => [
      ...[...(one.labels || [])].map((label) => label.innerText),
      one.getAttribute("aria-label"), referred(one), one.getAttribute("placeholder"), one.getAttribute("name"),
    ]);
    if (!field) return { why: "no visible field has this name" };
    if (field.disabled || field.readOnly) return { why: "the field is disabled or read-only" };
    const kind = field.localName === "input" ? field.type : field.localName;
    if (["checkbox", "radio", "file", "button", "submit", "reset", "image"].includes(kind)) {
      return { unfit: `nothing can be typed into a field of the type ${kind}` };
    }
    const value = () => "value" in field ? field.value : field.innerText;
    if (verb === "filled") {
      if (!value()) return { why: "the field stays empty" };
      const isCut = text.startsWith(value()) && value() !== text;
      return isCut ? { why: `the field takes only “${short(value())}”` } : { done: true };
    }
    // These are chosen, not typed.
    if (["select", "date", "time", "month", "week", "datetime-local", "color", "range"].includes(kind)) {
      const choices = field.localName === "select" ? [...field.options] : [];
      const choice = choices.find((one) => plain(one.label) === plain(text) || one.value === text);
      const before = field.value;
      field.value = choice ? choice.value : text;
      if (field.value !== (choice ? choice.value : text)) {
        field.value = before;
        return { why: `the field has no choice “${short(text)}”` };
      }
      field.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
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
  const control = pick(shown(controls), names);
  if (!control) return { why: "no visible link, button or control has this name" };
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
