package layout

import (
	"errors"
	"maps"

	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// tableOf returns the first table of mappings that matches a file's name and columns, or nil.
func tableOf(mappings []*Mapping, file string, columns []string) *table {
	for _, m := range mappings {
		for _, t := range m.tables {
			if t.matches(file, columns) {
				return t
			}
		}
	}
	return nil
}

// A layoutReader reads rows of any file in a layout, each with its first matching table.
type layoutReader struct {
	name     string
	mappings []*Mapping
	o        Options
	tables   map[*table]Layout
}

// newReader returns a reader of rows in a layout.
func newReader(name string, o Options) Layout {
	if name == TMDB {
		t := tmdb.New(o.Language)
		t.Responses, t.Values = true, o.Values
		return t
	}
	return &layoutReader{name, o.mappings(name), WithAliases(o), map[*table]Layout{}}
}

func (l *layoutReader) Records(r Row) ([]Record, error) {
	as := r
	as.JSON = ""
	c := Choose(Subject{Row: as, Path: r.File, Layout: l.name, Rows: []string{r.JSON}}, l.o)
	if c.Meaning == nil {
		return nil, errors.New(c.Skip)
	}
	t := c.Meaning.table
	if l.tables[t] == nil {
		l.tables[t] = c.Meaning.Reader(l.o)
	}
	return l.tables[t].Records(r)
}

func (l *layoutReader) Counts() tmdb.Counts {
	sum := tmdb.Counts{
		Counts:  record.Counts{Unknown: map[string]int64{}, Coerced: map[string]int64{}},
		Dropped: map[string]int64{}, Whole: map[string]int64{}, Cells: map[string]record.Cells{},
	}
	for _, one := range l.tables {
		c := one.Counts()
		maps.Copy(sum.Unknown, c.Unknown)
		maps.Copy(sum.Coerced, c.Coerced)
		maps.Copy(sum.Dropped, c.Dropped)
		maps.Copy(sum.Whole, c.Whole)
		maps.Copy(sum.Cells, c.Cells)
	}
	return sum
}

// described returns the records as lines: kind, key, JSON.
func described(recs []Record) []string {
	var out []string
	for _, r := range recs {
		out = append(out, r.Key.Describe(r.Type.Kind)+" "+text(r.Record))
	}
	return out
}

// chosen returns the choice for a file's rows. kind is the kind in the file's name, or "".
func chosen(file, kind string, o Options, rows ...string) Choice {
	t, _ := catalog.TypeNamed(kind)
	return Choose(Subject{Row: Row{File: file, Type: t}, Path: file, Layout: Auto, Named: true, Rows: rows}, o)
}
