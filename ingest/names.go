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

// nameIDs maps names of companies, networks and keywords to IDs, to split joined lists. An ambiguous name has ID 0.
type nameIDs map[nameKey]int64

type nameKey struct {
	kind fragment.Kind
	name string
}

var _ layout.NameIDs = nameIDs(nil)

// ID implements layout.NameIDs.
func (n nameIDs) ID(kind fragment.Kind, name string) (int64, bool) {
	id, ok := n[nameKey{kind, name}]
	return id, ok
}

func (n nameIDs) add(kind fragment.Kind, name string, id int64) {
	if name == "" || id < 1 {
		return
	}
	k := nameKey{kind, strings.Clone(name)} // name is part of a row
	switch old, ok := n[k]; {
	case !ok || layout.IsMinted(old): // a TMDB ID replaces a minted one
		n[k] = id
	case old != id && !layout.IsMinted(id):
		n[k] = 0
	}
}

// namedKinds are the kinds whose names appear in joined lists.
var namedKinds = map[fragment.Kind]bool{fragment.KindCompany: true, fragment.KindNetwork: true, fragment.KindKeyword: true}

// names returns the names in the catalogue and the run's inputs, or nil if no input has joined lists.
func (r *run) names(ctx context.Context) (layout.NameIDs, error) {
	inputs := r.list.inputs
	if !slices.ContainsFunc(inputs, func(in input) bool { return in.needs.Names }) {
		return nil, nil
	}
	names := nameIDs{}
	for kind := range namedKinds {
		if r.Catalog == "" {
			break // Explain does not need a catalogue
		}
		err := resolve.EachStored(ctx, r.Catalog, kind, []string{"id", "name"}, func(rec record.Record) error {
			if id := rec.IntNamed("id").V; r.Mode != merge.Replace || !layout.IsMinted(id) { // Replace mints others again, or removes them
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
			continue // a pipe can be read only once
		}
		if t := in.kindOfRows(); (t == nil || !namedKinds[t.Kind]) && !in.needs.Named {
			continue
		}
		l := in.reader(r.rows)
		r.detector.eachValid(ctx, *in, func(opened *input, row []byte) bool {
			recs, _ := l.Records(opened.row(string(row))) // errors are reported when the row is ingested
			for _, rec := range recs {
				if namedKinds[rec.Type.Kind] && !rec.Removed && rec.Mint == 0 {
					names.add(rec.Type.Kind, rec.StringNamed("name").V, int64(rec.Key.ID()))
				}
			}
			return true
		})
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return names, nil
}
