// Measures one page at one width. Gives back data alone.
async (given, width) => {
  // What is still to come has come once nothing changes for a moment; a clock never stops.
  const settled = () => new Promise((done) => {
    const end = () => { watch.disconnect(); done(); };
    setTimeout(end, 3000);
    let still = setTimeout(end, 200);
    const watch = new MutationObserver(() => { clearTimeout(still); still = setTimeout(end, 200); });
    watch.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  });
  await part("fonts").ready;
  await settled();

  const most = 8;
  const root = part("scrollingElement") || part("documentElement");
  const normal = (text) => String(text).replace(/\s+/g, " ").trim();
  const isOfWord = (letter) => /[\p{L}\p{N}]/u.test(letter ?? "");
  // In whole words: “Buy” is not in “Buyers”.
  const holds = (text, wanted) => {
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
      const end = at + wanted.length;
      const begins = !(isOfWord(text[at - 1]) && isOfWord(wanted[0]));
      if (begins && !(isOfWord(text[end]) && isOfWord(wanted.at(-1)))) return true;
    }
    return false;
  };

  // What is around an element: whether it may be out of sight with all that is in it, and what cuts it off.
  const known = new Map();
  const around = (element) => {
    if (!element) return { isDim: false, cuts: [] };
    if (!known.has(element)) {
      const { isDim, cuts } = around(element.assignedSlot ?? element.parentElement ?? element.getRootNode().host);
      const style = getComputedStyle(element);
      const cutsOff = (axis) => ["hidden", "clip"].includes(axis);
      // The window scrolls what these would cut off.
      const isWindow = element === root || element === part("body");
      const [x, y] = [style.overflowX, style.overflowY].map((axis) => !isWindow && cutsOff(axis));
      known.set(element, {
        isDim: isDim || Number(style.opacity) === 0 || style.clipPath !== "none" || style.clip !== "auto",
        cuts: x || y ? [...cuts, { x, y, box: element.getBoundingClientRect() }] : cuts,
      });
    }
    return known.get(element);
  };
  const isOut = (box, { x, y, box: window }) =>
    window.width <= 1 || window.height <= 1 ||
    (x && (box.right <= window.left || box.left >= window.right)) || (y && (box.bottom <= window.top || box.top >= window.bottom));
  const isAway = (box) => box.right + scrollX <= 0 || box.bottom + scrollY <= 0 || box.left + scrollX >= innerWidth;
  // Whether it can be seen, `hidden` where only a person can tell, or `missing` where nobody sees it.
  const sight = (element, box, isThere) => {
    const style = getComputedStyle(element);
    if (!isThere || !element.checkVisibility() || style.visibility !== "visible") {
      return element.closest("details:not([open])") ? "hidden" : "missing";
    }
    const { isDim, cuts } = around(element);
    const isClear = /^rgba.*, 0\)$|\/ 0\)$/.test(style.webkitTextFillColor) && style.backgroundClip !== "text";
    const isTiny = box.width < 1 || box.height < 1;
    return isDim || isClear || isTiny || isAway(box) || cuts.some((cut) => isOut(box, cut)) ? "hidden" : "seen";
  };
  const sightOf = (text) => {
    const range = new Range();
    range.selectNodeContents(text);
    const element = text.parentElement ?? text.getRootNode().host;
    return sight(element, range.getBoundingClientRect(), range.getClientRects().length > 0);
  };

  // The words in an element as they are written, whatever a style makes of their letters.
  const words = (element) => {
    const told = { seen: "", hidden: "" };
    const add = (text, how) => {
      if (how === "seen") told.seen += text;
      if (how !== "missing") told.hidden += text;
    };
    const read = (node) => {
      if (node.nodeType === Node.TEXT_NODE) return add(node.data, node.data.trim() ? sightOf(node) : "seen");
      if (node.nodeType !== Node.ELEMENT_NODE) return;
      const gap = node.localName === "br" || !["inline", "contents"].includes(getComputedStyle(node).display) ? "\n" : "";
      const slotted = node.localName === "slot" ? node.assignedNodes({ flatten: true }) : [];
      add(gap, "seen");
      (slotted.length ? slotted : [...(node.shadowRoot ?? node).childNodes]).forEach(read);
      add(gap, "seen");
    };
    if (element) read(element);
    return { seen: normal(told.seen), hidden: normal(told.hidden) };
  };
  const found = (texts, wanted) => {
    if (texts.some(({ seen }) => holds(seen, wanted))) return "seen";
    return texts.some(({ hidden }) => holds(hidden, wanted)) ? "hidden" : "missing";
  };

  const labelled = (element, names) => {
    const how = sight(element, element.getBoundingClientRect(), element.getClientRects().length > 0);
    const texts = names.filter((text) => typeof text === "string").map(normal);
    return how === "missing" ? [] : texts.map((text) => ({ seen: how === "seen" ? text : "", hidden: text }));
  };
  const labels = all("img[alt], input, textarea, button, select, [aria-label]").flatMap((one) => labelled(one, [
    one.getAttribute("alt"), one.getAttribute("placeholder"), one.getAttribute("aria-label"), one.value,
    ...[...(one.options ?? [])].map((option) => option.text),
  ]));
  const texts = [words(part("body")), ...labels];

  const lower = ({ seen, hidden }) => ({ seen: seen.toLowerCase(), hidden: hidden.toLowerCase() });
  const headings = all("h1, h2, h3, h4, h5, h6, [role=heading]").map((one) => lower(words(one)));

  const isWide = root.scrollWidth > width + 1 || window.innerWidth > width + 1;
  const wide = isWide
    ? all("body *").filter((one) => isShown(one) && one.getBoundingClientRect().right > width + 1).slice(0, most)
    : [];

  const images = all("img, input[type=image]").filter((one) =>
    !one.hasAttribute("alt") && one.getAttribute("role") !== "presentation" && one.role !== "none" &&
    one.getAttribute("aria-hidden") !== "true" && !one.getAttribute("aria-label") && !one.getAttribute("aria-labelledby")
  );

  const led = [
    ...all("a[href], area[href], link[href]").map((one) => [one.getAttribute("href").trim(), one.href]),
    ...all("[src]").map((one) => [one.getAttribute("src").trim(), one.src]),
  ];
  const isOwn = ([written, to]) =>
    written.length < 2000 && typeof to === "string" && to.startsWith(`${location.origin}/`);
  const address = (to) => new URL(to).pathname.slice(1) + new URL(to).search;
  const links = new Map(led.filter(isOwn).map(([written, to]) => [written, address(to)]));

  // What is in a shadow root is no part of the page's own text.
  const isWhole = ![...Document.prototype.querySelectorAll.call(document, "*")].some((one) => one.shadowRoot);

  return {
    isWhole,
    links: [...links].slice(0, 500),
    copy: given.copy.map((one) => found(texts, normal(one.text))),
    sections: given.sections.map((title) => found(headings, normal(title).toLowerCase())),
    laid: Math.round(Math.max(root.scrollWidth, window.innerWidth)),
    isWide,
    wide: wide.map(where),
    images: images.slice(0, most).map((one) => `${where(one)} ${short(one.getAttribute("src") || "")}`),
  };
}
