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

	"github.com/reelsplice/reelsplice/ingest/journal"
)

// runFull runs an ingest in a process whose files may not become longer than so many blocks
// of 512 bytes: the write that would fails as on a full disk. It returns the error's text.
func runFull(t *testing.T, blocks int, dir string, sources ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", fmt.Sprintf(`ulimit -f %d && exec "$0"`, blocks), os.Args[0])
	cmd.Env = append(os.Environ(), killMe+"="+strings.Join(append([]string{dir}, sources...), "\n"))
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("Run with files of %d blocks = nil, want an error", blocks)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// TestFullDisk: the error of a full disk says what stays, and what stays is gone on from.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	var rows strings.Builder
	for n := range 4000 {
		fmt.Fprintf(&rows, `{"id":%d,"title":"%x"}`+"\n", n+1, []uint64{rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64()})
	}
	src := put(t, t.TempDir(), "movies.ndjson", rows.String())
	want := t.TempDir()
	ingestInto(t, want, killedConfig(want, []string{src}))
	f := func(blocks int, message string, stays bool) {
		t.Helper()
		c := killedConfig(t.TempDir(), []string{src})
		if got := runFull(t, blocks, c.Catalog, src); !regexp.MustCompile(message).MatchString(got) {
			t.Errorf("Run with files of %d blocks = %s, want %s", blocks, got, message)
		}
		work := filepath.Join(c.Catalog, journal.Dir)
		if _, err := os.Stat(work); (err == nil) != stays {
			t.Errorf("Run with files of %d blocks: %s there: %v, want %v", blocks, work, err == nil, stays)
		}
		r, err := Run(t.Context(), c)
		if err != nil || r.Resumed != stays || !bytes.Equal(catalogBytes(t, c.Catalog), catalogBytes(t, want)) {
			t.Errorf("the next Run: resumed %v, %v, want %v and the same catalogue", r.Resumed, err, stays)
		}
	}
	f(80, `^write sorted file .*: file too large; nothing of this run is left: make room, then start it again$`, false)
	f(520, `^write .*movie.parquet.*: file too large; .*/\.ingest keeps 0\.[0-9] MiB, from which the same command goes on: `+
		`make room and start it again, or with --restart to begin anew; remove that folder to give the run up$`, true)

	// A full disk while a packed file is unpacked is no damage of the file.
	table, err := os.ReadFile(filepath.Join(want, movieFile))
	if err != nil {
		t.Fatal(err)
	}
	packed := put(t, t.TempDir(), "movies.parquet.zst", zst(t, string(table)))
	good := put(t, t.TempDir(), "tv.ndjson", `{"id":1,"name":"A"}`)
	got := runFull(t, 80, t.TempDir(), packed, good)
	if !strings.Contains(got, "unpack Parquet file: ") || !strings.HasSuffix(got, "; nothing of this run is left: make room, then start it again") {
		t.Errorf("Run of a packed file = %s, want an error that names it and what is left", got)
	}
}
