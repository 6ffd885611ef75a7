package render

import (
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/wire"
)

// Complete fills in, with the API's empty values, the details of a movie of which no
// source gave a details answer: rows of lists, single sub-requests and other layouts
// lack members that clients rely on. A details answer is left as it was given, old
// shapes too. The catalogue keeps what was given; only the answer is filled in.
func Complete(m *catalog.Movie) {
	fillBase(m)
	if isDetails(m) {
		return
	}
	rec := wire.RecordOf(m)
	for i := range rec.Plan.Subs {
		f := &rec.Plan.Fields[i]
		if f.Nullable {
			wire.MarkNull(rec, f.Name)
			continue
		}
		if !wire.Present(rec, f) {
			setEmpty(rec, f)
		}
	}
}

// isDetails reports whether m has what details answers of all years have, and rows of
// lists and other layouts have not.
func isDetails(m *catalog.Movie) bool {
	return m.Adult.Set && m.Genres != nil && m.ProductionCountries != nil && m.SpokenLanguages != nil &&
		m.Status.Set && m.Tagline.Set
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
	case wire.ShapeObjects:
		r.MakeList(f, 0)
	}
}
