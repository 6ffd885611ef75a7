package ingest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"reelsplice/ingest/crosswalk"
	"reelsplice/ingest/layout"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// Some sources lack ids of TMDB's. Their rows get them from the catalogue and the other
// sources of the run: by external ids, and people by their names. So files are read in
// turns. The external ids and names of a turn's records go into a file. Before the next
// turn, that file and the catalogue become a table. A turn's results depend on earlier turns
// alone, in whatever order its own files are read.

// Turns of the reading.
const (
	turnPlain   = iota
	turnNames   // joined lists, which are split by the names of companies and keywords
	turnPeople  // the first that looks ids up: of people, and of rows without ids among others
	turnIMDb    // IMDb's tables
	turnMinting // tables without ids, which others can look for
	turnMatched // tables without ids that are found or put aside
)

// turn orders the reading: files whose rows can only be understood when others are known
// come after them. What wins does not depend on it.
func (in *input) turn() int {
	n := in.needs
	switch {
	case in.layout == imdbLayout:
		return turnIMDb
	case n.IDs && !n.Keyed && n.Mints:
		return turnMinting
	case n.IDs && !n.Keyed:
		return turnMatched
	case n.IDs || n.People:
		return turnPeople
	case in.layout == layout.Kaggle:
		return turnNames
	}
	return turnPlain
}

// The files of entries, in the folder of temporary files.
const (
	notedFile  = "ids.noted"  // of the records that were read
	storedFile = "ids.stored" // of the catalogue
	movedFile  = "ids.moved"  // of minted ids that this run merges into others
)

// A noter notes external ids of records, and people in their credits.
type noter struct {
	ids    layout.KindSet // of whose records: ids that others gave
	people bool           // names in credits
}

// noter returns what is to be noted for the turns of a run.
func (i *ingester) noter() (n noter) {
	if i.hasMinted() { // which may be superseded
		n.ids = layout.Kinds(fragment.KindMovie, fragment.KindTV, fragment.KindPerson)
	}
	for k := range i.inputs {
		in := &i.inputs[k]
		if in.layout == imdbLayout {
			n.ids |= idsOfIMDb
		}
		n.ids |= in.needs.Kinds
		n.people = n.people || in.needs.People
	}
	return n
}

// idsOfIMDb are the kinds that IMDb's tables are about.
var idsOfIMDb = layout.Kinds(fragment.KindMovie, fragment.KindTV, fragment.KindPerson, fragment.KindEpisode)

// append appends the entries of a record.
func (n noter) append(dst []byte, rec *layout.Record) []byte {
	if rec.Removed || n.ids == 0 && !n.people {
		return dst
	}
	return n.appendOf(dst, rec.Type.Kind, rec.Record)
}

func (n noter) appendOf(dst []byte, kind fragment.Kind, r record.Record) []byte {
	if !idsOfIMDb.Has(kind) { // others have none
		return dst
	}
	f, _ := r.Schema.Field("id")
	id := r.Int(f).V
	if id < 1 {
		return dst
	}
	if n.ids.Has(kind) {
		layout.ExternalIDs(r, func(source, other string) {
			dst = crosswalk.AppendEntry(dst, crosswalk.External(kind, source, other), id)
		})
	}
	if n.people && (kind == fragment.KindMovie || kind == fragment.KindTV) {
		eachNamed(r, func(person int64, name string) {
			dst = crosswalk.AppendEntry(dst, crosswalk.Person(kind, id, layout.Folded(name)), person)
		})
	}
	return dst
}

// eachNamed calls fn with the people in the credits of a title.
func eachNamed(r record.Record, fn func(id int64, name string)) {
	for _, member := range []string{"credits", "aggregate_credits"} {
		f, ok := r.Schema.Field(member)
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
				id, _ := el.Schema.Field("id")
				name, _ := el.Schema.Field("name")
				if el.Int(id).V > 0 && el.String(name).V != "" {
					fn(el.Int(id).V, el.String(name).V)
				}
			}
		}
	}
}

// noteIDs writes the entries of a batch down.
func (i *ingester) noteIDs(b *batch) error {
	if len(b.entries) == 0 {
		return nil
	}
	if i.ids == nil {
		f, err := os.OpenFile(filepath.Join(i.work, notedFile), os.O_WRONLY|os.O_CREATE, 0o600)
		if err == nil {
			err = f.Truncate(i.idBytes) // of what an earlier process wrote, what counts
		}
		if err == nil {
			_, err = f.Seek(0, io.SeekEnd)
		}
		if err != nil {
			return fmt.Errorf("note ids: %w", err)
		}
		i.ids, i.idBuf = f, bufio.NewWriter(f)
	}
	n, err := i.idBuf.Write(b.entries)
	i.idBytes += int64(n)
	return err
}

// flushIDs hands what was noted to the system.
func (i *ingester) flushIDs() error {
	if i.idBuf == nil {
		return nil
	}
	return i.idBuf.Flush()
}

// closeIDs ends the noting and the looking up.
func (i *ingester) closeIDs() {
	if i.ids != nil {
		_ = i.ids.Close() // it was flushed where it counts
	}
	if i.known != nil {
		_ = i.known.Close() // a temporary file
	}
}

// enterTurn makes the table that the files of a turn look ids up in, once everything
// before them is collected.
func (r *reader) enterTurn(ctx context.Context, turn int) error {
	if turn < turnPeople || r.known != nil && r.turn == turn {
		return nil
	}
	if err := r.barrier(ctx, turn); err != nil {
		return err
	}
	if r.known != nil {
		if err := r.known.Close(); err != nil {
			return fmt.Errorf("remove table of ids: %w", err)
		}
		r.known = nil
	}
	var err error
	if r.known, err = r.table(ctx); err != nil {
		return err
	}
	r.options.IDs = r.known // no worker is at work
	return nil
}

// table returns the entries of the catalogue and of the turns before. A minted id that the
// run will merge into another leads there already.
func (i *ingester) table(ctx context.Context) (*crosswalk.Table, error) {
	if !i.listed {
		if err := i.listStored(ctx, filepath.Join(i.work, storedFile)); err != nil {
			return nil, err
		}
		i.listed = true
	}
	files := []entryFile{{storedFile, 1<<63 - 1}, {notedFile, i.turnBytes}}
	t, err := i.tableOf(ctx, files)
	if err != nil || !i.supersedes() {
		return t, err
	}
	moved, err := i.listMoved(ctx, t)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("list merged ids: %w", err), t.Close())
	}
	if moved == 0 {
		return t, nil
	}
	if err := t.Close(); err != nil { // the new table has its place
		return nil, err
	}
	return i.tableOf(ctx, append(files, entryFile{movedFile, moved}))
}

// An entryFile is a file of entries, in the folder of temporary files.
type entryFile struct {
	name  string
	bytes int64 // at most
}

func (i *ingester) tableOf(ctx context.Context, files []entryFile) (*crosswalk.Table, error) {
	b := crosswalk.NewBuilder(i.work, i.Memory/4)
	for _, f := range files {
		if err := addEntries(b, filepath.Join(i.work, f.name), f.bytes); err != nil {
			return nil, errors.Join(fmt.Errorf("read ids: %w", err), b.Close())
		}
	}
	return b.Table(ctx)
}

func addEntries(b *crosswalk.Builder, path string, most int64) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) && most == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read side
	return b.AddEntries(bufio.NewReader(io.LimitReader(f, most)))
}

// listStored writes the entries of the catalogue's records to a file.
func (i *ingester) listStored(ctx context.Context, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("list ids of the catalogue: %w", err)
	}
	w := bufio.NewWriter(f)
	var entries []byte
	gone, err := catalog.ReadRemoved(i.Catalog)
	for _, r := range gone {
		if id := int64(r.Key.ID()); r.Merged && layout.IsMinted(id) {
			entries = crosswalk.AppendEntry(entries[:0], mintedKey(r.Kind, id), int64(r.Into.ID()))
			_, _ = w.Write(entries) // Flush tells
		}
	}
	n := i.noter()
	for _, of := range n.projections() {
		t := catalog.TypeOf(of.kind)
		err = errors.Join(err, eachStored(ctx, filepath.Join(i.Catalog, t.File()), t, of.plan, of.row, func(r record.Record) {
			entries = n.appendOf(entries[:0], of.kind, r)
			_, _ = w.Write(entries) // Flush tells
		}))
	}
	if err = errors.Join(err, w.Flush(), f.Close()); err != nil {
		return fmt.Errorf("list ids of the catalogue: %w", err)
	}
	return nil
}

// byIMDbID is how package imdb finds ids.
func (i *ingester) byIMDbID(kind fragment.Kind, imdb string) (int64, bool) {
	id, ok := layout.CanonicalID("imdb_id", imdb)
	if !ok {
		return 0, false
	}
	return i.known.External(kind, "imdb_id", id)
}

// The members of records that tell what they are called, by kind.
type (
	movieIDs struct {
		record.Object
		ID     record.Int    `record:"id"`
		IMDbID record.String `record:"imdb_id,null"`

		ExternalIDs *catalog.MovieExternalIDs `record:"external_ids"`
	}
	tvIDs struct {
		record.Object
		ID record.Int `record:"id"`

		ExternalIDs *catalog.TVExternalIDs `record:"external_ids"`
	}
	episodeIDs struct {
		record.Object
		ID record.Int `record:"id"`

		ExternalIDs *catalog.EpisodeExternalIDs `record:"external_ids"`
	}
	personIDs struct {
		record.Object
		IMDbID record.String `record:"imdb_id,null"`
		ID     record.Int    `record:"id"`

		ExternalIDs *catalog.PersonExternalIDs `record:"external_ids"`
	}
	movieNames struct {
		record.Object
		ID     record.Int    `record:"id"`
		IMDbID record.String `record:"imdb_id,null"`

		Credits     *creditNames              `record:"credits"`
		ExternalIDs *catalog.MovieExternalIDs `record:"external_ids"`
	}
	tvNames struct {
		record.Object
		ID record.Int `record:"id"`

		AggregateCredits *creditNames           `record:"aggregate_credits"`
		Credits          *creditNames           `record:"credits"`
		ExternalIDs      *catalog.TVExternalIDs `record:"external_ids"`
	}
	creditNames struct {
		record.Object `record:"drop-id"`
		Cast          []namedRecord `record:"cast"`
		Crew          []namedRecord `record:"crew"`
	}
)

// A projection is what is read of a kind's records.
type projection struct {
	kind fragment.Kind
	plan *record.Schema
	row  func() record.Record
}

func projectionOf[T any](kind fragment.Kind) projection {
	return projection{kind, record.SchemaOf[T](), func() record.Record { return record.Of(new(T)) }}
}

// projections returns what is read of the catalogue.
func (n noter) projections() []projection {
	all := []projection{projectionOf[personIDs](fragment.KindPerson), projectionOf[episodeIDs](fragment.KindEpisode)}
	if n.people {
		all = append(all, projectionOf[movieNames](fragment.KindMovie), projectionOf[tvNames](fragment.KindTV))
	} else {
		all = append(all, projectionOf[movieIDs](fragment.KindMovie), projectionOf[tvIDs](fragment.KindTV))
	}
	named := layout.Kinds(fragment.KindMovie, fragment.KindTV)
	return slices.DeleteFunc(all, func(p projection) bool {
		wanted := n.ids.Has(p.kind) || n.people && named.Has(p.kind)
		return !wanted
	})
}
