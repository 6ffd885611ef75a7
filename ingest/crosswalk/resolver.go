package crosswalk

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/reelsplice/reelsplice/ingest/input"
	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// The files of entries, in the folder of temporary files.
const (
	notedFile  = "ids.noted"  // of the records that were read
	storedFile = "ids.stored" // of the catalogue
	movedFile  = "ids.moved"  // of minted ids that this run merges into others
)

// A Resolver finds ids for rows that lack those of TMDB's: in the catalogue and in the other
// sources of the run, by external ids, and those of people by their names. The entries of a
// turn's records go into a file. Before the next turn, that file and the catalogue become a
// Table. A turn's results depend on earlier turns alone, in whatever order its own files are
// read. It is for one goroutine; its Table is for any number.
type Resolver struct {
	Catalog string // folder
	Dir     string // for temporary files
	Memory  int64
	Noter   Noter
	Merges  bool // the run merges the catalogue's minted ids into others

	file   *os.File // notedFile; nil before the first note
	buf    *bufio.Writer
	listed bool   // storedFile is written
	table  *Table // of the turn; nil in turns that look nothing up
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

// noted hands the notes to the system, and returns the files that have them.
func (r *Resolver) noted() ([]string, error) {
	if r.file == nil {
		return nil, nil
	}
	return []string{notedFile}, r.buf.Flush()
}

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
	if err := t.Close(); err != nil {
		return fmt.Errorf("remove table of ids: %w", err)
	}
	return nil
}

// Err returns the first error of looking up.
func (r *Resolver) Err() error { return r.table.Err() }

// Enter begins a turn, when all rows of the turns before are noted, and returns the ids that its
// rows can look up; nil for a turn that looks nothing up.
func (r *Resolver) Enter(ctx context.Context, turn input.Turn) (layout.IDs, error) {
	if turn < input.TurnPeople {
		return nil, nil
	}
	if err := r.dropTable(); err != nil {
		return nil, err
	}
	var err error
	if r.table, err = r.tableOfTurn(ctx); err != nil {
		return nil, err
	}
	return r.table, nil
}

// tableOfTurn returns the entries of the catalogue and of the turns before. A minted id that the
// run will merge into another leads there already.
func (r *Resolver) tableOfTurn(ctx context.Context) (*Table, error) {
	if !r.listed {
		if err := r.listStored(ctx); err != nil {
			return nil, fmt.Errorf("list ids of the catalogue: %w", err)
		}
		r.listed = true
	}
	files, err := r.noted()
	if err != nil {
		return nil, err
	}
	files = append(files, storedFile)
	t, err := r.tableOf(ctx, files...)
	if err != nil || !r.Merges {
		return t, err
	}
	moved, err := r.listMoved(ctx, t)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("list merged ids: %w", err), t.Close())
	}
	if !moved {
		return t, nil
	}
	if err := t.Close(); err != nil { // the new table has its place
		return nil, err
	}
	return r.tableOf(ctx, append(files, movedFile)...)
}

// tableOf returns the table of files of entries.
func (r *Resolver) tableOf(ctx context.Context, files ...string) (*Table, error) {
	var entries []io.Reader
	for _, name := range files {
		f, err := os.Open(r.path(name))
		if err != nil {
			return nil, fmt.Errorf("read ids: %w", err)
		}
		defer func() { _ = f.Close() }() // read side
		entries = append(entries, bufio.NewReader(f))
	}
	return newTable(ctx, r.Dir, r.Memory/4, entries...)
}

// listStored writes the entries of the catalogue's records to a file.
func (r *Resolver) listStored(ctx context.Context) error {
	f, err := os.Create(r.path(storedFile))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	var entries []byte
	gone, err := catalog.ReadRemoved(r.Catalog)
	for _, g := range gone {
		if id := int64(g.Key.ID()); g.Merged && layout.IsMinted(id) {
			entries = AppendEntry(entries[:0], mintedKey(g.Kind, id), int64(g.Into.ID()))
			_, _ = w.Write(entries) // Flush returns its error
		}
	}
	for _, p := range r.Noter.projections() {
		err = errors.Join(err, eachStored(ctx, r.Catalog, p, func(rec record.Record) error {
			entries = r.Noter.append(entries[:0], p.kind, rec)
			_, err := w.Write(entries)
			return err
		}))
	}
	return errors.Join(err, w.Flush(), f.Close())
}

// IMDb finds the id of a resource by IMDb's.
func (r *Resolver) IMDb(kind fragment.Kind, imdb string) (int64, bool) {
	id, ok := layout.CanonicalID("imdb_id", imdb)
	if !ok {
		return 0, false
	}
	return r.table.External(kind, "imdb_id", id)
}
