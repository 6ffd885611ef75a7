package record

import "maps"

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

// A rowCell is a value of the current row.
type rowCell struct {
	column string
	known  bool // it has a field
	fate   Fate
}

// CountCells makes the parser count the values of the next row.
func (p *Parser) CountCells() { p.armed = true }

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

// addCell adds a value of a field of the row, or of an object in it.
func (p *Parser) addCell(f *Field, fate Fate) {
	name := f.Name
	if len(p.path) == 2 {
		name = p.path[0].name + "." + name
	}
	p.row = append(p.row, rowCell{name, true, fate})
}

// Settle changes the fate of an unknown field of the row.
func (p *Parser) Settle(name string, fate Fate) {
	for i := range p.row {
		if c := &p.row[i]; !c.known && c.column == name {
			c.fate = fate
		}
	}
}

// LostCells returns the columns of the last row that were rejected as a whole.
func (p *Parser) LostCells() (out []string) {
	for _, c := range p.row {
		if c.fate == IsLeftOut {
			out = append(out, c.column)
		}
	}
	return out
}

// KeepCells adds the values of the last row to the counts. A rejected row does not count.
func (p *Parser) KeepCells() {
	for _, c := range p.row {
		if _, ok := p.cells[c.column]; !ok && !c.known && len(p.cells) >= MaxPaths {
			c.column = OtherPaths
		}
		n := p.cells[c.column]
		n.Count(c.fate)
		p.cells[c.column] = n
	}
}

// Cells returns the counts by column.
func (p *Parser) Cells() map[string]Cells { return maps.Clone(p.cells) }
