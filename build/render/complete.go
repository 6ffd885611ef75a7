package render

import (
	"reelsplice/schemas/wire"
)

// complete fills in a record without details and returns the model.
func (m *model) complete(rec wire.Record) *model {
	if !m.isDetails(rec) {
		m.fill(rec)
	}
	return m
}

// fill sets the details that rec lacks to the API's empty values.
func (m *model) fill(rec wire.Record) {
	for i := range rec.Plan.Subs {
		f := &rec.Plan.Fields[i]
		switch {
		case f.Nullable:
			wire.MarkNull(rec, f.Name)
		case wire.Present(rec, f):
		case f == m.original: // better than none; the title is what rows of lists have
			*rec.String(f) = wire.Text(rec.String(m.texts[0].field).V)
		case m.original != nil && f == m.texts[0].field: // an id export has the original title alone
			*rec.String(f) = wire.Text(m.originalOf(rec))
		case f.Name == "name" && m.word != 0:
			*rec.String(f) = wire.Text(m.englishName(rec))
		default:
			setEmpty(rec, f)
		}
	}
}

// isDetails reports whether rec has what details answers of all years have, and rows
// of lists and other layouts have not.
func (m *model) isDetails(rec wire.Record) bool {
	for _, f := range m.required { // none of a kind that is never filled in
		if !wire.Present(rec, f) {
			return false
		}
	}
	return true
}

func setEmpty(r wire.Record, f *wire.Field) {
	switch f.Shape {
	case wire.ShapeString:
		r.String(f).Set = true
	case wire.ShapeInt:
		r.Int(f).Set = true
	case wire.ShapeFloat:
		r.Float(f).Set = true
	case wire.ShapeBool:
		r.Bool(f).Set = true
	case wire.ShapeStrings:
		*r.Strings(f) = []string{}
	case wire.ShapeInts:
		*r.Ints(f) = []int64{}
	case wire.ShapeObjects, wire.ShapeKeyed:
		r.MakeList(f, 0)
	default: // objects and raw values are never made up
	}
}
