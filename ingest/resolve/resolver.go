// Package resolve finds IDs for rows that lack them: by IDs of other sources, and for people by their names in the credits of
// titles. There may be many millions of both, so they are sorted on disk and looked up in a file.
package resolve

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// An IDCollector makes entries from the external IDs of records, and from the people in their credits.
type IDCollector struct {
	IDs    layout.KindSet // kinds whose external IDs are collected
	People bool           // collect names in credits
}

var (
	// OfIMDb are the kinds in IMDb's tables. Other kinds have no external IDs.
	OfIMDb = layout.Kinds(fragment.KindMovie, fragment.KindTV, fragment.KindPerson, fragment.KindEpisode)
	// Superseded are the kinds whose minted IDs are replaced by a TMDB ID with the same external ID: see docs/tables.md of
	// package layout.
	Superseded = layout.Kinds(fragment.KindMovie, fragment.KindTV, fragment.KindPerson)
)

// Append appends the entries of a row's record.
func (n IDCollector) Append(dst []byte, rec *layout.Record) []byte {
	if !rec.Removed && (n.IDs != 0 || n.People) {
		n.each(rec.Type.Kind, rec.Record, func(k key, id int64) { dst = binary.BigEndian.AppendUint64(append(dst, k[:]...), uint64(id)) })
	}
	return dst
}

// each calls fn with the entries of a record.
func (n IDCollector) each(kind fragment.Kind, r record.Record, fn func(k key, id int64)) {
	id := r.IntNamed("id").V
	if !OfIMDb.Has(kind) || id < 1 {
		return
	}
	if n.IDs.Has(kind) {
		layout.ExternalIDs(r, func(source, other string) { fn(externalKey(kind, source, other), id) })
	}
	if !n.People || kind != fragment.KindMovie && kind != fragment.KindTV {
		return
	}
	for _, path := range creditLists {
		for person := range r.Each(path) {
			if number, name := person.IntNamed("id").V, person.StringNamed("name").V; number > 0 && name != "" {
				fn(personKey(kind, id, layout.Folded(name)), number)
			}
		}
	}
}

// creditLists are the lists of people in titles.
var creditLists = []string{"credits.cast", "credits.crew", "aggregate_credits.cast", "aggregate_credits.crew"}

// paths returns the fields of a kind that entries are made from, or nil.
func (n IDCollector) paths(kind fragment.Kind) []string {
	people := n.People && (kind == fragment.KindMovie || kind == fragment.KindTV)
	if !people && !n.IDs.Has(kind) {
		return nil
	}
	paths := []string{"id", "external_ids"}
	if hasField(kind, "imdb_id") {
		paths = append(paths, "imdb_id")
	}
	for _, list := range creditLists {
		if name, _, _ := strings.Cut(list, "."); people && hasField(kind, name) {
			paths = append(paths, list+".id", list+".name")
		}
	}
	return paths
}

func hasField(kind fragment.Kind, name string) bool {
	_, ok := catalog.TypeOf(kind).Schema.Field(name)
	return ok
}

// EachStored calls fn with selected fields of a kind's records in a catalogue folder. A missing file has no records. fn must
// not retain the record.
func EachStored(ctx context.Context, dir string, kind fragment.Kind, paths []string, fn func(record.Record) error) error {
	t := catalog.TypeOf(kind)
	f, err := catalog.OpenIfAny(filepath.Join(dir, t.File()), t)
	if f == nil || err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read side
	return f.Select(paths, 0, f.RowGroups()).Each(ctx, fn)
}

// A Resolver finds IDs for rows without a TMDB ID, in the catalogue and in the run's other sources: by external IDs, and people
// by name. Each turn's entries go into a sorted file. Before the next turn, these files and the catalogue's become a table. So
// a turn depends only on earlier turns, not on the order of its own files. A Resolver is for one goroutine; its table is safe
// for concurrent use.
type Resolver struct {
	Catalog   string // catalogue folder
	Dir       string // for temporary files
	Memory    int64
	Collector IDCollector
	Merges    bool // the run merges minted IDs of the catalogue into others
	// Replaces excludes the catalogue's minted IDs of names: rows mint the same IDs again, and others are removed.
	Replaces bool

	sorter *extsort.Sorter // entries of the current turn; nil before the first
	noted  []*extsort.File // entries of earlier turns
	stored *extsort.File   // entries of the catalogue; nil until needed
	files  int             // number of files made
	table  *table          // for lookups in the current turn; may be nil
}

// Add adds entries that Collector made.
func (r *Resolver) Add(entries []byte) error {
	for e := range slices.Chunk(entries, entryBytes) {
		if r.sorter == nil {
			r.sorter = r.newSorter()
		}
		if err := addEntry(r.sorter, key(e), int64(binary.BigEndian.Uint64(e[keyBytes:]))); err != nil {
			return err
		}
	}
	return nil
}

func (r *Resolver) newSorter() *extsort.Sorter {
	return extsort.New(extsort.Options{Dir: r.Dir, Memory: r.Memory / 16})
}

// sorted writes the entries of a sorter to a file, and closes the sorter.
func (r *Resolver) sorted(ctx context.Context, s *extsort.Sorter) (*extsort.File, error) {
	r.files++
	f, err := s.WriteFile(ctx, filepath.Join(r.Dir, "ids."+strconv.Itoa(r.files)))
	return f, errors.Join(err, s.Close())
}

// Err returns the first error of a lookup.
func (r *Resolver) Err() error { return r.table.err() }

// Close removes all temporary files.
func (r *Resolver) Close() error {
	err := r.table.close()
	if r.sorter != nil {
		err = errors.Join(err, r.sorter.Close())
	}
	for _, f := range append(r.noted, r.stored) {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	r.table, r.sorter, r.noted, r.stored = nil, nil, nil, nil
	return err
}

// Table returns the IDs that a turn can look up: from the catalogue and from all earlier turns. A minted ID that the run will
// merge already resolves to the other ID.
func (r *Resolver) Table(ctx context.Context) (layout.IDs, error) {
	if r.stored == nil {
		s := r.newSorter()
		err := r.addStored(ctx, s)
		if err == nil {
			r.stored, err = r.sorted(ctx, s)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("list ids of the catalogue: %w", err), s.Close())
		}
	}
	if err := r.makeTable(ctx, r.stored); err != nil || !r.Merges {
		return r.table, err
	}
	s := r.newSorter()
	err := r.eachSuperseded(ctx, func(t *catalog.Type, _ *catalog.File, _ int, replacements map[int64]int64) error {
		var err error
		for minted, id := range replacements {
			err = errors.Join(err, addEntry(s, mintedKey(t.Kind, minted), id))
		}
		return err
	})
	if err != nil || s.Len() == 0 {
		return r.table, errors.Join(err, s.Close())
	}
	moved, err := r.sorted(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("list merged ids: %w", err)
	}
	return r.table, errors.Join(r.makeTable(ctx, r.stored, moved), moved.Close())
}

// makeTable replaces the table by one of all collected entries and the given files.
func (r *Resolver) makeTable(ctx context.Context, files ...*extsort.File) (err error) {
	err = r.table.close()
	r.table = nil
	if r.sorter != nil && err == nil {
		var f *extsort.File
		if f, err = r.sorted(ctx, r.sorter); err == nil {
			r.noted = append(r.noted, f)
		}
		r.sorter = nil
	}
	if err == nil {
		r.table, err = newTable(ctx, r.Dir, r.Memory/4, append(files, r.noted...))
	}
	return err
}

// addStored adds the entries of the catalogue's records.
func (r *Resolver) addStored(ctx context.Context, s *extsort.Sorter) error {
	gone, err := catalog.ReadRemoved(r.Catalog)
	if err != nil {
		return err
	}
	for _, g := range gone {
		if id := int64(g.Key.ID()); g.Merged && layout.IsMinted(id) {
			if err := addEntry(s, mintedKey(g.Kind, id), int64(g.Into.ID())); err != nil {
				return err
			}
		}
	}
	for _, t := range catalog.Types() {
		paths := r.Collector.paths(t.Kind)
		if paths == nil {
			continue
		}
		err := EachStored(ctx, r.Catalog, t.Kind, paths, func(rec record.Record) (err error) {
			r.Collector.each(t.Kind, rec, func(k key, id int64) {
				if !r.Replaces || k[0]&nameBit == 0 || !layout.IsMinted(id) {
					err = errors.Join(err, addEntry(s, k, id))
				}
			})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// IMDb resolves an IMDb ID.
func (r *Resolver) IMDb(kind fragment.Kind, imdb string) (int64, bool) {
	id, ok := layout.CanonicalID("imdb_id", imdb)
	if !ok {
		return 0, false
	}
	return r.table.External(kind, "imdb_id", id)
}

// Supersede calls fn with each record of the catalogue whose minted ID this run replaces, and the new ID: rows have the same
// external ID with a TMDB ID.
func (r *Resolver) Supersede(ctx context.Context, fn func(t *catalog.Type, rec record.Record, id int64) error) error {
	if r.sorter == nil && r.noted == nil || !r.Merges {
		return nil
	}
	if err := r.makeTable(ctx); err != nil {
		return err
	}
	return r.eachSuperseded(ctx, func(t *catalog.Type, f *catalog.File, group int, replacements map[int64]int64) error {
		return f.Groups(group, group+1).Each(ctx, func(rec record.Record) error {
			if id := replacements[rec.IntNamed("id").V]; id != 0 {
				return fn(t, rec, id)
			}
			return nil
		})
	})
}

// eachSuperseded calls fn with each row group of the catalogue that has minted IDs to replace. It reads only IDs.
func (r *Resolver) eachSuperseded(ctx context.Context, fn func(t *catalog.Type, f *catalog.File, group int, replacements map[int64]int64) error) error {
	for _, t := range catalog.Types() {
		if !Superseded.Has(t.Kind) {
			continue
		}
		f, err := catalog.OpenIfAny(filepath.Join(r.Catalog, t.File()), t)
		if err != nil {
			return err
		}
		if f == nil {
			continue
		}
		firsts, err := f.FirstKeys()
		for g := range firsts {
			if firsts[g].ID() > layout.LastMinted || g+1 < len(firsts) && firsts[g+1].ID() <= layout.FirstMinted {
				continue // no minted IDs in the row group
			}
			replacements := map[int64]int64{}
			readErr := f.Select(IDCollector{IDs: Superseded}.paths(t.Kind), g, g+1).Each(ctx, func(rec record.Record) error {
				if minted := rec.IntNamed("id").V; layout.IsMinted(minted) {
					layout.ExternalIDs(rec, func(source, other string) {
						if id, known := r.table.External(t.Kind, source, other); known && replacements[minted] == 0 && !layout.IsMinted(id) {
							replacements[minted] = id
						}
					})
				}
				return nil
			})
			if err = errors.Join(err, readErr, r.table.err()); err == nil && len(replacements) > 0 {
				err = fn(t, f, g, replacements)
			}
			if err != nil {
				break
			}
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// mintedKey is the key under which a minted ID leads to the ID that replaced it.
func mintedKey(kind fragment.Kind, id int64) key {
	return externalKey(kind, layout.MintedSource, strconv.FormatInt(id, 10))
}
