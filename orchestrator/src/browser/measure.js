// Measures one page at one width, in a world of its own: the page's scripts have other globals. Gives back data alone.
(given, width) => {
  const most = 8;
  const short = (text) => String(text).replace(/\s+/g, " ").trim().slice(0, 100);
  const bare = (text) => String(text).replace(/\s+/g, "");
  const lower = (text) => bare(text).toLowerCase();
  const where = (element) => {
    const name = element.localName;
    if (element.id) return short(`${name}#${element.id}`);
    const kind = typeof element.className === "string" ? element.className.trim().split(/\s+/)[0] : "";
    return short(kind ? `${name}.${kind}` : name);
  };
  const isShown = (element) => {
    const style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    return style.visibility !== "hidden" && Number(style.opacity) > 0 && box.width > 0 && box.height > 0;
  };
  const all = (selector) => [...document.querySelectorAll(selector)].slice(0, 5000);

  const body = document.body;
  const written = bare(body ? body.textContent : "");
  const seen = lower(body ? body.innerText : "");
  const named = all("img[alt], input, textarea, button, [aria-label]").filter(isShown).flatMap((element) =>
    [element.getAttribute("alt"), element.getAttribute("placeholder"), element.getAttribute("aria-label"), element.value]
  );
  const labels = bare(named.filter((text) => typeof text === "string").join("\n"));
  // Capitals may be those of a style: what is written has to be the text, and it has to be seen.
  const isThere = (text) =>
    (written.includes(bare(text)) && seen.includes(lower(text))) || labels.includes(bare(text));

  const headings = all("h1, h2, h3, h4, h5, h6, [role=heading]").filter(isShown).map((one) => lower(one.innerText));

  const root = document.scrollingElement || document.documentElement;
  const isWide = root.scrollWidth > width + 1 || window.innerWidth > width + 1;
  const wide = isWide
    ? all("body *").filter((one) => isShown(one) && one.getBoundingClientRect().right > width + 1).slice(0, most)
    : [];

  const images = all("img, input[type=image]").filter((one) =>
    !one.hasAttribute("alt") && one.getAttribute("role") !== "presentation" && one.role !== "none" &&
    one.getAttribute("aria-hidden") !== "true" && !one.getAttribute("aria-label") && !one.getAttribute("aria-labelledby")
  );

  const led = [...all("a[href], area[href], link[href]").map((one) => one.href), ...all("[src]").map((one) => one.src)];
  const own = led.filter((link) => typeof link === "string" && link.startsWith(`${location.origin}/`));

  // What is in a shadow root is no part of the page's own text.
  const isWhole = ![...document.querySelectorAll("*")].some((one) => one.shadowRoot);

  return {
    isWhole,
    links: [...new Set(own.map((link) => new URL(link).pathname))].slice(0, 300),
    copy: given.copy.map((one) => isThere(one.text)),
    sections: given.sections.map((title) => headings.some((heading) => heading.includes(lower(title)))),
    laid: Math.round(Math.max(root.scrollWidth, window.innerWidth)),
    isWide,
    wide: wide.map(where),
    images: images.slice(0, most).map((one) => `${where(one)} ${short(one.getAttribute("src") || "")}`),
  };
}
