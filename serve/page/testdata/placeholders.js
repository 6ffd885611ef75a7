// Returns what is wrong with the placeholders of posters.
(() => {
  const light = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0.05);
  const all = [...document.querySelectorAll('main .placeholder')];
  for (const e of all) e.firstChild.style.overflowWrap = 'normal'; // words that are cut count as too wide
  const bad = all.filter((e) => e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1).map((e) => 'overflows: ' + e.textContent);
  for (const e of all) {
    const [set, back, drawn] = ['--set', '--back', '--drawn'].map((name) => light(getComputedStyle(e).getPropertyValue(name).trim()));
    for (const ground of [back, drawn]) if (Math.max(set, ground) / Math.min(set, ground) < 4.5) bad.push('contrast: ' + e.className);
  }
  if (all.length >= 20 && new Set(all.map((e) => /tone-\d+/.exec(e.className)[0])).size < 8) bad.push('few tones');
  for (const row of document.querySelectorAll('main :is(.strip, .grid)')) {
    const tones = [...row.querySelectorAll('.placeholder')].map((e) => /tone-\d+/.exec(e.className)[0]);
    if (tones.some((tone, i) => tone === tones[i - 1])) bad.push('neighbours have one tone');
  }
  for (const e of document.querySelectorAll('main .card-name')) if (e.clientHeight > 2.1 * parseFloat(getComputedStyle(e).lineHeight)) bad.push('more than two lines: ' + e.textContent);
  return bad;
})()
