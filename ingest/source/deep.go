package source

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// Nested rows: many files have one document with the rows in a list or an object inside. A path locates the rows: field names
// joined by dots, with [] for each element of a list, and {} for each value of an object. A list at the end of a path means
// its elements:
//
//	results                   {"page":1,"results":[{...}]}
//	hits.hits[]._source       {"hits":{"hits":[{"_id":"550","_source":{...}}]}}
//	{}                        {"550":{...},"603":{...}}
//	columns(), split()        the two formats of pandas without row objects
//
// A row without an id gets the id of the enclosing object.

// Forms of pandas, as paths.
const (
	pathColumns = "columns()" // {"id":{"0":550},"title":{"0":"Fight Club"}}, or lists of values
	pathSplit   = "split()"   // {"columns":["id"],"data":[[550]]}, or "rows"
)

// deepRows reads rows nested in the rows of another reader.
type deepRows struct {
	rowReader
	path    string
	outer   Row      // enclosing row, valid until its reader's next row
	rows    []string // its nested rows that are still to be returned
	row     int64    // rows returned so far
	missing int64    // elements without a row at the path
}

func (d *deepRows) next() (Row, error) {
	for len(d.rows) == 0 {
		row, err := d.rowReader.next()
		if err != nil || row.Err != nil {
			return row, err
		}
		rows, missing, err := rowsAt(string(row.JSON), d.path)
		d.missing += missing
		if err == nil {
			d.outer, d.rows = row, rows
			continue
		}
		d.row++
		row.Place.Row = d.row
		row.Err = &RowError{Place: row.Place, Off: -1, Reason: err.Error()}
		return row, nil
	}
	json := d.rows[0]
	d.rows = d.rows[1:]
	d.row++
	row := Row{Place: d.outer.Place, JSON: []byte(json), Size: int64(len(json)), Mended: d.outer.Mended}
	row.Place.Row = d.row
	if row.Mended != (record.Mended{}) {
		row.Raw, d.outer.Mended = row.JSON, record.Mended{} // counted once
	}
	return row, nil
}

// rowsAt returns the rows at a path in the JSON text of an object, and how many elements lack one.
func rowsAt(text, path string) (rows []string, missing int64, err error) {
	switch path {
	case pathColumns:
		rows, err = rowsOfColumns(text)
		return rows, 0, err
	case pathSplit:
		rows, err = rowsOfSplit(text)
		return rows, 0, err
	}
	err = eachAt(text, "", path, func(id, row string) error {
		if row == "" {
			missing++
			return nil
		}
		if row[0] != '{' {
			return fmt.Errorf("rows %s: want objects, found %s", path, record.Shown(row))
		}
		if row, err = plainRow(row, id); err == nil {
			rows = append(rows, row)
		}
		return err
	})
	return rows, missing, err
}

// eachAt calls fn with each row below a value, or "" for an element without one, and the id of the object that contains it. The
// id of an object with a list of rows is not passed, because it is not the rows' id.
func eachAt(value, id, path string, fn func(id, row string) error) error {
	switch {
	case value == "null":
		return fn(id, "")
	case path == "" && value[0] == '[':
		return record.EachElement(value, func(_ int, raw string) error { return fn("", strings.TrimPrefix(raw, "null")) })
	case path == "":
		return fn(id, value)
	case strings.HasPrefix(path, "[]"):
		return record.EachElement(value, func(_ int, raw string) error { return eachAt(raw, "", strings.TrimPrefix(path[2:], "."), fn) })
	case strings.HasPrefix(path, "{}"):
		return record.EachField(value, func(name, raw string) error {
			if raw == "{}" || raw == "[]" || raw == "null" { // no row
				return nil
			}
			return eachAt(raw, string(record.AppendString(nil, name)), strings.TrimPrefix(path[2:], "."), fn)
		})
	}
	name := path[:strings.IndexAny(path+".", ".[{")]
	fields, err := record.Fields(value)
	if err != nil {
		return err
	}
	inner := fields.Value(name)
	if inner == "" {
		return fn("", "")
	}
	for _, idName := range []string{"id", "_id"} {
		if raw := fields.Value(idName); raw != "" && raw[0] != '{' && raw[0] != '[' {
			id = raw
			break
		}
	}
	return eachAt(inner, id, strings.TrimPrefix(path[len(name):], "."), fn)
}

// plainRow returns a row with plain values in place of SPARQL bindings. A row without an id gets the given one.
func plainRow(row, id string) (string, error) {
	fields, err := record.Fields(row)
	if err != nil {
		return "", err
	}
	changed := false
	if !fields.Has("id") && id != "" {
		fields, changed = append(record.RawFields{{Name: "id", Raw: id}}, fields...), true
	}
	bindings := len(fields) > 0
	values := make([]string, len(fields))
	for i, f := range fields {
		if bindings = bindings && f.Raw[0] == '{'; !bindings {
			break
		}
		inner, err := record.Fields(f.Raw)
		if bindings = err == nil && inner.Has("type") && inner.Has("value"); bindings {
			values[i] = inner.Value("value")
		}
	}
	if bindings {
		for i := range fields {
			fields[i].Raw = values[i]
		}
	}
	if !changed && !bindings {
		return row, nil
	}
	return fields.Object(), nil
}

// rowsOfColumns returns the rows of an object with an object or a list of values for each column.
func rowsOfColumns(text string) ([]string, error) {
	rows := map[string]record.RawFields{}
	var order []string
	err := record.EachField(text, func(column, raw string) error {
		add := func(place, value string) error {
			if _, ok := rows[place]; !ok {
				order = append(order, place)
			}
			rows[place] = append(rows[place], record.RawField{Name: column, Raw: value})
			return nil
		}
		if raw[0] == '[' {
			return record.EachElement(raw, func(i int, value string) error { return add(strconv.Itoa(i), value) })
		}
		return record.EachField(raw, add)
	})
	out := make([]string, len(order))
	for i, place := range order {
		out[i] = rows[place].Object()
	}
	return out, err
}

// rowsOfSplit returns the rows of an object with the names of columns, and a list of values for each row.
func rowsOfSplit(text string) (out []string, err error) {
	fields, err := record.Fields(text)
	if err != nil {
		return nil, err
	}
	var columns []string
	if err := record.EachElement(fields.Value("columns"), func(_ int, raw string) error {
		columns = append(columns, record.Unquote(raw))
		return nil
	}); err != nil {
		return nil, err
	}
	err = record.EachElement(cmp.Or(fields.Value("data"), fields.Value("rows")), func(_ int, raw string) error {
		var row record.RawFields
		if err := record.EachElement(raw, func(i int, value string) error {
			if i < len(columns) {
				row = append(row, record.RawField{Name: columns[i], Raw: value})
			}
			return nil
		}); err != nil {
			return err
		}
		out = append(out, row.Object())
		return nil
	})
	return out, err
}

// CheckRows returns an error for a text that is not a path to rows.
func CheckRows(path string) error {
	if path == "" || path == pathColumns || path == pathSplit {
		return nil
	}
	for _, name := range strings.Split(strings.NewReplacer("[]", "", "{}", "").Replace(path), ".") {
		if name == "" && path != "{}" && !strings.HasPrefix(path, "{}.") || strings.ContainsAny(name, "[]{}") {
			return fmt.Errorf("rows %q: want names joined by dots, with [] after the name of a list and {} for the values of an object, such as data.items[].movie", path)
		}
	}
	return nil
}

// Bounds of the search for nested rows.
const (
	maxDeepLevels = 5
	maxDeepPaths  = 12
)

// PathsToRows returns possible paths to rows in a document: to lists of objects, to objects of objects, and to an object in
// each element of these. The shortest come first.
func PathsToRows(text string) []string {
	var out []string
	add := func(path string) {
		if len(out) < maxDeepPaths && !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	fields, err := record.Fields(text)
	if err != nil {
		return nil
	}
	switch {
	case strings.HasPrefix(fields.Value("columns"), `["`) && strings.HasPrefix(cmp.Or(fields.Value("data"), fields.Value("rows")), "[["):
		add(pathSplit)
	case isObjectOfObjects(fields) && isList(fields[0].Raw), isObjectOfLists(fields):
		add(pathColumns)
	}
	type place struct{ path, value string }
	level := []place{{"", text}}
	for depth := 0; depth < maxDeepLevels && len(level) > 0; depth++ {
		var next []place
		for _, parent := range level {
			fields, err := record.Fields(parent.value)
			if err != nil {
				continue
			}
			if len(fields) > 0 && isObjectOfObjects(fields) && areKeys(fields) {
				path := strings.TrimPrefix(parent.path+".{}", ".")
				add(path)
				next = append(next, place{path, fields[0].Raw})
				continue
			}
			for _, f := range fields {
				path := strings.TrimPrefix(parent.path+"."+f.Name, ".")
				if strings.ContainsAny(f.Name, ".[]{}") || f.Name == "" {
					continue
				}
				switch f.Raw[0] {
				case '{':
					if depth > 0 && strings.HasSuffix(parent.path, "[]") || strings.HasSuffix(parent.path, "{}") || depth == 0 {
						add(path)
					}
					next = append(next, place{path, f.Raw})
				case '[':
					first := ""
					_ = record.EachElement(f.Raw, func(_ int, raw string) error {
						if first = raw; raw == "null" {
							return nil
						}
						return io.EOF // the first is enough
					})
					if first != "" && first[0] == '{' {
						add(path)
						next = append(next, place{path + "[]", first})
					}
				}
			}
		}
		level = next
	}
	return out
}

// isObjectOfObjects reports whether all values are objects, the first of them with fields.
func isObjectOfObjects(fields record.RawFields) bool {
	return len(fields) > 0 && fields[0].Raw != "{}" && !slices.ContainsFunc(fields, func(f record.RawField) bool { return f.Raw[0] != '{' })
}

// isObjectOfLists reports whether all values are lists, the first of them of plain values.
func isObjectOfLists(fields record.RawFields) bool {
	return len(fields) > 1 && !strings.HasPrefix(strings.TrimLeft(fields[0].Raw, "[ \t\r\n"), "{") && !slices.ContainsFunc(fields, func(f record.RawField) bool { return f.Raw[0] != '[' })
}

// areKeys reports whether the names of fields look like ids: most have a digit.
func areKeys(fields record.RawFields) bool {
	digits := 0
	for _, f := range fields {
		if strings.ContainsAny(f.Name, "0123456789") {
			digits++
		}
	}
	return 2*digits > len(fields)
}

// isList reports whether the names in an object are list indices: 0, 1, 2.
func isList(object string) bool {
	n := 0
	err := record.EachField(object, func(name, raw string) error {
		if name != strconv.Itoa(n) || raw[0] == '{' {
			return io.EOF
		}
		n++
		return nil
	})
	return err == nil && n > 0
}
