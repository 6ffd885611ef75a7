package layout

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"reelsplice/ingest/layout/tmdb"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
)

// Near names the mapped table that a file with such a row misses by little, and what the
// row's columns lack; "" when it is near none. The caller's mappings go before those that
// come with the program.
func Near(file string, row []byte, o Options) string {
	columns := columnsOf(row)
	if d, ok := nearest(o.Mappings, file, columns, difference.isNear); ok {
		return d.String()
	}
	if !isFlat(row) {
		return "" // a response of the API has the columns of many tables
	}
	var all []*Mapping
	for _, layout := range mappedLayouts {
		all = append(all, ready(layout)...)
	}
	if d, ok := nearest(all, file, columns, difference.isVeryNear); ok {
		return d.String()
	}
	return ""
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
	named          bool     // the file's name fits one
}

func (d difference) count() int {
	n := len(d.missing) + len(d.extra)
	if d.files != nil {
		n++
	}
	return n
}

// isNear reports whether a file is likely meant to be a table of the caller's: it has the
// name, or at least half of what is required.
func (d difference) isNear() bool {
	return d.named || d.there > 0 && d.there >= len(d.missing) && 2*len(d.extra) <= d.known
}

// isNearest is isNear for the tables of a layout that the caller asks for.
func (d difference) isNearest() bool {
	return d.named || d.there > len(d.missing) && 2*len(d.extra) <= d.known
}

// isVeryNear is isNear for tables that the caller may never have heard of.
func (d difference) isVeryNear() bool {
	return d.there > 2*len(d.missing) && d.there > 2 && 4*len(d.extra) <= d.known
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
	if d.extra != nil {
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

// nearest returns how a file differs from the table that it differs least from, of those
// for which near holds.
func nearest(mappings []*Mapping, file string, columns []string, near func(difference) bool) (best difference, ok bool) {
	for _, m := range mappings {
		for _, t := range m.tables {
			d := t.difference(file, columns)
			d.mapping, d.table = m.Name, t.label
			if d.count() > 0 && near(d) && (!ok || d.count() < best.count()) {
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
	for _, name := range columns {
		if m.only != nil && !slices.Contains(m.only, name) {
			d.extra = append(d.extra, name)
		}
	}
	d.known = len(m.only)
	if d.named = len(m.files) > 0 && m.fits(file); len(m.files) > 0 && !d.named {
		d.files = m.files
	}
	return d
}
