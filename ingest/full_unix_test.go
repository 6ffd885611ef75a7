//go:build unix

package ingest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// runFull runs an ingest in a process with a limit on file sizes, in blocks of 512 bytes: larger writes fail as on a full disk.
// It returns the error's text.
func runFull(t *testing.T, blocks int, dir string, sources ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", fmt.Sprintf(`ulimit -f %d && exec "$0"`, blocks), os.Args[0])
	cmd.Env = append(os.Environ(), ingestMe+"="+strings.Join(append([]string{dir}, sources...), "\n"))
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("Run with files of %d blocks = nil, want an error", blocks)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// TestFullDisk: an ingest on a full disk fails with the file's name and leaves nothing behind.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	var rows strings.Builder
	for n := range 4000 {
		fmt.Fprintf(&rows, `{"id":%d,"title":"%x"}`+"\n", n+1, []uint64{rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64()})
	}
	src := put(t, t.TempDir(), "movies.ndjson", rows.String())
	whole := t.TempDir()
	ingestInto(t, whole, Config{Sources: []string{src}})
	table, err := os.ReadFile(filepath.Join(whole, movieFile))
	if err != nil {
		t.Fatal(err)
	}
	packed := put(t, t.TempDir(), "movies.parquet.zst", zst(t, string(table)))
	f := func(blocks int, message string, sources ...string) {
		t.Helper()
		dir := t.TempDir()
		lines(t, dir, Config{}, `{"id":1,"title":"Old"}`)
		before := catalogBytes(t, dir)
		message += ".*: file too large; this run left nothing behind: free some space, then run it again$"
		if got := runFull(t, blocks, dir, sources...); !regexp.MustCompile(message).MatchString(got) {
			t.Errorf("Run with files of %d blocks = %s, want %s", blocks, got, message)
		}
		if !bytes.Equal(catalogBytes(t, dir), before) {
			t.Errorf("Run with files of %d blocks: the catalogue changed", blocks)
		}
		checkFiles(t, dir, movieFile)
	}
	f(80, "^write sorted file ", src)
	f(520, "^write .*movie.parquet", src)
	// A full disk while a file is unpacked is not damage of the file.
	f(80, "movies.parquet.zst.*unpack Parquet file: ", packed, put(t, t.TempDir(), "tv.ndjson", `{"id":1,"name":"A"}`))
}
