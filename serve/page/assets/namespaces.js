// What append_to_response takes, by kind of resource. A test compares it with the operations table.

export const NAMESPACES = {
  movie: ['alternative_titles', 'casts', 'changes', 'credits', 'external_ids', 'images', 'keywords', 'lists', 'recommendations', 'release_dates', 'releases', 'reviews', 'similar', 'similar_movies', 'trailers', 'translations', 'videos', 'watch/providers'],
  tv: ['aggregate_credits', 'alternative_titles', 'changes', 'content_ratings', 'credits', 'episode_groups', 'external_ids', 'images', 'keywords', 'lists', 'recommendations', 'reviews', 'screened_theatrically', 'similar', 'translations', 'videos', 'watch/providers'],
  season: ['aggregate_credits', 'changes', 'credits', 'external_ids', 'images', 'translations', 'videos', 'watch/providers'],
  episode: ['changes', 'credits', 'external_ids', 'images', 'translations', 'videos'],
  person: ['changes', 'combined_credits', 'external_ids', 'images', 'movie_credits', 'tagged_images', 'translations', 'tv_credits'],
  collection: ['images', 'translations'],
  company: ['alternative_names', 'images', 'movies'],
  network: ['alternative_names', 'images'],
  keyword: ['movies'],
};

/** namespaceOf returns the namespace of an API path such as /3/tv/1399/season/1, or ''. */
export function namespaceOf(path) {
  const at = path.split('?')[0];
  if (/^\/3\/tv\/\d+\/season\/\d+\/episode\/\d+$/.test(at)) return 'episode';
  if (/^\/3\/tv\/\d+\/season\/\d+$/.test(at)) return 'season';
  const found = /^\/3\/(movie|tv|person|collection|company|network|keyword)\/\d+$/.exec(at);
  return found ? found[1] : '';
}
