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
  // Where an element begins or ends, words may be apart or together: that is for the style to say.
  const edge = "\uE000";
  // Without what says where a word may be broken.
  const normal = (text) =>
    String(text).normalize("NFC").replace(/[\u00AD\u200B\u2060]/g, "").replace(/\s+/g, " ").trim();
  const pattern = (wanted) => {
    // Scripts that put nothing between words have no whole words.
    const letter = "[[\\p{L}\\p{N}]--[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}]]";
    const plain = [...wanted].map((sign) => sign === " " ? `[ ${edge}]+` : `${sign.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&")}${edge}*`);
    // In whole words: “Buy” is not in “Buyers”.
    const isOfWord = (sign) => new RegExp(`^${letter}$`, "v").test(sign ?? "");
    const begin = isOfWord([...wanted][0]) ? `(?<!${letter})` : "";
    const end = isOfWord([...wanted].at(-1)) ? `(?!${letter})` : "";
    return new RegExp(`${begin}${plain.join("").replace(/\uE000\*$/, "")}${end}`, "v");
  };

  // What is around an element: whether it may be out of sight with all that is in it, and what cuts it off.
  const known = new Map();
  const above = (element) => element.assignedSlot ?? element.parentElement ?? element.getRootNode().host;
  const around = (element) => {
    if (!element) return { isDim: false, isFilled: false, cuts: [] };
    if (!known.has(element)) {
      const outer = around(above(element));
      const style = getComputedStyle(element);
      // What these cut off of the whole page is cut off at the window.
      const isPage = element === root || element === part("body") || element === part("documentElement");
      const box = isPage ? new DOMRect(0, 0, innerWidth, innerHeight) : element.getBoundingClientRect();
      const axes = [style.overflowX, style.overflowY];
      const [x, y] = axes.map((axis) => ["hidden", "clip"].includes(axis));
      // What scrolls shows all that is in it, if it is itself to be seen.
      const [scrollsX, scrollsY] = axes.map((axis) => !isPage && ["auto", "scroll"].includes(axis));
      const isOff = (scrollsX || scrollsY) && outer.cuts.some((cut) => isOut(box, cut));
      const cuts = outer.cuts.map((cut) => ({ ...cut, x: cut.x && !scrollsX, y: cut.y && !scrollsY }));
      known.set(element, {
        isDim: outer.isDim || isOff || Number(style.opacity) === 0 || style.clipPath !== "none" || style.clip !== "auto",
        isFilled: outer.isFilled || style.backgroundClip === "text",
        cuts: x || y ? [...cuts, { x, y, box }] : cuts,
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
    // One without a box of its own is there if the next one around it is.
    let boxed = element;
    while (boxed && getComputedStyle(boxed).display === "contents") boxed = above(boxed);
    if (!isThere || !boxed?.checkVisibility() || style.visibility !== "visible") {
      return element.closest("details:not([open]), [hidden=until-found]") ? "hidden" : "missing";
    }
    const { isDim, isFilled, cuts } = around(element);
    const isClear = /^rgba.*, 0\)$|\/ 0\)$/.test(style.webkitTextFillColor) && !isFilled;
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
      const slotted = node.localName === "slot" ? node.assignedNodes({ flatten: true }) : [];
      add(edge, "seen");
      (slotted.length ? slotted : [...(node.shadowRoot ?? node).childNodes]).forEach(read);
      add(edge, "seen");
    };
    if (element) read(element);
    return { seen: normal(told.seen), hidden: normal(told.hidden) };
  };
  const found = (texts, wanted) => {
    const words = pattern(wanted);
    if (texts.some(({ seen }) => words.test(seen))) return "seen";
    return texts.some(({ hidden }) => words.test(hidden)) ? "hidden" : "missing";
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
    hasViewport: all("meta[name=viewport]").length > 0,
    wide: wide.map(where),
    images: images.slice(0, most).map((one) => `${where(one)} ${short(one.getAttribute("src") || "")}`),
  };
}
