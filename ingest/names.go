package ingest

import (
	"context"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/ingest/merge"
	"github.com/reelsplice/reelsplice/ingest/resolve"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// nameIDs are the ids of companies, networks and keywords by name, so that joined lists of names can
// be split. A name of several resources has id 0.
type nameIDs map[nameKey]int64

type nameKey struct {
	kind fragment.Kind
	name string
}

var _ layout.NameIDs = nameIDs(nil)

// ID is that of layout.NameIDs.
func (n nameIDs) ID(kind fragment.Kind, name string) (int64, bool) {
	id, ok := n[nameKey{kind, name}]
	return id, ok
}

func (n nameIDs) add(kind fragment.Kind, name string, id int64) {
	if name == "" || id < 1 {
		return
	}
	k := nameKey{kind, strings.Clone(name)} // it is a part of a row
	switch old, ok := n[k]; {
	case !ok || layout.IsMinted(old): // TMDB's ids count before those that were minted of the name
		n[k] = id
	case old != id && !layout.IsMinted(id):
		n[k] = 0
	}
}

// namedKinds are the kinds whose names are in joined lists.
var namedKinds = map[fragment.Kind]bool{fragment.KindCompany: true, fragment.KindNetwork: true, fragment.KindKeyword: true}

// names returns the names that the catalogue has, and those of the inputs of the same run; nil if none of the inputs
// has joined lists.
func (r *run) names(ctx context.Context) (layout.NameIDs, error) {
	inputs := r.list.inputs
	if !slices.ContainsFunc(inputs, func(in input) bool { return in.needs.Names }) {
		return nil, nil
	}
	names := nameIDs{}
	for kind := range namedKinds {
		if r.Catalog == "" {
			break // rows are explained without one
		}
		err := resolve.EachStored(ctx, r.Catalog, kind, []string{"id", "name"}, func(rec record.Record) error {
			if id := rec.IntNamed("id").V; r.Mode != merge.Replace || !layout.IsMinted(id) { // else rows mint the same id again, or it goes
				names.add(kind, rec.StringNamed("name").V, id)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for n := range inputs {
		in := &inputs[n]
		if in.Bytes == 0 {
			continue // a pipe can be read once only
		}
		if t := in.kindOfRows(); t != nil && namedKinds[t.Kind] || in.needs.Named {
			if err := r.addNames(ctx, *in, names); err != nil {
				return nil, err
			}
		}
	}
	return names, nil
}

// addNames adds the names that one input gives. Its faults are reported when it is read.
func (r *run) addNames(ctx context.Context, in input, names nameIDs) error {
	l := in.reader(r.rows)
	r.eachGood(ctx, in, func(found *input, row []byte) bool {
		recs, _ := l.Records(found.row(string(row)))
		for _, rec := range recs {
			if namedKinds[rec.Type.Kind] && !rec.Removed && rec.Mint == 0 {
				names.add(rec.Type.Kind, rec.StringNamed("name").V, int64(rec.Key.ID()))
			}
		}
		return true
	})
	return ctx.Err()
}
