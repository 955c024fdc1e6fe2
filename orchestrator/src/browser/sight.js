// Finds the given texts and headings on a page, and compares pictures of it with and without them: a text is seen if its own letters
// change the picture. The page's scripts are stopped by now. `mark` names our highlight, and no style of the page knows it.
(given, mark) => {
  // So many places of one text are looked at.
  const mostPlaces = 5;
  // WCAG: the contrast of large text. The edge of a letter is paler than its stem.
  const legible = 3, visible = 2;
  // In pixels: the height of a line.
  const smallest = 9;
  // Where an element begins or ends, words may be apart or together. Text out of the flow is no part of the text around it.
  const edge = "\uE000", gap = "\uE001";
  const soft = `\\u00AD\\u200B\\u2060${edge}`;
  const never = new Set(["script", "style", "template", "noscript", "iframe"]);
  const normal = (text) =>
    String(text).normalize("NFC").replace(/[\u00AD\u200B\u2060]/g, "").replace(/\s+/g, " ").trim();
  const escaped = (text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  // Scripts that put nothing between words have no whole words.
  const letter = /[[\p{L}\p{N}]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]]/v;
  const isOfWord = (sign) => letter.test(sign ?? "");
  const pattern = (wanted, flags) => {
    const signs = [...wanted];
    const written = (sign) => [...new Set([sign, sign.normalize("NFD")])].map(escaped).join("|");
    const plain = signs.map((sign, at) => {
      if (sign === " ") return `[\\s${soft}]+`;
      const isLast = at + 1 === signs.length || signs[at + 1] === " ";
      return `(?:${written(sign)})${isLast ? "" : `[${soft}]*`}`;
    });
    return new RegExp(plain.join(""), flags);
  };
  // Where a text has these words as a whole: “Buy” is not in “Buyers”.
  const matches = (text, words) => {
    const found = [];
    words.lastIndex = 0;
    for (let match; found.length < mostPlaces && (match = words.exec(text));) {
      const [from, to] = [match.index, words.lastIndex];
      const isPart = isOfWord(text[from]) && isOfWord(text[from - 1]) || isOfWord(text[to - 1]) && isOfWord(text[to]);
      if (isPart) words.lastIndex = from + 1;
      else found.push([from, to]);
    }
    return found;
  };

  const above = (element) => element.assignedSlot ?? element.parentElement ?? element.getRootNode().host;
  const holder = (node) => node.parentElement ?? node.getRootNode().host;
  const rangeOf = ({ node, from, to }) => {
    const range = new Range();
    range.setStart(node, from);
    range.setEnd(node, to);
    return range;
  };
  const isLaidOut = (node) =>
    getComputedStyle(holder(node)).visibility === "visible" &&
    rangeOf({ node, from: 0, to: node.length }).getClientRects().length > 0;

  // All text of an element, and the text that has a place on the page, as it is written whatever a style makes of its letters.
  const textOf = (element) => {
    const stream = () => ({ signs: "", parts: [] });
    const whole = stream(), laid = [stream()];
    const read = (node, flow) => {
      if (node.nodeType === Node.TEXT_NODE) {
        for (const one of isLaidOut(node) ? [whole, flow] : [whole]) {
          one.parts.push({ at: one.signs.length, node });
          one.signs += node.data;
        }
      } else if (node.nodeType === Node.ELEMENT_NODE && !never.has(node.localName)) {
        const isOut = ["absolute", "fixed"].includes(getComputedStyle(node).position);
        if (isOut) laid.push(stream());
        const own = isOut ? laid.at(-1) : flow;
        const slotted = node.localName === "slot" ? node.assignedNodes({ flatten: true }) : [];
        own.signs += edge;
        whole.signs += edge;
        (slotted.length ? slotted : [...(node.shadowRoot ?? node).childNodes]).forEach((child) => read(child, own));
        own.signs += edge;
        whole.signs += edge;
      }
    };
    if (element) read(element, laid[0]);
    const joined = stream();
    for (const { signs, parts } of laid) {
      joined.parts.push(...parts.map(({ at, node }) => ({ at: at + joined.signs.length, node })));
      joined.signs += signs + gap;
    }
    return { whole: whole.signs, laid: joined };
  };

  const leftward = /[\p{sc=Hebrew}\p{sc=Arabic}\p{sc=Syriac}\p{sc=Thaana}\p{sc=Nko}\p{sc=Adlam}]/u;
  // The letters of a match. Only a text without letters is looked at by its signs.
  const lettersIn = ({ signs, parts }, from, to) => {
    const isSign = /[\p{L}\p{N}]/u.test(signs.slice(from, to)) ? /[\p{L}\p{N}]/u : /[^\s\p{M}]/u;
    const letters = [];
    for (const { at, node } of parts) {
      if (at >= to || at + node.length <= from) continue;
      let place = Math.max(from - at, 0);
      for (const sign of node.data.slice(place, to - at)) {
        if (isSign.test(sign)) letters.push({ node, from: place, to: place + sign.length, isLeftward: leftward.test(sign) });
        place += sign.length;
      }
    }
    return letters;
  };
  const rectOf = (letter) => rangeOf(letter).getClientRects()[0] ?? new DOMRect();
  const boxOf = (rects) => {
    const [left, top] = [Math.min(...rects.map((one) => one.left)), Math.min(...rects.map((one) => one.top))];
    const [right, bottom] = [Math.max(...rects.map((one) => one.right)), Math.max(...rects.map((one) => one.bottom))];
    return new DOMRect(left, top, right - left, bottom - top);
  };
  const meets = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.35 * Math.min(a.height, b.height);
  const isSameInk = (a, b) => a.node === b.node && a.from < b.to && b.from < a.to;

  // A piece is one line of one text node. Two texts may have it in common.
  const pieces = new Map();
  const pieceOf = (letters) => {
    const [node, from, to] = [letters[0].node, letters[0].from, letters.at(-1).to];
    if (!pieces.has(node)) pieces.set(node, []);
    const known = pieces.get(node).find((one) => one.from === from && one.to === to);
    if (known) return known;
    const piece = { node, from, to, letters, box: boxOf(letters.map((one) => one.box)), isSeen: false, lookedAt: -1, isTried: false };
    pieces.get(node).push(piece);
    return piece;
  };
  const placeOf = (letters) => {
    const lines = [];
    let before = null, isReversed = false;
    for (const letter of letters) {
      const box = letter.box = rectOf(letter);
      const step = before ? box.left - before.box.left : 0;
      // A step back begins another line, or a part of it in the other direction.
      const isNext = before?.node === letter.node && Math.abs(box.top - before.box.top) < box.height / 2 &&
        step * before.way >= 0 && Math.abs(step) < 5 * box.height;
      if (isNext && step < 0 && !letter.isLeftward && !before.isLeftward) isReversed = true;
      if (isNext) lines.at(-1).push(letter);
      else lines.push([letter]);
      before = { ...letter, way: isNext ? Math.sign(step) : 0 };
    }
    const all = lines.map(pieceOf);
    // Lines that lie on each other cannot be read, and no mirrored one.
    const isStacked = all.some((a, at) => all.slice(at + 1).some((b) => meets(a.box, b.box)));
    return isReversed || isStacked ? [] : all;
  };

  // Text of attributes and styles is somewhere, and is left to people. So is text that a frame or a picture may show.
  const labels = all("img[alt], input, textarea, button, select, [aria-label]").flatMap((one) => [
    one.getAttribute("alt"), one.getAttribute("placeholder"), one.getAttribute("aria-label"), one.value,
    ...[...(one.options ?? [])].map((option) => option.text),
  ]);
  const made = (element) => ["::before", "::after"].map((pseudo) => getComputedStyle(element, pseudo).content);
  const isText = (text) => typeof text === "string" && !["", "none", "normal"].includes(text);
  const told = [...labels, ...all("body *").flatMap(made)].filter(isText).map(normal);
  const isBlind = all("iframe, object, embed, canvas").some(isShown);

  const find = (texts, others, wanted, flags) => {
    if (!wanted) return { isThere: true, places: [] };
    const words = pattern(wanted, flags);
    const places = texts.flatMap(({ laid }) =>
      matches(laid.signs, words).map(([from, to]) => lettersIn(laid, from, to)));
    const is = (text) => matches(text, words).length > 0;
    const isThere = isBlind || places.length > 0 || texts.some(({ whole }) => is(whole)) || others.some(is);
    return { isThere, places: places.slice(0, mostPlaces).map(placeOf).filter((place) => place.length) };
  };
  // Whatever moves is at its end, or stops.
  for (const moving of Document.prototype.getAnimations.call(document)) {
    try {
      if (moving.effect.getComputedTiming().endTime === Infinity) moving.pause();
      else moving.finish();
    } catch { /* It has no end. */ }
  }
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`*, ::before, ::after { caret-color: transparent !important; transition: none !important }
    ::highlight(${mark}) { color: transparent !important; -webkit-text-fill-color: transparent !important;
    -webkit-text-stroke-color: transparent !important }`);
  const sheets = Object.getOwnPropertyDescriptor(Document.prototype, "adoptedStyleSheets");
  sheets.set.call(document, [...sheets.get.call(document), sheet]);

  const page = [textOf(part("body"))];
  const headings = all("h1, h2, h3, h4, h5, h6, [role=heading]").map(textOf);
  const copy = given.copy.map((one) => find(page, told, normal(one.text), "gv"));
  const sections = given.sections.map((title) => find(headings, [], normal(title), "giv"));
  const isSeen = ({ places }) => places.some((place) => place.every((piece) => piece.isSeen));
  // What still decides about a text.
  const open = () => {
    const places = [...copy, ...sections].filter((text) => !isSeen(text)).flatMap(({ places }) => places);
    const worth = places.filter((place) => !place.some((piece) => piece.isTried && !piece.isSeen));
    return new Set(worth.flat().filter((piece) => !piece.isSeen));
  };

  // A person scrolls the page and what scrolls on it, and nothing else.
  const scrolls = (axis) => ["auto", "scroll"].includes(axis);
  const pageScrolls = (axis) => {
    const of = (element) => element ? getComputedStyle(element)[axis] : "visible";
    const html = of(part("documentElement"));
    return !["hidden", "clip"].includes(html === "visible" ? of(part("body")) : html);
  };
  const isPage = (element) => [part("scrollingElement"), part("documentElement"), part("body")].includes(element);
  const measure = (piece) => {
    piece.rects = piece.letters.map(rectOf);
    piece.box = boxOf(piece.rects);
    return piece.box;
  };
  const toMiddle = (inner, outer) =>
    [inner.left + inner.width / 2 - outer.left - outer.width / 2, inner.top + inner.height / 2 - outer.top - outer.height / 2];
  let state = 0;
  const bring = (piece) => {
    const move = (element, x, y) => {
      const before = [element.scrollLeft, element.scrollTop];
      element.scrollBy({ left: x, top: y, behavior: "instant" });
      if (before[0] !== element.scrollLeft || before[1] !== element.scrollTop) state += 1;
    };
    for (let element = holder(piece.node); element; element = above(element)) {
      const { overflowX, overflowY } = getComputedStyle(element);
      if (isPage(element) || !(scrolls(overflowX) || scrolls(overflowY))) continue;
      const [x, y] = toMiddle(measure(piece), element.getBoundingClientRect());
      move(element, scrolls(overflowX) ? x : 0, scrolls(overflowY) ? y : 0);
    }
    const [x, y] = toMiddle(measure(piece), new DOMRect(0, 0, visualViewport.width, visualViewport.height));
    const root = part("scrollingElement") || part("documentElement");
    move(root, pageScrolls("overflowX") ? x : 0, pageScrolls("overflowY") ? y : 0);
  };
  const isInView = ({ left, top, right, bottom, width, height }) =>
    width > 0 && height > 0 && left >= -1 && top >= -1 && right <= visualViewport.width + 1 && bottom <= visualViewport.height + 1;

  let group = [];
  // Brings the next text into view. Those that are in view with it and do not lie on each other are looked at together.
  const next = () => {
    for (let first; (first = [...open()].find((piece) => !piece.isTried));) {
      bring(first);
      group = [];
      if (first.lookedAt === state || !isInView(measure(first))) {
        first.isTried = true;
        continue;
      }
      for (const piece of [first, ...open()]) {
        const lies = (other) => meets(other.box, piece.box) && !isSameInk(other, piece);
        const isNear = !group.includes(piece) && isInView(rangeOf(piece).getBoundingClientRect());
        if (isNear && isInView(measure(piece)) && !group.some(lies)) group.push(piece);
      }
      for (const piece of group) piece.lookedAt = state;
      first.isTried = true;
      return true;
    }
    return false;
  };
  const blank = (is) => {
    if (!is) return CSS.highlights.delete(mark);
    const ours = new Highlight(...group.map(rangeOf));
    ours.priority = 1_000_000;
    CSS.highlights.set(mark, ours);
  };

  const linear = Float64Array.from({ length: 256 }, (_, value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const pixels = async (picture) => {
    const bytes = Uint8Array.from(atob(picture), (sign) => sign.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes]));
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d", { willReadFrequently: true });
    canvas.drawImage(image, 0, 0);
    const { data, width, height } = canvas.getImageData(0, 0, image.width, image.height);
    return { data, width, height, whole: new Uint32Array(data.buffer) };
  };
  const contrast = (a, b, at) => {
    const light = (data) => 0.2126 * linear[data[at]] + 0.7152 * linear[data[at + 1]] + 0.0722 * linear[data[at + 2]] + 0.05;
    const [one, other] = [light(a), light(b)];
    return Math.max(one, other) / Math.min(one, other);
  };
  // How a letter changes the pictures: where it does, nothing else may change between two pictures of the same kind.
  const inkOf = (rect, [painted, blank, again, blankAgain]) => {
    const scale = painted.width / visualViewport.width;
    const [left, top] = [rect.left, rect.top].map((place) => Math.max(Math.floor(place * scale), 0));
    const right = Math.min(Math.ceil(rect.right * scale), painted.width);
    const bottom = Math.min(Math.ceil(rect.bottom * scale), painted.height);
    const [width, height] = [rect.width * scale, rect.height * scale];
    const ink = { area: (right - left) * (bottom - top), changed: 0, strong: 0, rows: 0, isStill: true, width, height };
    for (let y = top; y < bottom; y += 1) {
      let changed = 0;
      for (let x = left; x < right; x += 1) {
        const at = y * painted.width + x;
        const isStill = painted.whole[at] === again.whole[at] && blank.whole[at] === blankAgain.whole[at];
        if (!isStill) ink.isStill = false;
        if (painted.whole[at] === blank.whole[at]) continue;
        const much = contrast(painted.data, blank.data, 4 * at);
        if (much >= visible) changed += 1;
        if (much >= legible) ink.strong += 1;
      }
      ink.changed += changed;
      if (changed) ink.rows += 1 / (bottom - top);
    }
    return ink;
  };
  const isLegible = (inks) => {
    const sum = (of) => inks.reduce((all, ink) => all + of(ink), 0);
    // A letter is neither a spot nor a box, and a line is no letter. Letters that are pressed together are none either.
    const isLetter = (ink) => ink.isStill && Math.max(ink.width, ink.height) >= smallest &&
      ink.changed >= Math.max(2, 0.02 * ink.area) && ink.changed <= 0.8 * ink.area;
    return inks.every(isLetter) && sum((ink) => ink.strong) >= 0.02 * sum((ink) => ink.area) &&
      sum((ink) => ink.rows) >= 0.25 * inks.length &&
      sum((ink) => Math.min(ink.width, ink.height) / Math.max(ink.width, ink.height)) >= 0.18 * inks.length;
  };
  const compare = async (pictures) => {
    const all = await Promise.all(pictures.map(pixels));
    for (const piece of group) piece.isSeen = isLegible(piece.rects.map((rect) => inkOf(rect, all)));
    return true;
  };

  const how = (text) => isSeen(text) ? "seen" : text.isThere ? "hidden" : "missing";
  globalThis.sight = { next, blank, compare, result: () => ({ copy: copy.map(how), sections: sections.map(how) }) };
  return true;
}
