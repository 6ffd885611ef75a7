package catalog

import (
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// FetchedColumn is a column of our own: the day on which the record was fetched from its origin, as YYYY-MM-DD in
// UTC. A record merged from several rows has the newest day, if any has one. No response contains it or depends on
// it.
const FetchedColumn = "_fetched"

// Provenance holds our own columns at the end of the structs of kinds.
type Provenance struct {
	// Details is true if a source had a whole details response of the API: see MarkDetails.
	Details record.Bool `record:"_details,own"`
	// Fetched is the day on which the record was fetched, YYYY-MM-DD: see FetchedColumn.
	Fetched record.String `record:"_fetched,dict,own"`
}

// CheckFetched returns an error if text is not in the form of FetchedColumn. It is a *record.FieldError.
func CheckFetched(text string) error {
	if day.Start(text).IsZero() {
		return &record.FieldError{Field: FetchedColumn, What: fmt.Sprintf("want a day as YYYY-MM-DD, found %q", text)}
	}
	return nil
}

// FetchedOf returns the day of a record; "" if it has none.
func FetchedOf(r record.Record) string { return r.StringNamed(FetchedColumn).V }

// SetFetched sets the day of a record, or removes it with "".
func SetFetched(r record.Record, day string) {
	*r.StringNamed(FetchedColumn) = record.String{V: day, Set: day != ""}
}

// Fetched returns the days of a row group's records. It reads no records: the file's statistics have the number, the
// lowest and the highest of a column's values.
func (f *File) Fetched(group int) (out day.Days, err error) {
	lowest, highest, values, ok := f.bounds(group, FetchedColumn)
	if ok && values > 0 {
		out = day.Days{Records: values, Oldest: string(lowest.ByteArray()), Newest: string(highest.ByteArray())}
		ok = CheckFetched(out.Oldest) == nil && CheckFetched(out.Newest) == nil
	}
	if !ok {
		return out, fmt.Errorf("%s: row group %d: want the first and the last day of %s", f.file.Name(), group, FetchedColumn)
	}
	return out, nil
}

// bounds returns the lowest and the highest value of a column in a row group, and their number, from the statistics;
// false if they are missing.
func (f *File) bounds(group int, column string) (lowest, highest parquet.Value, values int64, ok bool) {
	defer func() {
		if recover() != nil { // from the library, on a damaged value
			ok = false
		}
	}()
	leaf, ok := f.pq.Schema().Lookup(column)
	g := &f.pq.Metadata().RowGroups[group]
	if !ok || leaf.ColumnIndex >= len(g.Columns) {
		return lowest, highest, 0, false
	}
	if values = g.NumRows - g.Columns[leaf.ColumnIndex].MetaData.Statistics.NullCount; values == 0 {
		return lowest, highest, 0, true
	}
	chunk, ok := f.pq.RowGroups()[group].ColumnChunks()[leaf.ColumnIndex].(*parquet.FileColumnChunk)
	if ok {
		lowest, highest, ok = chunk.Bounds()
	}
	return lowest, highest, values, ok
}

// Content is Groups without FetchedColumn. Derived data does not depend on the time of fetching, so a new day is not
// a change.
func (f *File) Content(from, to int) *Rows {
	cols := *f.cols
	cols.fields = slices.DeleteFunc(slices.Clone(cols.fields), func(c fieldColumns) bool { return c.field.Name == FetchedColumn })
	return f.rows(&cols, from, to)
}
