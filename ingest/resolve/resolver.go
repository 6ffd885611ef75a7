// Package resolve finds the ids of resources for rows that lack them: by ids of other sources, and
// people by their names in the credits of titles. Both can be many millions, so they are sorted on
// disk and looked up in a file.
package resolve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A Noter makes entries of the external ids of records, and of the people in their credits.
type Noter struct {
	IDs    layout.KindSet // kinds whose ids, as others gave them, are noted
	People bool           // names in credits are noted
}

var (
	// OfIMDb are the kinds that IMDb's tables are about. Others have no external ids.
	OfIMDb = layout.Kinds(fragment.KindMovie, fragment.KindTV, fragment.KindPerson, fragment.KindEpisode)
	// Superseded are the kinds whose minted ids give way to an id of TMDB's with the same external id: see
	// docs/tables.md of package layout.
	Superseded = layout.Kinds(fragment.KindMovie, fragment.KindTV, fragment.KindPerson)
)

// Append appends the entries of a record that a row gave.
func (n Noter) Append(dst []byte, rec *layout.Record) []byte {
	if rec.Removed || n.IDs == 0 && !n.People {
		return dst
	}
	return n.append(dst, rec.Type.Kind, rec.Record)
}

func (n Noter) append(dst []byte, kind fragment.Kind, r record.Record) []byte {
	if !OfIMDb.Has(kind) {
		return dst
	}
	id := r.IntNamed("id").V
	if id < 1 {
		return dst
	}
	if n.IDs.Has(kind) {
		layout.ExternalIDs(r, func(source, other string) {
			dst = appendEntry(dst, externalKey(kind, source, other), id)
		})
	}
	if !n.People || kind != fragment.KindMovie && kind != fragment.KindTV {
		return dst
	}
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
				if person, name := el.IntNamed("id").V, el.StringNamed("name").V; person > 0 && name != "" {
					dst = appendEntry(dst, personKey(kind, id, layout.Folded(name)), person)
				}
			}
		}
	}
	return dst
}

// paths returns the fields of a kind's records that entries are made of, nil for none.
func (n Noter) paths(kind fragment.Kind) []string {
	people := n.People && (kind == fragment.KindMovie || kind == fragment.KindTV)
	if !people && !n.IDs.Has(kind) {
		return nil
	}
	paths := []string{"id", "external_ids"}
	if _, ok := catalog.TypeOf(kind).Plan.Field("imdb_id"); ok {
		paths = append(paths, "imdb_id")
	}
	if people {
		paths = append(paths, "credits.cast.id", "credits.cast.name", "credits.crew.id", "credits.crew.name")
	}
	if people && kind == fragment.KindTV {
		paths = append(paths, "aggregate_credits.cast.id", "aggregate_credits.cast.name", "aggregate_credits.crew.id", "aggregate_credits.crew.name")
	}
	return paths
}

// EachStored calls fn with the fields at paths of the records of a kind in a catalogue folder, none if the file is
// missing. fn must not keep the record.
func EachStored(ctx context.Context, dir string, kind fragment.Kind, paths []string, fn func(record.Record) error) error {
	t := catalog.TypeOf(kind)
	f, err := catalog.OpenIfAny(filepath.Join(dir, t.File()), t)
	if f == nil || err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read side
	return f.Select(paths, 0, f.RowGroups()).Each(ctx, fn)
}

// The files of entries, in the folder of temporary files.
const (
	notedFile  = "ids.noted"  // of the records that were read
	storedFile = "ids.stored" // of the catalogue
	movedFile  = "ids.moved"  // of minted ids that this run merges into others
)

// A Resolver finds ids for rows that lack those of TMDB's: in the catalogue and in the other
// sources of the run, by external ids, and those of people by their names. The entries of a
// turn's records go into a file. Before the next turn, that file and the catalogue become a
// table. A turn's results depend on earlier turns alone, in whatever order its own files are
// read. It is for one goroutine; its table is for any number.
type Resolver struct {
	Catalog string // folder
	Dir     string // for temporary files
	Memory  int64
	Noter   Noter
	Merges  bool // the run merges the catalogue's minted ids into others

	file   *os.File // notedFile; nil before the first note
	buf    *bufio.Writer
	listed bool   // storedFile is written
	table  *table // of the turn; nil in turns that look nothing up
}

// Note writes entries down that Noter made.
func (r *Resolver) Note(entries []byte) error {
	if len(entries) == 0 {
		return nil
	}
	if r.file == nil {
		f, err := os.Create(r.path(notedFile))
		if err != nil {
			return fmt.Errorf("note ids: %w", err)
		}
		r.file, r.buf = f, bufio.NewWriter(f)
	}
	_, err := r.buf.Write(entries)
	return err
}

func (r *Resolver) path(name string) string { return filepath.Join(r.Dir, name) }

// Err returns the first error of looking up.
func (r *Resolver) Err() error { return r.table.err() }

// Close ends noting and looking up.
func (r *Resolver) Close() error {
	if r.file != nil {
		_ = r.file.Close() // a temporary file
		r.file = nil
	}
	return r.dropTable()
}

func (r *Resolver) dropTable() error {
	if r.table == nil {
		return nil
	}
	t := r.table
	r.table = nil
	if err := t.close(); err != nil {
		return fmt.Errorf("remove table of ids: %w", err)
	}
	return nil
}

// Table returns the ids that the rows of a turn can look up, when all rows of the turns before are noted: those of the
// catalogue and of these rows. A minted id that the run will merge into another leads there already.
func (r *Resolver) Table(ctx context.Context) (layout.IDs, error) {
	if !r.listed {
		if err := r.listStored(ctx); err != nil {
			return nil, fmt.Errorf("list ids of the catalogue: %w", err)
		}
		r.listed = true
	}
	if err := r.makeTable(ctx, storedFile); err != nil || !r.Merges {
		return r.table, err
	}
	moved := false
	err := r.list(movedFile, func(w *bufio.Writer) error {
		return r.eachSuperseded(ctx, false, func(t *catalog.Type, rec record.Record, id int64) error {
			moved = true
			_, err := w.Write(appendEntry(w.AvailableBuffer(), mintedKey(t.Kind, rec.IntNamed("id").V), id))
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list merged ids: %w", err)
	}
	if moved {
		err = r.makeTable(ctx, storedFile, movedFile)
	}
	return r.table, err
}

// makeTable replaces the table by that of the notes and of other files of entries.
func (r *Resolver) makeTable(ctx context.Context, files ...string) error {
	if err := r.dropTable(); err != nil {
		return err
	}
	if r.file != nil {
		if err := r.buf.Flush(); err != nil {
			return err
		}
		files = append(files, notedFile)
	}
	var entries []io.Reader
	for _, name := range files {
		f, err := os.Open(r.path(name))
		if err != nil {
			return fmt.Errorf("read ids: %w", err)
		}
		defer func() { _ = f.Close() }() // read side
		entries = append(entries, bufio.NewReader(f))
	}
	var err error
	r.table, err = newTable(ctx, r.Dir, r.Memory/4, io.MultiReader(entries...))
	return err
}

// list writes a file of entries.
func (r *Resolver) list(name string, write func(w *bufio.Writer) error) error {
	f, err := os.Create(r.path(name))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	return errors.Join(write(w), w.Flush(), f.Close())
}

// listStored writes the entries of the catalogue's records to a file.
func (r *Resolver) listStored(ctx context.Context) error {
	gone, err := catalog.ReadRemoved(r.Catalog)
	if err != nil {
		return err
	}
	return r.list(storedFile, func(w *bufio.Writer) error {
		for _, g := range gone {
			if id := int64(g.Key.ID()); g.Merged && layout.IsMinted(id) {
				_, _ = w.Write(appendEntry(w.AvailableBuffer(), mintedKey(g.Kind, id), int64(g.Into.ID()))) // Flush returns the error
			}
		}
		for _, t := range catalog.Types() {
			paths := r.Noter.paths(t.Kind)
			if paths == nil {
				continue
			}
			err := EachStored(ctx, r.Catalog, t.Kind, paths, func(rec record.Record) error {
				_, err := w.Write(r.Noter.append(w.AvailableBuffer(), t.Kind, rec))
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// IMDb finds the id of a resource by IMDb's.
func (r *Resolver) IMDb(kind fragment.Kind, imdb string) (int64, bool) {
	id, ok := layout.CanonicalID("imdb_id", imdb)
	if !ok {
		return 0, false
	}
	return r.table.External(kind, "imdb_id", id)
}

// Supersede calls fn with each record of the catalogue whose minted id this run supersedes: rows
// gave the same external id with an id of TMDB's, which is the one passed.
func (r *Resolver) Supersede(ctx context.Context, fn func(t *catalog.Type, rec record.Record, id int64) error) error {
	if r.file == nil || !r.Merges {
		return nil
	}
	if err := r.makeTable(ctx); err != nil {
		return err
	}
	return errors.Join(r.eachSuperseded(ctx, true, fn), r.dropTable())
}

// eachSuperseded calls fn with each record of the catalogue with a minted id, and with the id in the table that supersedes
// it. With whole the record has all its fields, or else its ids alone.
func (r *Resolver) eachSuperseded(ctx context.Context, whole bool, fn func(t *catalog.Type, rec record.Record, id int64) error) error {
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
		err = r.eachSupersededOf(ctx, t, f, whole, fn)
		if err = errors.Join(err, f.Close(), r.table.err()); err != nil {
			return err
		}
	}
	return nil
}

func (r *Resolver) eachSupersededOf(ctx context.Context, t *catalog.Type, f *catalog.File, whole bool, fn func(t *catalog.Type, rec record.Record, id int64) error) error {
	firsts, err := f.FirstKeys()
	if err != nil {
		return err
	}
	for g := range firsts {
		if firsts[g].ID() > layout.LastMinted || g+1 < len(firsts) && firsts[g+1].ID() <= layout.FirstMinted {
			continue // it has no minted ids
		}
		found := false
		each := func(call bool) func(record.Record) error {
			return func(rec record.Record) error {
				if !layout.IsMinted(rec.IntNamed("id").V) {
					return nil
				}
				var by int64
				layout.ExternalIDs(rec, func(source, other string) {
					if id, known := r.table.External(t.Kind, source, other); known && by == 0 && !layout.IsMinted(id) {
						by = id
					}
				})
				if by == 0 {
					return nil
				}
				if found = true; !call {
					return nil
				}
				return fn(t, rec, by)
			}
		}
		// Of a row group, all fields are read only if some of its records are superseded.
		if err := f.Select(Noter{IDs: Superseded}.paths(t.Kind), g, g+1).Each(ctx, each(!whole)); err != nil {
			return err
		}
		if whole && found {
			if err := f.Groups(g, g+1).Each(ctx, each(true)); err != nil {
				return err
			}
		}
	}
	return nil
}

// mintedKey is the key under which a minted id leads to the one that it was merged into.
func mintedKey(kind fragment.Kind, id int64) key {
	return externalKey(kind, layout.MintedSource, strconv.FormatInt(id, 10))
}
