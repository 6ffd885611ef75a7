package record

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A FieldError is a fault of one field of a row.
type FieldError struct {
	Field string // path from the top of the row: "credits.cast[3].id"
	What  string // the expected and the actual value
	Value string // the value alone, as Shown; "" if What suffices
}

func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.What
	}
	return e.Field + ": " + e.What
}

// Counts counts values that typed columns cannot hold unchanged. The keys are paths without indices:
// "credits.cast[].popularity"; see Count.
type Counts struct {
	Unknown map[string]int64 // unknown fields, kept in Extra
	Coerced map[string]int64 // values of another type, or in another form
}

// A Parser parses rows into records. It is not safe for concurrent use.
type Parser struct {
	Counts Counts
	// Columns: rows come from a table, see columns.go.
	Columns bool
	// Texts: all values are texts, as in CSV. Numbers, true and false are read from texts without counting as
	// coerced.
	Texts bool
	// Values collects rejected values. If it is nil, a row is rejected for any such value, and for any value that
	// needs coercion, except numbers in quotes.
	Values *Values
	// Tally counts the cells of the rows after CountNext.
	Tally Tally

	// Named returns the JSON text of the object with a name, for a text in place of an object; "" for none. It may be
	// nil.
	Named func(f *Field, name string) string

	path    path // to the current value; meaningless after an error
	unusual fieldLists
	// extra holds the unknown fields of open objects: an object's fields follow its parents'.
	extra    []byte
	rejected bool // the current value, or one in it
	log      []counted

	extraColumn bool // the row has the column ExtraColumn
}

// A counted path, and its previous count.
type counted struct {
	counts   map[string]int64
	path     string
	previous int64
}

// Begin begins a row. Undo reverts the counts made after it.
func (p *Parser) Begin() { p.log, p.Tally.row = p.log[:0], p.Tally.row[:0] }

// Undo reverts the counts to their state at Begin, for a row that is not used.
func (p *Parser) Undo() {
	for i := len(p.log) - 1; i >= 0; i-- {
		if c := &p.log[i]; c.previous == 0 {
			delete(c.counts, c.path)
		} else {
			c.counts[c.path] = c.previous
		}
	}
	p.log = p.log[:0]
}

// Count adds n to the count of a path, in a map of p.Counts.
func (p *Parser) Count(counts map[string]int64, path string, n int64) {
	if _, ok := counts[path]; !ok && len(counts) >= MaxPaths {
		path = OtherPaths
	}
	p.log = append(p.log, counted{counts, path, counts[path]})
	counts[path] += n
}

// MaxPaths is the largest number of paths counted separately. Names that are data could create any number of them.
const MaxPaths = 1000

// OtherPaths is the path for the remaining counts.
const OtherPaths = "(other)"

// Count adds n to the count of a path.
func Count(counts map[string]int64, path string, n int64) {
	if _, ok := counts[path]; !ok && len(counts) >= MaxPaths {
		path = OtherPaths
	}
	counts[path] += n
}

// NewParser returns a Parser with empty counts.
func NewParser() *Parser {
	return &Parser{
		Counts:  Counts{Unknown: map[string]int64{}, Coerced: map[string]int64{}},
		unusual: fieldLists{texts: map[string]string{}},
		Tally:   Tally{cells: map[string]Cells{}},
	}
}

// Parse fills r, which must be zero, from row, one valid JSON object. The record retains parts of row. Bad values go
// to p.Values. Parse returns a *FieldError for a value that p.Values does not accept, and for a bad ID.
func (p *Parser) Parse(row string, r Record) error {
	p.path, p.extra = p.path[:0], p.extra[:0]
	t := &p.Tally
	t.on, t.armed, t.flat = t.armed, false, p.Columns
	if t.on {
		t.row, p.extraColumn = t.row[:0], false
	}
	defer func() { t.on = false }()
	c := cursor{s: row}
	if c.peek() != '{' {
		raw, err := c.skip()
		if err == nil {
			err = p.mismatch(raw, "an object")
		}
		return err
	}
	if err := p.object(&c, r); err != nil {
		return err
	}
	if c.peek(); c.i < len(row) {
		return c.broken()
	}
	return nil
}

// An object being read.
type object struct {
	start       int     // start of its unknown fields in Parser.extra
	next        int     // expected next field
	seen, nulls uint64  // fields found, and null fields
	unusual     *string // column "_unusual" of a table
}

// object reads an object; the cursor is at its opening brace.
func (p *Parser) object(c *cursor, r Record) error {
	o := object{start: len(p.extra)}
	if err := p.fields(c, r, &o); err != nil {
		return err
	}
	r.Object().Extra = string(p.extra[o.start:])
	p.extra = p.extra[:o.start]
	unusual := r.Schema.nullable&^o.seen | o.nulls&^r.Schema.nullable
	if o.unusual != nil {
		unusual = 0
		for i := range r.Schema.Fields {
			if listed(*o.unusual, r.Schema.Fields[i].Name) {
				unusual |= 1 << i
			}
		}
	}
	r.Object().Unusual = p.unusual.list(r.Schema, unusual)
	return nil
}

// fields reads the remaining fields of an object.
func (p *Parser) fields(c *cursor, r Record, o *object) error {
	for first := true; ; first = false {
		name, ok, err := c.member(first)
		if err != nil || !ok {
			return err
		}
		p.path.push(name)
		i, known := o.next, true
		if s := r.Schema; !p.Columns && (i >= len(s.Fields) || i == s.Key || i == s.rest || s.Fields[i].Name != name) {
			i, known = s.byName[name] // a field out of order
		}
		switch {
		case p.Columns:
			err = p.column(c, r, name, o)
		case !known:
			err = p.unknown(name, c, r, o.start)
		default:
			o.seen, o.next = o.seen|1<<i, i+1
			if c.peek() == 'n' && r.Schema.Fields[i].Shape != ShapeRaw {
				o.nulls |= 1 << i
				err = c.null()
			} else {
				err = p.fieldValue(c, r, i, o)
			}
		}
		if err != nil {
			return err
		}
		p.path.pop()
	}
}

// fieldValue reads the value of field i. If no part of it fits, the field becomes absent, not null, so that another
// source can supply it.
func (p *Parser) fieldValue(c *cursor, r Record, i int, o *object) error {
	p.rejected = false
	f := &r.Schema.Fields[i]
	counted := p.Tally.counts(p.path, c)
	// For an object in the row, its fields count instead.
	isCell := len(p.path) == 2 || p.Tally.flat || c.peek() != '{' || f.Shape != ShapeObject && f.Shape != ShapePages
	var err error
	if p.Columns || f.Shape > ShapeRaw && p.Values != nil && c.peek() == '"' { // a table's rows may be stored as JSON
		err = p.cell(c, r, f)
	} else {
		err = p.value(c, r, f)
	}
	leftOut := p.rejected && !r.hasValue(f)
	if leftOut {
		valueOf(r, f).SetZero()
		o.seen &^= 1 << i
	}
	switch {
	case !counted:
	case leftOut:
		p.Tally.add(p.path, f, IsLeftOut)
	case isCell && r.isSet(f):
		p.Tally.add(p.path, f, IsUsed)
	}
	return err
}

// null consumes the literal.
func (c *cursor) null() error {
	if c.scalar() != "null" {
		return c.broken()
	}
	return nil
}

// unknown appends a field without a column to p.extra. The fields of its object begin there at start.
func (p *Parser) unknown(key string, c *cursor, r Record, start int) error {
	if p.Tally.counts(p.path, c) {
		fate := IsExtra
		if key == "id" && r.Schema.DropID || r.Schema.rest >= 0 && c.peek() == '[' {
			fate = IsUsed
		}
		p.Tally.row = append(p.Tally.row, rowCell{p.path.where(false), false, fate})
	}
	if key == "id" && r.Schema.DropID {
		_, err := c.skip()
		return err
	}
	if r.Schema.rest >= 0 && c.peek() == '[' {
		el := r.Grow(&r.Schema.Fields[r.Schema.rest])
		*el.String(&el.Schema.Fields[el.Schema.Key]) = Text(key)
		return p.value(c, el, &el.Schema.Fields[1-el.Schema.Key])
	}
	raw, err := c.compact()
	if err != nil {
		return err
	}
	p.Count(p.Counts.Unknown, p.path.where(false), 1)
	if len(p.extra) > start {
		p.extra = append(p.extra, ',')
	}
	p.extra = append(AppendString(p.extra, key), ':')
	p.extra = append(p.extra, raw...)
	return nil
}

func (p *Parser) value(c *cursor, r Record, f *Field) (err error) {
	var ok bool
	switch f.Shape {
	case ShapeString:
		var s string
		if s, ok, err = p.text(c, f); ok {
			*r.String(f) = Text(s)
		}
	case ShapeInt:
		var n int64
		if n, ok, err = p.integer(c, f); ok {
			*r.Int(f) = Number(n)
		}
	case ShapeFloat:
		// Many dumps passed through tools that quote numbers.
		quoted, start := c.peek() == '"', c.i
		var n float64
		if n, ok, err = p.numberOf(c); err != nil {
			return err
		}
		if !ok {
			c.i = start
			return p.reject(c, "a number")
		}
		if quoted && !p.Texts {
			p.countCoerced()
		}
		if f.Score && (n < 0 || n > 10) {
			c.i = start
			return p.reject(c, "a number from 0 to 10")
		}
		*r.Float(f) = Float{n, true}
	case ShapeBool:
		var b bool
		if b, ok, err = p.boolean(c); ok {
			*r.Bool(f) = Bool{b, true}
		}
	case ShapeRaw:
		s := r.String(f)
		s.V, err = c.compact()
		s.Set = true
	case ShapeObject:
		if c.peek() != '{' {
			return p.reject(c, "an object")
		}
		return p.object(c, r.MakeSub(f))
	case ShapeKeyed:
		return p.keyed(c, r, f)
	default:
		b := c.peek()
		if b == '{' && f.Shape == ShapePages {
			r.MakeList(f, 1)
			return p.object(c, r.Grow(f))
		}
		if b != '[' {
			return p.reject(c, listForms[f.Shape])
		}
		r.MakeList(f, 0)
		return p.each(c, func() error { return p.element(c, r, f) })
	}
	return err
}

// listForms are the expected forms of lists, for messages.
var listForms = map[Shape]string{
	ShapeStrings: "an array of strings", ShapeInts: "an array of integers", ShapeObjects: "an array of objects",
	ShapePages: "a page or an array of pages",
}

// text reads a string value; ok is false for a rejected one. It drops U+0000, because JSON in table cells was not
// checked before.
func (p *Parser) text(c *cursor, f *Field) (s string, ok bool, err error) {
	start := c.i
	switch b := c.peek(); {
	case b == '"':
		quote := c.i
		if s, err = c.text(); err != nil {
			return "", false, err
		}
		if escaped := c.i-quote != len(s)+len(`""`); escaped && strings.IndexByte(s, 0) >= 0 {
			if p.Values == nil {
				return "", false, p.rejectAs(&FieldError{Field: p.path.where(true), What: "found U+0000, which no text has"})
			}
			s = strings.ReplaceAll(s, "\x00", "")
			p.countCoerced()
		}
		if p.Texts && len(p.path) == 1 && s != "" && IsNothing(s) && !IsName(f.Name) {
			return "", false, nil
		}
	case p.Values != nil && (b == '-' || b >= '0' && b <= '9'):
		if s = c.scalar(); !f.Day {
			p.countCoerced()
		}
	default:
		return "", false, p.reject(c, "a string")
	}
	if f.Day && s != "" && !IsDay(s) {
		if day, ok := dayOf(s); ok && p.Values != nil {
			p.countCoerced()
			return day, true, nil
		}
		c.i = start
		return "", false, p.reject(c, "YYYY-MM-DD or nothing")
	}
	want := ""
	switch {
	case f.Language && !isLanguage(s):
		want = "the code of a language, such as en, or nothing"
	case f.IMDb && !isIMDb(s):
		want = "an id of IMDb, such as tt0137523, or nothing"
	}
	if want != "" {
		c.i = start
		return "", false, p.reject(c, want)
	}
	if f.Image && (strings.HasPrefix(s, "http") || strings.HasPrefix(s, "//")) {
		if m := imageAddress.FindStringSubmatch(s); m != nil {
			if p.Values == nil {
				c.i = start
				return "", false, p.reject(c, "the path of an image")
			}
			p.countCoerced()
			return m[1], true, nil
		}
	}
	return s, true, nil
}

// isLanguage reports whether s may be the code of a language, or is empty.
func isLanguage(s string) bool {
	return s == "" || (len(s) == 2 || len(s) == 3) && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == ""
}

// isIMDb reports whether s may be an id of IMDb, or is empty.
func isIMDb(s string) bool {
	return s == "" || len(s) > 2 && (s[:2] == "tt" || s[:2] == "nm") && strings.Trim(s[2:], "0123456789") == ""
}

// Truth returns the value of a text that tables have for true or false.
func Truth(text string) (v, ok bool) {
	switch strings.TrimSpace(text) {
	case "true", "True", "TRUE", "1", "1.0", "yes", "Yes", "YES", "Y", "t":
		return true, true
	case "false", "False", "FALSE", "0", "0.0", "no", "No", "NO", "N", "f":
		return false, true
	}
	return false, false
}

func (p *Parser) boolean(c *cursor) (v, ok bool, err error) {
	b, start := c.peek(), c.i
	if b == '"' && (p.Texts || p.Values != nil) {
		s, err := c.text()
		if v, ok = Truth(s); ok || err != nil {
			if ok && !p.Texts {
				p.countCoerced()
			}
			return v, ok, err
		}
	} else {
		switch s := c.scalar(); {
		case s == "true" || s == "false":
			return s == "true", true, nil
		case p.Values != nil && (s == "1" || s == "0"):
			p.countCoerced()
			return s == "1", true, nil
		}
	}
	c.i = start
	return false, false, p.reject(c, "true or false")
}

// each calls fn for every element of an array. fn must consume the element.
func (p *Parser) each(c *cursor, fn func() error) error {
	for i := 0; ; i++ {
		ok, err := c.item(i == 0, '[', ']')
		if err != nil || !ok {
			return err
		}
		p.path = append(p.path, step{index: i})
		if err := fn(); err != nil {
			return err
		}
		p.path.pop()
	}
}

// element reads an element of a list. A bad element is rejected without the list.
func (p *Parser) element(c *cursor, r Record, f *Field) error {
	switch f.Shape {
	case ShapeStrings:
		s, ok, err := p.text(c, f)
		if ok {
			*r.Strings(f) = append(*r.Strings(f), s)
		}
		return err
	case ShapeInts:
		n, ok, err := p.integer(c, f)
		if ok {
			*r.Ints(f) = append(*r.Ints(f), n)
		}
		return err
	}
	switch start := c.i; {
	case c.peek() == '{':
		return p.object(c, r.Grow(f))
	case c.peek() == '"' && p.Named != nil && p.Values != nil:
		name, err := c.text()
		if err != nil {
			return err
		}
		if object := p.Named(f, name); object != "" {
			p.countCoerced()
			return p.object(&cursor{s: object}, r.Grow(f))
		}
		c.i = start
	}
	return p.reject(c, "an object")
}

// keyed reads an object whose field names are data, such as country codes.
func (p *Parser) keyed(c *cursor, r Record, f *Field) error {
	b := c.peek()
	if p.Columns && b == '[' {
		return p.keyedRows(c, r, f)
	}
	if b != '{' {
		// PHP writes an empty map as an empty list.
		start := c.i
		if b == '[' {
			if more, err := c.item(true, '[', ']'); err == nil && !more {
				r.MakeList(f, 0)
				return nil
			}
		}
		c.i = start
		return p.reject(c, "an object")
	}
	r.MakeList(f, 0)
	for first := true; ; first = false {
		name, ok, err := c.member(first)
		if err != nil || !ok {
			return err
		}
		p.path.push(name)
		switch b := c.peek(); {
		case b == 'n' && p.Columns: // a table has every name in every row
			err = c.null()
		case b != '{':
			err = p.reject(c, "an object")
		default:
			rec := r.Grow(f)
			if err = p.object(c, rec); err == nil {
				*rec.String(&rec.Schema.Fields[rec.Schema.Key]) = Text(name)
			}
		}
		if err != nil {
			return err
		}
		p.path.pop()
	}
}

// integer reads an integer. It accepts 8.0 and "8", except for the row's own ID if Values is nil: another type there
// means a row of another kind.
func (p *Parser) integer(c *cursor, f *Field) (n int64, ok bool, err error) {
	c.peek()
	start := c.i
	if n, err := strconv.ParseInt(c.scalar(), 10, 64); err == nil {
		return n, true, nil
	}
	c.i = start
	if f.Name == "id" && len(p.path) == 1 && !p.Texts && p.Values == nil {
		return 0, false, p.reject(c, "an integer")
	}
	v, ok, err := p.numberOf(c)
	if err != nil {
		return 0, false, err
	}
	text := ok && c.s[start] == '"'
	if !ok || v != math.Trunc(v) || math.Abs(v) > 1<<53 || text && IsGrouped(c.s[start+1:c.i-1]) {
		c.i = start
		return 0, false, p.reject(c, "an integer")
	}
	if text && !p.Texts || !text && p.Values != nil && !p.Columns {
		p.countCoerced()
	}
	return int64(v), true, nil
}

// numberOf reads a number, with or without quotes; ok is false for other values, which it may consume in part.
func (p *Parser) numberOf(c *cursor) (v float64, ok bool, err error) {
	b, s := c.peek(), ""
	switch {
	case b == '"':
		if s, err = c.text(); err != nil {
			return 0, false, err
		}
	case b == '-' || b >= '0' && b <= '9':
		s = c.scalar()
	}
	v, err = strconv.ParseFloat(s, 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0), nil
}

// countCoerced counts a coercion of the current value.
func (p *Parser) countCoerced() { p.Count(p.Counts.Coerced, p.path.where(false), 1) }

// reject consumes a bad value and passes it to p.Values. In a table cell, a text that means "no value" is ignored. A
// bad key of the row is an error, because it leaves no record.
func (p *Parser) reject(c *cursor, want string) error {
	raw, err := c.skip()
	if err != nil {
		return err
	}
	if p.Values != nil && p.Columns && raw[0] == '"' && IsNothing(Unquote(raw)) {
		return nil
	}
	return p.rejectAs(p.mismatch(raw, want))
}

func (p *Parser) rejectAs(err error) error {
	if len(p.path) == 1 && isKey[p.path[0].name] {
		return err
	}
	p.rejected = true
	return p.Values.Reject(err)
}

// isKey holds the fields that identify a row's record.
var isKey = map[string]bool{"id": true, "series_id": true, "season_number": true, "episode_number": true}

// IsName reports whether a field is a title or a name, which any text may be.
func IsName(field string) bool {
	return strings.HasSuffix(field, "title") || strings.HasSuffix(field, "name")
}

// IsNothing reports whether text is a tool's notation for an empty cell. It may be a title or a name.
func IsNothing(text string) bool {
	switch strings.TrimSpace(text) {
	case "", `\N`, "NaN", "nan", "N/A", "n/a", "NA", "<NA>", "#N/A", "None", "null", "NULL", "-", "?":
		return true
	}
	return false
}

// mismatch returns the error for a value of the wrong type.
func (p *Parser) mismatch(raw, want string) error {
	switch raw[0] {
	case '{':
		raw = "an object"
	case '[':
		raw = "an array"
	}
	return &FieldError{Field: p.path.where(true), What: fmt.Sprintf("want %s, found %s", want, Shown(raw)), Value: Shown(raw)}
}

// A path leads from a row to a value in it.
type path []step

// A step is one level of a path.
type step struct {
	name  string
	index int // -1 for a field
}

func (p *path) push(name string) { *p = append(*p, step{name, -1}) }
func (p *path) pop()             { *p = (*p)[:len(*p)-1] }

// where returns the path as text, with the numbers of elements if requested.
func (p path) where(indices bool) string {
	var b strings.Builder
	for _, s := range p {
		switch {
		case s.index >= 0 && indices:
			fmt.Fprintf(&b, "[%d]", s.index)
		case s.index >= 0:
			b.WriteString("[]")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.name)
		}
	}
	return b.String()
}
