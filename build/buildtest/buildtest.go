// Package buildtest makes catalogues for tests of their readers, and reads releases.
package buildtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/data/sample"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/check"
	"github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// Catalog writes a catalogue of movies, one JSON object each, by ascending id, and returns its folder.
func Catalog(tb testing.TB, rows ...string) (dir string) {
	tb.Helper()
	dir = tb.TempDir()
	WriteCatalog(tb, dir, rows...)
	return dir
}

// A Fataler has the methods of a test that WriteCatalog calls.
type Fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// WriteCatalog is Catalog in a given folder.
func WriteCatalog(tb Fataler, dir string, rows ...string) {
	tb.Helper()
	WriteKind(tb, dir, fragment.KindMovie, rows...)
}

// WriteKind writes the file of one kind of a catalogue: one JSON object each, with the catalogue's own fields, by
// ascending key.
func WriteKind(tb Fataler, dir string, kind fragment.Kind, rows ...string) {
	tb.Helper()
	typ := catalog.TypeOf(kind)
	w, err := catalog.Create(filepath.Join(dir, typ.File()), typ)
	if err != nil {
		tb.Fatalf("create catalogue: %v", err)
	}
	p := record.NewParser()
	for _, row := range rows {
		r := typ.New()
		if err := p.Parse(row, r); err != nil {
			tb.Fatalf("Parse(%s): %v", row, err)
		}
		typ.MarkDetails(r) // as ingest does with API responses
		if err := w.Write(r); err != nil {
			tb.Fatalf("write catalogue: %v", err)
		}
	}
	if err := w.Commit(); err != nil {
		tb.Fatalf("write catalogue: %v", err)
	}
}

// Sample returns the embedded sample of a file, such as "movies", by ascending id.
func Sample(tb testing.TB, name string) []string {
	tb.Helper()
	data, err := fs.ReadFile(sample.FS(), name+".ndjson")
	sharedtest.NoError(tb, err)
	byID := map[int64]string{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var row struct{ ID int64 }
		sharedtest.NoError(tb, json.Unmarshal(lines.Bytes(), &row))
		byID[row.ID] = lines.Text()
	}
	sharedtest.NoError(tb, lines.Err())
	var rows []string
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		rows = append(rows, byID[id])
	}
	return rows
}

// SampleCatalog writes a catalogue of the first n rows of the sample's files. If other is set, every third row has a
// different overview, and there are one more movie and a log of changes.
func SampleCatalog(tb testing.TB, n int, other bool) (dir string) {
	tb.Helper()
	dir = tb.TempDir()
	for kind, name := range map[fragment.Kind]string{
		fragment.KindMovie: "movies", fragment.KindTV: "tv", fragment.KindSeason: "seasons", fragment.KindPerson: "people",
		fragment.KindCollection: "collections", fragment.KindCompany: "companies", fragment.KindList: "lists", fragment.KindAccount: "accounts",
	} {
		rows := Sample(tb, name)
		rows = rows[:min(len(rows), n)]
		for i := range rows {
			if other && i%3 == 1 {
				rows[i] = strings.Replace(rows[i], `"overview":"`, `"overview":"Not `, 1)
			}
			if i%2 == 0 { // the age of the data is in the manifest
				rows[i] = strings.TrimSuffix(rows[i], "}") + fmt.Sprintf(`,"_fetched":"2026-05-%02d"}`, 1+i%28)
			}
		}
		if kind == fragment.KindMovie && !other {
			rows = rows[:len(rows)-1]
		}
		WriteKind(tb, dir, kind, rows...)
	}
	if other {
		WriteChanges(tb, dir,
			`{"kind":"movie","id":550,"field":"overview","time":1793502000,"iso_639_1":"en","iso_3166_1":"US","old":"A","new":"B"}`,
			`{"kind":"movie","id":550,"field":"overview","time":1793588400,"iso_639_1":"en","iso_3166_1":"US","old":"B","new":"C"}`,
			`{"kind":"tv","id":1399,"field":"season","time":1793588400,"old":{"season_id":3624,"season_number":1},"new":{"season_id":3624,"season_number":1}}`,
			`{"kind":"person","id":287,"field":"general","time":1793588400,"new":true}`)
	}
	return dir
}

// WriteChanges writes the log of changes of a catalogue in the given order.
func WriteChanges(tb testing.TB, dir string, rows ...string) {
	tb.Helper()
	w, err := catalog.CreateChanges(dir)
	sharedtest.NoError(tb, err)
	for _, row := range rows {
		v := new(catalog.LoggedChange)
		if err := record.NewParser().Parse(row, record.Of(v)); err != nil {
			tb.Fatalf("Parse(%s): %v", row, err)
		}
		sharedtest.NoError(tb, w.Write(record.Of(v)))
	}
	sharedtest.NoError(tb, w.Commit())
}

// OpenRelease opens a release, which must be valid, until the end of the test.
func OpenRelease(tb testing.TB, dir string) *release.Reader {
	tb.Helper()
	problems, err := check.Verify(tb.Context(), dir, check.Options{}, nil)
	if err != nil || len(problems) > 0 {
		tb.Fatalf("Verify(%s) = %v, %v, want no problems", dir, problems, err)
	}
	return releasetest.MustOpen(tb, dir)
}

// Ranks returns the ranks of a list of a table with that many rows, ascending.
func Ranks(l posting.List, rows int) (ranks []uint32, err error) {
	set := posting.NewSet(rows)
	if err := l.AddTo(set); err != nil {
		return nil, err
	}
	for r := set.Next(0); r >= 0; r = set.Next(r + 1) {
		ranks = append(ranks, uint32(r))
	}
	return ranks, nil
}
