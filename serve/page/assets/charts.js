// Plots as inline SVG and HTML, each with its numbers as a table.

import { h, s } from './dom.js';

function table(first, columns, rows) {
  return h('details.more', null, h('summary', null, 'As a table'), h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': 'Numbers of the plot' }, h('table', null,
    h('thead', null, h('tr', null, h('th', { scope: 'col' }, first), columns.map((name) => h('th.n', { scope: 'col' }, name)))),
    h('tbody', null, rows.map(([label, ...values]) => h('tr', null, h('th', { scope: 'row' }, label), values.map((value) => h('td.n', null, value))))))));
}

const W = 720;
const H = 200;
const LEFT = 56;
const BOTTOM = 22;

/** stepOf returns the distance of an axis' lines: a whole number, 1, 2 or 5 before zeros, so that one to four lines fit below most. */
export function stepOf(most) {
  const half = Math.max(1, most / 2);
  const ten = 10 ** Math.floor(Math.log10(half));
  return [5, 2, 1].find((n) => n * ten <= half) * ten;
}

/** columnChart stacks the values of each column; the second name is hatched. */
export function columnChart({ title, first, names, columns, form }) {
  const most = Math.max(...columns.map((c) => c.values.reduce((a, b) => a + b, 0)), 1);
  const step = (W - LEFT) / columns.length;
  const wide = Math.min(Math.max(step - (step > 6 ? 2 : 0.6), 1), 64);
  const tall = (n) => (n / most) * (H - BOTTOM - 10);
  const marks = columns.map((c, i) => {
    let y = H - BOTTOM;
    return s('g', null, s('title', null, `${c.label}: ${c.values.map((n, k) => `${names[k]} ${form(n)}`).join(', ')}${c.note ? `, ${c.note}` : ''}`),
      c.values.map((n, k) => {
        if (!n) return null;
        y -= tall(n);
        return s(`rect.series-${k}`, { x: LEFT + i * step + (step - wide) / 2, y, width: wide, height: tall(n) });
      }));
  });
  const every = Math.max(1, Math.ceil(columns.length / 8));
  const labels = columns.map((c, i) => (i % every === 0 ? s('text.axis', { x: LEFT + (i + 0.5) * step, y: H - 5, 'text-anchor': 'middle' }, c.label) : null));
  const unit = stepOf(most);
  const lines = Array.from({ length: Math.floor(most / unit) }, (_, i) => (i + 1) * unit).map((n) => s('g', null, s('line.rule', { x1: LEFT, x2: W, y1: H - BOTTOM - tall(n), y2: H - BOTTOM - tall(n) }),
    s('text.axis', { x: LEFT - 6, y: H - BOTTOM - tall(n) + 4, 'text-anchor': 'end' }, form(n))));
  return h('figure.plot', null, h('figcaption', null, title),
    names.length > 1 && h('p.key', null, names.map((name, k) => h('span', null, s(`svg.swatch`, { viewBox: '0 0 14 14', 'aria-hidden': 'true' }, s(`rect.series-${k}`, { width: 14, height: 14 })), name))),
    h('div.plot-scroll', { tabindex: 0, role: 'region', 'aria-label': title }, s('svg.columns', { viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': `${title}. The table below has the numbers.` },
      names.length > 1 && s('defs', null, s('pattern', { id: 'hatch', width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' }, s('rect.hatch-back', { width: 5, height: 5 }), s('rect.hatch-line', { width: 2, height: 5 }))),
      lines, marks, s('line.base', { x1: LEFT, x2: W, y1: H - BOTTOM, y2: H - BOTTOM }), labels)),
    table(first, names, columns.filter((c) => c.values.some(Boolean)).map((c) => [c.label, ...c.values.map(form)])));
}
