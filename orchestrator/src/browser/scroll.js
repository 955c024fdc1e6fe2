// Scrolls once through the page, so that content that appears on scrolling is there.
async () => {
  const most = 20;
  const root = part("scrollingElement") || part("documentElement");
  if (root.scrollHeight <= innerHeight) return;
  const moment = () => new Promise((done) => setTimeout(done, 50));
  for (let nth = 1; nth <= most && nth * innerHeight < root.scrollHeight; nth += 1) {
    scrollTo({ top: nth * innerHeight, behavior: "instant" });
    await moment();
  }
  scrollTo({ top: 0, behavior: "instant" });
  await settled();
}
