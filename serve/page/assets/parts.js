// Pieces that several views are made of: posters, cards, sections, states.

import { h } from './dom.js';
import { image, Failure } from './api.js';
import { count, year } from './format.js';

const KINDS = { movie: 'Movie', tv: 'Series', person: 'Person', collection: 'Collection' };
export const kindName = (kind) => KINDS[kind] ?? kind;

/** nameOf returns the title or name of a resource. */
export const nameOf = (row) => row.title ?? row.name ?? row.original_title ?? row.original_name ?? 'Untitled';
export const yearOf = (row) => year(row.release_date ?? row.first_air_date);
export const kindOf = (row) => row.media_type ?? ('title' in row ? 'movie' : 'known_for' in row || 'known_for_department' in row ? 'person' : 'first_air_date' in row ? 'tv' : 'collection');

const TONES = 12; // colours of placeholders

const failed = new Set(); // URLs of images that did not load

/** picture is an image over a placeholder, which stays if there is no image or it does not load. It is asked for once. */
export function picture(settings, { kind, path, width, name, alt = '' }) {
  const found = image(settings, kind, path, width);
  const source = failed.has(found) ? '' : found;
  const box = h(`div.picture.${kind}`, null, placeholder(name));
  if (alt && !source) box.append(h('span.unseen', null, `${alt}: none`));
  if (source) {
    box.append(h('img', {
      src: source, alt, loading: 'lazy', decoding: 'async', referrerpolicy: 'no-referrer',
      onload: (event) => event.target.classList.add('shown'),
      onerror: (event) => {
        failed.add(source);
        event.target.remove();
        if (alt) box.append(h('span.unseen', null, `${alt}: not available`));
      },
    }));
  }
  return box;
}

const pen = document.createElement('canvas').getContext('2d');
pen.font = '800 100px "Avenir Next Condensed", "Roboto Condensed", "Liberation Sans Narrow", "Arial Narrow", system-ui, sans-serif'; // as in style.css
const widthOf = (text) => pen.measureText(text).width / 100; // in em

/**
 * placeholder sets a name as a poster, in one of twelve tones and four drawings. The size of its letters, in
 * hundredths of the poster's width, follows the measured width of the name: the longest word fits one line, and all lines fit
 * the poster.
 */
function placeholder(name = '') {
  let hash = 0x811c9dc5;
  for (const letter of name) hash = Math.imul(hash ^ letter.codePointAt(0), 0x01000193);
  hash = (hash ^ (hash >>> 15)) >>> 0;
  const longest = Math.max(1, ...name.split(/[\s-]+/).map(widthOf));
  const size = Math.max(5, Math.min(20, 80 / longest, 76 / Math.sqrt(Math.max(1, widthOf(name)))));
  return h(`div.placeholder.tone-${hash % TONES}.motif-${(hash >>> 8) % 4}`, { 'aria-hidden': 'true' }, h('span', { '--size': size.toFixed(1) }, name));
}

/** addressOf returns the route of a row. */
export const addressOf = (row) => `#/${kindOf(row)}/${row.id}`;

/** reasons say why a search found a row that does not show the words. */
export const reasons = (row) => [row.found && `as “${row.found}”`, row.byID && `id ${row.byID}`];

/** card is a resource in a row or grid. note stands below the name. */
export function card(settings, row, note) {
  const name = nameOf(row);
  const kind = kindOf(row);
  const person = kind === 'person';
  const line = note ?? [...(person ? [row.known_for_department] : [yearOf(row), kind === 'tv' && 'Series']), ...reasons(row)].filter(Boolean).join(' · ');
  return h('li.card', null, h('a', { href: addressOf(row) },
    picture(settings, { kind: person ? 'profile' : 'poster', path: row.poster_path ?? row.profile_path, width: 185, name }),
    h('span.card-name', null, name),
    line && h('span.card-note', null, line)));
}

/** strip is a row of cards that scrolls; grid wraps. */
export const strip = (cards) => h('ul.strip', { role: 'list' }, varied(cards));
export const grid = (cards) => h('ul.grid', { role: 'list' }, varied(cards));

/** varied gives neighbouring placeholders different tones. */
function varied(cards) {
  let before = -1;
  for (const box of cards.map((c) => c.querySelector('.placeholder'))) {
    if (!box) continue;
    let tone = Number(/tone-(\d+)/.exec(box.className)[1]);
    if (tone === before) {
      box.classList.replace(`tone-${tone}`, `tone-${(tone + 5) % TONES}`);
      tone = (tone + 5) % TONES;
    }
    before = tone;
  }
  return cards;
}

/** section is a part of a view, with a heading that names it. */
let sections = 0;
export function section(title, aside, ...children) {
  const id = `section-${++sections}`;
  return h('section.section', { 'aria-labelledby': id },
    h('div.section-head', null, h('h2', { id }, title), aside), children);
}

export const none = (sentence) => h('p.none', null, sentence);

/** facts is a list of terms; those without a value are left out. */
export function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== '' && !(Array.isArray(value) && !value.length));
  return h('dl.facts', null, shown.map(([term, value]) => h('div', null, h('dt', null, term), h('dd', null, value))));
}

/** commas puts commas between nodes. */
export const commas = (nodes) => nodes.flatMap((node, i) => (i ? [', ', node] : [node]));

export function rating(row) {
  if (!row.vote_count && !row.vote_average) return null; // a table may have grades without votes
  return h('span.rating', null, h('span', { 'aria-hidden': 'true' }, '★ '), h('span.unseen', null, 'Rated '), `${row.vote_average.toFixed(1)} of 10`, row.vote_count ? h('span.quiet', null, ` · ${count(row.vote_count, 'vote')}`) : null);
}

/** failure is the view of an error, with the API's own words. */
export function failure(err, again) {
  const known = err instanceof Failure;
  const title = !known ? 'This page has an error' : err.status === 404 ? 'Not found' : err.status === 0 ? 'No response' : 'The API refused the request';
  return h('div.failure', { role: 'alert' },
    h('h1', { tabindex: -1 }, title),
    h('p', null, err.message),
    known && err.path && h('p.quiet', null, h('code', null, err.path.split('?')[0]), err.status ? ` · status ${err.status}` : '', err.code ? ` · code ${err.code}` : ''),
    h('p', null, h('button.button', { type: 'button', onclick: again }, 'Try again'), ' ', h('a', { href: '#/' }, 'Go to the start')));
}

/** pages links to the pages before and after. address makes the route of a page. */
export function pages(list, address) {
  const last = Math.min(list.total_pages, 500); // later pages are refused
  if (last <= 1) return null;
  return h('nav.pages', { 'aria-label': 'Pages' },
    list.page > 1 ? h('a.button', { href: address(list.page - 1), rel: 'prev' }, 'Previous') : h('span'),
    h('span', null, `Page ${list.page} of ${last}`),
    list.page < last ? h('a.button', { href: address(list.page + 1), rel: 'next' }, 'Next') : h('span'));
}

/** skeleton holds the place of a view that loads. */
export function skeleton() {
  return h('div.skeleton', { 'aria-hidden': 'true' }, h('div.bone.wide'), h('div.bones', null, Array.from({ length: 6 }, () => h('div.bone.tall'))));
}
