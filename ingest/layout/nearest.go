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
	near := nearest(o.Mappings, file, columns, 1)
	if near != "" || !isFlat(row) { // a response of the API has the columns of many tables
		return near
	}
	var all []*Mapping
	for _, layout := range mappedLayouts {
		all = append(all, ready(layout)...)
	}
	return nearest(all, file, columns, 3)
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

// nearest names the near table that a file differs least from, and all that differs; "" for none. A file is likely meant
// to be a table if it has most of what is required and little else, the more so the higher strict is; for 1 its name, or that
// of the mapping beside it, is enough.
func nearest(mappings []*Mapping, file string, columns []string, strict int) (nearest string) {
	least := 0
	for _, m := range mappings {
		for _, t := range m.tables {
			var want, extra []string
			known := 0 // columns of an exact table
			missing := slices.DeleteFunc(slices.Clone(t.requires), func(name string) bool { return slices.Contains(columns, name) })
			if t.only != nil {
				known, extra = len(t.only()), t.others(columns)
			}
			count, there, fits := len(missing)+len(extra), len(t.requires)-len(missing), t.fits(file)
			if len(t.files) > 0 && !fits {
				count++
				want = append(want, "a file named "+quotedList(t.files))
			}
			named := strict == 1 && (fits || m.Name == file+".toml")
			near := named || there >= strict*max(1, len(missing)) && 2*strict*len(extra) <= known
			if count == 0 || !near || least > 0 && count >= least {
				continue
			}
			if len(missing) > 0 {
				want = append(want, columnList(missing))
			}
			if len(extra) > 0 {
				want = append(want, "no "+columnList(extra))
			}
			least, nearest = count, fmt.Sprintf("nearest is table %s of %s: want %s", t.label, m.Name, strings.Join(want, " and "))
		}
	}
	return nearest
}
