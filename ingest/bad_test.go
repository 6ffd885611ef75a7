package ingest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestBadFiles: an unreadable file ends the ingest with one line that names the file and the place, and the catalogue is
// unchanged. Scripts have further files.
func TestBadFiles(t *testing.T) {
	dir, src := t.TempDir(), t.TempDir()
	lines(t, dir, Config{}, `{"id":1,"title":"A"}`)
	before := catalogBytes(t, dir)
	packed := zst(t, string(before))
	secret := put(t, src, "movies.secret.json", `{"id":1}`)
	if err := os.Chmod(secret, 0); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		put(t, src, "movies.json.gz", gz(t, "[{\"id\":1}]")[:20]):        "movies.json.gz: row 1 (line 1): unexpected end of gzip stream (rows read before it: 0)",
		put(t, src, "movies.parquet.gz", gz(t, "PAR1 and then nothing")): `movies.parquet.gz: truncated Parquet file: want PAR1 as the last 4 bytes, found "hing"`,
		put(t, src, "movies.parquet.zst", packed[:len(packed)/2]):        "movies.parquet.zst: unexpected end of zstd stream",
		secret: "movies.secret.json: open " + secret + ": permission denied",
	} {
		if path == secret && os.Getuid() == 0 { // root may read everything
			continue
		}
		if _, err := Run(t.Context(), Config{Catalog: dir, Sources: []string{path}}); err == nil || err.Error() != want {
			t.Errorf("Run(%s) = %v, want %s", path, err, want)
		}
		if !bytes.Equal(catalogBytes(t, dir), before) {
			t.Errorf("Run(%s) changed the catalogue", path)
		}
		checkFiles(t, dir, "movie.parquet")
	}
}

// TestDamagedCatalogue: a truncated or corrupted catalogue file gives an error with its name, never wrong data, and is
// unchanged.
func TestDamagedCatalogue(t *testing.T) {
	t.Parallel()
	good := t.TempDir()
	lines(t, good, Config{}, sampleRows(t, 3)...)
	b := catalogBytes(t, good)
	want := records(t, good)
	src := put(t, t.TempDir(), "movies.ndjson", want[0])
	dir := t.TempDir()
	path := filepath.Join(dir, movieFile)
	f := func(what string, damaged []byte, sure bool) {
		t.Helper()
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Run(t.Context(), Config{Catalog: dir, Sources: []string{src}})
		switch {
		case err == nil && (sure || !slices.Equal(records(t, dir), want)):
			t.Errorf("%s: no error, and other records than before", what)
		case err != nil && (!strings.HasPrefix(err.Error(), path+": ") || strings.Contains(err.Error(), "\n")):
			t.Errorf("%s: %q, want one line that begins with %s", what, err, path)
		case err != nil && !bytes.Equal(catalogBytes(t, dir), damaged):
			t.Errorf("%s: the damaged file was changed", what)
		}
	}
	f("empty", nil, true)
	f("text", []byte("not Parquet"), true)
	f("first half", b[:len(b)/2], true)
	f("last half", b[len(b)/2:], true)
	flips := 40
	if testing.Short() {
		flips = 10
	}
	for n := range flips {
		flipped := bytes.Clone(b)
		at := len(b) * n / flips
		flipped[at] ^= 0x10
		f(fmt.Sprintf("bit at %d of %d", at, len(b)), flipped, false)
	}
}

// TestManySkipped: skipped files are counted, and the first are listed.
func TestManySkipped(t *testing.T) {
	src := t.TempDir()
	for n := range 60 {
		put(t, src, fmt.Sprintf("x%03d.json", n), `{"id":1,"name":"A","homepage":"B"}`)
	}
	_, err := Run(t.Context(), Config{Catalog: t.TempDir(), Sources: []string{src}})
	if want := "none of 60 files can be used, the first: x000.json: its name does not show a kind"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Run of files that tell no kind = %v, want %s", err, want)
	}
	// Likewise files skipped while they are read.
	other := put(t, t.TempDir(), "1.json", `{"id":1}`)
	_, err = Run(t.Context(), Config{Catalog: t.TempDir(), Sources: []string{other}})
	if want := "1.json: its name does not show a kind"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Run of a file that tells no kind = %v, want %s", err, want)
	}
	put(t, src, "movies.json", `{"id":1}`)
	r := ingestInto(t, t.TempDir(), Config{Sources: []string{src}})
	if r.SkippedFiles != 60 || len(r.Skipped) != maxNamed || !strings.HasPrefix(r.Skipped[0], "x000.json: ") {
		t.Errorf("Run skips %d, lists %d: %.1q, want 60, %d", r.SkippedFiles, len(r.Skipped), r.Skipped, maxNamed)
	}
	notes := t.TempDir()
	for n := range 60 {
		put(t, notes, fmt.Sprintf("note%03d", n), "text")
	}
	put(t, notes, "movies.json", `{"id":1}`)
	if e, err := Explain(t.Context(), Config{Sources: []string{notes}}); err != nil || e.SkippedFiles != 60 || len(e.Skipped) != maxNamed {
		t.Errorf("Explain skips %d, lists %d, %v, want 60, %d", e.SkippedFiles, len(e.Skipped), err, maxNamed)
	}
	// Likewise in a run that is stopped.
	put(t, src, "1.json", `{"id":1}`)
	put(t, src, "z-movies.ndjson", `{"id":"x"}`)
	none, err := ParseTolerance("0")
	if err != nil {
		t.Fatal(err)
	}
	r, err = Run(t.Context(), Config{Catalog: t.TempDir(), Sources: []string{src}, MaxBad: none})
	if err == nil || r.SkippedFiles != 61 || r.Details.Skipped.More != 61-report.MaxListed {
		t.Errorf("a stopped Run = %v, skips %d, want 61", err, r.SkippedFiles)
	}
}

// TestBadStart: bad first rows are ignored when the meaning is chosen, even if they are more than the sample.
func TestBadStart(t *testing.T) {
	sharedtest.Set(t, &headRows, 3)
	sharedtest.Set(t, &spreadRows, 3)
	good := map[string]string{
		"movies.ndjson": `{"id":1,"title":"A"}` + "\n" + `{"id":2,"title":"B"}` + "\n",
		"movies.csv":    "id,title,vote_average\n1,A,7.5\n2,B,8\n",
	}
	bad := map[string]string{"movies.ndjson": "{\n", "movies.csv": "1,A,7,too,many\n"}
	for name, text := range good {
		want := t.TempDir()
		ingestInto(t, want, Config{Sources: []string{put(t, t.TempDir(), name, text)}})
		for _, n := range []int{headRows - 1, headRows, headRows + 1} {
			lines, dir := strings.SplitAfter(text, "\n"), t.TempDir()
			at := 0
			if name == "movies.csv" {
				at = 1 // after the header
			}
			all := strings.Join(slices.Insert(lines, at, slices.Repeat([]string{bad[name]}, n)...), "")
			r := ingestInto(t, dir, Config{MinFit: AnyFit, Sources: []string{put(t, t.TempDir(), name, all)}})
			if got := records(t, dir); r.Quarantined != int64(n) || !slices.Equal(got, records(t, want)) {
				t.Errorf("%s after %d bad rows: %d are in quarantine, records %q, want %q", name, n, r.Quarantined, got, records(t, want))
			}
		}
	}
}

// TestLeftOutOrder: the samples of a field are the first in reading order, with any number of batches.
func TestLeftOutOrder(t *testing.T) {
	const n = 9000 // three batches
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"id":%d,"runtime":"x%d"}`, i+1, i+1)
	}
	r := lines(t, t.TempDir(), Config{MinFit: AnyFit}, rows...)
	want := report.LeftOut{Path: "runtime", Count: n}
	for i := range int64(3) {
		value := fmt.Sprintf(`"x%d"`, i+1)
		want.Samples = append(want.Samples, report.Sample{File: "movies.ndjson", Row: i + 1, Line: i + 1, Field: "runtime", Value: value, Reason: "want an integer, found " + value})
	}
	if len(r.LeftOut) != 1 || fmt.Sprintf("%+v", r.LeftOut[0]) != fmt.Sprintf("%+v", want) {
		t.Errorf("left out %+v, want %+v", r.LeftOut, want)
	}
}

// TestQuarantineIsPrivate: rows may hold account data.
func TestQuarantineIsPrivate(t *testing.T) {
	r := lines(t, t.TempDir(), Config{}, `{"id":"x"}`)
	for path, want := range map[string]fs.FileMode{r.QuarantineFile: 0o600, filepath.Dir(r.QuarantineFile): 0o700} {
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
}
