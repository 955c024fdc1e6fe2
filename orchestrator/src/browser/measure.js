// Measures one page at one width. Gives back data alone.
async (width) => {
  await part("fonts").ready;
  await settled();

  const most = 8;
  const root = part("scrollingElement") || part("documentElement");
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
    laid: Math.round(Math.max(root.scrollWidth, window.innerWidth)),
    isWide,
    hasViewport: all("meta[name=viewport]").length > 0,
    wide: wide.map(where),
    images: images.slice(0, most).map((one) => `${where(one)} ${short(one.getAttribute("src") || "")}`),
  };
}
