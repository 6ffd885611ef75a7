package gen

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
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

func names(files map[string]string) []string {
	var out []string
	for name := range files {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func TestRunIsDeterministic(t *testing.T) {
	c := small(t.TempDir())
	c.Jobs = 1
	run(t, c)
	want := contents(t, c.Out)
	if len(want) != 7 {
		t.Fatalf("files = %q, want 7", names(want))
	}
	for _, jobs := range []int{2, 5} {
		c.Out, c.Jobs = t.TempDir(), jobs
		run(t, c)
		for name, data := range contents(t, c.Out) {
			if data != want[name] {
				t.Errorf("%s with %d jobs differs from that with one", name, jobs)
			}
		}
	}
	c.Out, c.Seed = t.TempDir(), 2
	run(t, c)
	for name, data := range contents(t, c.Out) {
		if data == want[name] {
			t.Errorf("%s is the same with another seed", name)
		}
	}
}

// TestGolden: a change here changes every dump that was ever made from a seed, and figures that were measured with it.
func TestGolden(t *testing.T) {
	c := small(t.TempDir())
	c.Compression = None
	run(t, c)
	files := contents(t, c.Out)
	h := sha256.New()
	for _, name := range names(files) {
		fmt.Fprintln(h, name)
		_, _ = h.Write([]byte(files[name]))
	}
	const want = "b5a909a93e3cea0e4fa72fc4f7f528d8c4ce7a26f9e26d6cf5d729fd7316dfae"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("the dump has the hash %s, want %s", got, want)
	}
}

func TestCompressions(t *testing.T) {
	c := small(t.TempDir())
	c.Compression = None
	run(t, c)
	plain := contents(t, c.Out)
	for kind, open := range map[Compression]func(io.Reader) (io.Reader, error){
		Zstd: func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
		Gzip: func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	} {
		c.Out, c.Compression = t.TempDir(), kind
		report := run(t, c)
		stored := contents(t, c.Out)
		for _, f := range report.Files {
			r, err := open(strings.NewReader(stored[f.Name]))
			if err != nil {
				t.Fatalf("open %s: %v", f.Name, err)
			}
			data, err := io.ReadAll(r)
			if err != nil {
				t.Fatalf("read %s: %v", f.Name, err)
			}
			base, _, _ := strings.Cut(f.Name, ".")
			if want := plain[base+".ndjson"]; string(data) != want {
				t.Errorf("%s holds %d bytes that differ from the %d of the plain file", f.Name, len(data), len(want))
			}
			if f.Bytes != int64(len(data)) || f.Stored != int64(len(stored[f.Name])) || f.Rows != int64(bytes.Count(data, []byte("\n"))) {
				t.Errorf("report of %s = %+v, want %d bytes, %d stored, %d rows", f.Name, f,
					len(data), len(stored[f.Name]), bytes.Count(data, []byte("\n")))
			}
		}
	}
}

// TestRunReplaces: what an earlier run left goes, what a killed one left as well, and
// what is of others stays.
func TestRunReplaces(t *testing.T) {
	c := small(t.TempDir())
	run(t, c)
	if err := os.Mkdir(filepath.Join(c.Out, mark+".tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{mark + ".tmp/tv.ndjson", "notes.txt", ".movies.ndjson.zst.bak"} {
		if err := os.WriteFile(filepath.Join(c.Out, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.TV, c.Movies, c.Compression = 0, 3, None
	run(t, c)
	got := names(contents(t, c.Out))
	want := []string{
		".movies.ndjson.zst.bak", "collections.ndjson", "companies.ndjson", "keywords.ndjson", "movies.ndjson", "notes.txt", "people.ndjson",
	}
	if !slices.Equal(got, want) {
		t.Errorf("files = %q, want %q", got, want)
	}
}

func TestRunRefuses(t *testing.T) {
	good := small(t.TempDir())
	for _, tt := range []struct {
		name   string
		change func(c *Config)
		want   string
	}{
		{"no folder", func(c *Config) { c.Out = "" }, "out: want a folder"},
		{"fewer than none", func(c *Config) { c.Movies = -1 }, "movies -1: want 0 to "},
		{"too many", func(c *Config) { c.People = 1 << 40 }, "people 1099511627776: want 0 to "},
		{"nothing", func(c *Config) { c.Movies, c.TV, c.People = 0, 0, 0 }, "want at least one record"},
		{"jobs", func(c *Config) { c.Jobs = 0 }, "jobs 0: want 1 or more"},
		{"compression", func(c *Config) { c.Compression = "lzma" }, `compression "lzma": want zstd, gzip, none`},
	} {
		c := good
		tt.change(&c)
		if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: Run = %v, want %q", tt.name, err, tt.want)
		}
	}
	if got := names(contents(t, good.Out)); len(got) > 0 {
		t.Errorf("files = %q, want none", got)
	}
}

func TestRunKeepsFilesOfOthers(t *testing.T) {
	c := small(t.TempDir())
	path := filepath.Join(c.Out, "people.ndjson.gz")
	if err := os.WriteFile(path, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Run(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), "people.ndjson.gz that was not generated") {
		t.Errorf("Run = %v, want a refusal that names the file", err)
	}
	if got := contents(t, c.Out); len(got) != 1 || got["people.ndjson.gz"] != "theirs" {
		t.Errorf("files = %q, want the one that was there", names(got))
	}
}

func TestRunLeavesNothingWhenInterrupted(t *testing.T) {
	c := small(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	var told []int64
	c.Progress = func(done, total int64) {
		if told = append(told, done); done > c.Movies {
			cancel()
		}
		if done > total {
			t.Errorf("progress is %d of %d", done, total)
		}
	}
	if _, err := Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("Run = %v, want %v", err, context.Canceled)
	}
	if !slices.IsSorted(told) || len(told) == 0 {
		t.Errorf("progress = %v, want numbers that grow", told)
	}
	entries, err := os.ReadDir(c.Out)
	if err != nil || len(entries) > 0 {
		t.Errorf("ReadDir = %v, %v, want nothing", entries, err)
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

// skipAlone skips, with -short, what takes seconds under the race detector and runs in one
// goroutine.
func skipAlone(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("nothing runs side by side here: run without -short")
	}
}
