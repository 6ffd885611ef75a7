// Package query ranks, filters and searches the resources of a release: discover, the lists
// that are discover queries, trending, and search. It reads the tables of a release and
// returns rows, kind and id, for the edge to make a page.
//
// # Filters
//
// ParseFilter reads the parameters of discover. This package decides what the API's
// documents leave open:
//   - In a list, "," is "and", "|" is "or", and "or" binds tighter: 28,12|16 is 28 and one
//     of 12 and 16. without_ excludes all listed values, with either separator.
//   - Malformed values are ignored: a number with letters, a date that no calendar has, a
//     year of other than four digits, a release type of 9, an unlisted certification with
//     .gte or .lte. So are filters without any valid value, and unknown ones. A valid but
//     unknown id has no results.
//   - The last of repeated parameters counts.
//   - Providers and kinds of offers belong together: 8 and flatrate are an offer of
//     provider 8 at a flat rate. Release types and dates likewise: one release has both.
//     Filters on the same date (primary_release_year, primary_release_date) intersect.
//   - Missing values: a title without a date does not match a filter on that date, and comes last
//     in both directions of a sort by it.
//   - Equal values sort by popularity in both directions. Titles, original titles and
//     revenue are exceptions: their ascending order is exactly the reverse of the
//     descending one. Only equal revenues have the most popular first when descending. An
//     unknown sort_by is popularity.desc; release_date is an old name of primary_release_date.
//   - The case of countries and languages is ignored.
//   - Air dates are days without a time: timezone changes nothing.
//
// The table of operations has all parameters, our extensions too.
//
// To bound the time of a query, only the first 500 values of a list count, and 2,000 of all
// lists together. A combination of a provider and a kind of offer counts as one.
//
// # Search
//
// All words of a query must be in the names of a resource: title, original title, translated and alternative ones. The
// words may be in several names. The last one may be the beginning of a word, and so may a single letter of a script
// without spaces. Package text defines words: "spider man", "Spider-Man" and "spiderman" match each other if one of
// them has punctuation. Whole titles are compared without spaces and punctuation. Searches of several kinds ignore
// years.
//
// A fuzzy search allows typing errors if no resource has the words, even before filters: first in words that no name
// has, then in all. At most four words, of 4 to 24 letters, may have errors.
package query
