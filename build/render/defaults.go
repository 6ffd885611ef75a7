package render

import (
	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// Defaults returns the fragments of the sub-requests that a record lacks: empty lists and nulls.
// Kinds without sub-requests have none.
func Defaults(k fragment.Kind) []Fragment {
	t := catalog.TypeOf(k)
	if t == nil {
		return nil
	}
	return defaults(models()[k], t.New())
}

// defaults makes the defaults of a model; rec is an empty record.
func defaults(m *model, rec record.Record) []Fragment {
	var f fragments
	for i := range m.subs {
		s := &m.subs[i]
		if s.Field.Shape == record.ShapePages {
			p := f.pager(s)
			p.tail(fragment.Base, 1, 0) // an empty list has one page, as TMDB counts since 2025
			continue
		}
		f.emptyBody(rec.MakeSub(s.Field))
		f.add(fragment.Address{Sub: s.Sub}, f.end())
	}
	return f.list
}

// emptyBody writes a sub-request whose lists are empty and whose ids are null. rec is
// empty.
func (f *fragments) emptyBody(rec record.Record) {
	for i := range rec.Schema.Fields {
		complete.SetEmpty(rec, &rec.Schema.Fields[i])
	}
	f.body(rec)
}
