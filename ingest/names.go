package ingest

import (
	"context"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"reelsplice/ingest/layout"
	"reelsplice/ingest/source"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// nameIDs knows companies, networks and keywords by their names, so that joined lists of
// names can be split. A name counts as several resources' with id 0.
type nameIDs map[nameKey]int64

type nameKey struct {
	kind fragment.Kind
	hash uint64 // of the name; with 64 bits no two of a million names share one
}

var _ layout.NameIDs = nameIDs(nil)

// ID is that of layout.NameIDs.
func (n nameIDs) ID(kind fragment.Kind, name string) (int64, bool) {
	id, ok := n[nameKey{kind, xxh3.HashString(name)}]
	return id, ok
}

func (n nameIDs) add(kind fragment.Kind, name string, id int64) {
	if name == "" || id < 1 {
		return
	}
	k := nameKey{kind, xxh3.HashString(name)}
	switch old, ok := n[k]; {
	case !ok || layout.IsMinted(old): // TMDB's ids count before those that were minted of the name
		n[k] = id
	case old != id && !layout.IsMinted(id):
		n[k] = 0
	}
}

// namedKinds are the kinds whose names are in joined lists.
var namedKinds = map[fragment.Kind]bool{fragment.KindCompany: true, fragment.KindNetwork: true, fragment.KindKeyword: true}

// namedRecord is a resource with a name.
type namedRecord struct {
	record.Object
	ID   record.Int    `record:"id"`
	Name record.String `record:"name"`
}

// knowNames gathers the names that the catalogue has and those of the inputs of the same
// run, if any of these has joined lists.
func (i *ingester) knowNames(ctx context.Context) error {
	wanted := false
	for n := range i.inputs {
		wanted = wanted || i.inputs[n].layout == layout.Kaggle || i.inputs[n].needs.Names
	}
	if !wanted {
		return nil
	}
	names := nameIDs{}
	for kind := range namedKinds {
		if i.Catalog == "" {
			break // rows are explained without one
		}
		t := catalog.TypeOf(kind)
		err := eachStored(ctx, filepath.Join(i.Catalog, t.File()), t, record.SchemaOf[namedRecord](),
			func() record.Record { return record.Of(new(namedRecord)) },
			func(r record.Record) {
				named := record.As[namedRecord](r)
				names.add(kind, named.Name.V, named.ID.V)
			})
		if err != nil {
			return err
		}
	}
	for n := range i.inputs {
		in := &i.inputs[n]
		if in.Bytes == 0 {
			continue // a pipe can be read once only
		}
		if t, ok := catalog.TypeNamed(in.Kind); ok && namedKinds[t.Kind] || in.layout == layout.IDExport || in.needs.Named {
			if err := i.namesOf(ctx, in, names); err != nil {
				return err
			}
		}
	}
	i.options.Names = names
	return nil
}

// namesOf adds the names that one input gives. What is wrong with it is said when it is
// read.
func (i *ingester) namesOf(ctx context.Context, in *input, names nameIDs) error {
	l, err := layout.New(orTMDB(in.layout), i.options)
	if err != nil {
		return err
	}
	o := i.sourceOptions()
	o.TempDir = ""
	src, err := source.Open(in.File, o)
	if err != nil {
		return nil
	}
	defer func() { _ = src.Close() }() // read side
	typ, _ := catalog.TypeNamed(in.Kind)
	f := src.File()
	for k := 0; ; k++ {
		if k%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		row, err := src.Next()
		if err != nil { // the end, or a fault that the reading proper tells
			return nil
		}
		if row.Err != nil {
			continue
		}
		recs, err := l.Records(rowOf(&f, string(row.JSON), typ, in.table))
		if err != nil {
			continue
		}
		for _, rec := range recs {
			if f, ok := rec.Schema.Field("name"); ok && namedKinds[rec.Type.Kind] && !rec.Removed && rec.Mint == 0 {
				names.add(rec.Type.Kind, rec.String(f).V, int64(rec.Key.ID()))
			}
		}
	}
}
