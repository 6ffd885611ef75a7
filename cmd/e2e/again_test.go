package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/schemas/catalog"
)

// TestSampleRoundTrip: every row of the sample, a response with appended objects, is
// served as it is when it is asked for with the same objects appended.
func TestSampleRoundTrip(t *testing.T) {
	skipLarge(t)
	rel := sampleWorld.open(t)
	for kind, file := range map[string]string{
		"movie": "movies.ndjson", "tv": "tv.ndjson", "person": "people.ndjson", "collection": "collections.ndjson",
		"company": "companies.ndjson", "network": "networks.ndjson", "keyword": "keywords.ndjson", "tv/episode_group": "episode_groups.ndjson",
	} {
		t.Run(kind, func(t *testing.T) {
			c := complaints{}
			for _, row := range sampleRows(t, file) {
				parts := slices.DeleteFunc(slices.Clone(row.keys), func(k string) bool { return !isSub(k) && !strings.HasPrefix(k, "season/") })
				whole := row
				for batch := range slices.Chunk(append([]string{""}, parts...), maxAppends) {
					want := &value{kind: '{', members: whole.members}
					want.keys = slices.DeleteFunc(slices.Clone(whole.keys), func(k string) bool { return slices.Contains(parts, k) && !slices.Contains(batch, k) })
					want.members = map[string]*value{}
					for _, k := range want.keys {
						want.members[k] = whole.members[k]
					}
					target := fmt.Sprintf("/3/%s/%v?append_to_response=%s%s", kind, row.at("id").scalar,
						strings.Trim(strings.Join(batch, ","), ","), allVideos(row))
					got := get(t, rel, target)
					if kind == "collection" { // which the sample leaves to the build
						without(got, "parts")
					}
					c.all++
					if d := diff("", got, want, nil); len(d) > 0 {
						c.add("GET %.120s: %s", target, strings.Join(d[:min(len(d), 3)], "; "))
					} else if !slices.Equal(got.keys, want.keys) {
						c.add("GET %.120s: keys %v, want %v", target, got.keys, want.keys)
					}
				}
			}
			c.report(t)
			t.Logf("%d responses", c.all)
		})
	}
}

// allVideos is a parameter that asks for the videos of a row in all their languages;
// without it they are those in English.
func allVideos(row *value) string {
	var all []string
	for _, v := range row.list("videos", "results") {
		if l := v.text("iso_639_1"); !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "&include_video_language=" + strings.Join(all, ",")
}

// sameCatalogs compares the files of two catalogues byte by byte.
func sameCatalogs(t *testing.T, got, want string) {
	t.Helper()
	files := 0
	for _, ty := range catalog.Types() {
		w, err := os.ReadFile(filepath.Join(want, ty.File()))
		if os.IsNotExist(err) {
			continue
		}
		g, err2 := os.ReadFile(filepath.Join(got, ty.File()))
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if files++; !bytes.Equal(g, w) {
			t.Errorf("%s has other bytes", ty.File())
		}
	}
	if files == 0 {
		t.Errorf("%s holds no catalogue", want)
	}
}

// embedded is the world of the sample, as movnixWorld is that of a dump.
func embedded(*testing.T) *world { return sampleWorld }

// TestCatalogAgain: a catalogue is a dump like any other, and gives itself; so do its
// sources when they are ingested once more.
func TestCatalogAgain(t *testing.T) {
	for name, world := range map[string]func(*testing.T) *world{"sample": embedded, "movnix": movnixWorld} {
		t.Run(name, func(t *testing.T) {
			w := world(t)
			w.open(t)
			want := filepath.Join(w.dir(), "catalog")
			again := t.TempDir()
			var files []string
			for _, ty := range catalog.Types() {
				if path := filepath.Join(want, ty.File()); fileExists(path) {
					files = append(files, path)
				}
			}
			r, err := ingest.Run(t.Context(), ingest.Config{Catalog: again, Sources: files})
			if err != nil || r.Quarantined > 0 {
				t.Fatalf("%v, %q", err, r.Bad)
			}
			sameCatalogs(t, again, want)
			c, err := w.source(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			c.Catalog = again
			if _, err := ingest.Run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			sameCatalogs(t, again, want)
		})
	}
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestSmallMemory: an ingest that holds few rows at a time gives the same catalogue.
func TestSmallMemory(t *testing.T) {
	for name, world := range map[string]func(*testing.T) *world{"sample": embedded, "movnix": movnixWorld} {
		t.Run(name, func(t *testing.T) {
			w := world(t)
			w.open(t)
			c, err := w.source(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			c.Catalog, c.Memory = t.TempDir(), 1<<20
			if _, err := ingest.Run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			sameCatalogs(t, c.Catalog, filepath.Join(w.dir(), "catalog"))
		})
	}
}
