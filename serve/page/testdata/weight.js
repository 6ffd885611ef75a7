// Returns what the page has loaded from its server, and when it was drawn.
(() => {
  const all = performance.getEntries().filter((e) => e.transferSize && e.name.startsWith(location.origin)).sort((a, b) => b.transferSize - a.transferSize);
  return {
    bytes: all.reduce((sum, e) => sum + e.transferSize, 0), requests: all.length, paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0,
    drawn: performance.now(), heaviest: all.slice(0, 8).map((e) => e.transferSize + ' ' + new URL(e.name).pathname),
  };
})()
