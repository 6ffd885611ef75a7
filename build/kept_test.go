package build

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"reelsplice/build/buildtest"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
)

// likeFull makes an incremental and a full build upon the last release, and wants the same
// responses of both. The report is that of the incremental one.
func likeFull(t *testing.T, c Config) Report {
	t.Helper()
	kept := run(t, c)
	c.Full = true
	full := run(t, c)
	if full.Kept != 0 {
		t.Errorf("a full build reused %d resources", full.Kept)
	}
	verify(t, filepath.Join(c.Releases, kept.Release))
	a, b := openRelease(t, filepath.Join(c.Releases, kept.Release)), openRelease(t, filepath.Join(c.Releases, full.Release))
	found, err := release.Compare(t.Context(), a, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range release.Changes() {
		err := found.Keys(t.Context(), change, func(key []byte) error {
			t.Errorf("%s: %s in the full build", fragment.DescribeKey(key), change)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if x, y := resources(t, a), resources(t, b); !maps.Equal(x, y) {
		t.Errorf("%d resources, the full build has %d", len(x), len(y))
	}
	return kept
}

// TestKeepNewKinds: an incremental build follows a catalogue that gains or loses the file of a
// kind.
func TestKeepNewKinds(t *testing.T) {
	all := map[fragment.Kind][]string{
		fragment.KindMovie: buildtest.Sample(t, "movies")[:12], fragment.KindTV: buildtest.Sample(t, "tv")[:6],
	}
	if testing.Short() { // each kind takes seven builds
		all[fragment.KindMovie], all[fragment.KindTV] = all[fragment.KindMovie][:4], all[fragment.KindTV][:2]
	}
	catalogOf := func(t *testing.T, kinds ...fragment.Kind) string {
		t.Helper()
		dir := t.TempDir()
		for _, kind := range kinds {
			buildtest.WriteKind(t, dir, kind, all[kind]...)
		}
		return dir
	}
	for _, kind := range []fragment.Kind{fragment.KindMovie, fragment.KindTV} {
		t.Run(kind.String(), func(t *testing.T) {
			c := config(t, catalogOf(t, kind))
			c.Previous = run(t, c).Release
			c.Catalog = catalogOf(t, fragment.KindMovie, fragment.KindTV)
			both := likeFull(t, c)
			c.Previous, c.Catalog = both.Release, catalogOf(t, kind)
			likeFull(t, c)
		})
	}
}

// readFile returns a file of a release.
func readFile(tb testing.TB, dir, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// largest returns the path of the largest file of a release with that prefix.
func largest(tb testing.TB, dir, prefix string) (path string) {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, prefix+"*"))
	if err != nil || len(paths) == 0 {
		tb.Fatalf("no files %s*: %v", prefix, err)
	}
	var size int64
	for _, p := range paths {
		st, err := os.Stat(p)
		if err != nil {
			tb.Fatal(err)
		}
		if st.Size() > size {
			path, size = p, st.Size()
		}
	}
	return path
}

// TestDamagedPart: a part that is damaged is not copied, with a good checksum, into
// the next release.
func TestDamagedPart(t *testing.T) {
	c := config(t, buildtest.Catalog(t, buildtest.Sample(t, "movies")[:8]...))
	c.Previous = run(t, c).Release
	path := largest(t, filepath.Join(c.Releases, c.Previous), "part-")
	data := readFile(t, filepath.Dir(path), filepath.Base(path))
	data[len(data)/2] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	c.Catalog = buildtest.Catalog(t, buildtest.Sample(t, "movies")[:7]...)
	likeFull(t, c)
}

// TestDamagedPack: a full build upon a release with a damaged pack is sound and another
// release, even if the catalogue did not change.
func TestDamagedPack(t *testing.T) {
	rows := buildtest.Sample(t, "movies")[:8]
	c := config(t, buildtest.Catalog(t, rows...))
	c.Previous = run(t, c).Release
	paths, err := filepath.Glob(filepath.Join(c.Releases, c.Previous, "pack-*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no packs: %v", err)
	}
	data := readFile(t, filepath.Dir(paths[0]), filepath.Base(paths[0]))
	data[len(data)/2] ^= 1
	if err := os.WriteFile(paths[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	c.Full = true
	full := run(t, c)
	if full.Unchanged || full.Release == c.Previous {
		t.Fatal("a full build upon a damaged release says that nothing has changed")
	}
	verify(t, filepath.Join(c.Releases, full.Release))
}

// TestPreviousShrinks cuts files of the previous release while a build is made upon it: the
// release comes out sound, made anew or without the previous one, or the build ends with an
// error. Nothing panics.
func TestPreviousShrinks(t *testing.T) {
	rows := buildtest.Sample(t, "movies")[:8]
	first := config(t, buildtest.Catalog(t, rows...))
	previous := run(t, first).Release
	changed := slices.Clone(rows[:7])
	changed[3] = strings.Replace(changed[3], `"title":"`, `"title":"Not `, 1)
	catalog := buildtest.Catalog(t, changed...)
	from := filepath.Join(first.Releases, previous)
	for _, prefix := range []string{"part-", "index-", "pack-", "table-movie"} {
		name := filepath.Base(largest(t, from, prefix))
		for _, late := range []bool{false, true} {
			c := config(t, catalog)
			c.Previous = previous
			dir := filepath.Join(c.Releases, previous)
			if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
				t.Fatal(err)
			}
			var once sync.Once
			c.Progress = func(done, total int64) {
				if !late || done == total {
					once.Do(func() {
						if err := os.Truncate(filepath.Join(dir, name), 100); err != nil {
							t.Error(err)
						}
					})
				}
			}
			r, err := Run(t.Context(), c)
			if err != nil {
				t.Logf("%s, late %v: %v", name, late, err)
				continue
			}
			problems, err := release.Verify(t.Context(), filepath.Join(c.Releases, r.Release), release.VerifyOptions{}, nil)
			// A pack that is kept is cut in both releases: Verify says so.
			if err != nil || len(problems) > 0 && problems[0].File != name {
				t.Errorf("%s, late %v: Verify = %v, %v", name, late, problems, err)
			}
		}
	}
}
