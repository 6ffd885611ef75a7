// The start, lists, discover and results of a search.

import { h, add } from './dom.js';
import { configuration, get, localized, release } from './api.js';
import { find } from './find.js';
import { card, grid, nameOf, none, pages, section, strip } from './parts.js';
import { age, count } from './format.js';

const LISTS = {
  'trending/all/day': 'Trending today',
  'trending/all/week': 'Trending this week',
  'movie/popular': 'Popular movies',
  'movie/top_rated': 'Top rated movies',
  'movie/now_playing': 'Now playing',
  'movie/upcoming': 'Upcoming movies',
  'tv/popular': 'Popular series',
  'tv/top_rated': 'Top rated series',
  'tv/on_the_air': 'On the air',
  'tv/airing_today': 'Airing today',
  'person/popular': 'Popular people',
};
const START = ['trending/all/day', 'movie/popular', 'tv/popular', 'movie/top_rated', 'movie/now_playing', 'movie/upcoming'];

/** start shows the first rows of some lists. */
export async function start() {
  const [settings, about, ...lists] = await Promise.all([configuration(), release().catch(() => null), ...START.map((name) => get(localized(`/3/${name}`)))]);
  const resources = about?.resources;
  const view = h('div.start', null,
    h('div.lead', null,
      h('h1', { tabindex: -1 }, 'Your movie database'),
      h('p', null, resources ? `${count(resources.movie ?? 0, 'movie')}, ${count(resources.tv ?? 0, 'series', 'series')} and ${count(resources.person ?? 0, 'person', 'people')}` : 'Movies, series and people',
        ', served by this machine. ', about?.built ? `Built ${age(about.built)}. ` : '', h('a', { href: '#/release' }, 'About the release'))),
    START.map((name, i) => lists[i].results.length > 0 && section(LISTS[name], h('a', { href: `#/list/${name}`, 'aria-label': `All of ${LISTS[name]}` }, 'All'),
      strip(lists[i].results.filter((row) => row.media_type !== 'person').slice(0, 12).map((row) => card(settings, typed(name, row)))))));
  return { title: 'Start', view };
}

const typed = (name, row) => (row.media_type || name.startsWith('trending') ? row : { ...row, media_type: name.split('/')[0] });

/** list shows one list, page by page. */
export async function list(parts, query) {
  const name = parts.join('/');
  const title = LISTS[name] ?? name;
  const page = query.get('page') ?? '1';
  const [settings, rows] = await Promise.all([configuration(), get(localized(`/3/${name}`, { page }))]);
  const view = h('div', null,
    h('h1', { tabindex: -1 }, title),
    h('nav.tabs', { 'aria-label': 'Lists' }, h('ul', { role: 'list' }, Object.entries(LISTS).map(([other, label]) =>
      h('li', null, h('a', { href: `#/list/${other}`, 'aria-current': other === name ? 'page' : null }, label))))),
    h('p.quiet', null, count(rows.total_results, 'result'), rows.dates ? `, ${rows.dates.minimum} to ${rows.dates.maximum}` : ''),
    rows.results.length ? grid(rows.results.map((row) => card(settings, typed(name, row)))) : none('This release has no titles for this list.'),
    pages(rows, (n) => `#/list/${name}?page=${n}`));
  return { title, view };
}

const ORDERS = {
  'popularity.desc': 'Most popular', 'vote_average.desc': 'Best rated', 'vote_count.desc': 'Most votes',
  'primary_release_date.desc': 'Newest', 'primary_release_date.asc': 'Oldest', 'title.asc': 'Title',
};
const NARROWER = { with_keywords: 'keyword', with_companies: 'company', with_networks: 'network' };

/** discover filters titles by genre and year. */
export async function discover(parts, query) {
  const kind = parts[0] === 'tv' ? 'tv' : 'movie';
  const at = (name) => query.get(name) ?? '';
  const order = at('sort') || 'popularity.desc';
  const narrower = Object.keys(NARROWER).filter((name) => at(name));
  const forSeries = { 'primary_release_date.desc': 'first_air_date.desc', 'primary_release_date.asc': 'first_air_date.asc', 'title.asc': 'name.asc' };
  const filters = { with_genres: at('genre'), [kind === 'tv' ? 'first_air_date_year' : 'primary_release_year']: at('year'), page: at('page') || '1' };
  filters.sort_by = kind === 'tv' ? forSeries[order] ?? order : order;
  for (const name of narrower) filters[name] = at(name);
  const [settings, genres, rows, ...names] = await Promise.all([configuration(), get(localized(`/3/genre/${kind}/list`)), get(localized(`/3/discover/${kind}`, filters)),
    ...narrower.map((name) => get(`/3/${NARROWER[name]}/${at(name)}`).then((r) => r.name, () => at(name)))]);

  const go = (changes) => {
    const next = new URLSearchParams(query);
    next.delete('page');
    for (const [key, value] of Object.entries(changes)) value ? next.set(key, value) : next.delete(key);
    const text = next.toString();
    return `#/discover/${kind}${text ? `?${text}` : ''}`;
  };
  const change = (key) => (event) => { location.hash = go({ [key]: event.target.value.trim() }); };
  const view = h('div', null,
    h('h1', { tabindex: -1 }, narrower.length ? `Titles: ${names.join(', ')}` : 'Discover'),
    h('form.filters', { onsubmit: (event) => event.preventDefault() },
      h('label', null, 'Kind', select('discover-kind', { movie: 'Movies', tv: 'Series' }, kind, (event) => {
        location.hash = go({ genre: '' }).replace(/^#\/discover\/\w+/, `#/discover/${event.target.value}`);
      })),
      h('label', null, 'Genre', select('discover-genre', { '': 'All genres', ...Object.fromEntries(genres.genres.map((g) => [`g${g.id}`, g.name])) }, at('genre') && `g${at('genre')}`,
        (event) => { location.hash = go({ genre: event.target.value.slice(1) }); })),
      h('label', null, 'Year', h('input', { id: 'discover-year', type: 'text', inputmode: 'numeric', pattern: '[0-9]{4}', size: 6, placeholder: 'Any', value: at('year'), onchange: change('year') })),
      h('label', null, 'Order', select('discover-order', ORDERS, order, change('sort')))),
    h('p.quiet', { role: 'status' }, count(rows.total_results, 'result')),
    rows.results.length ? grid(rows.results.map((row) => card(settings, { ...row, media_type: kind }))) : none('Nothing matches. Try another genre or year.'),
    pages(rows, (n) => { const next = new URLSearchParams(query); next.set('page', n); return `#/discover/${kind}?${next}`; }));
  return { title: 'Discover', view };
}

function select(id, options, value, onchange) {
  return h('select', { id, onchange }, Object.entries(options).map(([key, label]) => h('option', { value: key, selected: key === value }, label)));
}

/** results shows all that a search finds. */
export async function results(parts, query) {
  const words = (query.get('q') ?? '').trim();
  const page = query.get('page') ?? '1';
  const view = h('div', null, h('h1', { tabindex: -1 }, words ? `Results for “${words}”` : 'Search'));
  if (!words) {
    view.append(none('Type a title or a name into the search field above.'));
    return { title: 'Search', view };
  }
  const [settings, rows] = await Promise.all([configuration(), find(words, { page })]);
  const name = rows.near && nameOf(rows.results[0]);
  add(view, [
    h('p.quiet', { role: 'status' }, rows.near ? ['Nothing is called so. Did you mean ', h('a', { href: `#/search?q=${encodeURIComponent(name)}` }, name), '?'] : count(rows.total_results, 'result')),
    rows.results.length ? grid(rows.results.map((row) => card(settings, row))) : none('Nothing has this title or name. Check the spelling, or try fewer words.'),
    pages(rows, (n) => `#/search?q=${encodeURIComponent(words)}&page=${n}`)]);
  return { title: `Results for ${words}`, view };
}
