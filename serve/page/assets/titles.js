// Views of a movie, a series, a season, a person and a collection, each from one response of the API.

import { h } from './dom.js';
import { configuration, get, language, localized, outside } from './api.js';
import { card, commas, facts, grid, kindOf, nameOf, none, picture, rating, section, strip, yearOf } from './parts.js';
import { spliceBrief } from './splice.js';
import { count, date, language as languageName, minutes, money, number, region, year } from './format.js';

const TITLE = ['credits', 'videos', 'keywords', 'recommendations', 'external_ids', 'watch/providers', 'translations'];
const APPENDED = {
  movie: [...TITLE, 'release_dates', 'reviews'],
  tv: [...TITLE.filter((name) => name !== 'credits'), 'aggregate_credits', 'content_ratings', 'reviews'],
  season: ['aggregate_credits', 'videos'],
  episode: ['credits'],
  person: ['combined_credits', 'external_ids'],
  collection: [],
};

/** fetched returns the resource at a path with what its view needs, and the request that gave it. */
async function fetched(kind, path) {
  const request = localized(path, { append_to_response: APPENDED[kind].join(',') });
  const [settings, row] = await Promise.all([configuration(), get(request)]);
  return [settings, row, request];
}

/** textLanguage is the lang attribute of a title: what has no translation is in its original language. */
const textLanguage = (row, text, original) => (text === original && row.original_language ? row.original_language : language());

function head(settings, row, { eyebrow, kind, path, meta, more }) {
  const name = nameOf(row);
  const original = row.original_title ?? row.original_name;
  const overview = row.overview || row.biography;
  return h('div.title-head', null,
    picture(settings, { kind, path, width: kind === 'still' ? 300 : 342, name, alt: `${kind === 'profile' ? 'Portrait' : kind === 'still' ? 'Still' : 'Poster'} of ${name}` }),
    h('div.title-text', null,
      h('p.eyebrow', null, eyebrow),
      h('h1', { tabindex: -1, lang: textLanguage(row, name, original) }, name, yearOf(row) && h('span.year', null, ` ${yearOf(row)}`)),
      original && original !== name && h('p.original', null, 'Original title: ', h('span', { lang: row.original_language }, original)),
      h('p.meta', null, meta.filter(Boolean).flatMap((part, i) => (i ? [h('span.dot', { 'aria-hidden': 'true' }, '\u00a0· '), part] : [part]))),
      row.tagline && h('p.tagline', { lang: language() }, row.tagline),
      overview ? h('p.overview', { lang: language() }, overview) : none(`No text in ${languageName(language())}.`),
      more));
}

const genres = (row, kind) => (row.genres?.length ? commas(row.genres.map((g) => h('a', { href: `#/discover/${kind}?genre=${g.id}` }, g.name))) : null);
const filtered = (rows, kind, name) => (rows?.length ? commas(rows.map((r) => h('a', { href: `#/discover/${kind}?${name}=${r.id}` }, r.name))) : null);
const outlink = (href, label) => (outside(href) ? h('a', { href: outside(href), rel: 'noopener noreferrer external' }, label) : null);

const CAST = 18;
function cast(settings, people) {
  if (!people) return null;
  const rows = people.map((p) => card(settings, { ...p, media_type: 'person' }, p.character ?? p.roles?.map((r) => r.character).filter(Boolean).slice(0, 2).join(', ') ?? ''));
  return section('Cast', h('span.quiet', null, count(people.length, 'person', 'people')),
    rows.length === 0 ? none('No cast is known.') : [strip(rows.slice(0, CAST)),
      rows.length > CAST && h('details.more', null, h('summary', null, `${rows.length - CAST} more`), grid(rows.slice(CAST)))]);
}

const JOBS = ['Director', 'Screenplay', 'Writer', 'Original Music Composer', 'Director of Photography'];
function crew(people) {
  const jobs = new Map(JOBS.map((job) => [job, new Map()]));
  for (const p of people ?? []) {
    for (const job of p.jobs?.map((j) => j.job) ?? [p.job]) jobs.get(job)?.set(p.id, p);
  }
  return [...jobs].filter(([, found]) => found.size).map(([job, found]) => [job, commas([...found.values()].slice(0, 4).map((p) => h('a', { href: `#/person/${p.id}` }, p.name)))]);
}

const HOSTS = { YouTube: 'https://www.youtube.com/watch?v=', Vimeo: 'https://vimeo.com/' };
function videos(row) {
  const rows = row.videos?.results;
  return rows && section('Videos', null, rows.length === 0 ? none('No videos in this language.') : h('ul.plain', { role: 'list' }, rows.slice(0, 12).map((v) =>
    h('li', { lang: v.iso_639_1 }, HOSTS[v.site] ? outlink(HOSTS[v.site] + encodeURIComponent(v.key), v.name) : v.name, h('span.quiet', null, ` ${v.type}, ${v.site}, ${v.size}p`)))));
}

const OFFERS = { flatrate: 'Stream', free: 'Free', ads: 'With ads', rent: 'Rent', buy: 'Buy' };
function providers(row) {
  const regions = Object.entries(row['watch/providers']?.results ?? {}).sort();
  return row['watch/providers'] && section('Where to watch', null, regions.length === 0 ? none('No offers are known.') : [
    h('div.scroll', { tabindex: 0, role: 'region', 'aria-label': 'Offers by country' }, h('table', null,
      h('thead', null, h('tr', null, h('th', { scope: 'col' }, 'Country'), h('th', { scope: 'col' }, 'Offers'))),
      h('tbody', null, regions.map(([code, offers]) => h('tr', null,
        h('th', { scope: 'row' }, outlink(offers.link, region(code)) ?? region(code)),
        h('td', null, Object.entries(OFFERS).filter(([key]) => offers[key]?.length).map(([key, label]) =>
          h('span.offer', null, h('span.quiet', null, `${label}: `), offers[key].map((o) => o.provider_name).join(', '))))))))),
    h('p.quiet.small', null, 'Offers by JustWatch, if the data came from TMDB.')]);
}

function keywords(row, kind) {
  const rows = row.keywords?.keywords ?? row.keywords?.results;
  return rows && section('Keywords', null, rows.length === 0 ? none('No keywords are known.') : h('ul.chips', { role: 'list' }, rows.map((k) => h('li', null, h('a', { href: `#/discover/${kind}?with_keywords=${k.id}` }, k.name)))));
}

function related(settings, row, kind) {
  const rows = row.recommendations?.results;
  return rows && section('Recommendations', null, rows.length === 0 ? none('No recommendations are known.') : strip(rows.map((r) => card(settings, { media_type: kind, ...r }))));
}

function reviews(row) {
  const rows = row.reviews?.results ?? [];
  if (!rows.length) return null;
  return section('Reviews', h('span.quiet', null, count(row.reviews.total_results ?? rows.length, 'review')), rows.slice(0, 3).map((r) =>
    h('article.review', { lang: r.iso_639_1 }, h('h3', null, r.author, r.author_details?.rating ? h('span.quiet', null, ` ${r.author_details.rating} of 10`) : ''), h('p', null, r.content))));
}

const SITES = {
  imdb_id: ['IMDb', (id) => `https://www.imdb.com/${id.startsWith('nm') ? 'name' : 'title'}/${id}/`],
  wikidata_id: ['Wikidata', (id) => `https://www.wikidata.org/wiki/${id}`],
  tvdb_id: ['TheTVDB', (id) => `https://thetvdb.com/dereferrer/series/${id}`],
  facebook_id: ['Facebook', (id) => `https://www.facebook.com/${id}`],
  instagram_id: ['Instagram', (id) => `https://www.instagram.com/${id}/`],
  twitter_id: ['X', (id) => `https://x.com/${id}`],
};
function external(row) {
  const ids = Object.entries(SITES).filter(([key]) => row.external_ids?.[key]);
  return section('Elsewhere', null, ids.length === 0 && !outside(row.homepage) ? none('No other addresses are known.') : h('ul.chips', { role: 'list' },
    outside(row.homepage) && h('li', null, outlink(row.homepage, 'Homepage')),
    ids.map(([key, [site, address]]) => h('li', null, outlink(address(String(row.external_ids[key])), site), h('span.quiet', null, ` ${row.external_ids[key]}`)))));
}

/** translated links to the languages of a title, with the region where a language has several. */
function translated(row) {
  const rows = row.translations?.translations ?? [];
  if (!rows.length) return null;
  const several = (t) => rows.filter((other) => other.iso_639_1 === t.iso_639_1).length > 1;
  return rows.map((t) => [h('button.link', { type: 'button', 'data-language': `${t.iso_639_1}-${t.iso_3166_1}`, lang: t.iso_639_1 },
    t.name || t.english_name, several(t) && h('span', { lang: 'en' }, ` (${region(t.iso_3166_1)})`)), ' ']); // a comma after a button may begin a line
}

const certificate = (row) => {
  const found = (row.release_dates?.results ?? []).find((r) => r.iso_3166_1 === 'US')?.release_dates.find((d) => d.certification)?.certification;
  return found ?? (row.content_ratings?.results ?? []).find((r) => r.iso_3166_1 === 'US')?.rating;
};

async function movie(id) {
  const [settings, row, request] = await fetched('movie', `/3/movie/${id}`);
  const view = h('article.title', null,
    head(settings, row, {
      eyebrow: 'Movie', kind: 'poster', path: row.poster_path, meta: [certificate(row) && h('span.certificate', null, certificate(row)), row.runtime ? minutes(row.runtime) : null, genres(row, 'movie'), rating(row)],
      more: row.belongs_to_collection && h('p', null, 'Part of ', h('a', { href: `#/collection/${row.belongs_to_collection.id}` }, row.belongs_to_collection.name)),
    }),
    cast(settings, row.credits?.cast),
    spliceBrief(request),
    section('Facts', null, facts([
      ...crew(row.credits?.crew),
      ['Released', row.release_date && date(row.release_date)], ['Status', row.status],
      ['Original language', row.original_language && languageName(row.original_language)],
      ['Countries', row.production_countries?.map((c) => region(c.iso_3166_1)).join(', ')],
      ['Companies', filtered(row.production_companies, 'movie', 'with_companies')],
      ['Budget', row.budget ? money(row.budget) : null], ['Revenue', row.revenue ? money(row.revenue) : null],
      ['Read it in', translated(row)],
    ])),
    videos(row), providers(row), keywords(row, 'movie'), related(settings, row, 'movie'), reviews(row), external(row));
  return { title: nameOf(row), view };
}

async function series(id) {
  const [settings, row, request] = await fetched('tv', `/3/tv/${id}`);
  const view = h('article.title', null,
    head(settings, row, {
      eyebrow: 'Series', kind: 'poster', path: row.poster_path,
      meta: [certificate(row) && h('span.certificate', null, certificate(row)), count(row.number_of_seasons, 'season'), count(row.number_of_episodes, 'episode'), genres(row, 'tv'), rating(row)],
    }),
    section('Seasons', null, row.seasons.length === 0 ? none('No seasons are known.') : strip(row.seasons.map((season) => h('li.card', null,
      h('a', { href: `#/tv/${id}/season/${season.season_number}` },
        picture(settings, { kind: 'poster', path: season.poster_path, width: 185, name: season.name }),
        h('span.card-name', null, season.name), h('span.card-note', null, [count(season.episode_count, 'episode'), year(season.air_date)].filter(Boolean).join(' · '))))))),
    cast(settings, row.aggregate_credits?.cast),
    spliceBrief(request),
    section('Facts', null, facts([
      ['Created by', row.created_by?.length ? commas(row.created_by.map((p) => h('a', { href: `#/person/${p.id}` }, p.name))) : null],
      ['First aired', row.first_air_date && date(row.first_air_date)], ['Last aired', row.last_air_date && date(row.last_air_date)],
      ['Status', row.status], ['Type', row.type],
      ['Networks', filtered(row.networks, 'tv', 'with_networks')], ['Companies', filtered(row.production_companies, 'tv', 'with_companies')],
      ['Original language', row.original_language && languageName(row.original_language)],
      ['Countries', row.origin_country?.map(region).join(', ')], ['Read it in', translated(row)],
    ])),
    videos(row), providers(row), keywords(row, 'tv'), related(settings, row, 'tv'), reviews(row), external(row));
  return { title: nameOf(row), view };
}

async function season(id, n) {
  const [[settings, row, request], show] = await Promise.all([fetched('season', `/3/tv/${id}/season/${n}`), get(localized(`/3/tv/${id}`))]);
  const view = h('article.title', null,
    h('nav.trail', { 'aria-label': 'Above' }, h('a', { href: `#/tv/${id}` }, show.name)),
    head(settings, row, { eyebrow: `Season of ${show.name}`, kind: 'poster', path: row.poster_path, meta: [count(row.episodes.length, 'episode'), row.air_date && date(row.air_date)] }),
    section('Episodes', null, row.episodes.length === 0 ? none('No episodes are known.') : h('ol.episodes', { role: 'list' }, row.episodes.map((e) => h('li', null,
      picture(settings, { kind: 'still', path: e.still_path, width: 185, name: e.name }),
      h('div', null,
        h('h3', null, h('a', { href: `#/tv/${id}/season/${n}/episode/${e.episode_number}` }, `${e.episode_number}. ${e.name}`)),
        h('p.quiet', null, [e.air_date && date(e.air_date), e.runtime && minutes(e.runtime)].filter(Boolean).join(' · ')),
        e.overview && h('p', { lang: language() }, e.overview)))))),
    cast(settings, row.aggregate_credits?.cast), spliceBrief(request), videos(row));
  return { title: `${row.name}, ${show.name}`, view };
}

async function episode(id, n, e) {
  const [[settings, row, request], show] = await Promise.all([fetched('episode', `/3/tv/${id}/season/${n}/episode/${e}`), get(localized(`/3/tv/${id}`, { append_to_response: `season/${n}` }))]);
  const numbers = (show[`season/${n}`]?.episodes ?? []).map((other) => other.episode_number);
  const around = (to, label) => to !== undefined && h('a', { href: `#/tv/${id}/season/${n}/episode/${to}` }, label);
  const view = h('article.title', null,
    h('nav.trail', { 'aria-label': 'Above' }, h('a', { href: `#/tv/${id}` }, show.name), ' / ', h('a', { href: `#/tv/${id}/season/${n}` }, `Season ${n}`)),
    head(settings, row, {
      eyebrow: `Season ${n}, episode ${e}`, kind: 'still', path: row.still_path, meta: [row.air_date && date(row.air_date), row.runtime && minutes(row.runtime), rating(row)],
      more: h('p', null, around(numbers.findLast((other) => other < e), 'Episode before'), ' ', around(numbers.find((other) => other > e), 'Next episode')),
    }),
    cast(settings, [...(row.credits?.cast ?? []), ...(row.credits?.guest_stars ?? row.guest_stars ?? [])]),
    spliceBrief(request),
    section('Facts', null, facts([...crew(row.crew), ['Production code', row.production_code]])));
  return { title: `${row.name}, ${show.name}`, view };
}

async function person(id) {
  const [settings, row, request] = await fetched('person', `/3/person/${id}`);
  const seen = new Map();
  for (const credit of [...(row.combined_credits?.cast ?? []), ...(row.combined_credits?.crew ?? [])]) {
    const key = `${credit.media_type} ${credit.id}`;
    const kept = seen.get(key) ?? { ...credit, roles: [] };
    const role = credit.character || credit.job;
    if (role && !kept.roles.includes(role)) kept.roles.push(role);
    seen.set(key, kept);
  }
  const credits = [...seen.values()].sort((a, b) => (yearOf(b) || '9999').localeCompare(yearOf(a) || '9999'));
  const view = h('article.title', null,
    head(settings, row, {
      eyebrow: 'Person', kind: 'profile', path: row.profile_path,
      meta: [row.known_for_department, row.birthday && `Born ${date(row.birthday)}`, row.deathday && `Died ${date(row.deathday)}`, row.place_of_birth],
    }),
    section('Credits', h('span.quiet', null, count(credits.length, 'title')), credits.length === 0 ? none('No credits are known.') :
      grid(credits.map((c) => card(settings, c, [yearOf(c), c.roles.slice(0, 2).join(', ')].filter(Boolean).join(' · '))))),
    section('Facts', null, facts([['Also known as', row.also_known_as?.join(', ')], ['Popularity', row.popularity && number(row.popularity)]])),
    spliceBrief(request), external(row));
  return { title: row.name, view };
}

async function collection(id) {
  const [settings, row, request] = await fetched('collection', `/3/collection/${id}`);
  const view = h('article.title', null,
    head(settings, row, { eyebrow: 'Collection', kind: 'poster', path: row.poster_path, meta: [count(row.parts.length, 'title')] }),
    section('Titles', null, row.parts.length === 0 ? none('No titles are known.') :
      grid([...row.parts].sort((a, b) => (yearOf(a) || '9999').localeCompare(yearOf(b) || '9999')).map((p) => card(settings, { ...p, media_type: kindOf(p) })))),
    spliceBrief(request));
  return { title: row.name, view };
}

/** title picks the view of a route such as tv/1399/season/1. */
export function title(kind, parts) {
  const [id, , n, , e] = parts;
  switch (kind) {
    case 'movie': return movie(id);
    case 'person': return person(id);
    case 'collection': return collection(id);
    default: return e ? episode(id, n, e) : n ? season(id, n) : series(id);
  }
}
