package wire

import (
	"encoding/json"
	"strings"

	"github.com/bytedance/sonic"
	"github.com/bytedance/sonic/ast"
)

// Names of the two columns that hold, in a table, what an Object holds.
const (
	UnusualColumn = "_unusual"
	ExtraColumn   = "_extra"
)

// A row of a table (Parser.Columns) differs from a line of JSON:
//
//   - its members may go by the names of their columns;
//   - every member is there in every row, so that null says no more than that it is
//     unset. Whether it is then absent or null follows from its column "_unusual" in
//     tables of package catalog, and from what the API does in others;
//   - an object whose member names are data may be a list whose elements hold them;
//   - objects and lists may be JSON text, as tools without nested columns write them,
//     and so is a member of any type.

// columns fills r from an object of a table.
func (p *Parser) columns(n *ast.Node, r Record) error {
	var seen uint64
	var unusual *string
	start := len(p.extra)
	err := each(n, func(key *string, _ int, v *ast.Node) error {
		p.path = append(p.path, step{*key, -1})
		defer func() { p.path = p.path[:len(p.path)-1] }()
		null := v.TypeSafe() == ast.V_NULL
		switch *key {
		case UnusualColumn:
			unusual = new(string)
			return p.text(v, unusual)
		case ExtraColumn:
			var x string
			if err := p.text(v, &x); err != nil || x == "" {
				return err
			}
			more, err := p.moreMembers(x, r, start)
			seen |= more
			return err
		}
		i, ok := r.Plan.byName[*key]
		if !ok {
			i, ok = r.Plan.byColumn[*key]
		}
		switch {
		case !ok && null:
			return nil
		case !ok:
			return p.unknown(*key, v, r, start)
		}
		seen |= 1 << i
		if null {
			return nil
		}
		return p.cell(v, r, &r.Plan.Fields[i])
	})
	if err != nil {
		return err
	}
	p.takeExtra(r, start)
	if unusual == nil {
		r.Object().Unusual = p.unusualOf(r.Plan, seen, 0)
		return nil
	}
	var odd uint64
	for i := range r.Plan.Fields {
		if listed(*unusual, r.Plan.Fields[i].Name) {
			odd |= 1 << i
		}
	}
	r.Object().Unusual = p.listOf(r.Plan, odd)
	return nil
}

// text reads a text or null.
func (p *Parser) text(v *ast.Node, dst *string) error {
	switch v.TypeSafe() {
	case ast.V_NULL:
		return nil
	case ast.V_STRING:
		s, err := v.StrictString()
		*dst = s
		return err
	}
	return p.mismatch(v, "a string")
}

// moreMembers reads the members of an "_extra" column, which are JSON. One that the
// struct has learnt to know since the table was written becomes a field.
func (p *Parser) moreMembers(members string, r Record, start int) (seen uint64, err error) {
	if !json.Valid([]byte("{" + members + "}")) {
		return 0, &FieldError{Field: p.where(true), What: "want members of a JSON object, found other text"}
	}
	n, err := sonic.GetFromString("{" + members + "}")
	if err != nil {
		return 0, syntaxError(err)
	}
	at := p.path
	p.Columns, p.path = false, p.path[:len(p.path)-1]
	seen, _, err = p.members(&n, r, start)
	p.Columns, p.path = true, at
	return seen, err
}

// cell reads a member that is not null.
func (p *Parser) cell(v *ast.Node, r Record, f *Field) error {
	if v.TypeSafe() != ast.V_STRING || f.Shape <= ShapeBool {
		return p.value(v, r, f)
	}
	s, err := v.StrictString()
	if err != nil {
		return err
	}
	isJSON := json.Valid([]byte(s))
	if f.Shape == ShapeRaw && !isJSON || f.Shape != ShapeRaw && (!isJSON || !strings.ContainsAny(strings.TrimLeft(s, " \t\r\n")[:1], "{[")) {
		return p.value(v, r, f)
	}
	n, err := sonic.GetFromString(s)
	if err != nil {
		return syntaxError(err)
	}
	p.Columns = false
	defer func() { p.Columns = true }()
	return p.value(&n, r, f)
}

// keyedRows reads a list whose elements hold the member names that they stand for.
func (p *Parser) keyedRows(v *ast.Node, r Record, f *Field) error {
	r.MakeList(f, 0)
	return each(v, func(_ *string, i int, el *ast.Node) error {
		p.path = append(p.path, step{index: i})
		defer func() { p.path = p.path[:len(p.path)-1] }()
		if el.TypeSafe() != ast.V_OBJECT {
			return p.mismatch(el, "an object")
		}
		rec := r.Grow(f)
		if err := p.object(el, rec); err != nil {
			return err
		}
		key := &rec.Plan.Fields[rec.Plan.Key]
		if !rec.String(key).Set {
			p.path = append(p.path, step{key.Column, -1})
			defer func() { p.path = p.path[:len(p.path)-1] }()
			return &FieldError{Field: p.where(true), What: "want a string, found null"}
		}
		return nil
	})
}
