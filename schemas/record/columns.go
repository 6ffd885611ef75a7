package record

// Names of the two columns that hold the fields of an Object in a table.
const (
	UnusualColumn = "_unusual"
	ExtraColumn   = "_extra"
)

// A row of a table (Parser.Columns) differs from a line of JSON:
//
//   - its fields may have the names of their columns;
//   - every row has every field, so null only means unset. In tables of package catalog, the column "_unusual" separates
//     absent from null; in other tables, the API's behaviour does;
//   - an object whose field names are data may be a list whose elements contain the names;
//   - objects and lists, and fields of any other type, may be JSON text, as written by tools without nested columns.

// column reads one field of a table's object.
func (p *Parser) column(c *cursor, r Record, name string, o *object) error {
	switch name {
	case UnusualColumn:
		o.unusual = new(string)
		return p.textOrNull(c, o.unusual)
	case ExtraColumn:
		p.extraColumn = true
		var fields string
		if err := p.textOrNull(c, &fields); err != nil || fields == "" {
			return err
		}
		text := "{" + fields + "}"
		if !isJSON(text) {
			return p.rejectAs(&FieldError{Field: p.path.where(true), What: "want fields of a JSON object, found other text"})
		}
		// A field that the struct gained after the table was written becomes a typed field.
		path, nulls := p.path, o.nulls
		p.Columns, p.path = false, p.path[:len(p.path)-1]
		err := p.fields(&cursor{s: text}, r, o)
		p.Columns, p.path, o.nulls = true, path, nulls
		return err
	}
	null := c.peek() == 'n'
	i, ok := r.Schema.byName[name]
	if !ok {
		i, ok = r.Schema.byColumn[name]
	}
	if !ok && !null {
		return p.unknown(name, c, r, o.start)
	}
	if ok {
		o.seen |= 1 << i
	}
	if null {
		return c.null()
	}
	return p.fieldValue(c, r, i, o)
}

// HasExtraColumn reports whether the last row had the column of unknown fields.
func (p *Parser) HasExtraColumn() bool { return p.extraColumn }

// fieldLists makes lists of field names, with one copy of each text.
type fieldLists struct {
	texts map[string]string
	buf   []byte
}

// list lists the names of the fields whose bits are set.
func (l *fieldLists) list(s *Schema, bits uint64) string {
	if bits == 0 {
		return ""
	}
	l.buf = l.buf[:0]
	for i := range s.Fields {
		if bits&(1<<i) != 0 {
			if len(l.buf) > 0 {
				l.buf = append(l.buf, ',')
			}
			l.buf = append(l.buf, s.Fields[i].Name...)
		}
	}
	if text, ok := l.texts[string(l.buf)]; ok {
		return text
	}
	text := string(l.buf)
	l.texts[text] = text
	return text
}

// textOrNull reads a text, or a null, which leaves dst unchanged.
func (p *Parser) textOrNull(c *cursor, dst *string) (err error) {
	switch c.peek() {
	case 'n':
		return c.null()
	case '"':
		*dst, err = c.text()
		return err
	}
	return p.reject(c, "a string")
}

// cell reads a non-null field.
func (p *Parser) cell(c *cursor, r Record, f *Field) error {
	if c.peek() != '"' || f.Shape <= ShapeBool {
		return p.value(c, r, f)
	}
	start := c.i
	s, err := c.text()
	if err != nil {
		return err
	}
	inner := cursor{s: s}
	b := inner.peek()
	if p.Values != nil && (b == '{' || b == '[') && !isJSON(s) {
		text, m := MendJSON(nil, []byte(s))
		m.Count(func(path string, n int64) { p.Count(p.Counts.Coerced, path, n) })
		inner.s = string(text)
	}
	if f.Shape != ShapeRaw && b != '{' && b != '[' || !isJSON(inner.s) {
		c.i = start
		return p.value(c, r, f)
	}
	columns := p.Columns
	if !columns {
		p.countCoerced()
	}
	p.Columns = false
	defer func() { p.Columns = columns }()
	return p.value(&inner, r, f)
}

// isJSON reports whether a text is one JSON value.
func isJSON(s string) bool {
	c := cursor{s: s}
	ok := c.value()
	c.peek()
	return ok && c.i == len(s)
}

// keyedRows reads a list whose elements contain their field names.
func (p *Parser) keyedRows(c *cursor, r Record, f *Field) error {
	r.MakeList(f, 0)
	key := &f.Elem.Fields[f.Elem.Key]
	hasKey := func(rec Record) bool { return rec.String(key).Set }
	complete := true
	err := p.each(c, func() error {
		if c.peek() != '{' {
			return p.reject(c, "an object")
		}
		rec := r.Grow(f)
		if err := p.object(c, rec); err != nil || hasKey(rec) {
			return err
		}
		complete = false
		p.path.push(key.Column)
		defer p.path.pop()
		return p.rejectAs(&FieldError{Field: p.path.where(true), What: "want a string, found null"})
	})
	if err == nil && !complete {
		Retain(r, f, hasKey)
	}
	return err
}
