// What a text in the search field finds: names, ids, a year behind a title, and near misses.

import { get, localized, withQuery } from './api.js';

const none = { results: [], total_results: 0, total_pages: 0 };

/**
 * find returns a page of what the words name: results, page, total_results and total_pages as the API has them. near
 * is set if these are near misses. A row that was found by another name has it as found, one found by its id has byID.
 */
export async function find(words, { page = '1', signal } = {}) {
  const ask = (kind, more) => get(localized(`/3/search/${kind}`, { page, ...more }), { signal });
  const [named, exact] = await Promise.all([ask('multi', { query: words }), page === '1' ? byID(words, signal) : []]);
  let found = named;
  const [, title, year] = /^(.*\S)\s+\(?(\d{4})\)?$/s.exec(words) ?? [];
  if (title && !found.total_results) {
    const [movies, series] = await Promise.all([ask('movie', { query: title, year }), ask('tv', { query: title, year })]);
    found = {
      results: [...movies.results.map((row) => ({ ...row, media_type: 'movie' })), ...series.results.map((row) => ({ ...row, media_type: 'tv' }))],
      total_results: movies.total_results + series.total_results, total_pages: Math.max(movies.total_pages, series.total_pages),
    };
  }
  const isNear = !found.total_results && !exact.length;
  if (isNear) found = await ask('multi', { query: title ?? words, fuzzy: 'true' });
  else await otherNames(title ?? words, found.results, signal);
  const isSame = (row) => [row.title, row.name].includes(words);
  const others = found.results.filter((row) => !exact.some((e) => e.media_type === row.media_type && e.id === row.id));
  return {
    total_pages: found.total_pages, page: Number(page), near: isNear && others.length > 0,
    total_results: found.total_results + exact.length - (found.results.length - others.length),
    results: [...others.filter(isSame), ...exact, ...others.filter((row) => !isSame(row))],
  };
}

/** byID returns what has the words as its id: one of the API's own, or one of IMDb. */
async function byID(words, signal) {
  const kinds = ['movie', 'tv', 'person'];
  if (/^(tt|nm)\d+$/.test(words)) {
    const found = await get(localized(`/3/find/${words}`, { external_source: 'imdb_id' }), { signal }).catch(missing);
    return kinds.flatMap((kind) => (found[`${kind}_results`] ?? []).map((row) => ({ ...row, media_type: kind, byID: words })));
  }
  if (!/^[1-9]\d{0,9}$/.test(words)) return [];
  const found = await Promise.all(kinds.map((kind) => get(localized(`/3/${kind}`, { ids: words }), { signal }).catch(missing)));
  return found.flatMap((list, i) => list.results.map((row) => ({ ...row, media_type: kinds[i], byID: words })));
}

/** missing stands for a refusal; requests that were given up stay so. */
function missing(err) {
  if (err.status === undefined) throw err;
  return none;
}

const parts = (text) => (text ?? '').normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);

/** otherNames sets found in rows whose own names lack one of the words. */
async function otherNames(words, rows, signal) {
  const wanted = parts(words);
  const has = (name) => wanted.every((w) => parts(name).some((part) => part.startsWith(w)));
  const lacking = rows.filter((row) => !has([row.title, row.name, row.original_title, row.original_name].join(' ')));
  const appended = { movie: 'alternative_titles,translations', tv: 'alternative_titles,translations', person: 'translations' };
  await Promise.all(Object.entries(appended).map(async ([kind, names]) => {
    const some = lacking.filter((row) => row.media_type === kind);
    if (!some.length) return;
    const details = await get(withQuery(`/3/${kind}`, { ids: some.map((row) => row.id).join(','), append_to_response: names }), { signal }).catch(missing);
    for (const row of some) {
      const d = details.results.find((other) => other.id === row.id);
      const all = [...(d?.alternative_titles?.titles ?? d?.alternative_titles?.results ?? []).map((t) => t.title), ...(d?.also_known_as ?? []),
        ...(d?.translations?.translations ?? []).map((t) => t.data.title || t.data.name)];
      row.found = all.find((name) => name && has(name));
    }
  }));
}
