// Package catalog defines the records of the catalogue: Go structs in TMDB's own
// field names, everything about one resource nested in it, which are rows of
// Parquet files and lines of NDJSON alike. The builder reads what ingest wrote;
// DuckDB and pandas can read it too.
//
// A catalogue is a folder with one file a kind (movie.parquet), sorted by id, and a folder
// quarantine/ with the rows that did not validate.
//
// In Parquet, a column is NULL when the field was unset, and a list can be NULL (unset) or empty.
// Two columns of every struct hold the rest: _unusual and _extra; see record.Object. The structs
// follow the shapes of TMDB's responses, fields in the same order; the tag option "null" marks those
// that the API keeps as null.
//
// SCHEMA.md lists all columns.
package catalog

//go:generate go run ./gen
