package crosswalk

import (
	"bufio"
	"context"
	"errors"
	"os"
	"strconv"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A record with a minted id gives way to one of the same external id with an id of TMDB's: see
// docs/tables.md of package layout.

// Supersede calls fn with each record of the catalogue whose minted id this run supersedes: rows
// gave the same external id with an id of TMDB's, which is the one passed.
func (r *Resolver) Supersede(ctx context.Context, fn func(t *catalog.Type, rec record.Record, id int64) error) error {
	noted, err := r.noted()
	if err != nil || len(noted) == 0 || !r.Merges {
		return err
	}
	if err := r.dropTable(); err != nil { // the new table has its place
		return err
	}
	now, err := r.tableOf(ctx, noted...)
	if err != nil {
		return err
	}
	defer func() { _ = now.Close() }() // a temporary file
	err = r.eachMintedGroup(func(p projection, f *catalog.File, g int) error { return supersede(ctx, p, f, g, now, fn) })
	return errors.Join(err, now.Err())
}

// supersede is Supersede for a row group, which it reads whole only if some of its records are
// superseded.
func supersede(ctx context.Context, p projection, f *catalog.File, g int, now *Table, fn func(*catalog.Type, record.Record, int64) error) error {
	found := false
	err := f.Select(p.paths, g, g+1).Each(ctx, func(r record.Record) error {
		_, ok := supersededBy(p.kind, r, now)
		found = found || ok
		return nil
	})
	if err != nil || !found {
		return err
	}
	t := catalog.TypeOf(p.kind)
	return f.Groups(g, g+1).Each(ctx, func(r record.Record) error {
		if id, ok := supersededBy(p.kind, r, now); ok {
			return fn(t, r, id)
		}
		return nil
	})
}

// supersededBy returns the id that supersedes the minted one of a record.
func supersededBy(kind fragment.Kind, r record.Record, now *Table) (id int64, ok bool) {
	if !layout.IsMinted(r.IntNamed("id").V) {
		return 0, false
	}
	layout.ExternalIDs(r, func(source, other string) {
		if n, known := now.External(kind, source, other); known && !ok && !layout.IsMinted(n) {
			id, ok = n, true
		}
	})
	return id, ok
}

// listMoved writes entries that lead from minted ids to the ids of t that supersede them, and
// reports whether there are any. Rows that mint such an id are about the others.
func (r *Resolver) listMoved(ctx context.Context, t *Table) (moved bool, err error) {
	out, err := os.Create(r.path(movedFile))
	if err != nil {
		return false, err
	}
	w := bufio.NewWriter(out)
	var entry []byte
	err = r.eachMintedGroup(func(p projection, f *catalog.File, g int) error {
		return f.Select(p.paths, g, g+1).Each(ctx, func(rec record.Record) error {
			id, ok := supersededBy(p.kind, rec, t)
			if !ok {
				return nil
			}
			entry = AppendEntry(entry[:0], mintedKey(p.kind, rec.IntNamed("id").V), id)
			moved = true
			_, err := w.Write(entry)
			return err
		})
	})
	return moved, errors.Join(err, t.Err(), w.Flush(), out.Close())
}

// mintedKey is the key under which a minted id leads to the one that it was merged into.
func mintedKey(kind fragment.Kind, id int64) Key {
	return External(kind, layout.MintedSource, strconv.FormatInt(id, 10))
}

// eachMintedGroup calls fn with the row groups of the catalogue that may have minted ids.
func (r *Resolver) eachMintedGroup(fn func(p projection, f *catalog.File, g int) error) error {
	for _, p := range (Noter{ids: layout.Kinds(fragment.KindMovie, fragment.KindTV, fragment.KindPerson)}).projections() {
		if err := r.eachMintedGroupOf(p, fn); err != nil {
			return err
		}
	}
	return nil
}

func (r *Resolver) eachMintedGroupOf(p projection, fn func(p projection, f *catalog.File, g int) error) error {
	f, err := p.open(r.Catalog)
	if f == nil || err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read side
	firsts, err := f.FirstKeys()
	if err != nil {
		return err
	}
	for g := range firsts {
		if firsts[g].ID() > layout.LastMinted || g+1 < len(firsts) && firsts[g+1].ID() <= layout.FirstMinted {
			continue
		}
		if err := fn(p, f, g); err != nil {
			return err
		}
	}
	return nil
}
