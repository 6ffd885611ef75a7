// Package query ranks, filters and searches the resources of a release: discover, the lists
// that are discover queries, trending, and search. It reads the tables of a release and
// returns rows, kind and id, for the edge to make a page.
//
// # Filters
//
// ParseFilter reads the parameters of discover. The API's documents leave open, and this
// package decides:
//   - In a list, "," is "and", "|" is "or", and "or" binds: 28,12|16 is 28 and one of 12
//     and 16. without_ excludes all that are listed, whatever the sign.
//   - Malformed values are ignored: a number with letters, a date that no calendar has, a
//     year of other than four digits, a release type of 9, an unlisted certification with
//     .gte or .lte. So are filters without a value left, and unknown ones. A valid but
//     unknown id has no results.
//   - Of a parameter that is given twice, the last counts.
//   - Providers and kinds of offers belong together: 8 and flatrate are an offer of
//     provider 8 at a flat rate. Release types and dates likewise: one release has both.
//     Filters of dates of one kind (primary_release_year, primary_release_date) meet.
//   - Missing values: a title without a date passes no filter of that date, and comes last
//     in both directions when that date sorts.
//   - Equal values sort by popularity, in both directions, but for titles, original titles
//     and revenue, which ascend in exactly the reverse of how they descend; of those only
//     revenue has the most popular first where it descends. An unknown sort_by is
//     popularity.desc; release_date is an old name of primary_release_date.
//   - Countries and languages may have letters in any case.
//   - Air dates are days without a time: timezone changes nothing.
//
// Which parameters there are, own ones too, is a matter of the table of operations.
//
// So that no query takes long, the first 500 values of a list count, and 2,000 of all
// lists together; a combination of a provider and a kind of offer is one.
//
// # Search
//
// All words of a query must be in the names of a resource: title, original title,
// translated and alternative ones. The words may be in several names; the last one may be the
// beginning of a word, and so may a single letter of a script without blanks. Package text
// defines words: "spider man", "Spider-Man" and "spiderman" find one another where one
// of them is punctuated, and whole titles are compared without blanks and punctuation.
// Queries over several kinds have no years.
//
// A fuzzy search allows typing errors if no resource has the words, filtered out or not: first
// in words that no name has, then in all; in four words at most, of 4 to 24 letters.
package query
