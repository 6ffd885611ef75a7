package layout

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// Near names the mapped table that a file with such a row misses by little, and what the
// row's columns lack; "" when it is near none. The caller's mappings go before those that
// come with the program.
func Near(file string, row []byte, o Options) string {
	columns := columnsOf(row)
	if d, ok := nearest(o.Mappings, file, columns, 1); ok {
		return d.String()
	}
	if !isFlat(row) {
		return "" // a response of the API has the columns of many tables
	}
	var all []*Mapping
	for _, layout := range mappedLayouts {
		all = append(all, ready(layout)...)
	}
	if d, ok := nearest(all, file, columns, 3); ok {
		return d.String()
	}
	return ""
}

// Lacks returns the mapping of the caller's that a file with such a row has, and the columns that the mapping names and
// the row lacks.
func Lacks(file string, row []byte, o Options) (mapping string, columns []string) {
	there := columnsOf(row)
	t := tableOf(o.Mappings, file, there)
	if t == nil {
		return "", nil
	}
	for _, s := range t.form().shapes {
		for _, name := range s.columns() {
			if !slices.Contains(there, name) && !slices.Contains(columns, name) {
				columns = append(columns, name)
			}
		}
	}
	return t.file, columns
}

// KindsOf lists the kinds whose responses a row is most like. If it is like none,
// err has the reason, for instance why it is no movie.
func KindsOf(r Row, o Options) (kinds []string, err error) {
	err = errors.New("most of its columns are unknown")
	least := len(columnsOf([]byte(r.JSON))) / 2
	for _, t := range catalog.Types() {
		r.Type = t
		l := tmdb.New(o.Language)
		if _, failed := l.Records(r); failed != nil {
			if t.Kind == fragment.KindMovie {
				err = failed
			}
			continue
		}
		unknown := 0
		for path := range l.Counts().Unknown {
			if !strings.ContainsAny(path, ".[") {
				unknown++
			}
		}
		if unknown < least {
			kinds, least = nil, unknown
		}
		if unknown == least {
			kinds = append(kinds, t.Name())
		}
	}
	if kinds != nil {
		return kinds, nil
	}
	return nil, err
}

// HasColumn reports whether a row has a field of that name.
func HasColumn(row []byte, name string) bool { return slices.Contains(columnsOf(row), name) }

// A difference is what keeps a file from being a table.
type difference struct {
	mapping, table string
	there          int      // required columns that the file has
	missing        []string // that it lacks
	extra          []string // columns that an exact table does not have
	known          int      // columns of an exact table
	files          []string // patterns that the file's name does not fit
	named          bool     // the file's name fits one, or the mapping's name is that of the file
}

func (d difference) count() int {
	n := len(d.missing) + len(d.extra)
	if d.files != nil {
		n++
	}
	return n
}

// isNear reports whether a file is likely meant to be a table: it has most of what is required
// and little else, the more so the higher strict is. For 1 the name alone is enough.
func (d difference) isNear(strict int) bool {
	return strict == 1 && d.named || d.there >= strict*max(1, len(d.missing)) && 2*strict*len(d.extra) <= d.known
}

// String names the table and all that differs.
func (d difference) String() string {
	var want []string
	if d.files != nil {
		want = append(want, "a file named "+quotedList(d.files))
	}
	if d.missing != nil {
		want = append(want, columnList(d.missing))
	}
	if len(d.extra) > 0 {
		want = append(want, "no "+columnList(d.extra))
	}
	return fmt.Sprintf("nearest is table %s of %s: want %s", d.table, d.mapping, strings.Join(want, " and "))
}

func columnList(names []string) string {
	if len(names) == 1 {
		return "column " + quotedList(names)
	}
	return "columns " + quotedList(names)
}

// quotedList lists the first names.
func quotedList(names []string) string {
	const most = 5
	var list []string
	for _, name := range names[:min(len(names), most)] {
		list = append(list, strconv.Quote(name))
	}
	text := strings.Join(list, ", ")
	if more := len(names) - most; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

// nearest returns how a file differs from the near table that it differs least from.
func nearest(mappings []*Mapping, file string, columns []string, strict int) (best difference, ok bool) {
	for _, m := range mappings {
		for _, t := range m.tables {
			d := t.difference(file, columns)
			d.mapping, d.table = m.Name, t.label
			d.named = d.named || m.Name == file+".toml" // it lies beside the file
			if d.count() > 0 && d.isNear(strict) && (!ok || d.count() < best.count()) {
				best, ok = d, true
			}
		}
	}
	return best, ok
}

// difference compares a file with what the matcher asks for.
func (m *matcher) difference(file string, columns []string) (d difference) {
	for _, name := range m.requires {
		if slices.Contains(columns, name) {
			d.there++
		} else {
			d.missing = append(d.missing, name)
		}
	}
	if m.only != nil {
		d.known, d.extra = len(m.only()), m.others(columns)
	}
	if d.named = len(m.files) > 0 && m.fits(file); len(m.files) > 0 && !d.named {
		d.files = m.files
	}
	return d
}
