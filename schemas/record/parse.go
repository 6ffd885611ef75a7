package record

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A FieldError is a fault of one field of a row.
type FieldError struct {
	Field string // path from the row's top: "credits.cast[3].id"
	What  string // what it must be and what it is
}

func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.What
	}
	return e.Field + ": " + e.What
}

// Counts counts values that the typed columns do not hold as they stood.
// The keys are paths without indices: "credits.cast[].popularity"; see Count.
type Counts struct {
	Unknown map[string]int64 // unknown fields, kept in Extra
	Coerced map[string]int64 // numbers that were given as text
}

// A Parser parses rows into records. It is not safe for concurrent use.
type Parser struct {
	Counts Counts
	// Columns: rows come from a table, see columns.go.
	Columns bool
	// Texts: all values are texts, as in CSV: then numbers, true and false are
	// read from texts, and nothing is counted as coerced.
	Texts   bool
	path    []step
	unusual map[string]string // one copy of each Unusual text
	// extra holds the unknown fields of the objects being read: those of an object
	// behind those of the objects around it.
	extra []byte
	list  []byte // room for listOf
	log   []counted
}

// A counted path, and its count before.
type counted struct {
	counts map[string]int64
	path   string
	before int64
}

// Begin begins a row: Undo takes back what is counted from here on.
func (p *Parser) Begin() { p.log = p.log[:0] }

// Undo makes the counts what they were at Begin, for a row that is not used after all.
func (p *Parser) Undo() {
	for i := len(p.log) - 1; i >= 0; i-- {
		if c := &p.log[i]; c.before == 0 {
			delete(c.counts, c.path)
		} else {
			c.counts[c.path] = c.before
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

// MaxPaths is how many paths Count keeps apart; names that are data would make
// more of them than anybody reads.
const MaxPaths = 1000

// OtherPaths is the path under which Count counts the rest.
const OtherPaths = "(other)"

// Count adds n to the count of a path.
func Count(counts map[string]int64, path string, n int64) {
	if _, ok := counts[path]; !ok && len(counts) >= MaxPaths {
		path = OtherPaths
	}
	counts[path] += n
}

// step is one level of the path to the value at hand.
type step struct {
	name  string
	index int // -1 for a field
}

// NewParser returns a Parser with empty counts.
func NewParser() *Parser {
	return &Parser{
		Counts:  Counts{Unknown: map[string]int64{}, Coerced: map[string]int64{}},
		unusual: map[string]string{},
	}
}

// Parse fills r, which must be zero, from row, one valid JSON object. The record
// keeps parts of row. A field of the wrong type gives a *FieldError.
func (p *Parser) Parse(row string, r Record) error {
	p.path, p.extra = p.path[:0], p.extra[:0]
	c := cursor{s: row}
	if err := p.object(&c, r); err != nil {
		return err
	}
	if c.peek(); c.i < len(row) {
		return c.broken()
	}
	return nil
}

// An object that is being read.
type object struct {
	start       int     // of its unknown fields in Parser.extra
	next        int     // field that comes next if fields have their order
	seen, nulls uint64  // fields that it had, and those that were null
	unusual     *string // column "_unusual" of a table
}

func (p *Parser) object(c *cursor, r Record) error {
	if c.peek() != '{' {
		return p.mismatch(c, "an object")
	}
	o := object{start: len(p.extra)}
	if err := p.fields(c, r, &o); err != nil {
		return err
	}
	r.Object().Extra = string(p.extra[o.start:])
	p.extra = p.extra[:o.start]
	odd := r.Schema.nullable&^o.seen | o.nulls&^r.Schema.nullable
	if o.unusual != nil {
		odd = r.Schema.listedFields(*o.unusual)
	}
	r.Object().Unusual = p.listOf(r.Schema, odd)
	return nil
}

// push and pop keep the path to the value at hand. After an error it no longer matters.
func (p *Parser) push(name string) { p.path = append(p.path, step{name, -1}) }
func (p *Parser) pushIndex(i int)  { p.path = append(p.path, step{index: i}) }
func (p *Parser) pop()             { p.path = p.path[:len(p.path)-1] }

// fields reads the fields of an object to the last.
func (p *Parser) fields(c *cursor, r Record, o *object) error {
	for first := true; ; first = false {
		name, ok, err := c.member(first)
		if err != nil || !ok {
			return err
		}
		p.push(name)
		if p.Columns {
			err = p.column(c, r, name, o)
		} else {
			err = p.field(c, r, name, o)
		}
		if err != nil {
			return err
		}
		p.pop()
	}
}

func (p *Parser) field(c *cursor, r Record, name string, o *object) error {
	i, known := r.Schema.index(name, o.next)
	if !known {
		return p.unknown(name, c, r, o.start)
	}
	o.seen, o.next = o.seen|1<<i, i+1
	if c.peek() == 'n' && r.Schema.Fields[i].Shape != ShapeRaw {
		o.nulls |= 1 << i
		return c.null()
	}
	return p.value(c, r, &r.Schema.Fields[i])
}

// null passes the literal.
func (c *cursor) null() error {
	if c.scalar() != "null" {
		return c.broken()
	}
	return nil
}

// listOf lists the names of the fields whose bits are set.
func (p *Parser) listOf(plan *Schema, odd uint64) string {
	if odd == 0 {
		return ""
	}
	list := p.list[:0]
	for i := range plan.Fields {
		if odd&(1<<i) != 0 {
			if len(list) > 0 {
				list = append(list, ',')
			}
			list = append(list, plan.Fields[i].Name...)
		}
	}
	p.list = list
	if s, ok := p.unusual[string(list)]; ok {
		return s
	}
	s := string(list)
	p.unusual[s] = s
	return s
}

// unknown keeps a field that the plan has no column for, in p.extra, where those
// of its object begin at start.
func (p *Parser) unknown(key string, c *cursor, r Record, start int) error {
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
	p.Count(p.Counts.Unknown, p.where(false), 1)
	if len(p.extra) > start {
		p.extra = append(p.extra, ',')
	}
	p.extra = append(AppendString(p.extra, key), ':')
	p.extra = append(p.extra, raw...)
	return nil
}

func (p *Parser) value(c *cursor, r Record, f *Field) (err error) {
	switch f.Shape {
	case ShapeString:
		s := r.String(f)
		s.V, err = p.text(c)
		s.Set = true
	case ShapeInt:
		n := r.Int(f)
		n.V, err = p.integer(c, f)
		n.Set = true
	case ShapeFloat:
		n := r.Float(f)
		n.V, err = p.number(c)
		n.Set = true
	case ShapeBool:
		*r.Bool(f), err = p.boolean(c)
	case ShapeRaw:
		s := r.String(f)
		s.V, err = c.compact()
		s.Set = true
	case ShapeObject:
		return p.object(c, r.MakeSub(f))
	default:
		return p.array(c, r, f)
	}
	return err
}

// text reads a string that is a value. One with U+0000 is refused: cells of tables can
// hold JSON that nobody else has judged.
func (p *Parser) text(c *cursor) (string, error) {
	if c.peek() != '"' {
		return "", p.mismatch(c, "a string")
	}
	start := c.i
	s, err := c.text()
	if escaped := c.i-start != len(s)+len(`""`); err == nil && escaped && strings.IndexByte(s, 0) >= 0 {
		return "", &FieldError{Field: p.where(true), What: "found U+0000, which no text has"}
	}
	return s, err
}

// truths are the texts that tables have in place of true and false.
var truths = map[string]bool{
	"true": true, "True": true, "TRUE": true, "1": true, "false": false, "False": false, "FALSE": false, "0": false,
}

func (p *Parser) boolean(c *cursor) (Bool, error) {
	at := *c
	if b := c.peek(); p.Texts && b == '"' {
		s, err := c.text()
		if v, ok := truths[s]; ok || err != nil {
			return Bool{v, true}, err
		}
		return Bool{}, p.mismatch(&at, "true or false")
	}
	switch c.scalar() {
	case "true":
		return Bool{true, true}, nil
	case "false":
		return Bool{false, true}, nil
	}
	return Bool{}, p.mismatch(&at, "true or false")
}

func (p *Parser) array(c *cursor, r Record, f *Field) error {
	b := c.peek()
	switch {
	case f.Shape == ShapeKeyed:
		return p.keyed(c, r, f)
	case f.Shape == ShapePages && b == '{':
		r.MakeList(f, 1)
		return p.object(c, r.Grow(f))
	case b != '[':
		return p.mismatch(c, wantList(f.Shape))
	}
	r.MakeList(f, 0)
	return p.each(c, func() error { return p.element(c, r, f) })
}

// each calls fn for every element of an array, which it must pass.
func (p *Parser) each(c *cursor, fn func() error) error {
	for i := 0; ; i++ {
		ok, err := c.element(i == 0)
		if err != nil || !ok {
			return err
		}
		p.pushIndex(i)
		if err := fn(); err != nil {
			return err
		}
		p.pop()
	}
}

func (p *Parser) element(c *cursor, r Record, f *Field) error {
	switch f.Shape {
	case ShapeStrings:
		s, err := p.text(c)
		*r.Strings(f) = append(*r.Strings(f), s)
		return err
	case ShapeInts:
		n, err := p.integer(c, f)
		*r.Ints(f) = append(*r.Ints(f), n)
		return err
	default:
		return p.object(c, r.Grow(f))
	}
}

// keyed reads an object whose field names are data, such as country codes.
func (p *Parser) keyed(c *cursor, r Record, f *Field) error {
	b := c.peek()
	if p.Columns && b == '[' {
		return p.keyedRows(c, r, f)
	}
	r.MakeList(f, 0)
	if b != '{' {
		// PHP writes an empty map as an empty list.
		at := *c
		if b == '[' {
			if more, err := c.element(true); err == nil && !more {
				return nil
			}
		}
		return p.mismatch(&at, "an object")
	}
	for first := true; ; first = false {
		name, ok, err := c.member(first)
		if err != nil || !ok {
			return err
		}
		p.push(name)
		if err := p.keyedField(c, r, f, name); err != nil {
			return err
		}
		p.pop()
	}
}

func (p *Parser) keyedField(c *cursor, r Record, f *Field, name string) error {
	if p.Columns && c.peek() == 'n' {
		return c.null() // a table has every name in every row
	}
	rec := r.Grow(f)
	if err := p.object(c, rec); err != nil {
		return err
	}
	*rec.String(&rec.Schema.Fields[rec.Schema.Key]) = Text(name)
	return nil
}

// integer reads an integer; 8.0 counts as one, and so does "8", but not for the
// row's own id, where another type means a row of another kind.
func (p *Parser) integer(c *cursor, f *Field) (int64, error) {
	c.peek()
	at := *c
	if n, err := strconv.ParseInt(c.scalar(), 10, 64); err == nil {
		return n, nil
	}
	*c = at
	if f.Name == "id" && len(p.path) == 1 && !p.Texts {
		return 0, p.mismatch(c, "an integer")
	}
	n, err := p.number(c)
	if err != nil || n != math.Trunc(n) || math.Abs(n) > 1<<53 {
		return 0, p.mismatch(&at, "an integer")
	}
	return int64(n), nil
}

// number reads a number. Text that is a number is accepted and counted, because
// many dumps went through tools that quote.
func (p *Parser) number(c *cursor) (float64, error) {
	b := c.peek()
	at := *c
	switch {
	case b == '"':
		s, err := c.text()
		if err != nil {
			return 0, err
		}
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return 0, p.mismatch(&at, "a number")
		}
		if !p.Texts {
			p.Count(p.Counts.Coerced, p.where(false), 1)
		}
		return f, nil
	case b == '-' || b >= '0' && b <= '9':
		if f, err := strconv.ParseFloat(c.scalar(), 64); err == nil {
			return f, nil
		}
	}
	return 0, p.mismatch(&at, "a number")
}

// mismatch is the error of a value of the wrong type.
func (p *Parser) mismatch(c *cursor, want string) error {
	at := *c
	raw, err := at.skip()
	if err != nil {
		return err
	}
	switch raw[0] {
	case '{':
		raw = "an object"
	case '[':
		raw = "an array"
	}
	return &FieldError{Field: p.where(true), What: fmt.Sprintf("want %s, found %s", want, Shown(raw))}
}

// where returns the path of the value at hand.
func (p *Parser) where(indices bool) string {
	var b strings.Builder
	for _, s := range p.path {
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

func wantList(s Shape) string {
	switch s {
	case ShapeStrings:
		return "an array of strings"
	case ShapeInts:
		return "an array of integers"
	case ShapePages:
		return "a page or an array of pages"
	default:
		return "an array of objects"
	}
}
