package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/check"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/auth"
)

// archives has a folder of releases, with one release, for each version of releases. Programs in the field wrote and
// serve such releases, so none is ever rewritten. The expected responses are beside it.
const archives = "testdata/releases"

const (
	archiveAdd       = "go test ./cmd/e2e -run TestArchives -update"
	archiveResponses = "responses.golden"
	archiveDay       = "2026-11-28"
	archiveAccount   = "2"
)

// TestArchives opens, checks and serves a release of each version that this program reads, and refuses earlier ones.
func TestArchives(t *testing.T) {
	current := filepath.Join(archives, fmt.Sprintf("v%d", release.FeatureVersion))
	if _, err := os.Stat(current); errors.Is(err, fs.ErrNotExist) {
		if !*sharedtest.Update {
			t.Errorf("no archive %s: %s adds it", current, archiveAdd)
		} else {
			addArchive(t, current)
		}
	}
	list, err := filepath.Glob(archives + "/v*")
	if err != nil || len(list) == 0 {
		t.Fatalf("no archives in %s: %v", archives, err)
	}
	for _, dir := range list {
		t.Run(filepath.Base(dir), func(t *testing.T) { checkArchive(t, dir) })
	}
	for version := release.FeatureVersion; version >= release.ReadMin; version-- {
		t.Run(fmt.Sprintf("tiny v%d", version), func(t *testing.T) { checkTiny(t, version) })
	}
}

// checkTiny serves an archive of package release, whose own tests check it.
func checkTiny(t *testing.T, version int) {
	t.Helper()
	from, releases := fmt.Sprintf("../../schemas/release/testdata/v%d", version), t.TempDir()
	m, err := release.ReadManifest(from)
	if err == nil {
		err = os.CopyFS(filepath.Join(releases, m.ID), os.DirFS(from))
	}
	if err != nil {
		t.Fatal(err)
	}
	e := newEdge(t, releases, m.ID)
	const want = `{"adult":false,"genres":[{"id":18,"name":"Drama"}],"ID":550}`
	for _, target := range []string{"/3/movie/550", "/3/movie/550?language=de-DE"} {
		if rs := e.getGzip(t, target); rs.status != 200 || rs.body != want {
			t.Errorf("GET %s: status %d, %s, want %s", target, rs.status, rs.body, want)
		}
	}
}

func checkArchive(t *testing.T, dir string) {
	t.Helper()
	var version int
	if _, err := fmt.Sscanf(filepath.Base(dir), "v%d", &version); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "releases")
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	infos, err := store.Folder{Dir: copied}.List(t.Context())
	if err != nil || len(infos) != 1 {
		t.Fatalf("%d releases, %v, want one", len(infos), err)
	}
	if version < release.ReadMin {
		if !errors.Is(infos[0].Err, release.ErrVersion) {
			t.Errorf("List = %v, want the error about its version", infos[0].Err)
		}
		return
	}
	id := infos[0].ID
	m, err := release.ReadManifest(filepath.Join(copied, id))
	if err != nil || m.FeatureVersion != version {
		t.Fatalf("manifest: %+v, %v, want version %d", m, err, version)
	}
	problems, err := check.Verify(t.Context(), filepath.Join(copied, id), check.Options{}, nil)
	if err != nil || len(problems) > 0 {
		t.Errorf("Verify = %v, %v, want no problem", problems, err)
	}
	sharedtest.Golden(t, filepath.Join(dir, archiveResponses), archiveServed(t, copied, id))
}

// archiveServed returns the responses of a release to all requests, one per line.
func archiveServed(t *testing.T, dir, id string) string {
	t.Helper()
	e := newEdgeOn(t, dir, id, archiveDay)
	session := e.issue(t, auth.KindSession, archiveAccount)
	var out strings.Builder
	for _, c := range readTSV(t, "archive/targets.tsv", 1) {
		target := c[0]
		rs := e.getGzip(t, strings.ReplaceAll(target, "$S", session))
		if rs.status != 200 {
			t.Errorf("GET %s: status %d: %.200s", target, rs.status, rs.body)
		}
		fmt.Fprintf(&out, "%s\t%s\n", target, rs.body)
	}
	return out.String()
}

// addArchive builds a release of testdata/archive, which has each kind of resource and of table.
func addArchive(t *testing.T, dir string) {
	t.Helper()
	tmp := t.TempDir()
	r, err := ingest.Run(t.Context(), ingest.Config{Catalog: filepath.Join(tmp, "catalog"), Sources: []string{"testdata/archive/*.ndjson"}})
	if err != nil || r.Quarantined > 0 {
		t.Fatalf("ingest: %v, %q", err, r.Bad)
	}
	id := buildCatalog(t, tmp).Manifest().ID
	to := filepath.Join(dir, id)
	if err := os.CopyFS(to, os.DirFS(filepath.Join(tmp, "releases", id))); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(to, release.ReportName)); err != nil { // it has the times of this build
		t.Fatal(err)
	}
}
