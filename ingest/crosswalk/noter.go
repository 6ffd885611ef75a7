package crosswalk

import (
	"context"
	"path/filepath"

	"github.com/reelsplice/reelsplice/ingest/input"
	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A Noter makes entries of the external ids of records, and of the people in their credits.
type Noter struct {
	ids    layout.KindSet // kinds whose ids, as others gave them, are noted
	people bool           // names in credits are noted
}

// NoterFor returns the Noter that the inputs of a run need. minted reports whether the catalogue
// has minted ids, which may be superseded.
func NoterFor(l *input.List, minted bool) (n Noter) {
	if minted {
		n.ids = layout.Kinds(fragment.KindMovie, fragment.KindTV, fragment.KindPerson)
	}
	for k := range l.Inputs {
		in := &l.Inputs[k]
		if in.Layout == input.IMDb {
			n.ids |= idsOfIMDb
		}
		n.ids |= in.Needs.Kinds
		n.people = n.people || in.Needs.People
	}
	return n
}

// idsOfIMDb are the kinds that IMDb's tables are about.
var idsOfIMDb = layout.Kinds(fragment.KindMovie, fragment.KindTV, fragment.KindPerson, fragment.KindEpisode)

// Append appends the entries of a record that a row gave.
func (n Noter) Append(dst []byte, rec *layout.Record) []byte {
	if rec.Removed || n.ids == 0 && !n.people {
		return dst
	}
	return n.append(dst, rec.Type.Kind, rec.Record)
}

func (n Noter) append(dst []byte, kind fragment.Kind, r record.Record) []byte {
	if !idsOfIMDb.Has(kind) { // others have none
		return dst
	}
	id := r.IntNamed("id").V
	if id < 1 {
		return dst
	}
	if n.ids.Has(kind) {
		layout.ExternalIDs(r, func(source, other string) {
			dst = AppendEntry(dst, External(kind, source, other), id)
		})
	}
	if n.people && (kind == fragment.KindMovie || kind == fragment.KindTV) {
		eachNamed(r, func(person int64, name string) {
			dst = AppendEntry(dst, Person(kind, id, layout.Folded(name)), person)
		})
	}
	return dst
}

// eachNamed calls fn with the people in the credits of a title.
func eachNamed(r record.Record, fn func(id int64, name string)) {
	for _, field := range []string{"credits", "aggregate_credits"} {
		f, ok := r.Schema.Field(field)
		if !ok {
			continue
		}
		credits, ok := r.Sub(f)
		if !ok {
			continue
		}
		for _, list := range []string{"cast", "crew"} {
			f, _ := credits.Schema.Field(list)
			n, _ := credits.Len(f)
			for k := range n {
				el := credits.At(f, k)
				if id, name := el.IntNamed("id").V, el.StringNamed("name").V; id > 0 && name != "" {
					fn(id, name)
				}
			}
		}
	}
}

// A projection is the part of a kind's records that is read: the fields at paths.
type projection struct {
	kind  fragment.Kind
	paths []string
}

// projections returns the parts of the catalogue's records that entries are made of.
func (n Noter) projections() (out []projection) {
	for _, kind := range []fragment.Kind{fragment.KindPerson, fragment.KindEpisode, fragment.KindMovie, fragment.KindTV} {
		paths := []string{"id", "external_ids"}
		if _, ok := catalog.TypeOf(kind).Plan.Field("imdb_id"); ok {
			paths = append(paths, "imdb_id")
		}
		title := kind == fragment.KindMovie || kind == fragment.KindTV
		if n.people && title {
			paths = append(paths, "credits.cast.id", "credits.cast.name", "credits.crew.id", "credits.crew.name")
		}
		if n.people && kind == fragment.KindTV {
			paths = append(paths, "aggregate_credits.cast.id", "aggregate_credits.cast.name", "aggregate_credits.crew.id", "aggregate_credits.crew.name")
		}
		if n.ids.Has(kind) || n.people && title {
			out = append(out, projection{kind, paths})
		}
	}
	return out
}

// eachStored calls fn with the records of a kind in a catalogue folder, none if the file is
// missing. fn must not keep the record.
func eachStored(ctx context.Context, dir string, p projection, fn func(record.Record) error) error {
	f, err := p.open(dir)
	if f == nil || err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read side
	return f.Select(p.paths, 0, f.RowGroups()).Each(ctx, fn)
}

// open opens the file of the kind in a catalogue folder; nil where it is missing.
func (p projection) open(dir string) (*catalog.File, error) {
	t := catalog.TypeOf(p.kind)
	return catalog.OpenIfAny(filepath.Join(dir, t.File()), t)
}
