package record

// Cells counts the results for the non-empty values of one column. A column is a field of the row, or a field of an
// object in it: "credits.cast". A list is one value.
type Cells struct {
	Used    int64 // values in the record, including coerced and partial ones
	LeftOut int64 // values rejected as a whole
	Extra   int64 // values of fields unknown to the API, kept in the record
	Unused  int64 // values without a field
}

// All returns the number of values.
func (c Cells) All() int64 { return c.Used + c.LeftOut + c.Extra + c.Unused }

// Add adds the counts of o.
func (c *Cells) Add(o Cells) {
	c.Used += o.Used
	c.LeftOut += o.LeftOut
	c.Extra += o.Extra
	c.Unused += o.Unused
}

// A Fate is the result for one value.
type Fate uint8

// The fates of values.
const (
	IsUsed Fate = iota
	IsLeftOut
	IsExtra
	IsUnused
)

// Count counts a value.
func (c *Cells) Count(f Fate) {
	switch f {
	case IsUsed:
		c.Used++
	case IsLeftOut:
		c.LeftOut++
	case IsExtra:
		c.Extra++
	case IsUnused:
		c.Unused++
	}
}

// A cellCounter counts the values of rows of one schema. A row counts once it is committed; rejected rows do not.
type cellCounter struct {
	schema *Schema
	top    []Cells   // by field
	inner  [][]Cells // by field, and by field of its object
	others map[string]*Cells
	row    []rowCell
}

// A rowCell is a value of the current row.
type rowCell struct {
	field, inner int    // field is -1 for an unknown field, inner for the value of the field itself
	name         string // name of an unknown field; may be empty
	fate         Fate
}

// CountCells makes the parser count the values of the next row.
func (p *Parser) CountCells() { p.armed = true }

// begin prepares the counts for a row of a schema.
func (c *cellCounter) begin(s *Schema) {
	if c.schema != s {
		*c = cellCounter{schema: s, top: make([]Cells, len(s.Fields)), inner: make([][]Cells, len(s.Fields))}
	}
	c.row = c.row[:0]
}

// isColumn reports whether the path is a column of the row.
func (p *Parser) isColumn() bool {
	return len(p.path) == 1 || !p.flat && len(p.path) == 2 && p.path[1].index < 0
}

// isEmpty reports whether the next value is an empty text, list or object, or null.
func (c *cursor) isEmpty() bool {
	b := c.peek()
	at := *c
	at.i++
	switch b {
	case '"':
		return at.pass('"')
	case '[':
		return at.peek() == ']'
	case '{':
		return at.peek() == '}'
	}
	return b == 'n'
}

// holds reports whether r has a value in a field; a list needs an element.
func (r Record) holds(f *Field) bool {
	if !r.set(f) {
		return false
	}
	switch f.Shape {
	case ShapeObjects, ShapeStrings, ShapeInts, ShapeKeyed, ShapePages:
		n, _ := r.Len(f)
		return n > 0
	}
	return true
}

// add counts a value of field i of the current object: the row, or an object in it.
func (c *cellCounter) add(path []step, s *Schema, i int, fate Fate) {
	if len(path) == 1 {
		c.row = append(c.row, rowCell{field: i, inner: -1, fate: fate})
	} else if above, ok := c.schema.byName[path[0].name]; ok && c.schema.Fields[above].Elem == s {
		c.row = append(c.row, rowCell{field: above, inner: i, fate: fate})
	} else {
		c.addUnknown(path[0].name+"."+path[1].name, fate)
	}
}

// addUnknown counts a value of an unknown field.
func (c *cellCounter) addUnknown(name string, fate Fate) {
	c.row = append(c.row, rowCell{field: -1, name: name, fate: fate})
}

// Settle changes the fate of an unknown field of the row.
func (p *Parser) Settle(name string, fate Fate) {
	for i := range p.cells.row {
		if r := &p.cells.row[i]; r.field < 0 && r.name == name {
			r.fate = fate
		}
	}
}

// LostCells returns the columns of the last row that were rejected as a whole.
func (p *Parser) LostCells() (out []string) {
	for _, r := range p.cells.row {
		if r.fate == IsLeftOut {
			out = append(out, p.cells.nameOf(r))
		}
	}
	return out
}

// nameOf returns the name of a value's column.
func (c *cellCounter) nameOf(r rowCell) string {
	if r.field < 0 {
		return r.name
	}
	f := &c.schema.Fields[r.field]
	if r.inner < 0 {
		return f.Name
	}
	return f.Name + "." + f.Elem.Fields[r.inner].Name
}

// KeepCells commits the counts of the last row.
func (p *Parser) KeepCells() {
	c := &p.cells
	for i := range c.row {
		r := &c.row[i]
		switch {
		case r.field < 0:
			name := r.name
			to := c.others[name]
			if to == nil {
				if c.others == nil {
					c.others = map[string]*Cells{}
				}
				if len(c.others) >= MaxPaths {
					name = OtherPaths
				}
				if to = c.others[name]; to == nil {
					to = &Cells{}
					c.others[name] = to
				}
			}
			to.Count(r.fate)
		case r.inner < 0:
			c.top[r.field].Count(r.fate)
		default:
			if c.inner[r.field] == nil {
				c.inner[r.field] = make([]Cells, len(c.schema.Fields[r.field].Elem.Fields))
			}
			c.inner[r.field][r.inner].Count(r.fate)
		}
	}
}

// Cells returns the counts by column.
func (p *Parser) Cells() map[string]Cells {
	out := map[string]Cells{}
	c := &p.cells
	add := func(name string, n Cells) {
		if n != (Cells{}) {
			have := out[name]
			have.Add(n)
			out[name] = have
		}
	}
	for i := range c.top {
		add(c.nameOf(rowCell{field: i, inner: -1}), c.top[i])
		for k := range c.inner[i] {
			add(c.nameOf(rowCell{field: i, inner: k}), c.inner[i][k])
		}
	}
	for name, n := range c.others {
		add(name, *n)
	}
	return out
}
