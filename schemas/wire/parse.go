package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/bytedance/sonic"
	"github.com/bytedance/sonic/ast"
)

// A FieldError says which member of a row is not what it must be.
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

// Counts says what a Parser met that the typed columns do not hold as it stood.
// The keys are paths without indices: "credits.cast[].popularity"; see Count.
type Counts struct {
	Unknown map[string]int64 // unknown members, kept in Extra
	Coerced map[string]int64 // numbers that were given as text
}

// A Parser parses rows into records. It is not safe for concurrent use.
type Parser struct {
	Counts Counts
	// Columns says that rows come from a table: see columns.go.
	Columns bool
	path    []step
	unusual map[string]string // one copy of each Unusual text
	// extra holds the unknown members of the objects being read: those of an object
	// behind those of the objects around it.
	extra []byte
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
	index int // -1 for a member
}

// NewParser returns a Parser with empty counts.
func NewParser() *Parser {
	return &Parser{
		Counts:  Counts{Unknown: map[string]int64{}, Coerced: map[string]int64{}},
		unusual: map[string]string{},
	}
}

// Parse fills r, which must be zero, from row, one valid JSON object. The record
// keeps parts of row. A member of the wrong type gives a *FieldError.
func (p *Parser) Parse(row string, r Record) error {
	p.path, p.extra = p.path[:0], p.extra[:0]
	n, err := sonic.GetFromString(row)
	if err != nil {
		return syntaxError(err)
	}
	if n.TypeSafe() != ast.V_OBJECT {
		return p.mismatch(&n, "an object")
	}
	return p.object(&n, r)
}

// syntaxError is the library's error on one line: it adds a drawing of the place.
func syntaxError(err error) error {
	line, _, _ := strings.Cut(strings.Trim(err.Error(), "\""), "\n")
	return fmt.Errorf("parse JSON: %s", line)
}

// each calls fn for every child of n and stops at the first error.
func each(n *ast.Node, fn func(key *string, i int, v *ast.Node) error) error {
	var failed error
	err := n.ForEach(func(s ast.Sequence, v *ast.Node) bool {
		failed = fn(s.Key, s.Index, v)
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	if err != nil {
		return syntaxError(err)
	}
	return nil
}

func (p *Parser) object(n *ast.Node, r Record) error {
	if p.Columns {
		return p.columns(n, r)
	}
	start := len(p.extra)
	seen, nulls, err := p.members(n, r, start)
	if err != nil {
		return err
	}
	p.takeExtra(r, start)
	r.Object().Unusual = p.unusualOf(r.Plan, seen, nulls)
	return nil
}

// takeExtra moves the unknown members from start on to r.
func (p *Parser) takeExtra(r Record, start int) {
	r.Object().Extra = string(p.extra[start:])
	p.extra = p.extra[:start]
}

// members fills r and returns which fields the object had, and which as null. Its
// unknown members are in p.extra from start on.
func (p *Parser) members(n *ast.Node, r Record, start int) (seen, nulls uint64, err error) {
	err = each(n, func(key *string, _ int, v *ast.Node) error {
		p.path = append(p.path, step{*key, -1})
		defer func() { p.path = p.path[:len(p.path)-1] }()
		i, ok := r.Plan.byName[*key]
		if !ok {
			return p.unknown(*key, v, r, start)
		}
		seen |= 1 << i
		f := &r.Plan.Fields[i]
		if v.TypeSafe() == ast.V_NULL && f.Shape != ShapeRaw {
			nulls |= 1 << i
			return nil
		}
		return p.value(v, r, f)
	})
	return seen, nulls, err
}

// unusualOf lists the members whose unset state is not the usual one.
func (p *Parser) unusualOf(plan *Plan, seen, nulls uint64) string {
	var nullable uint64
	for i := range plan.Fields {
		if plan.Fields[i].Nullable {
			nullable |= 1 << i
		}
	}
	return p.listOf(plan, nullable&^seen|nulls&^nullable)
}

// listOf lists the names of the fields whose bits are set.
func (p *Parser) listOf(plan *Plan, odd uint64) string {
	if odd == 0 {
		return ""
	}
	var list []byte
	for i := range plan.Fields {
		if odd&(1<<i) != 0 {
			if len(list) > 0 {
				list = append(list, ',')
			}
			list = append(list, plan.Fields[i].Name...)
		}
	}
	if s, ok := p.unusual[string(list)]; ok {
		return s
	}
	p.unusual[string(list)] = string(list)
	return p.unusual[string(list)]
}

// unknown keeps a member that the plan has no column for, in p.extra, where those
// of its object begin at start.
func (p *Parser) unknown(key string, v *ast.Node, r Record, start int) error {
	if key == "id" && r.Plan.DropID {
		return nil
	}
	if r.Plan.rest >= 0 && v.TypeSafe() == ast.V_ARRAY {
		el := r.Grow(&r.Plan.Fields[r.Plan.rest])
		*el.String(&el.Plan.Fields[el.Plan.Key]) = Text(key)
		return p.value(v, el, &el.Plan.Fields[1-el.Plan.Key])
	}
	raw, err := compact(v)
	if err != nil {
		return err
	}
	Count(p.Counts.Unknown, p.where(false), 1)
	if len(p.extra) > start {
		p.extra = append(p.extra, ',')
	}
	p.extra = append(AppendString(p.extra, key), ':')
	p.extra = append(p.extra, raw...)
	return nil
}

// compact returns v's JSON text without blanks.
func compact(v *ast.Node) (string, error) {
	raw, err := v.Raw()
	if err != nil {
		return "", syntaxError(err)
	}
	if !strings.ContainsAny(raw, " \n\t\r") {
		return raw, nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(raw)); err != nil {
		return "", syntaxError(err)
	}
	return b.String(), nil
}

func (p *Parser) value(v *ast.Node, r Record, f *Field) error {
	switch f.Shape {
	case ShapeString:
		if v.TypeSafe() != ast.V_STRING {
			return p.mismatch(v, "a string")
		}
		s, err := v.StrictString()
		*r.String(f) = String{s, true}
		return err
	case ShapeInt:
		n, err := p.integer(v, f)
		*r.Int(f) = Int{n, true}
		return err
	case ShapeFloat:
		n, err := p.number(v)
		*r.Float(f) = Float{n, true}
		return err
	case ShapeBool:
		t := v.TypeSafe()
		if t != ast.V_TRUE && t != ast.V_FALSE {
			return p.mismatch(v, "true or false")
		}
		*r.Bool(f) = Bool{t == ast.V_TRUE, true}
		return nil
	case ShapeRaw:
		s, err := compact(v)
		*r.Raw(f) = Raw{s, true}
		return err
	case ShapeObject:
		if v.TypeSafe() != ast.V_OBJECT {
			return p.mismatch(v, "an object")
		}
		return p.object(v, r.MakeSub(f))
	default:
		return p.list(v, r, f)
	}
}

func (p *Parser) list(v *ast.Node, r Record, f *Field) error {
	t := v.TypeSafe()
	switch {
	case f.Shape == ShapeKeyed:
		return p.keyed(v, r, f)
	case f.Shape == ShapePages && t == ast.V_OBJECT:
		r.MakeList(f, 1)
		return p.object(v, r.Grow(f))
	case t != ast.V_ARRAY:
		return p.mismatch(v, wantList(f.Shape))
	}
	switch f.Shape {
	case ShapeStrings:
		*r.Strings(f) = []string{}
	case ShapeInts:
		*r.Ints(f) = []int64{}
	default:
		r.MakeList(f, 0)
	}
	return each(v, func(_ *string, i int, el *ast.Node) error {
		p.path = append(p.path, step{index: i})
		defer func() { p.path = p.path[:len(p.path)-1] }()
		return p.element(el, r, f)
	})
}

func (p *Parser) element(el *ast.Node, r Record, f *Field) error {
	switch f.Shape {
	case ShapeStrings:
		if el.TypeSafe() != ast.V_STRING {
			return p.mismatch(el, "a string")
		}
		s, err := el.StrictString()
		*r.Strings(f) = append(*r.Strings(f), s)
		return err
	case ShapeInts:
		n, err := p.integer(el, f)
		*r.Ints(f) = append(*r.Ints(f), n)
		return err
	default:
		if el.TypeSafe() != ast.V_OBJECT {
			return p.mismatch(el, "an object")
		}
		return p.object(el, r.Grow(f))
	}
}

// keyed reads an object whose member names are data, such as country codes.
func (p *Parser) keyed(v *ast.Node, r Record, f *Field) error {
	if p.Columns && v.TypeSafe() == ast.V_ARRAY {
		return p.keyedRows(v, r, f)
	}
	if v.TypeSafe() != ast.V_OBJECT {
		// PHP writes an empty map as an empty list.
		if n, err := v.Len(); v.TypeSafe() == ast.V_ARRAY && err == nil && n == 0 {
			r.MakeList(f, 0)
			return nil
		}
		return p.mismatch(v, "an object")
	}
	r.MakeList(f, 0)
	return each(v, func(key *string, _ int, el *ast.Node) error {
		p.path = append(p.path, step{*key, -1})
		defer func() { p.path = p.path[:len(p.path)-1] }()
		if p.Columns && el.TypeSafe() == ast.V_NULL {
			return nil // a table has every name in every row
		}
		if el.TypeSafe() != ast.V_OBJECT {
			return p.mismatch(el, "an object")
		}
		rec := r.Grow(f)
		if err := p.object(el, rec); err != nil {
			return err
		}
		*rec.String(&rec.Plan.Fields[rec.Plan.Key]) = Text(*key)
		return nil
	})
}

// integer reads an integer; 8.0 counts as one, and so does "8", but not for the
// row's own id, where another type means a row of another kind.
func (p *Parser) integer(v *ast.Node, f *Field) (int64, error) {
	if v.TypeSafe() == ast.V_NUMBER {
		if n, err := v.StrictInt64(); err == nil {
			return n, nil
		}
	}
	if f.Name == "id" && len(p.path) == 1 {
		return 0, p.mismatch(v, "an integer")
	}
	n, err := p.number(v)
	if err != nil || n != math.Trunc(n) || math.Abs(n) > 1<<53 {
		return 0, p.mismatch(v, "an integer")
	}
	return int64(n), nil
}

// number reads a number. Text that is a number is accepted and counted, because
// many dumps went through tools that quote.
func (p *Parser) number(v *ast.Node) (float64, error) {
	switch v.TypeSafe() {
	case ast.V_NUMBER:
		n, err := v.StrictNumber()
		if err != nil {
			return 0, p.mismatch(v, "a number")
		}
		f, err := strconv.ParseFloat(string(n), 64)
		if err != nil {
			return 0, p.mismatch(v, "a number")
		}
		return f, nil
	case ast.V_STRING:
		s, err := v.StrictString()
		if err != nil {
			return 0, err
		}
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return 0, p.mismatch(v, "a number")
		}
		Count(p.Counts.Coerced, p.where(false), 1)
		return f, nil
	}
	return 0, p.mismatch(v, "a number")
}

// mismatch says what the value at the current path is and what it must be.
func (p *Parser) mismatch(v *ast.Node, want string) error {
	raw, err := v.Raw()
	if err != nil {
		raw = "something unreadable"
	}
	switch v.TypeSafe() {
	case ast.V_OBJECT:
		raw = "an object"
	case ast.V_ARRAY:
		raw = "an array"
	}
	if len(raw) > 60 {
		raw = strings.ToValidUTF8(raw[:60], "") + "..."
	}
	return &FieldError{Field: p.where(true), What: fmt.Sprintf("want %s, found %s", want, raw)}
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
