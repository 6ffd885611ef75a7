package tmdb

import (
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// checkFetched removes the fetch date from a record unless it is valid. Tables have null or "" for no date.
func checkFetched(r record.Record) (err error) {
	if day := catalog.FetchedOf(r); day != "" {
		err = catalog.CheckFetched(day)
	}
	if err != nil || catalog.FetchedOf(r) == "" {
		f, _ := r.Schema.Field(catalog.FetchedColumn)
		record.Unset(r, f)
	}
	return err
}

// takeFetched removes the fetch date from the JSON of a sub-request's response. field is empty or the date as a field of the
// enclosing record, with a comma after it.
func takeFetched(row string) (rest, field string, err error) {
	if !strings.Contains(row, catalog.FetchedColumn) {
		return row, "", nil // fast path
	}
	fields, err := record.Fields(row)
	if err != nil {
		return row, "", err
	}
	raw, ok := fields.Take(catalog.FetchedColumn)
	if !ok {
		return row, "", nil
	}
	return fields.Object(), `"` + catalog.FetchedColumn + `":` + raw + ",", nil
}
