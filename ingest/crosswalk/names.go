package crosswalk

import (
	"context"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/ingest/input"
	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// nameIDs are the ids of companies, networks and keywords by name, so that joined lists of names can
// be split. A name of several resources has id 0.
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

// Names returns the names that the catalogue dir has, unless it is "", and those of the inputs of
// the same run; nil if none of the inputs has joined lists.
func Names(ctx context.Context, dir string, l *input.List, o *input.Options) (layout.NameIDs, error) {
	wanted := false
	for n := range l.Inputs {
		wanted = wanted || l.Inputs[n].Layout == layout.Kaggle || l.Inputs[n].Needs.Names
	}
	if !wanted {
		return nil, nil
	}
	names := nameIDs{}
	for kind := range namedKinds {
		if dir == "" {
			break // rows are explained without one
		}
		err := eachStored(ctx, dir, projection{kind, []string{"id", "name"}}, func(r record.Record) error {
			names.add(kind, r.StringNamed("name").V, r.IntNamed("id").V)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for n := range l.Inputs {
		in := &l.Inputs[n]
		if in.Bytes == 0 {
			continue // a pipe can be read once only
		}
		if t, ok := catalog.TypeNamed(in.Kind); ok && namedKinds[t.Kind] || in.Layout == layout.IDExport || in.Needs.Named {
			if err := names.addInput(ctx, in, o); err != nil {
				return nil, err
			}
		}
	}
	return names, nil
}

// addInput adds the names that one input gives. Its faults are reported when it is read.
func (n nameIDs) addInput(ctx context.Context, in *input.Input, o *input.Options) error {
	l, err := layout.New(in.LayoutOrTMDB(), o.Rows)
	if err != nil {
		return err
	}
	src, err := source.Open(in.File, o.Read(ctx, ""))
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
		if err != nil { // the end, or a fault
			return nil
		}
		if row.Err != nil {
			continue
		}
		recs, err := l.Records(in.Row(&f, string(row.JSON), typ))
		if err != nil {
			continue
		}
		for _, rec := range recs {
			if namedKinds[rec.Type.Kind] && !rec.Removed && rec.Mint == 0 {
				n.add(rec.Type.Kind, rec.StringNamed("name").V, int64(rec.Key.ID()))
			}
		}
	}
}
