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
  await document.fonts.ready;
  await settled();

  const most = 8;
  const bare = (text) => String(text).replace(/\s+/g, "");
  const lower = (text) => bare(text).toLowerCase();

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

  const led = [
    ...all("a[href], area[href], link[href]").map((one) => [one.getAttribute("href").trim(), one.href]),
    ...all("[src]").map((one) => [one.getAttribute("src").trim(), one.src]),
  ];
  const isOwn = ([written, to]) =>
    written.length < 2000 && typeof to === "string" && to.startsWith(`${location.origin}/`);
  const address = (to) => new URL(to).pathname.slice(1) + new URL(to).search;
  const links = new Map(led.filter(isOwn).map(([written, to]) => [written, address(to)]));

  // What is in a shadow root is no part of the page's own text.
  const isWhole = ![...document.querySelectorAll("*")].some((one) => one.shadowRoot);

  return {
    isWhole,
    links: [...links].slice(0, 500),
    copy: given.copy.map((one) => isThere(one.text)),
    sections: given.sections.map((title) => headings.some((heading) => heading.includes(lower(title)))),
    laid: Math.round(Math.max(root.scrollWidth, window.innerWidth)),
    isWide,
    wide: wide.map(where),
    images: images.slice(0, most).map((one) => `${where(one)} ${short(one.getAttribute("src") || "")}`),
  };
}
