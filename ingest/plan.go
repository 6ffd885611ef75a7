package ingest

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"reelsplice/ingest/imdb"
	"reelsplice/ingest/layout"
	"reelsplice/ingest/source"
	"reelsplice/schemas/catalog"
)

// An input is a file to read.
type input struct {
	source.File
	number int    // of the source: what a later one says wins
	layout string // "" until its first row tells
	table  bool   // the rows are those of a table, whatever the file's format
	needs  layout.Needs
	hint   string // why its rows may be misjudged; "" for most
}

// plan lists the inputs and says what the ingest is about.
func (i *ingester) plan() (*plan, error) {
	if err := i.list(); err != nil {
		return nil, err
	}
	p := &plan{
		Version: planVersion, Format: catalog.FormatVersion, Run: runName(i.start), Start: i.start,
		Layout: i.Layout, Kind: i.Kind, Language: i.Language, Overlay: i.Overlay, Update: i.Update, Replay: i.Replay,
		MaxBad: i.MaxBad.String(), Memory: i.Memory, Limits: fmt.Sprint(i.limits()),
	}
	for n := range i.inputs {
		in := &i.inputs[n]
		p.Inputs = append(p.Inputs, plannedFile{in.Path, in.Kind, in.layout, in.number, in.Bytes, in.Modified})
	}
	var err error
	if p.Mappings, err = onDisk(i.Mappings...); err != nil {
		return nil, err
	}
	if i.Precedence != nil {
		p.Order = i.Precedence.file
	}
	p.Catalog, err = i.stored()
	return p, err
}

// onDisk describes files that must be the same when an ingest goes on.
func onDisk(paths ...string) ([]plannedFile, error) {
	var out []plannedFile
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		out = append(out, plannedFile{Path: path, Bytes: info.Size(), Modified: info.ModTime()})
	}
	return out, nil
}

// orTMDB returns the name of a layout, that of TMDB's own answers for none.
func orTMDB(name string) string { return cmp.Or(name, layout.TMDB) }

// stored lists the files that the catalogue has.
func (i *ingester) stored() ([]plannedFile, error) {
	var out []plannedFile
	names := []string{catalog.RemovedFile, mintedFile}
	for _, t := range catalog.Types() {
		names = append(names, t.File(), overlayFile(t))
	}
	for _, name := range names {
		info, err := os.Stat(filepath.Join(i.Catalog, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, plannedFile{Path: name, Bytes: info.Size(), Modified: info.ModTime()})
	}
	return out, nil
}

// limits returns the limits of rows and files alone.
func (i *ingester) limits() source.Options {
	o := i.Limits
	o.Kind, o.TempDir, o.Skipped, o.Context, o.Buckets = "", "", nil, nil, nil
	return o
}

// sourceOptions returns how files are read.
func (i *ingester) sourceOptions() source.Options {
	o := i.limits()
	o.Kind, o.TempDir, o.Context, o.Buckets = i.Kind, i.work, i.ctx, i.Limits.Buckets
	return o
}

// list finds the files to read.
func (i *ingester) list() error {
	if i.Replay {
		return i.listReplayed()
	}
	o := i.limits()
	o.Kind, o.Context, o.Buckets = i.Kind, i.ctx, i.Limits.Buckets
	o.Skipped = func(path, reason string) { i.skipped = append(i.skipped, skippedFile{path, reason}) }
	files, err := source.List(i.Sources, o)
	if err != nil {
		return err
	}
	for n, f := range files {
		i.numbers = append(i.numbers, f.Name)
		in := input{File: f, number: n}
		if reason := i.look(&in); reason != "" {
			i.skipped = append(i.skipped, skippedFile{f.Name, reason})
			continue
		}
		i.inputs = append(i.inputs, in)
		i.total += f.Bytes
	}
	i.order()
	if len(i.inputs) == 0 && len(i.skipped) > 0 {
		return noneTaken(i.skipped)
	}
	if len(i.inputs) == 0 {
		return errors.New("the sources hold no records")
	}
	return nil
}

// order gives the inputs their numbers, and puts them in the order of the reading.
func (i *ingester) order() {
	i.renumber()
	slices.SortStableFunc(i.inputs, func(a, b input) int { return cmp.Compare(a.turn(), b.turn()) })
}

// listReplayed makes the rows of quarantine files files again.
func (i *ingester) listReplayed() (err error) {
	if i.inputs, err = i.replay(); err != nil {
		return err
	}
	for n := range i.inputs {
		if layout.IsMapped(i.inputs[n].layout) {
			i.lookNeeds(&i.inputs[n])
		}
		i.numbers = append(i.numbers, i.inputs[n].Name)
		i.total += i.inputs[n].Bytes
	}
	if len(i.inputs) == 0 {
		return errors.New("replay: the files hold no rows that could be replayed")
	}
	i.order()
	return nil
}

// maxLook is how many rows of a file are looked at, at most, to tell its layout.
const maxLook = 1000

// look tells the layout of a file by its first good row, and why it is left out if it
// holds no records. Of files that cannot be looked at twice the layout is told when they are
// read, and of those that are named after one resource too, unless a precedence asks for it.
func (i *ingester) look(in *input) (reason string) {
	if in.Err != nil {
		return "" // reported when it is read
	}
	if i.Layout != layout.Auto && i.Layout != imdbLayout && !layout.IsMapped(i.Layout) {
		in.layout = i.Layout
		if in.Kind == "" {
			return noKind(Kinds())
		}
		return ""
	}
	ofOne := in.ID != 0 || in.Series != 0 || in.Text != ""
	if in.Bytes == 0 {
		in.needs = i.options.AnyNeeds() // it may be any of the tables
	}
	if in.Bytes == 0 || ofOne && i.Precedence == nil {
		return ""
	}
	i.firstRow(in.File, func(f source.File, row []byte) {
		in.layout, in.hint, reason = i.tell(f, row)
		in.needs = layout.NeedsOf(in.layout, f.Base(), row, i.options)
	})
	return reason
}

// lookNeeds tells what rows of a file need whose layout is known.
func (i *ingester) lookNeeds(in *input) {
	i.firstRow(in.File, func(f source.File, row []byte) {
		in.needs = layout.NeedsOf(in.layout, f.Base(), row, i.options)
	})
}

// firstRow calls fn with the first good row of a file. A file without one, or that cannot
// be opened, is reported when it is read.
func (i *ingester) firstRow(f source.File, fn func(f source.File, row []byte)) {
	o := i.sourceOptions()
	o.TempDir = "" // the folder of temporary files is not there yet
	src, err := source.Open(f, o)
	if err != nil {
		return
	}
	defer func() { _ = src.Close() }() // read side
	for range maxLook {
		row, err := src.Next()
		if err != nil {
			return
		}
		if row.Err == nil {
			fn(src.File(), row.JSON)
			return
		}
	}
}

// tell returns the layout of a file by its first good row, what its rows may be meant to be
// if they turn out to be bad, and why it is left out if it holds no records.
func (i *ingester) tell(f source.File, row []byte) (name, hint, reason string) {
	name = i.Layout
	if name == layout.Auto || name == imdbLayout {
		if _, ok := imdb.IsTable(f.Base(), row); ok {
			return imdbLayout, "", ""
		}
	}
	switch name {
	case imdbLayout:
		return name, "", "no table of IMDb's with its columns: want one of " + strings.Join(imdb.Tables(), ", ")
	case layout.Auto:
		name = layout.Detect(f.Base(), row, i.options)
	}
	reason = layout.Skip(name, f.Base(), row, i.options)
	switch {
	case reason != "" || layout.IsMapped(name):
	case f.Kind == "" && name == layout.TMDB:
		reason = i.unknown(f, row)
	case f.Kind == "":
		reason = noKind(Kinds())
	case name == layout.TMDB && i.Layout == layout.Auto:
		hint = i.hint(f, row)
	}
	return name, hint, reason
}

// unknown says what to do about a file that tells neither its table nor its kind.
func (i *ingester) unknown(f source.File, row []byte) string {
	if f.ID != 0 || f.Series != 0 || f.Text != "" {
		return noKind(Kinds())
	}
	for _, table := range imdb.Tables() {
		if _, ok := imdb.IsTable(table, row); ok {
			return fmt.Sprintf("has the columns of IMDb's table %s, but not its name: want %s.tsv or %s.tsv.gz", table, table, table)
		}
	}
	kinds, err := layout.KindsOf(rowOf(&f, string(row), nil, false), i.options)
	near := layout.Near(f.Base(), row, i.options)
	switch {
	case err == nil && near != "":
		return noKind(kinds) + "; or as a table, " + near
	case err == nil:
		return noKind(kinds)
	case near != "":
		return noMapping + "; " + near
	}
	advice := useMapping
	if !f.Format.Table() {
		advice += ", or name it like 550-credits.json if it answers a sub-request"
	}
	return fmt.Sprintf("%s, and no kind of records has such rows (%v): %s", noMapping, err, advice)
}

// What is said of a file that is no table that a mapping is of.
const (
	noMapping  = "no mapping is of a table with these columns"
	useMapping = "use --mapping (--explain prints one to start from)"
)

// hint says what a file may be meant to be that is taken for answers of the API, though its
// first row is none.
func (i *ingester) hint(f source.File, row []byte) string {
	typ, _ := catalog.TypeNamed(f.Kind)
	l, err := layout.New(layout.TMDB, i.options)
	if err == nil {
		_, err = l.Records(rowOf(&f, string(row), typ, false))
	}
	if err == nil {
		return ""
	}
	if near := layout.Near(f.Base(), row, i.options); near != "" {
		return noMapping + "; " + near
	}
	if f.Format.Table() && !layout.HasColumn(row, "id") {
		return noMapping + ": " + useMapping
	}
	return ""
}

// noKind says that a file's name does not tell what a layout must know.
func noKind(kinds []string) string {
	return "the name does not tell what kind of records it holds: use --kind with one of " + strings.Join(kinds, ", ")
}

// A skippedFile was left out.
type skippedFile struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

func (s skippedFile) String() string { return s.Name + ": " + s.Reason }

// noneTaken is the error of a run without a file that can be taken.
func noneTaken(skipped []skippedFile) error {
	first := oneLine(skipped[0].String())
	if len(skipped) == 1 {
		return errors.New(first)
	}
	return fmt.Errorf("none of %d files can be taken, the first: %s", len(skipped), first)
}

// oneLine keeps a file name with a line break from tearing a message.
func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }

// runName names the quarantine file of one ingest.
func runName(t time.Time) string {
	var b [3]byte
	_, _ = rand.Read(b[:]) // never fails; see crypto/rand
	return t.UTC().Format("20060102T150405Z-") + hex.EncodeToString(b[:])
}
