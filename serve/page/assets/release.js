// What the current release is: counts, sizes, changes, plots.

import { h } from './dom.js';
import { get, language, release, withQuery } from './api.js';
import { columnChart } from './charts.js';
import { facts, nameOf, none, section } from './parts.js';
import { age, bytes, count, date, number } from './format.js';

const KINDS = {
  movie: ['movie', 'movies'], tv: ['series', 'series'], season: ['season', 'seasons'], episode: ['episode', 'episodes'], person: ['person', 'people'], collection: ['collection', 'collections'],
  company: ['company', 'companies'], network: ['network', 'networks'], keyword: ['keyword', 'keywords'],
  review: ['review', 'reviews'], list: ['list', 'lists'], episode_group: ['episode group', 'episode groups'], find: ['external id', 'external ids'],
};
const INNER = ['genres', 'default']; // parts of responses, nothing that one looks for
const FIRST = Object.keys(KINDS);
const SHOWN = 20; // changed resources of a kind

/** about is the view at #/release. */
export async function about() {
  const told = await release(true);
  if (!told) return { title: 'Release', view: h('div', null, h('h1', { tabindex: -1 }, 'The release'), none('This server does not describe its release.')) };
  const changed = await Promise.all(['movie', 'tv', 'person'].map((kind) => changes(kind, (told.changes_at || told.built || '').slice(0, 10))));
  const kinds = Object.entries(told.resources ?? {}).filter(([kind]) => !INNER.includes(kind)).sort(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b));
  const view = h('div.release', null,
    h('h1', { tabindex: -1 }, 'The release'),
    h('p.lead-text', null, 'A release is one immutable build. This one is ', h('code', null, told.release), told.built ? `, built ${age(told.built)}` : '', '.'),
    section('What it holds', null, h('ul.tiles', { role: 'list' }, kinds.map(([kind, n]) => h('li', null, h('b', null, number(n)), h('span', null, KINDS[kind]?.[n === 1 ? 0 : 1] ?? kind.replaceAll('_', ' ')))))),
    section('Facts', null, facts([
      ['Built', told.built ? `${date(told.built)} (${age(told.built)})` : 'not known'],
      ['Release before', told.parent ? h('code', null, told.parent) : 'none'],
      ['Age of the data', told.data ? `${date(told.data.oldest)} to ${date(told.data.newest)}` : 'not known'],
      ['Bytes of JSON', known(told.raw_bytes, bytes)], ['Bytes stored', known(told.stored_bytes, (n) => `${bytes(n)}${told.raw_bytes ? `, ${(told.raw_bytes / n).toFixed(1)}× smaller` : ''}`)],
      ['Files on disk', known(told.files_bytes, bytes)],
    ])),
    changesOf(told, changed),
    yearsOf(told),
    growthOf(told),
    section('Quarantine and conflicts', null,
      report('Rows in quarantine', told.quarantine, 'row', 'The release does not say how many rows its ingest set aside.'),
      report('Conflicts between dumps', told.conflicts, 'value', 'The release does not say where its dumps differ.')));
  return { title: 'Release', view };
}

const known = (value, form) => (value === null || value === undefined ? null : form(value));
const rank = (kind) => (FIRST.includes(kind) ? FIRST.indexOf(kind) : FIRST.length);

/** changes are the resources of a kind that the build of a day changed, with their names. Removed ones have none. */
async function changes(kind, day) {
  try {
    const list = await get(withQuery(`/3/${kind}/changes`, { start_date: day, end_date: day }));
    const ids = list.results.slice(0, SHOWN).map((row) => row.id);
    if (!ids.length) return { kind, total: 0, rows: [] };
    const rows = await get(withQuery(`/3/${kind}`, { ids: ids.join(','), language: language() }));
    return { kind, total: list.total_results, rows: ids.map((id) => rows.results.find((row) => row.id === id) ?? { id }) };
  } catch (err) {
    return { kind, total: 0, rows: [], problem: err.message };
  }
}

function changesOf(told, changed) {
  const summary = told.changes ? [['created', 'new'], ['changed', 'changed'], ['deleted', 'removed']].map(([key, label]) => `${number(told.changes[key] ?? 0)} ${label}`).join(', ') : null;
  const some = changed.filter((c) => c.rows.length);
  return section('What changed', null,
    h('p', null, summary ? `Since the release before: ${summary}.` : told.parent ? 'This release keeps no count of changes.' : 'This is the first release: there is nothing to compare with.'),
    changed.filter((c) => c.problem).slice(0, 1).map((c) => h('p.problem', null, c.problem)),
    some.length === 0 ? told.parent && none('No movie, series or person changed on the day of the build.') : some.map((c) => h('div', null,
      h('h3', null, `${{ movie: 'Movies', tv: 'Series', person: 'People' }[c.kind]} `, h('span.quiet', null, number(c.total))),
      h('ul.chips', { role: 'list' }, c.rows.map((row) => (row.title ?? row.name ? h('li', null, h('a', { href: `#/${c.kind}/${row.id}` }, nameOf(row))) : h('li.none', null, `${c.kind} ${row.id}`))), c.total > c.rows.length && h('li.none', null, `${number(c.total - c.rows.length)} more`)))));
}

function yearsOf(told) {
  if (!told.years?.length) return section('Years', null, none('The release does not say which years it covers.'));
  const by = new Map(told.years.map((y) => [y.year, y]));
  const years = [...by.keys()].sort((a, b) => a - b);
  const columns = [];
  for (let y = Math.max(years[0], years.at(-1) - 200); y <= years.at(-1); y++) columns.push({ label: String(y), values: [by.get(y)?.movies ?? 0, by.get(y)?.series ?? 0] });
  return section('Years', null, columnChart({ title: `Titles by year, ${columns[0].label} to ${columns.at(-1).label}`, first: 'Year', names: ['Movies', 'Series'], columns, form: number }));
}

function growthOf(told) {
  const all = told.releases ?? [];
  if (all.length < 2) return section('Growth', null, none('The store has one release. Growth shows from the second on.'));
  return section('Growth', null, columnChart({
    title: 'Bytes by release, oldest first', first: 'Release', names: ['Bytes'], form: bytes,
    columns: all.map((r) => ({ label: r.built ? r.built.slice(0, 10) : r.release, values: [r.bytes], note: r.release })),
  }));
}

/** report shows a count of the ingest's report and its largest entries. */
function report(title, told, what, without) {
  if (!told) return h('div', null, h('h3', null, title), none(without));
  const total = told.rows ?? told.count ?? 0;
  const list = told.reasons ?? told.fields ?? {};
  const rows = list.top ?? [];
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row).filter((key) => typeof row[key] !== 'object')))];
  const cell = (value) => (typeof value === 'number' ? h('td.n', null, number(value)) : h('td', null, value ?? ''));
  return h('div', null, h('h3', null, title),
    h('p', null, total ? count(total, what) : 'None.'),
    rows.length > 0 && h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': title }, h('table', null,
      h('thead', null, h('tr', null, columns.map((name) => h(typeof rows[0][name] === 'number' ? 'th.n' : 'th', { scope: 'col' }, name.replaceAll('_', ' '))))),
      h('tbody', null, rows.slice(0, SHOWN).map((row) => h('tr', null, columns.map((name) => cell(row[name]))))))),
    list.more > 0 && h('p.quiet', null, `${count(list.more, 'entry', 'entries')} more`));
}
