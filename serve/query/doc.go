// Package query answers what ranks, filters or searches many titles: discover, the
// lists that are discover queries, trending, and search. It reads the tables of a
// release and hands out rows, kind and id, from which the edge makes a page.
package query
