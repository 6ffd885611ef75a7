package tmdb

import (
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// checkFetched takes off a record the day on which it was fetched, unless it is one. Null and "" are none, as tables have it.
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

// takeFetched takes that day off the JSON of the response to a sub-request. It returns the rest and, if there
// is a day, a field for the record around it, with a comma behind.
func takeFetched(row string) (rest, field string, err error) {
	if !strings.Contains(row, catalog.FetchedColumn) {
		return row, "", nil // the rest is slow
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
