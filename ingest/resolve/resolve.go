// Package resolve finds IDs for rows that lack them: by external IDs, and for people by their names in the credits of
// titles. There may be many millions of both, so they are sorted on disk and looked up in a file.
package resolve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/zeebo/xxh3"

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
	// OfIMDb are the kinds in IMDb's tables, the only ones with external IDs.
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

// paths returns the fields of a kind from which entries are made, or nil.
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

// EachStored calls fn with selected fields of a kind's records in a catalogue folder, if their file exists. fn must not
// retain the record.
func EachStored(ctx context.Context, dir string, kind fragment.Kind, paths []string, fn func(record.Record) error) error {
	t := catalog.TypeOf(kind)
	f, err := catalog.OpenIfAny(filepath.Join(dir, t.File()), t)
	if f == nil || err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading
	return f.Select(paths, 0, f.RowGroups()).Each(ctx, fn)
}

// A Resolver finds IDs for rows without a TMDB ID, in the catalogue and in the run's other sources: by external IDs, and people
// by name. It sorts the entries of each turn into a file. Before the next turn, it merges these files and the catalogue's into
// a table, so a turn depends only on earlier turns, not on the order of its own files. Only the table is safe for concurrent
// use.
type Resolver struct {
	Catalog   string // catalogue folder
	Dir       string // for temporary files
	Memory    int64
	Collector IDCollector
	Merges    bool // the run merges minted IDs of the catalogue into others
	// Replaces excludes minted IDs from the names in the catalogue: rows mint the same IDs again, and others are removed.
	Replaces bool

	sorter *extsort.Sorter // entries of the current turn; nil before the first
	turns  []*extsort.File // entries of earlier turns
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
	for _, f := range append(r.turns, r.stored) {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	r.table, r.sorter, r.turns, r.stored = nil, nil, nil, nil
	return err
}

// Table returns the IDs of the catalogue and of all earlier turns. A minted ID that the run will merge already resolves to the
// ID that replaces it.
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

// makeTable makes a new table of all collected entries and the given files.
func (r *Resolver) makeTable(ctx context.Context, files ...*extsort.File) (err error) {
	err = r.table.close()
	r.table = nil
	if r.sorter != nil && err == nil {
		var f *extsort.File
		if f, err = r.sorted(ctx, r.sorter); err == nil {
			r.turns = append(r.turns, f)
		}
		r.sorter = nil
	}
	if err == nil {
		r.table, err = newTable(ctx, r.Dir, r.Memory/4, append(files, r.turns...))
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

// Supersede calls fn with each record of the catalogue whose minted ID this run replaces, and the new ID: some row has the
// record's external ID and a TMDB ID.
func (r *Resolver) Supersede(ctx context.Context, fn func(t *catalog.Type, rec record.Record, id int64) error) error {
	if r.sorter == nil && r.turns == nil || !r.Merges {
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

// mintedKey is the key of the entry that maps a minted ID to the ID that replaced it.
func mintedKey(kind fragment.Kind, id int64) key {
	return externalKey(kind, layout.MintedSource, strconv.FormatInt(id, 10))
}

// A key is a hash of an external ID or a name: a bit that is set for names, then 127 bits, enough to distinguish billions.
type key [keyBytes]byte

// nameBit, in the first byte, marks keys of names.
const nameBit = 1 << 7

// externalKey returns the key of an external ID in the form of layout.CanonicalID.
func externalKey(kind fragment.Kind, source, id string) key {
	k := keyOf(kind, source, id)
	k[0] &^= nameBit
	return k
}

// personKey returns the key of a name, in the form of layout.Folded, in the credits of a title.
func personKey(kind fragment.Kind, title int64, name string) key {
	k := keyOf(kind, strconv.FormatInt(title, 10), name)
	k[0] |= nameBit
	return k
}

func keyOf(kind fragment.Kind, a, b string) key {
	text := make([]byte, 0, 64)
	text = append(append(text, byte(kind)), a...)
	text = append(append(text, 0), b...)
	return xxh3.Hash128(text).Bytes()
}

// An entry is a key and an ID.
const (
	entryBytes = keyBytes + 8
	keyBytes   = 16
)

// addEntry adds an entry to a sorter. IDs from sources sort before minted ones.
func addEntry(s *extsort.Sorter, k key, id int64) error {
	payload := make([]byte, 1, 9)
	if layout.IsMinted(id) {
		payload[0] = 1
	}
	return s.Add(0, k[:], binary.BigEndian.AppendUint64(payload, uint64(id)))
}

// A table implements layout.IDs with a file of entries sorted by key, and the first key of each block in memory. It is safe for
// concurrent use, and does not depend on the order in which entries were added.
type table struct {
	file   *os.File
	firsts []key // first key of each block
	failed atomic.Pointer[error]
}

// blockEntries is the number of entries read at once, about a page.
const (
	blockEntries = 170
	blockBytes   = blockEntries * entryBytes
)

// newTable returns the table of the entries in sorted files. It uses about memory bytes, and disk space below dir. The table has
// one entry for each key: the lowest ID of an external ID, and the ID of a name that only one person has. Minted IDs are used
// only if there are no others.
func newTable(ctx context.Context, dir string, memory int64, files []*extsort.File) (*table, error) {
	entries, err := extsort.Merge(ctx, files, 0, extsort.Options{Dir: dir, Memory: memory})
	if err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(dir, "ids.table"))
	if err != nil {
		return nil, errors.Join(err, entries.Close())
	}
	t := &table{file: f}
	w := bufio.NewWriterSize(f, 1<<16)
	var last key
	var best []byte // payload of the first entry of last; nil if ambiguous
	for n, written := 0, 0; err == nil; n++ {
		var k, payload []byte
		k, payload, err = entries.Next()
		if err != nil || n == 0 || key(k) != last {
			if best != nil {
				if written%blockEntries == 0 {
					t.firsts = append(t.firsts, last)
				}
				written++
				_, _ = w.Write(append(append(w.AvailableBuffer(), last[:]...), best[1:]...)) // Flush returns the error
			}
			if err == nil {
				last, best = key(k), bytes.Clone(payload)
			}
		} else if last[0]&nameBit != 0 && best != nil && payload[0] == best[0] && !bytes.Equal(payload, best) {
			best = nil
		}
	}
	if errors.Is(err, io.EOF) {
		err = w.Flush()
	}
	if err = errors.Join(err, entries.Close()); err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

// External implements layout.IDs.
func (t *table) External(kind fragment.Kind, source, id string) (int64, bool) {
	return t.lookup(externalKey(kind, source, id))
}

// Person implements layout.IDs.
func (t *table) Person(kind fragment.Kind, title int64, name string) (int64, bool) {
	return t.lookup(personKey(kind, title, name))
}

// lookup returns the ID of a key. A read error counts as not found; err returns it.
func (t *table) lookup(k key) (int64, bool) {
	number := sort.Search(len(t.firsts), func(i int) bool { return bytes.Compare(k[:], t.firsts[i][:]) < 0 }) - 1
	if number < 0 {
		return 0, false
	}
	var block [blockBytes]byte
	n, err := t.file.ReadAt(block[:], int64(number)*blockBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		t.failed.Store(&err)
		return 0, false
	}
	entry := func(i int) []byte { return block[i*entryBytes:][:entryBytes] }
	i, ok := sort.Find(n/entryBytes, func(i int) int { return bytes.Compare(k[:], entry(i)[:keyBytes]) })
	if !ok {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(entry(i)[keyBytes:])), true
}

// err returns a read error of a lookup, if any. The table may be nil.
func (t *table) err() error {
	if t == nil {
		return nil
	}
	if err := t.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// close closes and removes the file. The table may be nil.
func (t *table) close() error {
	if t == nil {
		return nil
	}
	return errors.Join(t.file.Close(), os.Remove(t.file.Name()))
}
