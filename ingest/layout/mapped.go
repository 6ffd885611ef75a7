package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// mapped is the layout of tables with a mapping. It evaluates the expressions for a row, finds IDs for its records, and writes
// the records in the API's form, which tmdb reads.
type mapped struct {
	*evaluator
	tmdb    *tmdb.Reader
	form    *form
	values  *record.Values   // see Options
	dropped map[string]int64 // values for which the API has no field, by table and column
	whole   map[string]int64 // joined lists that could not be split, by table and column
	row     *row

	results    []entryResult    // results for the current record, by entry
	out        []byte           // the current record's JSON
	unresolved record.RawFields // joined lists that could not be split, or their unknown names, by column
	nested     bool             // a value of the record is a list or an object
}

// An entryResult is the value of an entry in the current record, for the lookup of its ID and for the record itself.
type entryResult struct {
	done bool
	text []byte // JSON; empty for no value
	fate record.Fate
	err  error
}

// newMapped returns a reader of rows of a layout's table.
func newMapped(name string, f *form, o Options) *mapped {
	if name == idExport {
		o.Language = "" // exports are the same for every language
	}
	t := tmdb.New(o.Language)
	if o.Values != nil {
		t.Values = &record.Values{} // values of one record; their fields are renamed to columns
	}
	r := &row{columns: map[string]*column{}, counts: map[string]*record.Cells{}}
	for _, s := range f.shapes {
		for _, name := range s.columns() {
			r.columns[name] = &column{name: name}
		}
	}
	for _, s := range f.shapes {
		for _, e := range s.entries {
			for _, name := range e.columns {
				if c := r.columns[name]; c != nil && record.IsName(e.field.Name) {
					c.isName = true
				}
			}
		}
	}
	ids := &identifier{names: o.Names, find: o.IDs, recordIDs: map[fragment.Kind]int64{}}
	return &mapped{evaluator: newEvaluator(ids, &o), tmdb: t, form: f, values: o.Values, dropped: t.Counts().Dropped, whole: map[string]int64{}, row: r}
}

// Counts counts rows without a record in Dropped. A list that was kept whole is counted by its column's name and "_text".
func (m *mapped) Counts() tmdb.Counts {
	c := m.tmdb.Counts()
	c.Whole, c.Cells = m.whole, map[string]record.Cells{}
	for name, n := range m.row.counts {
		c.Cells[name] = *n
	}
	return c
}

// Records returns the records of a row. A row that is empty, or excluded by the conditions of all records, has no records and is
// counted in Dropped.
func (m *mapped) Records(r Row) ([]Record, error) {
	if err := m.row.read(r.JSON, m.values != nil); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(m.row.cells, func(c *column) bool { return !isEmpty(c.raw) }) {
		record.Count(m.dropped, m.form.label+": empty rows", 1)
		return nil, nil
	}
	m.ids.begin()
	clear(m.literals)
	var out []Record
	included := false
	for _, s := range m.form.shapes {
		recs, meets, err := m.shape(s)
		if err != nil {
			return nil, err
		}
		included = included || meets
		out = append(out, recs...)
	}
	if !included {
		record.Count(m.dropped, m.form.label+": rows that no record takes", 1)
	} else {
		m.row.count(r.Table)
	}
	for _, n := range m.ids.minted {
		recs, err := m.tmdb.Records(Row{JSON: resource(n.id, n.name).object, Type: catalog.TypeOf(n.kind)})
		if err != nil {
			return nil, err
		}
		recs[0].Part, recs[0].Mint = true, n.hash
		out = append(out, recs...)
	}
	return out, nil
}

// shape returns the records of a shape: one for the row, or one for each element of its list. included is false if the
// condition excludes the row.
func (m *mapped) shape(s *shape) (out []Record, included bool, err error) {
	if s.where != nil {
		value, err := m.value(s.where, m.row)
		if err != nil {
			return nil, false, tmdb.InField(err, "where")
		}
		if value != true {
			return nil, false, nil
		}
		m.row.setFate(s.where.reads, record.IsUsed)
	}
	if s.each == nil {
		out, err := m.record(s)
		return out, true, err
	}
	list, err := m.elements(s.each)
	if err != nil {
		m.row.setFate(s.each.reads, record.IsLeftOut)
		return nil, true, m.values.Reject(tmdb.InField(err, s.each.column))
	}
	defer m.row.setElement("", "", 0)
	fate := record.IsUsed
	for i, element := range list {
		if isEmpty(element) {
			continue
		}
		fate = record.IsLeftOut
		m.row.setElement(s.each.column, element, i)
		m.countUnread(s, element)
		recs, err := m.record(s)
		if noID := (*NoIDError)(nil); err != nil && !errors.As(err, &noID) {
			err = m.values.Reject(err)
		}
		if err != nil {
			return nil, true, err
		}
		out = append(out, recs...)
	}
	if len(out) > 0 {
		fate = record.IsUsed
	}
	m.row.setFate(s.each.reads, fate)
	return out, true, nil
}

// countUnread counts the fields of an element that no expression reads.
func (m *mapped) countUnread(s *shape, element string) {
	if element[0] != '{' {
		return
	}
	reads := func(field string) bool {
		return slices.ContainsFunc(s.entries, func(e *entry) bool { return slices.Contains(e.reads, cellPath{elementName, field}) })
	}
	if reads("") {
		return
	}
	_ = record.EachField(element, func(name, raw string) error { // valid JSON
		if raw != "null" && !reads(name) {
			record.Count(m.dropped, m.form.label+"."+s.each.column+"."+name, 1)
		}
		return nil
	})
}

// elements returns the elements of a list as JSON texts, nulls and empty texts included.
func (m *mapped) elements(e *expression) (out []string, err error) {
	value, err := m.value(e, m.row)
	if value == nil || err != nil {
		return nil, err
	}
	raw, isRaw := value.(rawJSON)
	if !isRaw {
		text, err := appendValue(nil, value)
		if err != nil {
			return nil, err
		}
		raw = rawJSON(text)
	}
	if raw[0] == '"' { // a list in a text
		text := strings.TrimSpace(record.Unquote(string(raw)))
		list, err := readJSON(text)
		switch {
		case text == "":
			return nil, nil
		case err == nil && text[0] == '[':
			raw = list
		}
	}
	err = record.EachElement(string(raw), func(_ int, raw string) error {
		out = append(out, raw)
		return nil
	})
	return out, err
}

// record returns the records of the row for a shape, its own record first.
func (m *mapped) record(s *shape) ([]Record, error) {
	kind := s.typ.Kind
	m.unresolved, m.nested, m.out = m.unresolved[:0], false, append(m.out[:0], '{')
	m.results = slices.Grow(m.results[:0], len(s.entries))[:len(s.entries)]
	for i := range m.results {
		m.results[i] = entryResult{text: m.results[i].text[:0]}
	}
	m.ids.setTitle(kind, 0)
	var found identity
	if s.find != nil {
		var err error
		if found, err = m.identify(s); err != nil {
			return nil, err
		}
		m.ids.setTitle(kind, found.id)
	}
	if _, err := m.fields(s.root); err != nil {
		return nil, err
	}
	for _, field := range m.unresolved {
		m.out = record.AppendField(m.out, field.Name+"_text", field.Raw)
	}
	if found.added {
		m.out = record.AppendField(m.out, s.find.key, strconv.FormatInt(found.id, 10))
	}
	isResponse := slices.ContainsFunc(s.entries, func(e *entry) bool { return e.path == wholeRecord })
	recs, err := m.tmdb.Records(Row{JSON: string(append(m.out, '}')), Type: s.typ, Table: m.nested, Response: isResponse})
	column := func(field string) string {
		if e, below := s.entryOf(field); e != nil {
			field = e.column + below
		}
		return m.row.pathOf(field)
	}
	if m.values != nil {
		m.values.AddRenamed(m.tmdb.Values, func(path string) string { return record.WithoutIndices(column(path)) })
	}
	for _, path := range m.tmdb.LostCells() {
		if e, _ := s.entryOf(path); e != nil {
			m.results[e.number].fate = record.IsLeftOut
		}
	}
	for i, e := range s.entries {
		m.row.setFate(e.reads, m.results[i].fate)
	}
	if s.find != nil {
		for _, name := range s.find.columns {
			m.row.setFate([]cellPath{{column: name}}, record.IsUsed)
		}
	}
	if err != nil {
		return nil, tmdb.Renamed(err, column)
	}
	for _, field := range m.unresolved {
		record.Count(m.whole, m.form.label+"."+field.Name, 1)
		m.tmdb.Forget(field.Name + "_text")
	}
	recs[0].Part = s.part
	fields := recs[0].Schema.Fields
	for i := range fields {
		if !s.part && fields[i].Shape == record.ShapePages {
			catalog.CountRows(recs[0].Record, &fields[i])
		}
	}
	recs[0].Found, recs[0].Mint = found.found, found.mint
	if s.each == nil && slices.Contains(mintable, kind) {
		m.ids.recordIDs[kind] = int64(recs[0].Key.ID())
	}
	return recs, nil
}

// fields writes the fields below an output and reports whether a cell provided one. It removes an object with only constants.
func (m *mapped) fields(o *output) (provided bool, err error) {
	for _, kid := range o.kids {
		before := len(m.out)
		if c := m.out[before-1]; c != '{' && c != '[' {
			m.out = append(m.out, ',')
		}
		if kid.name != wholeRecord {
			m.out = append(record.AppendString(m.out, kid.name), ':')
		}
		if kid.list {
			m.out = append(m.out, '[')
		}
		var written bool
		fromCell := true
		if kid.entry == nil {
			m.out = append(m.out, '{')
			written, err = m.fields(kid)
			m.out = append(m.out, '}')
		} else {
			var text []byte
			text, err = m.entry(kid.entry)
			m.out = append(m.out, text...)
			written, fromCell = len(text) > 0, len(kid.entry.columns) > 0
		}
		if err != nil {
			return false, err
		}
		if kid.list {
			m.out = append(m.out, ']')
		}
		if !written {
			m.out = m.out[:before]
		}
		provided = provided || written && fromCell
	}
	return provided, nil
}

// entry returns the JSON text of an entry's value, or nothing if it is empty. The text is valid until the next record. A value that
// does not fit its field is left out, or an error if the field is part of the record's key.
func (m *mapped) entry(e *entry) ([]byte, error) {
	result := &m.results[e.number]
	if result.done {
		return result.text, result.err
	}
	result.done = true
	var value any
	var err error
	switch {
	case len(e.columns) == 0:
		result.text = append(result.text, e.constant...)
		return result.text, nil
	case e.isColumn(): // fast path for most entries
		result.text, err = e.appendCell(result.text, m.row.cell(e.columns[0]))
	default:
		if value, err = m.value(e.expression, m.row); err == nil {
			m.keepUnresolved(e, result)
			result.text, err = e.append(result.text, value)
		}
	}
	if n := len(result.text); err == nil && n > 0 {
		m.nested = m.nested || result.text[0] == '{' || result.text[0] == '['
		switch {
		case e.path != wholeRecord:
		case result.text[0] == '{': // its fields, without its braces
			result.text = append(result.text[:0], bytes.TrimSpace(result.text[1:n-1])...)
		default:
			err = errors.New("want an object")
		}
	}
	if err == nil {
		return result.text, nil
	}
	result.text, result.fate = result.text[:0], record.IsLeftOut
	found := m.row.cell(e.columns[0])
	if value != nil && e.column != e.columns[0] { // the value at the path
		text, _ := appendValue(nil, value) // decoded JSON
		found = string(text)
	}
	found = record.Shown(found)
	result.err = &record.FieldError{Field: m.row.pathOf(e.column), What: fmt.Sprintf("%v, found %s", err, found), Value: found}
	if !e.key {
		result.err = m.values.Reject(result.err)
	}
	return result.text, result.err
}

// keepUnresolved keeps the names of a cell that the last expression did not resolve, and counts names without a place in the API.
func (m *mapped) keepUnresolved(e *entry, result *entryResult) {
	column := e.columns[0]
	for _, unmatched := range m.unmatched {
		for _, name := range unmatched.dropped {
			record.Count(m.dropped, m.form.label+"."+column+": "+name, 1)
		}
		switch {
		case unmatched.whole:
			result.fate = record.IsExtra
			m.unresolved = append(m.unresolved, record.RawField{Name: column, Raw: m.row.cell(column)})
		case unmatched.unknown != nil:
			names, _ := json.Marshal(unmatched.unknown) // texts
			m.unresolved = append(m.unresolved, record.RawField{Name: column, Raw: string(names)})
		}
	}
}

// checkType checks the type of an expression's result before any row is read.
func (e *entry) checkType() error {
	if e.isColumn() || e.result == nil {
		return nil
	}
	isScalar := e.field.Shape <= record.ShapeBool
	switch kind := e.result.Kind(); {
	case isScalar && (kind == reflect.Slice || kind == reflect.Map),
		!isScalar && (kind == reflect.Bool || kind == reflect.Int || kind == reflect.Float64),
		e.result == reflect.TypeFor[day]() && e.field.Shape != record.ShapeString,
		kind == reflect.Bool && e.field.Shape != record.ShapeBool:
		return fmt.Errorf("%s is %s, and the field %s", e.source, kindNames[kind], shapeNames[e.field.Shape])
	}
	return nil
}

var kindNames = map[reflect.Kind]string{
	reflect.Slice: "a list", reflect.Map: "an object", reflect.Bool: "true or false", reflect.Int: "an integer", reflect.Float64: "a number", reflect.String: "a text",
}

var shapeNames = map[record.Shape]string{
	record.ShapeString: "a text", record.ShapeInt: "an integer", record.ShapeFloat: "a number", record.ShapeBool: "true or false",
	record.ShapeObject: "an object", record.ShapeObjects: "a list of objects", record.ShapeStrings: "a list of texts", record.ShapeInts: "a list of integers",
	record.ShapeKeyed: "an object of objects", record.ShapePages: "an object with pages", record.ShapeRaw: "any JSON",
}

// append appends the JSON text of a value as the entry's field, or nothing if it is empty. Errors state the expected value. The
// parser of records checks values inside lists and objects.
func (e *entry) append(dst []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return dst, nil
	case rawJSON:
		return e.appendCell(dst, string(v))
	case string:
		return e.appendText(dst, v, e.numbers)
	case []any:
		if e.field.Shape != record.ShapeInts {
			break
		}
		dst = append(dst, '[')
		for i, element := range v { // an integer may be a text
			n, err := e.numbers.forValue(element).integer(textOf(element))
			if err != nil {
				return dst, errors.New("want integers")
			}
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = strconv.AppendInt(dst, n, 10)
		}
		return append(dst, ']'), nil
	}
	text, err := appendValue(nil, value)
	if err != nil {
		return dst, err
	}
	return e.appendCell(dst, string(text))
}

// appendCell appends the JSON text of the field for a JSON text, or nothing if that is empty.
func (e *entry) appendCell(dst []byte, raw string) ([]byte, error) {
	isText := e.field.Shape == record.ShapeString
	switch {
	case raw == "":
		return dst, nil
	case raw[0] == '"' && isText:
		return append(dst, raw...), nil
	case raw[0] == '"':
		return e.appendText(dst, record.Unquote(raw), e.numbers)
	case (raw[0] == 't' || raw[0] == 'f') && isText:
		return dst, errors.New("want a text")
	case raw[0] != '{' && raw[0] != '[':
		return e.appendText(dst, raw, numberReader{decimal: "."})
	case e.field.Shape <= record.ShapeBool:
		return dst, errors.New("want one value")
	}
	return append(dst, raw...), nil
}

// isNothing reports whether a value is nil or an object with only nil values.
func isNothing(value any) bool {
	object, ok := value.(map[string]any)
	for _, inner := range object {
		ok = ok && isNothing(inner)
	}
	return value == nil || ok
}

// appendValue appends the JSON text of a value. An empty value in an object becomes null, as in the API.
func appendValue(dst []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case []any:
		dst = append(dst, '[')
		for i, element := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			var err error
			if dst, err = appendValue(dst, element); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	case map[any]any: // a result of fromPairs
		object := map[string]any{}
		for key, inner := range v {
			object[textOf(key)] = inner
		}
		return appendValue(dst, object)
	case map[string]any:
		dst = append(dst, '{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if dst[len(dst)-1] != '{' {
				dst = append(dst, ',')
			}
			dst = append(record.AppendString(dst, name), ':')
			if isNothing(v[name]) {
				dst = append(dst, "null"...)
				continue
			}
			var err error
			if dst, err = appendValue(dst, v[name]); err != nil {
				return dst, err
			}
		}
		return append(dst, '}'), nil
	case string:
		return record.AppendString(dst, v), nil
	}
	text, err := json.Marshal(value)
	return append(dst, text...), err
}

// appendText appends the value of a field from a text or the digits of a number.
func (e *entry) appendText(dst []byte, s string, numbers numberReader) ([]byte, error) {
	if e.field.Shape != record.ShapeString && record.IsNothing(s) {
		return dst, nil
	}
	switch e.field.Shape {
	case record.ShapeString:
		return record.AppendString(dst, s), nil
	case record.ShapeInt:
		n, err := numbers.integer(s)
		if err != nil {
			return dst, err
		}
		return strconv.AppendInt(dst, n, 10), nil
	case record.ShapeFloat:
		f, err := numbers.number(s)
		if err != nil {
			return dst, err
		}
		return strconv.AppendFloat(dst, f, 'g', -1, 64), nil
	case record.ShapeBool:
		b, err := boolean(s)
		if err != nil {
			return dst, err
		}
		return strconv.AppendBool(dst, b), nil
	}
	text, err := readJSON(s)
	return append(dst, text...), err
}
