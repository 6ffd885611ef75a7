package work

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// write writes a catalogue of some movies, one of them removed.
func write(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	movies := catalog.TypeOf(fragment.KindMovie)
	w, err := catalog.Create(filepath.Join(dir, movies.File()), movies)
	sharedtest.NoError(t, err)
	for id := range int64(9) {
		sharedtest.NoError(t, w.Write(record.Of(&catalog.Movie{ID: record.Number(id + 1)})))
	}
	sharedtest.NoError(t, w.Commit())
	sharedtest.NoError(t, catalog.WriteRemoved(dir, []catalog.Removed{{Kind: fragment.KindMovie, Key: catalog.NumberKey(9)}}))
	return dir
}

func TestOpen(t *testing.T) {
	in, err := OpenCatalog(write(t))
	sharedtest.NoError(t, err)
	defer in.Close()
	latest, err := in.Latest(fragment.KindMovie)
	if err != nil || latest != 8 || in.Counts()["movie"] != 9 || !in.Removed.Has(fragment.KindMovie, catalog.NumberKey(9)) {
		t.Errorf("latest is %d, counts are %v, removals %v (%v)", latest, in.Counts(), in.Removed, err)
	}
	dir := t.TempDir()
	if _, err := OpenCatalog(dir); err == nil || !strings.Contains(err.Error(), "no catalogue in "+dir) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without files: %v", err)
	}
	dir = write(t)
	sharedtest.NoError(t, os.MkdirAll(filepath.Join(dir, catalog.WorkDir, catalog.CompleteDir), 0o700))
	if _, err := OpenCatalog(dir); err == nil || !strings.Contains(err.Error(), "run ingest again") {
		t.Errorf("between two ingests: %v", err)
	}
}
