package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/serve/servetest"
)

const movie = `{"id":11,"title":"A"}`

// Only a folder with the name of a release is removed: any other is the user's own.
func TestFoldersBeside(t *testing.T) {
	in := installation(t)
	servetest.Build(t, in.Config.Releases, 1, movie)
	for _, name := range []string{"media", readyID, "a", "b", "c", "d", "e", "f", "g", "h", "i"} {
		if err := os.Mkdir(filepath.Join(in.Config.Releases, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	got := of(t, in, "releases")
	has(t, "folders", got, "warn: ", "warn: media is no release: ", "-> move ", "-> rm -r "+filepath.Join(in.Config.Releases, readyID)+"\n")
	if strings.Contains(got, "rm -r "+filepath.Join(in.Config.Releases, "media")) {
		t.Errorf("the user's own folder is removed: %s", got)
	}
	if strings.Contains(got, " prune ") {
		t.Errorf("prune keeps folders that are no release: %s", got)
	}
}

// A release without records serves nothing.
func TestEmptyRelease(t *testing.T) {
	in := installation(t)
	id := servetest.Build(t, in.Config.Releases, 1)
	in.Catalog = t.TempDir()
	write(t, filepath.Join(in.Catalog, "movie.parquet"), "x", 0o600)
	has(t, "the first one", of(t, in, "release"), "warn: "+id+" has no record: ", "-> reelsplice ingest ", " --publish\n")
	good := servetest.Build(t, in.Config.Releases, 1, movie)
	has(t, "a good one", of(t, in, "release"), "ok: "+good)
	servetest.Publish(t, in.Config.Releases, id)
	has(t, "after a good one", of(t, in, "release"), "warn: "+id+" has no record: ", "-> reelsplice rollback --releases ")
}

// The mend of a damaged pointer works: publish without an id needs the pointer.
func TestDamagedPointers(t *testing.T) {
	in := installation(t)
	dir := in.Config.Releases
	good := servetest.Build(t, dir, 1, movie)
	servetest.Build(t, dir, 1) // newer, without records
	for _, text := range []string{"", "x\n"} {
		write(t, filepath.Join(dir, "current"), text, 0o600)
		write(t, filepath.Join(dir, "canary"), text, 0o600)
		has(t, "current", of(t, in, "release"), "fail: list releases: ", "-> reelsplice publish --releases "+dir+" "+good+"\n")
		servetest.Publish(t, dir, good)
		has(t, "canary", of(t, in, "release"), "fail: list releases: ", "-> reelsplice rollback --releases "+dir+" --canary\n")
	}
	in.Config.Releases = in.Config.Tokens
	has(t, "a file", of(t, in, "release"), "fail: "+in.Config.Tokens+" is a file, ", "-> set --releases to a folder\n")
	in.Config.Releases = filepath.Join(in.Config.Tokens, "a")
	has(t, "below a file", of(t, in, "release"), "fail: "+in.Config.Tokens+" is a file, ", "-> set --releases to a folder\n")
}
