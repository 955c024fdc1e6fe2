// What our scripts share. They run in a world of their own: the page's scripts have other globals. An element that is named like a
// property of the document would hide it from us too, so these are asked of what all documents are made from.
const part = (name) => Object.getOwnPropertyDescriptor(Document.prototype, name).get.call(document);
const all = (selector) => [...Document.prototype.querySelectorAll.call(document, selector)].slice(0, 5000);
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
// Ends once nothing changes for a moment, or after three seconds: a clock never stops.
const settled = () => new Promise((done) => {
  const end = () => { watch.disconnect(); done(); };
  setTimeout(end, 3000);
  let still = setTimeout(end, 200);
  const watch = new MutationObserver(() => { clearTimeout(still); still = setTimeout(end, 200); });
  watch.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
});
