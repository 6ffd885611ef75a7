// Returns what is wrong with the accessibility of the document, a sentence each. The rules are those of
// WCAG 2.1 AA that a program can check.
(() => {
  const problems = [];
  const say = (rule, element, more = '') => {
    const own = element.outerHTML.slice(0, 110).replaceAll('\n', ' ');
    problems.push(`${rule}: ${own} ${more}`);
  };
  const visible = (e) => e.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && !e.closest('[aria-hidden="true"]');
  const text = (e) => {
    let out = '';
    for (const node of e.childNodes) {
      if (node.nodeType === 3) out += node.data;
      else if (node.nodeType === 1 && node.getAttribute('aria-hidden') !== 'true') out += node.tagName === 'IMG' ? node.alt : text(node);
    }
    return out.trim();
  };
  const nameOf = (e) => {
    const by = e.getAttribute('aria-labelledby');
    if (by) return by.split(' ').map((id) => document.getElementById(id)?.textContent ?? '').join(' ').trim();
    return e.getAttribute('aria-label')?.trim() || [...(e.labels ?? [])].map((l) => l.textContent).join(' ').trim() || text(e) || e.title || '';
  };

  for (const e of document.querySelectorAll('a[href], button, input, select, textarea, summary, [role=listbox], [role=option], [role=region], [role=img], nav, aside')) {
    if (visible(e) && !nameOf(e)) say('no name', e);
  }
  for (const e of document.querySelectorAll('img:not([alt])')) say('image without alt', e);
  for (const e of document.querySelectorAll('input, select')) if (visible(e) && !e.labels?.length && !e.getAttribute('aria-label')) say('no label', e);
  for (const e of document.querySelectorAll('th')) if (!e.scope) say('header cell without scope', e);
  for (const e of document.querySelectorAll('ul > *, ol > *')) if (e.tagName !== 'LI') say('not a list item', e);

  const ids = new Map();
  for (const e of document.querySelectorAll('[id]')) {
    if (ids.has(e.id)) say('duplicate id', e);
    ids.set(e.id, e);
  }
  for (const attribute of ['aria-labelledby', 'aria-describedby', 'aria-controls', 'aria-activedescendant', 'for']) {
    for (const e of document.querySelectorAll(`[${attribute}]`)) {
      for (const id of e.getAttribute(attribute).split(' ')) if (!ids.has(id)) say(`${attribute} leads nowhere`, e);
    }
  }

  const headings = [...document.querySelectorAll('h1, h2, h3, h4')].filter(visible);
  let before = 0;
  for (const e of headings) {
    const level = Number(e.tagName[1]);
    if (level > before + 1) say('heading skips a level', e);
    before = level;
  }
  if (headings.filter((e) => e.tagName === 'H1').length !== 1) problems.push('want one h1');
  for (const tag of ['header', 'main', 'footer']) if (document.querySelectorAll(tag).length !== 1) problems.push(`want one ${tag}`);
  if (!document.documentElement.lang || !document.title) problems.push('want a language and a title');
  if (document.documentElement.scrollWidth > innerWidth) {
    const wide = [...document.querySelectorAll('main *')].find((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.strip, .scroll, .plot-scroll, .links, .excerpt, .unseen'));
    problems.push(`the page is ${document.documentElement.scrollWidth} px wide in ${innerWidth}: ${wide?.outerHTML.slice(0, 120)}`);
  }
  for (const e of document.querySelectorAll('*')) {
    const style = getComputedStyle(e);
    if (/(auto|scroll)/.test(style.overflowX) && e.scrollWidth > e.clientWidth + 1 && visible(e) && e.tabIndex < 0 && !e.querySelector('a, button, input, select')) say('scrolls, but not by keyboard', e);
  }

  // Contrast of text with the colours behind it.
  const parse = (color) => {
    const n = color.match(/[\d.]+/g).map(Number);
    return [n[0], n[1], n[2], n[3] ?? 1];
  };
  const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  const ground = (e) => {
    const layers = [];
    for (let at = e; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      layers.push(color);
      if (color[3] === 1) break;
    }
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255, 1]);
  };
  const luminance = ([r, g, b]) => [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4)).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (a, b) => {
    const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const checked = new Set();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement;
    if (!node.data.trim() || checked.has(e) || !visible(e) || e.closest('.unseen, option, :disabled, noscript')) continue;
    checked.add(e);
    const style = getComputedStyle(e);
    const color = parse(e.closest('svg') ? style.fill : style.color);
    const under = ground(e);
    const size = parseFloat(style.fontSize);
    const want = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    const got = ratio(over(color, under), under);
    if (got < want) say(`contrast ${got.toFixed(2)}, want ${want}`, e, `${style.color} on rgb(${under.slice(0, 3).map(Math.round)})`);
  }
  // Commas and dots follow their item, not a line break.
  const commas = document.createTreeWalker(document.getElementById('main'), NodeFilter.SHOW_TEXT);
  for (let node = commas.nextNode(); node; node = commas.nextNode()) {
    const mark = /^\s*[,·]/.exec(node.data);
    const before = node.previousSibling ?? node.parentElement.previousSibling;
    if (!mark || !before || !visible(node.parentElement)) continue;
    const range = document.createRange();
    range.selectNode(before);
    const item = [...range.getClientRects()].pop();
    range.setStart(node, mark[0].length - 1);
    range.setEnd(node, mark[0].length);
    if (item && range.getBoundingClientRect().top >= item.bottom) say('a line begins with a comma or a dot', node.parentElement, node.parentElement.textContent.slice(0, 60));
  }
  // Borders of fields.
  for (const e of document.querySelectorAll('input:not([type=checkbox]), select')) {
    if (!visible(e)) continue;
    const got = ratio(parse(getComputedStyle(e).borderTopColor), ground(e.parentElement));
    if (got < 3) say(`contrast of the border ${got.toFixed(2)}, want 3`, e);
  }
  return problems.slice(0, 20);
})();
