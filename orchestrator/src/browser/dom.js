// What our scripts share. They run in a world of their own: the page's scripts have other globals.
const short = (words) => String(words ?? "").replace(/\s+/g, " ").trim().slice(0, 100);
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
