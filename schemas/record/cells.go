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

// A Tally counts the cells of rows by column.
type Tally struct {
	cells map[string]Cells // counts of the rows kept
	row   []rowCell        // the last row counted
	armed bool             // the next row is to be counted
	on    bool             // the current row is counted
	flat  bool             // the current row is from a table: its cells are not opened
}

// CountNext makes the parser count the cells of the next row.
func (t *Tally) CountNext() { t.armed = true }

// counts reports whether the next value of c, at a path, is a cell to count.
func (t *Tally) counts(p path, c *cursor) bool {
	column := len(p) == 1 || !t.flat && len(p) == 2 && p[1].index < 0
	return t.on && column && !c.isEmpty()
}

// isEmpty reports whether the next value is an empty text, list or object, or null.
func (c *cursor) isEmpty() bool {
	b := c.peek()
	inside := *c
	inside.i++
	switch b {
	case '"':
		return inside.consume('"')
	case '[':
		return inside.peek() == ']'
	case '{':
		return inside.peek() == '}'
	}
	return b == 'n'
}

// hasValue reports whether r has a value in a field; a list needs an element.
func (r Record) hasValue(f *Field) bool {
	if !r.isSet(f) {
		return false
	}
	switch f.Shape {
	case ShapeObjects, ShapeStrings, ShapeInts, ShapeKeyed, ShapePages:
		n, _ := r.Len(f)
		return n > 0
	}
	return true
}

// add adds a value of a field of the row, or of an object in it.
func (t *Tally) add(p path, f *Field, fate Fate) {
	name := f.Name
	if len(p) == 2 {
		name = p[0].name + "." + name
	}
	t.row = append(t.row, rowCell{name, true, fate})
}

// SetFate changes the fate of an unknown field of the row.
func (t *Tally) SetFate(name string, fate Fate) {
	for i := range t.row {
		if c := &t.row[i]; !c.known && c.column == name {
			c.fate = fate
		}
	}
}

// LeftOut returns the columns of the last row that were rejected as a whole.
func (t *Tally) LeftOut() (columns []string) {
	for _, c := range t.row {
		if c.fate == IsLeftOut {
			columns = append(columns, c.column)
		}
	}
	return columns
}

// Keep adds the values of the last row to the counts. A rejected row does not count.
func (t *Tally) Keep() {
	for _, c := range t.row {
		if _, ok := t.cells[c.column]; !ok && !c.known && len(t.cells) >= MaxPaths {
			c.column = OtherPaths
		}
		n := t.cells[c.column]
		n.Count(c.fate)
		t.cells[c.column] = n
	}
}

// Cells returns the counts by column.
func (t *Tally) Cells() map[string]Cells { return maps.Clone(t.cells) }
