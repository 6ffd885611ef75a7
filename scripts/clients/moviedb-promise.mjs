// Drives moviedb-promise over all of its methods that read. It sends the token as api_key,
// leaves parts of the path in the query too (season_number=1), and takes a session from a
// property of the client.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { BAD_PAGE, INVALID_KEY, NOT_FOUND, NO_SESSION, Run, SOMETIMES, env, falling, has, page, some, status } from './lib/run.mjs';

const { MovieDb } = createRequire(import.meta.url)('moviedb-promise');
const { equal, ok } = assert;
const { url, token, session, bad } = env();

function connect(key, sessionId) {
  const client = url === 'https://api.themoviedb.org' ? new MovieDb(key, undefined, 500) : new MovieDb(key, `${url}/3/`, 500);
  if (sessionId) client.sessionId = sessionId;
  return (name) => client[name]?.bind(client) ?? assert.fail(`no method ${name}`);
}

// What the client declares as private is no method of its users.
const inner = ['constructor', 'getEndpoint', 'normalizeParams', 'getParams', 'makeRequest', 'parseSearchParams'];
const run = new Run('moviedb-promise', {
  resolve: connect(token),
  prelude: `import { MovieDb } from 'moviedb-promise';\ndeclare const client: MovieDb;`,
  methods: Object.getOwnPropertyNames(MovieDb.prototype).filter((name) => !inner.includes(name)),
  unused: {
    movieRatingUpdate: 'writes',
    movieRatingDelete: 'writes',
    tvRatingUpdate: 'writes',
    tvRatingDelete: 'writes',
    episodeRatingUpdate: 'writes',
    episodeRatingDelete: 'writes',
    createList: 'writes',
    createListItem: 'writes',
    removeListItem: 'writes',
    clearList: 'writes',
    deleteList: 'writes',
    accountFavoriteUpdate: 'writes',
    accountWatchlistUpdate: 'writes',
    retrieveSession: 'makes a session, which needs a user who approves',
    searchList: 'search/list is no operation of the API any more',
  },
  wrong: [
    [/^find does not compile: Type '"imdb_id"' is not assignable to type 'ExternalId'/, 'an enum of the client that it does not export'],
    [/^((movie|tv)(Similar|Popular|TopRated|NowPlaying|AiringToday|OnTheAir)|upcomingMovies|keywordMovies|search(Movie|Tv|Person)|discover(Movie|Tv)|personPopular|account\w+) results\[\]\.media_type is missing/, 'in lists of mixed types'],
    [/^(personPopular|searchPerson) results\[\]\.known_for is \[.* declared as an object/, 'an array'],
    [/^(movie|tv|person|season|episode)Changes changes\[\]\.items\[\]\.(original_)?value is .* declared as (string|an object)/, 'of any type', SOMETIMES],
    [/^listInfo id is \d+, declared as string/, 'a number'],
    [/^listStatus does not compile: .*movie_id/, 'what it is about'],
    [/^collectionInfo (poster_path|parts\[\]\.backdrop_path) is .* declared as an object/, 'texts'],
    [/^episodeVideos results is missing/, 'this version asks for translations'],
  ],
});
const call = run.call.bind(run);
const refused = run.refused.bind(run);
// gone asserts that a call failed with this status and body.
const gone = (http, error) => (e) => { equal(e.response?.status, http, e.message); status(e.response.data, ...error); };

// Movies. An id can be given alone, and may be that of IMDb.
const id = 11;
const pictured = 550; // the sample has its images and videos
call('movieInfo', [id], (v) => { equal(v.id, id); equal(v.title, 'Star Wars'); equal(v.runtime, 121); equal(v.belongs_to_collection.id, 10); some(v.genres); });
call('movieInfo', ['tt0076759'], (v) => equal(v.id, id));
call('movieInfo', [{ id, language: 'de-DE', append_to_response: 'credits,videos,images,release_dates,watch/providers,recommendations,keywords' }], (v) => {
  equal(v.title, 'Krieg der Sterne');
  has(v.credits.cast, 2);
  ok(Array.isArray(v.images.posters)); // it has none
  some(v.release_dates.results);
  some(v.recommendations.results);
  has(v.keywords.keywords, 803);
  ok(v['watch/providers'].results.US);
});
call('movieAlternativeTitles', [id], (v) => { equal(v.id, id); some(v.titles); });
call('movieChanges', [id], (v) => ok(v.changes.some((c) => c.key === 'tagline')));
call('movieCredits', [id], (v) => { equal(v.id, id); has(v.cast, 2); has(v.crew, 1); });
call('movieExternalIds', [id], (v) => { equal(v.id, id); equal(v.imdb_id, 'tt0076759'); });
call('movieImages', [{ id: pictured, language: 'en-US', include_image_language: 'en,null' }], (v) => { equal(v.id, pictured); some(v.posters); });
call('movieKeywords', [id], (v) => { equal(v.id, id); has(v.keywords, 803); });
call('movieReleaseDates', [id], (v) => { equal(v.id, id); some(v.results[0].release_dates); });
call('movieVideos', [pictured], (v) => { equal(v.id, pictured); some(v.results); });
call('movieWatchProviders', [id], (v) => { equal(v.id, id); ok(v.results.US.link); });
call('movieWatchProviderList', [{ watch_region: 'US' }], (v) => ok(v.results.some((p) => p.provider_id === 8)));
call('movieTranslations', [id], (v) => { equal(v.id, id); some(v.translations); });
call('movieRecommendations', [{ id, page: '1' }], (v) => { page(v); some(v.results); });
call('movieSimilar', [{ id, language: 'fr-FR' }], (v) => { page(v); some(v.results); });
call('movieReviews', [id], (v) => { equal(v.id, id); page(v); some(v.results); });
call('movieLists', [id], (v) => { equal(v.id, id); page(v); });
call('movieLatest', ['en-US'], (v) => ok(v.id > 0));
call('movieNowPlaying', [{ region: 'US' }], (v) => { page(v); ok(v.dates.minimum < v.dates.maximum); });
call('moviePopular', [{ page: 3 }], (v) => { page(v, 3); some(v.results); falling(v.results, 'popularity'); });
call('movieTopRated', [], (v) => { page(v); some(v.results); falling(v.results, 'vote_average'); });
call('upcomingMovies', [{ page: 1 }], (v) => { page(v); ok(v.dates.minimum < v.dates.maximum); });
refused('movieInfo', [999999999], gone(404, NOT_FOUND));
refused('movieInfo', [id], gone(401, INVALID_KEY), connect(bad));
refused('moviePopular', [{ page: 0 }], gone(400, BAD_PAGE));

// Series, seasons and episodes.
const tv = 1396;
call('tvInfo', [tv], (v) => { equal(v.id, tv); equal(v.name, 'Breaking Bad'); equal(v.seasons.length, 5); });
call('tvInfo', [{ id: tv, append_to_response: 'season/1,season/2,season/99,content_ratings' }], (v) => {
  equal(v['season/1'].episodes.length, 7);
  equal(v['season/2'].episodes.length, 13);
  ok(!('season/99' in v));
  some(v.content_ratings.results);
});
call('tvAlternativeTitles', [tv], (v) => { equal(v.id, tv); some(v.results); });
call('tvChanges', [tv], (v) => ok(v.changes.some((c) => c.key === 'tagline')));
call('tvContentRatings', [tv], (v) => { equal(v.id, tv); some(v.results); });
call('tvCredits', [tv], (v) => { equal(v.id, tv); has(v.cast, 17419); });
call('tvAggregateCredits', [tv], (v) => { equal(v.id, tv); has(v.cast, 17419); });
call('episodeGroups', [tv], (v) => { equal(v.id, tv); some(v.results); });
call('tvExternalIds', [tv], (v) => { equal(v.id, tv); equal(v.tvdb_id, 81189); });
call('tvImages', [tv], (v) => { equal(v.id, tv); some(v.posters); });
call('tvKeywords', [tv], (v) => { equal(v.id, tv); has(v.results, 1508); });
call('tvRecommendations', [tv], (v) => { page(v); some(v.results); });
call('tvReviews', [tv], (v) => { equal(v.id, tv); page(v); some(v.results); });
call('tvScreenedTheatrically', [tv], (v) => { equal(v.id, tv); ok(Array.isArray(v.results)); });
call('tvSimilar', [tv], (v) => { page(v); some(v.results); });
call('tvTranslations', [tv], (v) => { equal(v.id, tv); some(v.translations); });
call('tvVideos', [tv], (v) => { equal(v.id, tv); some(v.results); });
call('tvWatchProviders', [tv], (v) => { equal(v.id, tv); ok(v.results.US); });
call('tvWatchProviderList', [{ watch_region: 'DE' }], (v) => some(v.results));
call('tvLatest', [], (v) => ok(v.id > 0));
call('tvAiringToday', [], (v) => page(v));
call('tvOnTheAir', [], (v) => page(v));
call('tvPopular', [{ language: 'de-DE' }], (v) => { page(v); some(v.results); falling(v.results, 'popularity'); });
call('tvTopRated', [], (v) => { page(v); some(v.results); });
refused('tvInfo', [999999999], gone(404, NOT_FOUND));

const season = { id: tv, season_number: 1 };
call('seasonInfo', [season], (v) => { equal(v.id, 3572); equal(v.episodes.length, 7); });
call('seasonChanges', [{ id: 3572 }], (v) => ok(v.changes.some((c) => c.key === 'overview')));
call('seasonCredits', [season], (v) => { equal(v.id, 3572); ok(Array.isArray(v.cast)); ok(Array.isArray(v.crew)); });
call('seasonAggregateCredits', [season], (v) => { equal(v.id, 3572); some(v.cast); });
call('seasonExternalIds', [season], (v) => { equal(v.id, 3572); equal(v.tvdb_id, 30272); });
call('seasonImages', [season], (v) => { equal(v.id, 3572); some(v.posters); });
call('seasonVideos', [season], (v) => { equal(v.id, 3572); some(v.results); });
refused('seasonInfo', [{ id: tv, season_number: 99 }], gone(404, NOT_FOUND));

const episode = { ...season, episode_number: 1 };
call('episodeInfo', [{ ...episode, append_to_response: 'credits,images' }], (v) => { equal(v.id, 62085); equal(v.name, 'Pilot'); some(v.guest_stars); some(v.images.stills); });
call('episodeChanges', [62085], (v) => ok(v.changes.some((c) => c.key === 'overview')));
call('episodeCredits', [episode], (v) => { equal(v.id, 62085); some(v.cast); some(v.guest_stars); });
call('episodeExternalIds', [episode], (v) => { equal(v.id, 62085); equal(v.imdb_id, 'tt0959621'); });
call('episodeImages', [episode], (v) => { equal(v.id, 62085); some(v.stills); });
call('episodeTranslations', [episode], (v) => { equal(v.id, 62085); some(v.translations); });
call('episodeVideos', [episode], (v) => equal(v.id, 62085)); // of this version: asks for translations
call('episodeGroup', ['afbbb3b13c8d851e72055ce7'], (v) => { equal(v.id, 'afbbb3b13c8d851e72055ce7'); equal(v.groups.length, 6); });

// People, and everything that titles refer to.
call('personInfo', [{ id: 287, append_to_response: 'movie_credits,external_ids' }], (v) => {
  equal(v.id, 287);
  equal(v.name, 'Brad Pitt');
  has(v.movie_credits.cast, 550);
  equal(v.external_ids.imdb_id, 'nm0000093');
});
call('personChanges', [287], (v) => ok(v.changes.some((c) => c.key === 'biography')));
call('personMovieCredits', [287], (v) => { equal(v.id, 287); has(v.cast, 550); });
call('personTvCredits', [17419], (v) => { equal(v.id, 17419); has(v.cast, tv); });
call('personCombinedCredits', [17419], (v) => { equal(v.id, 17419); has(v.cast, tv); });
call('personExternalIds', [287], (v) => { equal(v.id, 287); equal(v.wikidata_id, 'Q35332'); });
call('personImages', [287], (v) => { equal(v.id, 287); some(v.profiles); });
call('personTaggedImages', [287], (v) => { equal(v.id, 287); ok(Array.isArray(v.results)); });
call('personTranslations', [287], (v) => { equal(v.id, 287); some(v.translations); });
call('personLatest', [], (v) => ok(v.id > 0));
call('personPopular', [], (v) => { page(v); some(v.results); some(v.results[0].known_for); });
call('creditInfo', ['7ca9a98ee361df1ee302fe17'], (v) => { equal(v.id, '7ca9a98ee361df1ee302fe17'); equal(v.media.id, id); });
call('collectionInfo', [10], (v) => { equal(v.id, 10); has(v.parts, id); });
call('collectionImages', [10], (v) => { equal(v.id, 10); some(v.posters); });
call('collectionTranslations', [10], (v) => { equal(v.id, 10); some(v.translations); });
call('companyInfo', [1], (v) => { equal(v.id, 1); equal(v.name, 'Lucasfilm Ltd.'); });
call('companyAlternativeNames', [1], (v) => { equal(v.id, 1); some(v.results); });
call('companyImages', [1], (v) => { equal(v.id, 1); some(v.logos); });
call('networkInfo', [174], (v) => { equal(v.id, 174); equal(v.name, 'AMC'); });
call('networkAlternativeNames', [174], (v) => { equal(v.id, 174); some(v.results); });
call('networkImages', [213], (v) => { equal(v.id, 213); some(v.logos); });
call('keywordInfo', [803], (v) => { equal(v.id, 803); equal(v.name, 'android'); });
call('keywordMovies', [803], (v) => { equal(v.id, 803); page(v); has(v.results, id); });
call('review', ['68df5cb7979936816bcef0a5'], (v) => { equal(v.id, '68df5cb7979936816bcef0a5'); equal(v.media_id, id); });
call('find', [{ id: 'tt0076759', external_source: 'imdb_id' }], (v) => has(v.movie_results, id));
call('find', [{ id: 'nm0000093', external_source: 'imdb_id', language: 'de-DE' }], (v) => has(v.person_results, 287));

// Search, discover, trending, changes.
call('searchMovie', [{ query: 'star wars', page: 1 }], (v) => { page(v); has(v.results, id); });
call('searchMovie', [{ query: 'FIGHT club', year: 1999 }], (v) => equal(v.results[0].id, 550));
call('searchTv', [{ query: 'Breaking Bad' }], (v) => { page(v); equal(v.results[0].id, tv); });
call('searchPerson', [{ query: 'Bryan Cranston' }], (v) => { page(v); equal(v.results[0].id, 17419); });
call('searchMulti', [{ query: 'brad pitt' }], (v) => { page(v); equal(v.results[0].id, 287); equal(v.results[0].media_type, 'person'); });
call('searchCollection', [{ query: 'Star Wars' }], (v) => { page(v); has(v.results, 10); });
call('searchCompany', ['Lucasfilm'], (v) => { page(v); has(v.results, 1); });
call('searchKeyword', [{ query: 'android' }], (v) => { page(v); has(v.results, 803); });
call('discoverMovie', [{ with_genres: '18|35', 'vote_count.gte': 5000, sort_by: 'release_date.desc' }], (v) => {
  page(v);
  some(v.results);
  ok(v.results.every((r) => r.genre_ids.includes(18) || r.genre_ids.includes(35)));
});
call('discoverMovie', [{ with_cast: '287', without_genres: '27', with_original_language: 'en' }], (v) => { page(v); has(v.results, 550); });
call('discoverTv', [{ with_networks: '174', sort_by: 'popularity.desc' }], (v) => { page(v); has(v.results, tv); });
call('trending', [{ media_type: 'all', time_window: 'day' }], (v) => { page(v); some(v.results); });
call('trending', [{ media_type: 'movie', time_window: 'week', language: 'de-DE' }], (v) => { page(v); ok(v.results.every((r) => r.media_type === 'movie')); });
call('changedMovies', [], (v) => { page(v, 1, 100); has(v.results, id); });
call('changedTvs', [], (v) => { page(v, 1, 100); has(v.results, tv); });
call('changedPeople', [], (v) => { page(v, 1, 100); has(v.results, 287); });

// Facts.
call('configuration', [], (v) => { some(v.images.backdrop_sizes); some(v.change_keys); });
call('countries', [{ language: 'de-DE' }], (v) => ok(v.some((c) => c.iso_3166_1 === 'DE' && c.native_name === 'Deutschland')));
call('jobs', [], (v) => some(v[0].jobs));
call('languages', [], (v) => ok(v.some((l) => l.iso_639_1 === 'de')));
call('primaryTranslations', [], (v) => ok(v.includes('en-US')));
call('timezones', [], (v) => some(v[0].zones));
call('genreMovieList', [{ language: 'de-DE' }], (v) => equal(v.genres.length, 19));
call('genreTvList', [], (v) => equal(v.genres.length, 16));
call('movieCertifications', [], (v) => some(v.certifications.US));
call('tvCertifications', [], (v) => some(v.certifications.US));
call('requestToken', [], (v) => { ok(v.success); assert.match(v.request_token, /^[0-9a-f]{40}$/); ok(new Date(v.expires_at) > new Date()); });

// Lists.
const list = 7101;
call('listInfo', [list], (v) => { has(v.items, id); has(v.items, tv); equal(v.item_count, 3); });
call('listStatus', [{ id: list, movie_id: id }], (v) => equal(v.item_present, true));
call('listStatus', [{ id: list, movie_id: 603 }], (v) => equal(v.item_present, false));
refused('listInfo', [999999999], gone(404, NOT_FOUND));

// What is one user's. Without an id the client asks for account/{account_id}, braces included.
const mine = connect(token, session);
call('accountInfo', [], (v) => { equal(v.id, 7001); equal(v.username, 'clients'); }, mine);
call('accountLists', [7001], (v) => { page(v); has(v.results, list); }, mine);
call('accountFavoriteMovies', [], (v) => { page(v); has(v.results, id); }, mine);
call('accountFavoriteMovies', [{ id: 7001, sort_by: 'created_at.desc' }], (v) => { page(v); has(v.results, id); }, mine);
call('accountFavoriteTv', [], (v) => { page(v); has(v.results, tv); }, mine);
call('accountRatedMovies', [], (v) => { page(v); equal(v.results.find((r) => r.id === id).rating, 8.5); }, mine);
call('accountRatedTv', [], (v) => { page(v); equal(v.results.find((r) => r.id === tv).rating, 9); }, mine);
call('accountRatedTvEpisodes', [], (v) => { page(v); equal(v.results.find((r) => r.id === 62085).rating, 7.5); }, mine);
call('accountMovieWatchlist', [], (v) => { page(v); has(v.results, 550); }, mine);
call('accountTvWatchlist', [], (v) => { page(v); has(v.results, 1399); }, mine);
call('movieAccountStates', [id], (v) => assert.deepEqual(v, { id, favorite: true, rated: { value: 8.5 }, watchlist: false }), mine);
call('movieAccountStates', [550], (v) => assert.deepEqual(v, { id: 550, favorite: false, rated: false, watchlist: true }), mine);
call('tvAccountStates', [tv], (v) => assert.deepEqual(v, { id: tv, favorite: true, rated: { value: 9 }, watchlist: false }), mine);
call('seasonAccountStates', [season], (v) => { equal(v.id, 3572); assert.deepEqual(v.results.find((r) => r.id === 62085).rated, { value: 7.5 }); }, mine);
call('episodeAccountStates', [episode], (v) => { equal(v.id, 62085); assert.deepEqual(v.rated, { value: 7.5 }); }, mine);
call('movieInfo', [{ id, append_to_response: 'account_states' }], (v) => assert.deepEqual(v.account_states, { favorite: true, rated: { value: 8.5 }, watchlist: false }), mine);
refused('accountInfo', [], gone(401, NO_SESSION));
refused('movieAccountStates', [id], gone(401, NO_SESSION));
refused('accountLists', [7001], gone(401, NO_SESSION), connect(token, '0'.repeat(40)));

process.exit(await run.finish());
