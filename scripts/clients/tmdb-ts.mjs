// Drives tmdb-ts over all of its methods. It sends the token as bearer, and calls every
// address with a "?", whether there are parameters or not.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { BAD_PAGE, INVALID_KEY, NOT_FOUND, NO_SESSION, Run, SOMETIMES, env, falling, has, page, some, status } from './lib/run.mjs';

const { TMDB } = createRequire(import.meta.url)('tmdb-ts');
const { equal, ok, match } = assert;
const { url, token, user, bad } = env();

// The client has its address built in, and an option for another fetch. Where that address is
// ours (builtin.sh), it needs none.
const home = 'https://api.themoviedb.org';
const local = (address, init) => {
  assert.ok(address.startsWith(home), `calls ${address}`);
  return fetch(url + address.slice(home.length), init);
};

// methodsOf returns name -> bound method, over all groups of methods of a client.
function methodsOf(credential) {
  const tmdb = url === home ? new TMDB(credential) : new TMDB(credential, { fetch: local });
  const methods = new Map();
  for (const [group, { get }] of Object.entries(Object.getOwnPropertyDescriptors(TMDB.prototype))) {
    if (!get) continue;
    const endpoint = tmdb[group];
    for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(endpoint))) {
      if (name !== 'constructor') methods.set(`${group}.${name}`, endpoint[name].bind(endpoint));
    }
  }
  return methods;
}

const methods = methodsOf(token);
const find = (map) => (name) => map.get(name) ?? assert.fail(`no method ${name}`);
const run = new Run('tmdb-ts', {
  resolve: find(methods),
  prelude: `import { TMDB } from 'tmdb-ts';\ndeclare const client: TMDB;`,
  methods: [...methods.keys()],
  unused: {},
  wrong: [
    [/^tvShows\.(details alternative_titles\.|alternativeTitles )titles is missing/, 'series: results'],
    [/^tvShows\.(details keywords\.|keywords )keywords is missing/, 'series: results'],
    [/^tvShows\.(details content_ratings\.|contentRatings )results\[\]\.descriptor is missing/, 'descriptors'],
    [/^(tvShows|tvSeasons|tvEpisode)\.(details|credits) (credits\.)?cast\[\]\.cast_id is missing/, 'cast_id is of movies'],
    [/^tv(Shows|Seasons)\.(details translations\.|translations )translations\[\]\.data\.(title|runtime) is missing/, 'series, seasons: name, and no runtime'],
    [/^tvSeasons\.(details translations\.|translations )translations\[\]\.data\.(homepage|tagline) is missing/, 'seasons: name and overview'],
    [/^collections\.translations translations\[\]\.data\.(tagline|runtime) is missing/, 'collections: title, overview, homepage'],
    [/^tvSeasons\.(details images\.|images )(backdrops|logos) is missing/, 'seasons: posters'],
    [/^tvEpisode\.(details images\.|images )(backdrops|logos|posters) is missing/, 'episodes: stills'],
    [/^tv(Seasons|Episode)\.(details external_ids\.|externalIds )(imdb|facebook|instagram|twitter)_id is missing/, 'seasons and episodes: no social names'],
    [/^tvEpisode\.details credits\.id is missing/, 'appended objects have no id'],
    [/^(people\.(details translations\.|translation )|tvEpisode\.(details translations\.|translations ))translations is \[.* declared as an object/, 'translations is an array'],
    [/^people\.(details combined_credits\.|combinedCredits )(cast|crew)\[\]\.(original_name|name|episode_count|first_air_date|origin_country|release_date|video|title|original_title) is missing/, 'movies have a title, series a name'],
    [/^(companies|networks)\.images logos\[\]\.iso_639_1 is missing/, 'logos of companies and networks have no language'],
    [/^review\.details media_(title|type) is .* declared as number/, 'texts'],
    [/^credits\.getById person\.known_for is missing/, 'in lists of people'],
    [/^tvShows\.(details watch\/providers\.|watchProviders )results\.[A-Z]{2}\.(rent|buy) is missing/, 'left out where there is no offer'],
    [/^search\.keywords results\[\]\.id is \d+, declared as string/, 'a number'],
    [/^trending\.trending results\[\]\.known_for is missing/, 'in other lists of people'],
    [/^(movies|tvShows|tvSeasons|tvEpisode|people)\.(changes |details changes\.)changes\[\]\.items\[\]\.(original_)?value(\.season_id|\.season_number)? is /,
      'of any type, and original_value only where something was updated', SOMETIMES],
    [/^movies\.details reviews\.translations is missing/, 'the type of reviews is joined with that of translations'],
  ],
});
const call = run.call.bind(run);
const refused = run.refused.bind(run);

// Movies.
const movie = 11;
const pictured = 550; // the sample has its images and videos
call('movies.details', [movie], (v) => {
  equal(v.id, movie);
  equal(v.title, 'Star Wars');
  equal(v.imdb_id, 'tt0076759');
  equal(v.belongs_to_collection.id, 10);
  some(v.genres);
  some(v.production_companies);
  some(v.spoken_languages);
  ok(!('credits' in v), 'credits without being asked for');
});
call('movies.details', [movie, ['credits', 'images', 'videos', 'keywords', 'release_dates', 'alternative_titles',
  'external_ids', 'translations', 'watch/providers', 'recommendations', 'similar', 'changes', 'lists', 'reviews'], 'de-DE'], (v) => {
  equal(v.id, movie);
  equal(v.title, 'Krieg der Sterne');
  has(v.credits.cast, 2);
  ok(Array.isArray(v.videos.results));
  ok(Array.isArray(v.images.posters)); // it has none
  has(v.keywords.keywords, 803);
  some(v.release_dates.results);
  some(v.alternative_titles.titles);
  equal(v.external_ids.imdb_id, 'tt0076759');
  some(v.translations.translations);
  ok(v['watch/providers'].results.US.link.includes('/movie/11'));
  some(v.recommendations.results);
  some(v.similar.results);
  ok(Array.isArray(v.changes.changes));
  ok(Array.isArray(v.lists.results));
  ok(Array.isArray(v.reviews.results)); // those written in German
});
call('movies.alternativeTitles', [movie], (v) => { equal(v.id, movie); some(v.titles); });
call('movies.changes', [movie], (v) => {
  has(v.changes.map((c) => ({ id: c.key })), 'tagline');
  match(v.changes[0].items[0].time, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
});
call('movies.credits', [movie, { language: 'en-US' }], (v) => {
  equal(v.id, movie);
  equal(v.cast.find((c) => c.id === 2).character, 'Luke Skywalker');
  equal(v.crew.find((c) => c.job === 'Director').name, 'George Lucas');
});
call('movies.externalIds', [movie], (v) => { equal(v.id, movie); equal(v.wikidata_id, 'Q17738'); });
call('movies.images', [pictured], (v) => { equal(v.id, pictured); some(v.posters); some(v.backdrops); some(v.logos); });
call('movies.images', [pictured, { include_image_language: ['de', 'null'], language: 'de-DE' }], (v) => {
  some(v.posters);
  ok([...v.posters, ...v.backdrops, ...v.logos].every((i) => i.iso_639_1 === 'de' || i.iso_639_1 === null), 'images of other languages');
});
call('movies.keywords', [movie], (v) => { equal(v.id, movie); has(v.keywords, 803); });
call('movies.lists', [movie, { page: 1 }], (v) => { equal(v.id, movie); page(v); });
call('movies.recommendations', [movie, { page: 1, language: 'en-US' }], (v) => { page(v); some(v.results); });
call('movies.releaseDates', [movie], (v) => { equal(v.id, movie); match(v.results[0].release_dates[0].release_date, /T00:00:00\.000Z$/); });
call('movies.reviews', [movie, { page: 1 }], (v) => { equal(v.id, movie); page(v); has(v.results, '68df5cb7979936816bcef0a5'); });
call('movies.similar', [movie, { page: 1 }], (v) => { page(v); some(v.results); });
call('movies.translations', [movie], (v) => { equal(v.id, movie); some(v.translations); });
call('movies.videos', [pictured], (v) => { equal(v.id, pictured); some(v.results); });
call('movies.watchProviders', [movie], (v) => { equal(v.id, movie); some(v.results.US.flatrate ?? v.results.US.buy); });
call('movies.latest', [], (v) => ok(v.id > 0));
call('movies.nowPlaying', [{ page: 1, region: 'US' }], (v) => { page(v); ok(v.dates.minimum < v.dates.maximum); });
call('movies.upcoming', [{ page: 1, region: 'US' }], (v) => { page(v); ok(v.dates.minimum < v.dates.maximum); });
call('movies.popular', [], (v) => { page(v); some(v.results); falling(v.results, 'popularity'); });
call('movies.popular', [{ page: 2, language: 'fr-FR' }], (v) => page(v, 2));
call('movies.topRated', [{ page: 1 }], (v) => { page(v); some(v.results); falling(v.results, 'vote_average'); });
refused('movies.details', [999999999], (e) => status(e, ...NOT_FOUND));
refused('movies.popular', [{ page: 501 }], (e) => status(e, ...BAD_PAGE));
refused('movies.details', [movie], (e) => status(e, ...INVALID_KEY), find(methodsOf(bad)));

// Series, seasons and episodes.
const tv = 1396;
const season = { tvShowID: tv, seasonNumber: 1 };
const episode = { ...season, episodeNumber: 1 };
call('tvShows.details', [tv], (v) => {
  equal(v.id, tv);
  equal(v.name, 'Breaking Bad');
  equal(v.seasons.length, v.number_of_seasons);
  equal(v.last_episode_to_air.name, 'Felina');
  equal(v.networks[0].id, 174);
  equal(v.created_by[0].id, 66633);
});
call('tvShows.details', [tv, ['content_ratings', 'images', 'videos', 'credits', 'recommendations', 'changes', 'similar',
  'alternative_titles', 'external_ids', 'translations', 'watch/providers', 'aggregate_credits', 'episode_groups',
  'screened_theatrically', 'keywords'], 'ja-JP'], (v) => {
  equal(v.id, tv);
  equal(v.original_name, 'Breaking Bad');
  some(v.content_ratings.results);
  has(v.credits.cast, 17419);
  has(v.aggregate_credits.cast, 17419);
  some(v.recommendations.results);
  has(v.episode_groups.results, 'afbbb3b13c8d851e72055ce7');
  equal(v.external_ids.tvdb_id, 81189);
  has(v.keywords.results, 1508);
});
call('tvShows.alternativeTitles', [tv], (v) => { equal(v.id, tv); some(v.titles ?? v.results); });
call('tvShows.changes', [tv], (v) => has(v.changes.map((c) => ({ id: c.key })), 'tagline'));
call('tvShows.contentRatings', [tv], (v) => { equal(v.id, tv); some(v.results); });
call('tvShows.aggregateCredits', [tv], (v) => { equal(v.id, tv); some(v.cast[0].roles); some(v.crew[0].jobs); });
call('tvShows.credits', [tv], (v) => { equal(v.id, tv); has(v.cast, 17419); some(v.crew); });
call('tvShows.season', [tv, 1], (v) => { equal(v.id, 3572); equal(v.episodes.length, 7); });
call('tvShows.episodeGroups', [tv], (v) => { equal(v.id, tv); has(v.results, 'afbbb3b13c8d851e72055ce7'); });
call('tvShows.externalIds', [tv], (v) => { equal(v.id, tv); equal(v.imdb_id, 'tt0903747'); equal(v.tvdb_id, 81189); });
call('tvShows.images', [tv, { include_image_language: ['en'] }], (v) => { equal(v.id, tv); some(v.posters); });
call('tvShows.keywords', [tv], (v) => { equal(v.id, tv); has(v.results, 1508); });
call('tvShows.recommendations', [tv], (v) => { page(v); some(v.results); });
call('tvShows.reviews', [tv], (v) => { equal(v.id, tv); page(v); some(v.results); });
call('tvShows.screenedTheatrically', [tv], (v) => { equal(v.id, tv); ok(Array.isArray(v.results)); });
call('tvShows.similar', [tv], (v) => { page(v); some(v.results); });
call('tvShows.translations', [tv], (v) => { equal(v.id, tv); some(v.translations); });
call('tvShows.videos', [tv, { include_video_language: ['en', 'null'] }], (v) => { equal(v.id, tv); some(v.results); });
call('tvShows.watchProviders', [tv], (v) => { equal(v.id, tv); some(v.results.US.flatrate); });
call('tvShows.latest', [], (v) => ok(v.id > 0));
call('tvShows.onTheAir', [{ timezone: 'Europe/Berlin' }], (v) => page(v));
call('tvShows.airingToday', [{ timezone: 'Europe/Berlin' }], (v) => page(v));
call('tvShows.popular', [], (v) => { page(v); some(v.results); falling(v.results, 'popularity'); });
call('tvShows.topRated', [{ page: 1 }], (v) => { page(v); some(v.results); falling(v.results, 'vote_average'); });
refused('tvShows.details', [999999999], (e) => status(e, ...NOT_FOUND));

call('tvSeasons.details', [season, ['images', 'credits', 'external_ids', 'videos', 'aggregate_credits', 'translations'], { language: 'en-US' }], (v) => {
  equal(v.id, 3572);
  equal(v.season_number, 1);
  equal(v.episodes.length, 7);
  equal(v.external_ids.tvdb_id, 30272);
  ok(Array.isArray(v.credits.cast));
  some(v.aggregate_credits.cast);
  some(v.images.posters);
  some(v.translations.translations);
});
call('tvSeasons.aggregateCredits', [season], (v) => { equal(v.id, 3572); some(v.cast); });
call('tvSeasons.changes', [3572, {}], (v) => has(v.changes.map((c) => ({ id: c.key })), 'overview'));
call('tvSeasons.credits', [season], (v) => { equal(v.id, 3572); ok(Array.isArray(v.cast)); ok(Array.isArray(v.crew)); });
call('tvSeasons.externalIds', [season], (v) => { equal(v.id, 3572); equal(v.wikidata_id, 'Q1582890'); });
call('tvSeasons.images', [season, { include_image_language: ['en', 'null', 'de'] }], (v) => { equal(v.id, 3572); some(v.posters); });
call('tvSeasons.videos', [season, { include_video_language: ['en'] }], (v) => { equal(v.id, 3572); ok(Array.isArray(v.results)); });
call('tvSeasons.translations', [season], (v) => { equal(v.id, 3572); some(v.translations); });
refused('tvSeasons.details', [{ tvShowID: tv, seasonNumber: 99 }], (e) => status(e, ...NOT_FOUND));

call('tvEpisode.details', [episode, ['images', 'credits', 'external_ids', 'videos', 'translations']], (v) => {
  equal(v.id, 62085);
  equal(v.name, 'Pilot');
  some(v.guest_stars);
  some(v.credits.cast);
  some(v.images.stills);
  equal(v.external_ids.imdb_id, 'tt0959621');
});
call('tvEpisode.changes', [62085, {}], (v) => has(v.changes.map((c) => ({ id: c.key })), 'overview'));
call('tvEpisode.credits', [episode], (v) => { equal(v.id, 62085); some(v.cast); some(v.crew); some(v.guest_stars); });
call('tvEpisode.externalIds', [episode], (v) => { equal(v.id, 62085); equal(v.tvdb_id, 349232); });
call('tvEpisode.images', [episode], (v) => { equal(v.id, 62085); some(v.stills); });
call('tvEpisode.translations', [episode], (v) => { equal(v.id, 62085); some(v.translations); });
call('tvEpisode.videos', [episode], (v) => { equal(v.id, 62085); ok(Array.isArray(v.results)); });
refused('tvEpisode.details', [{ ...season, episodeNumber: 99 }], (e) => status(e, ...NOT_FOUND));

// People.
const person = 287;
call('people.details', [person], (v) => { equal(v.id, person); equal(v.name, 'Brad Pitt'); equal(v.birthday, '1963-12-18'); some(v.also_known_as); });
call('people.details', [person, ['images', 'changes', 'movie_credits', 'tv_credits', 'combined_credits', 'external_ids',
  'tagged_images', 'translations'], 'en-US'], (v) => {
  has(v.movie_credits.cast, 550);
  has(v.combined_credits.cast, 550);
  ok(Array.isArray(v.tv_credits.cast));
  equal(v.external_ids.imdb_id, 'nm0000093');
  some(v.images.profiles);
});
call('people.changes', [person], (v) => has(v.changes.map((c) => ({ id: c.key })), 'biography'));
call('people.movieCredits', [person], (v) => { equal(v.id, person); has(v.cast, 550); });
call('people.tvShowCredits', [17419], (v) => { equal(v.id, 17419); has(v.cast, tv); });
call('people.combinedCredits', [17419], (v) => { equal(v.id, 17419); equal(v.cast.find((c) => c.id === tv).media_type, 'tv'); });
call('people.externalId', [person], (v) => { equal(v.id, person); equal(v.wikidata_id, 'Q35332'); });
call('people.images', [person], (v) => { equal(v.id, person); some(v.profiles); });
call('people.taggedImages', [person, { page: 1 }], (v) => { equal(v.id, person); ok(Array.isArray(v.results)); });
call('people.translation', [person], (v) => { equal(v.id, person); some(v.translations); });
call('people.latest', [], (v) => ok(v.id > 0));
call('people.popular', [{ page: 2 }], (v) => { page(v, 2); falling(v.results, 'popularity'); some(v.results[0].known_for); });
refused('people.details', [999999999], (e) => status(e, ...NOT_FOUND));

// Everything that titles refer to.
call('collections.details', [10, { language: 'de-DE' }], (v) => { equal(v.id, 10); has(v.parts, movie); });
call('collections.images', [10], (v) => { equal(v.id, 10); some(v.posters); some(v.backdrops); });
call('collections.translations', [10], (v) => { equal(v.id, 10); some(v.translations); });
call('companies.details', [1], (v) => { equal(v.id, 1); equal(v.name, 'Lucasfilm Ltd.'); equal(v.parent_company, null); });
call('companies.alternativeNames', [1], (v) => { equal(v.id, 1); some(v.results); });
call('companies.images', [1], (v) => { equal(v.id, 1); equal(v.logos[0].file_type, '.svg'); });
call('networks.details', [174], (v) => { equal(v.id, 174); equal(v.name, 'AMC'); });
call('networks.alternativeNames', [174], (v) => { equal(v.id, 174); some(v.results); });
call('networks.images', [213], (v) => { equal(v.id, 213); some(v.logos); });
call('keywords.details', [803], (v) => { equal(v.id, 803); equal(v.name, 'android'); });
call('keywords.belongingMovies', [803, { page: 1 }], (v) => { equal(v.id, 803); page(v); has(v.results, movie); });
call('credits.getById', ['7ca9a98ee361df1ee302fe17'], (v) => {
  equal(v.id, '7ca9a98ee361df1ee302fe17');
  equal(v.credit_type, 'cast');
  equal(v.media.id, movie);
  equal(v.person.id, 2);
});
call('review.details', ['68df5cb7979936816bcef0a5'], (v) => { equal(v.id, '68df5cb7979936816bcef0a5'); equal(v.media_id, movie); equal(v.media_type, 'movie'); });
call('find.byExternalId', ['tt0076759', { external_source: 'imdb_id' }], (v) => { has(v.movie_results, movie); equal(v.tv_results.length, 0); });
call('find.byExternalId', ['81189', { external_source: 'tvdb_id' }], (v) => has(v.tv_results, tv));
call('find.byExternalId', ['tt9999999', { external_source: 'imdb_id', language: 'de-DE' }], (v) => equal(v.person_results.length, 0));
refused('collections.details', [999999999], (e) => status(e, ...NOT_FOUND));

// Search, discover, trending, changes.
call('search.movies', [{ query: 'star wars' }], (v) => { page(v); has(v.results, movie); });
call('search.movies', [{ query: 'Fight Club', page: 1, include_adult: true, year: 1999, primary_release_year: 1999, region: 'US', language: 'en-US' }], (v) => equal(v.results[0].id, 550));
call('search.movies', [{ query: 'zzqx nothing has this name' }], (v) => { page(v); equal(v.total_results, 0); });
call('search.tvShows', [{ query: 'breaking bad', first_air_date_year: 2008 }], (v) => { page(v); equal(v.results[0].id, tv); });
call('search.people', [{ query: 'brad pitt' }], (v) => { page(v); equal(v.results[0].id, person); });
call('search.multi', [{ query: 'star' }], (v) => { page(v); ok(v.results.every((r) => ['movie', 'tv', 'person', 'collection'].includes(r.media_type))); });
call('search.collections', [{ query: 'star wars' }], (v) => { page(v); has(v.results, 10); });
call('search.companies', [{ query: 'lucasfilm' }], (v) => { page(v); has(v.results, 1); });
call('search.keywords', [{ query: 'new mexico' }], (v) => { page(v); has(v.results, 1508); });
refused('search.movies', [{}], (e) => assert.deepEqual(e, { errors: ['query must be provided'] }));
call('discover.movie', [], (v) => { page(v); some(v.results); falling(v.results, 'popularity'); });
call('discover.movie', [{ sort_by: 'vote_average.desc', with_genres: '18', 'vote_count.gte': 1000, 'primary_release_date.gte': '1990-01-01', include_adult: false }], (v) => {
  page(v);
  some(v.results);
  ok(v.results.every((r) => r.genre_ids.includes(18) && r.vote_count >= 1000 && r.release_date >= '1990'));
  falling(v.results, 'vote_average');
});
call('discover.movie', [{ with_people: '287' }], (v) => { page(v); has(v.results, 550); });
call('discover.tvShow', [{ sort_by: 'first_air_date.desc', with_genres: '18,80', page: 1 }], (v) => {
  page(v);
  has(v.results, tv);
  ok(v.results.every((r) => r.genre_ids.includes(18) && r.genre_ids.includes(80)));
  falling(v.results, 'first_air_date');
});
for (const window of ['day', 'week']) {
  for (const type of ['movie', 'tv', 'person']) {
    call('trending.trending', [type, window], (v) => { page(v); some(v.results); ok(v.results.every((r) => r.media_type === type)); });
  }
  call('trending.trending', ['all', window, { page: 2 }], (v) => { page(v, 2); ok(v.results.every((r) => ['movie', 'tv', 'person'].includes(r.media_type))); });
}
call('changes.movies', [], (v) => { page(v, 1, 100); has(v.results, movie); });
call('changes.tvShows', [{ page: 1 }], (v) => { page(v, 1, 100); has(v.results, tv); });
call('changes.person', [], (v) => { page(v, 1, 100); has(v.results, person); });
refused('changes.movies', [{ start_date: '2026-01-01', end_date: '2026-02-01' }], (e) =>
  status(e, 20, 'Invalid date range: Should be a range no longer than 14 days.'));

// Facts.
call('configuration.getApiConfiguration', [], (v) => { match(v.images.secure_base_url, /^https:.*\/$/); some(v.images.poster_sizes); some(v.change_keys); });
call('configuration.getCountries', [], (v) => ok(v.find((c) => c.iso_3166_1 === 'DE').english_name === 'Germany'));
call('configuration.getLanguages', [], (v) => ok(v.find((l) => l.iso_639_1 === 'de').english_name === 'German'));
call('configuration.getJobs', [], (v) => some(v.find((d) => d.department === 'Directing').jobs));
call('configuration.getPrimaryTranslations', [], (v) => ok(v.includes('de-DE')));
call('configuration.getTimezones', [], (v) => some(v.find((z) => z.iso_3166_1 === 'DE').zones));
call('certifications.movies', [], (v) => ok(v.certifications.US.some((c) => c.certification === 'PG-13')));
call('certifications.tvShows', [], (v) => ok(v.certifications.US.some((c) => c.certification === 'TV-MA')));
call('genres.movies', [{ language: 'de-DE' }], (v) => { equal(v.genres.length, 19); has(v.genres, 18); });
call('genres.tvShows', [], (v) => { equal(v.genres.length, 16); has(v.genres, 18); });
call('watchProviders.getRegions', [], (v) => ok(v.results.some((r) => r.iso_3166_1 === 'US')));
call('watchProviders.getMovieProviders', [{ watch_region: 'US' }], (v) => ok(v.results.some((p) => p.provider_id === 8)));
call('watchProviders.getTvProviders', [], (v) => ok(v.results.some((p) => p.provider_id === 8)));

// The client knows no session ids: its one token is that of a user.
call('account.details', [], (v) => { equal(v.id, 7001); equal(v.username, 'clients'); }, find(methodsOf(user)));
refused('account.details', [], (e) => status(e, ...NO_SESSION));

process.exit(await run.finish());
