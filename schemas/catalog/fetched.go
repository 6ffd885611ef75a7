package catalog

import (
	"github.com/parquet-go/parquet-go"

	"github.com/reelsplice/reelsplice/schemas/age"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// FetchedColumn is a column of ours: the day on which a record was fetched from where it comes from, as
// YYYY-MM-DD in UTC. A record of several rows has the newest of their days, one of rows without a day has
// none. No response has it, and no response depends on it.
const FetchedColumn = "_fetched"

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

// Fetched returns the days of the records of a row group. For files that a Writer made it reads nothing:
// the end of the file has the number, the lowest and the highest of a column's values.
func (f *File) Fetched(group int) (age.Days, error) {
	if out, known := f.knownFetched(group); known {
		return out, nil
	}
	var out age.Days
	rows := f.Select([]string{FetchedColumn}, group, group+1)
	defer rows.Close()
	rec := f.typ.New()
	for range f.GroupRows(group) {
		if err := rows.Next(rec); err != nil {
			return out, err
		}
		out.Add(FetchedOf(rec))
	}
	return out, nil
}

// knownFetched returns the days by the statistics; false if they do not have them.
func (f *File) knownFetched(group int) (out age.Days, known bool) {
	if f.outdated {
		return out, true // nothing has a day
	}
	lowest, highest, values, ok := f.bounds(group, FetchedColumn)
	if out.Records = values; !ok || values == 0 {
		return out, ok
	}
	out.Oldest, out.Newest = string(lowest.ByteArray()), string(highest.ByteArray())
	return out, CheckFetched(out.Oldest) == nil && CheckFetched(out.Newest) == nil
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
func (f *File) Content(from, to int) *Rows { return f.rows(f.content, from, to) }

// without returns the columns without those of a field.
func (o *objectColumns) without(name string) *objectColumns {
	out := *o
	out.fields = nil
	for _, f := range o.fields {
		if f.field.Name != name {
			out.fields = append(out.fields, f)
		}
	}
	return &out
}
