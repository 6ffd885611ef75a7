package records

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// write writes a catalogue of some movies, one of them removed.
func write(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	movies := catalog.TypeOf(fragment.KindMovie)
	w, err := catalog.Create(filepath.Join(dir, movies.File()), movies)
	if err != nil {
		t.Fatal(err)
	}
	for id := range int64(9) {
		if err := w.Write(record.Of(&catalog.Movie{ID: record.Number(id + 1)})); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := catalog.WriteRemoved(dir, []catalog.Removed{{Kind: fragment.KindMovie, Key: catalog.NumberKey(9)}}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A remote is files of a catalogue in memory, as if they lay in a bucket.
type remote struct {
	dir    string
	open   int
	broken string // the file that cannot be opened
}

var errBroken = errors.New("no connection")

func (r *remote) files(name string) (*catalog.Source, error) {
	if name == r.broken {
		return nil, errBroken
	}
	data, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		return nil, err
	}
	r.open++
	return &catalog.Source{ReaderAt: bytes.NewReader(data), Closer: closer{r}, Size: int64(len(data)), Name: "s3://bucket/" + name}, nil
}

type closer struct{ r *remote }

func (c closer) Close() error {
	c.r.open--
	return nil
}

func TestOpenFrom(t *testing.T) {
	dir := write(t)
	r := &remote{dir: dir}
	for _, open := range []func() (*Inputs, error){
		func() (*Inputs, error) { return Open(dir) },
		func() (*Inputs, error) { return OpenFrom(r.files, "s3://bucket/") },
	} {
		in, err := open()
		if err != nil {
			t.Fatal(err)
		}
		latest, err := in.Latest(fragment.KindMovie)
		if err != nil || latest != 8 || in.Counts()["movie"] != 9 || !in.Removed.Has(fragment.KindMovie, catalog.NumberKey(9)) {
			t.Errorf("latest is %d, counts are %v, removals %v (%v)", latest, in.Counts(), in.Removed, err)
		}
		in.Close()
	}
	if r.open != 0 {
		t.Errorf("%d files are left open", r.open)
	}
}

func TestOpenFromFails(t *testing.T) {
	r := &remote{dir: t.TempDir()}
	if _, err := OpenFrom(r.files, "s3://bucket/catalog/"); err == nil || !strings.Contains(err.Error(), "no catalogue in s3://bucket/catalog/") || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without files: %v", err)
	}
	r = &remote{dir: write(t), broken: catalog.RemovedFile}
	if _, err := OpenFrom(r.files, "s3://bucket/catalog/"); !errors.Is(err, errBroken) || r.open != 0 {
		t.Errorf("a file that cannot be opened: %v, %d files left open", err, r.open)
	}
}
