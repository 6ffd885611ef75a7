package catalog

import "github.com/reelsplice/reelsplice/schemas/record"

// DetailsColumn is a column of ours: whether a source gave a whole details response.
const DetailsColumn = "_details"

// MarkDetails marks the record of a row that is a response of the API, if it has the fields
// with tag option details: those of details responses of all years. The details of a marked
// record are served as they were given, old shapes too; those of others are completed. So a
// row of another layout is never marked.
func (t *Type) MarkDetails(r record.Record) {
	if t.marked == nil {
		return
	}
	for i := range r.Schema.Fields {
		if f := &r.Schema.Fields[i]; f.Details && !record.Present(r, f) {
			return
		}
	}
	*r.Bool(t.marked) = record.Bool{V: true, Set: true}
}

// HasDetails reports whether a record is marked, or of a kind that has no mark.
func (t *Type) HasDetails(r record.Record) bool { return t.marked == nil || r.Bool(t.marked).V }
