package catalog

import (
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/reelsplice/reelsplice/schemas/age"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// FetchedColumn is a column of ours: the day on which a record was fetched from where it comes from, as
// YYYY-MM-DD in UTC. A record of several rows has the newest of their days, one of rows without a day has
// none. No response has it, and no response depends on it.
const FetchedColumn = "_fetched"

// Provenance is the columns of ours that the structs of kinds have at their end.
type Provenance struct {
	// Details is true where a source gave a whole details response of the API: see MarkDetails.
	Details record.Bool `record:"_details,own"`
	// Fetched is the day on which the record was fetched, YYYY-MM-DD: see FetchedColumn.
	Fetched record.String `record:"_fetched,dict,own"`
}

// CheckFetched reports whether a text is a day as FetchedColumn has it. The error is a *record.FieldError.
func CheckFetched(day string) error {
	if _, err := age.Parse(day); err != nil {
		return &record.FieldError{Field: FetchedColumn, What: err.Error()}
	}
	return nil
}

// FetchedOf returns the day of a record; "" for none.
func FetchedOf(r record.Record) string { return r.StringNamed(FetchedColumn).V }

// SetFetched sets the day of a record; "" for none.
func SetFetched(r record.Record, day string) {
	*r.StringNamed(FetchedColumn) = record.String{V: day, Set: day != ""}
}

// Fetched returns the days of the records of a row group. It reads nothing: the end of the file has the
// number, the lowest and the highest of a column's values.
func (f *File) Fetched(group int) (out age.Days, err error) {
	lowest, highest, values, ok := f.bounds(group, FetchedColumn)
	if ok && values > 0 {
		out = age.Days{Records: values, Oldest: string(lowest.ByteArray()), Newest: string(highest.ByteArray())}
		ok = CheckFetched(out.Oldest) == nil && CheckFetched(out.Newest) == nil
	}
	if !ok {
		return out, fmt.Errorf("%s: row group %d: want the first and the last day of %s", f.path, group, FetchedColumn)
	}
	return out, nil
}

// bounds returns the lowest and the highest value of a column in a row group, and how many there are, by the
// statistics; false if they do not have them.
func (f *File) bounds(group int, column string) (lowest, highest parquet.Value, values int64, ok bool) {
	defer func() {
		if recover() != nil { // the library's, over a damaged value
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

// Content is Groups without FetchedColumn. What is made of the records does not depend on when they were
// fetched, so neither does it tell whether they have changed.
func (f *File) Content(from, to int) *Rows {
	cols := *f.cols
	cols.fields = slices.DeleteFunc(slices.Clone(cols.fields), func(c fieldColumns) bool { return c.field.Name == FetchedColumn })
	return f.rows(&cols, from, to)
}
