package gen

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// run makes a dump.
func run(t *testing.T, c Config) Report {
	t.Helper()
	r, err := Run(t.Context(), c)
	if err != nil {
		t.Fatalf("Run(%+v): %v", c, err)
	}
	return r
}

// small returns the Config of a dump with records of all kinds.
func small(dir string) Config {
	c := DefaultConfig()
	c.Out, c.Movies, c.TV, c.People = dir, 300, 66, 5000 // more than a block of each
	return c
}

// contents returns the files of a folder, the hidden ones not.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		if e.Name() == mark {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(data)
	}
	return out
}

// TestGolden: a change here changes every dump that was ever made from a seed, and figures that were measured with it.
// The number of jobs changes no byte. The hash includes the most popular titles and people of a
// dump of the real catalogue's size.
func TestGolden(t *testing.T) {
	c := small(t.TempDir())
	c.Jobs = 1
	report := run(t, c)
	stored := contents(t, c.Out)
	plain := map[string]string{}
	for _, f := range report.Files {
		r, err := zstd.NewReader(strings.NewReader(stored[f.Name]))
		if err != nil {
			t.Fatalf("open %s: %v", f.Name, err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatalf("read %s: %v", f.Name, err)
		}
		plain[strings.TrimSuffix(f.Name, ".zst")] = string(data)
		if f.Bytes != int64(len(data)) || f.Stored != int64(len(stored[f.Name])) || f.Rows != int64(bytes.Count(data, []byte("\n"))) {
			t.Errorf("report of %s = %+v, want %d bytes, %d stored, %d rows", f.Name, f,
				len(data), len(stored[f.Name]), bytes.Count(data, []byte("\n")))
		}
	}
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(plain)) {
		fmt.Fprintln(h, name)
		_, _ = h.Write([]byte(plain[name]))
	}
	world := newWorld(&Config{Movies: realMovies, TV: realTV, Seed: 5})
	for _, p := range []*population{world.movies, world.tv, world.people} {
		for power := uint64(1); power < p.n; power *= 2 {
			fmt.Fprintln(h, line(t, world, p, p.ranked(power-1)))
		}
	}
	const want = "52b37649f6632451458b730632bbcf6acaf454cd7803033f272051244081c649"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("the dump has the hash %s, want %s", got, want)
	}
	c.Out, c.Jobs = t.TempDir(), 3
	run(t, c)
	if got := contents(t, c.Out); !maps.Equal(got, stored) {
		t.Error("another number of jobs makes other files")
	}
}

// TestGivenCounts: kinds other than titles have as many records as asked for.
func TestGivenCounts(t *testing.T) {
	c := DefaultConfig()
	c.Out, c.Movies, c.People, c.Companies, c.Keywords = t.TempDir(), 3, 11, 12, 13
	got := map[string]int64{}
	for _, f := range run(t, c).Files {
		got[f.Name] = f.Rows
	}
	want := map[string]int64{
		"movies.ndjson.zst": 3, "people.ndjson.zst": 11, "companies.ndjson.zst": 12, "keywords.ndjson.zst": 13, "collections.ndjson.zst": 1,
	}
	if !maps.Equal(got, want) {
		t.Errorf("rows of files = %v, want %v", got, want)
	}
}

// TestFewRecords: the smallest dumps are dumps.
func TestFewRecords(t *testing.T) {
	for n := range int64(12) {
		c := DefaultConfig()
		c.Out, c.Movies, c.TV, c.People = t.TempDir(), n%4, n%3, n%5
		if n%4+n%3+n%5 == 0 {
			continue
		}
		t.Run(fmt.Sprintf("movies=%d,tv=%d,people=%d", c.Movies, c.TV, c.People), func(t *testing.T) {
			r := run(t, c)
			if r.Rows < c.Movies+c.TV+c.People {
				t.Errorf("rows = %d, want %d or more", r.Rows, c.Movies+c.TV+c.People)
			}
		})
	}
}
