package imdb

import (
	"strings"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// drop counts values or rows that are left out.
func (j *Joiner) drop(path string, n int64) {
	if n > 0 {
		record.Count(j.dropped, path, n)
	}
}

// dropName counts a name from a row under a path. Long names are cut.
func (j *Joiner) dropName(path, name string) { j.drop(path+record.Shown(name), 1) }

// An output receives records, each with the place of the row that stands for it.
type output func(file int, row, line int64, rec layout.Record) error

// record completes a record and emits it. Fields that IMDb lacks are absent, not null: null would state that there is no value.
func (o output) record(at place, kind fragment.Kind, r record.Record) error {
	markUnknown(r)
	t := catalog.TypeOf(kind)
	key, err := t.Key(r)
	if err != nil {
		return err
	}
	return o(at.file, at.row, at.line, layout.Record{Record: r, Type: t, Key: key})
}

// markUnknown makes the unset fields of a new object absent.
func markUnknown(r record.Record) {
	list := make([]byte, 0, 256)
	for i := range r.Schema.Fields {
		if f := &r.Schema.Fields[i]; f.Nullable && record.IsNull(r, f.Name) {
			list = append(append(list, f.Name...), ',')
		}
	}
	r.Object().Unusual = strings.TrimSuffix(string(list), ",")
}
