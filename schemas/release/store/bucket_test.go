package store_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/object/s3"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// releasesOf writes n releases, built a minute apart, the oldest first, and returns their folder. Releases 0
// and 1 share a part, 2 and 3 ...
func releasesOf(tb testing.TB, n int) (local store.Folder, ids []string) {
	tb.Helper()
	local = store.Folder{Dir: tb.TempDir()}
	for i := range n {
		w, err := releasetest.Create(local.Dir)
		sharedtest.NoError(tb, err)
		w.Spec.Sources["n"] = int64(i)
		for part, text := range []string{fmt.Sprint("shared ", i/2), fmt.Sprint("own ", i)} {
			sharedtest.NoError(tb, w.Add(releasetest.Resource(fragment.ID(1+part), releasetest.Frag(releasetest.Videos, releasetest.Lit(text)))))
		}
		ids = append(ids, releasetest.Seal(tb, w).ID)
		builtAt(tb, local.Path(ids[i]), i)
	}
	return local, ids
}

// builtAt writes the report of a release that was built at a minute of 1970.
func builtAt(tb testing.TB, dir string, minute int) {
	tb.Helper()
	report := fmt.Sprintf(`{"built_at": %q}`, time.Unix(int64(60*minute), 0).UTC().Format(time.RFC3339))
	sharedtest.NoError(tb, os.WriteFile(filepath.Join(dir, release.ReportName), []byte(report), 0o600))
}

// backends are the folders that a store must work over.
func backends(t *testing.T) map[string]object.Folder {
	t.Helper()
	all := map[string]object.Folder{}
	for name, url := range map[string]string{"s3": objecttest.New(t).URL("some/releases"), "google": objecttest.NewGoogle(t).URL("releases")} {
		f, err := s3.OpenFolder(t.Context(), url)
		sharedtest.NoError(t, err)
		all[name] = f
	}
	return all
}

func push(tb testing.TB, s store.Bucket, local store.Folder, ids ...string) {
	tb.Helper()
	for _, id := range ids {
		if _, err := s.Push(tb.Context(), local.Path(id), nil); err != nil {
			tb.Fatal(err)
		}
	}
}

func publish(tb testing.TB, s store.Store, ids ...string) {
	tb.Helper()
	for _, id := range ids {
		if _, err := store.Publish(tb.Context(), s, id); err != nil {
			tb.Fatalf("Publish(%s) = %v", id, err)
		}
	}
}

// isSound checks that the pointers name releases whose files are all there, with the right content.
func isSound(tb testing.TB, s store.Bucket) {
	tb.Helper()
	for what, pointer := range map[string]func(context.Context, store.Store) (string, error){"current": store.Current, "canary": store.Canary} {
		id, err := pointer(tb.Context(), s)
		if errors.Is(err, store.ErrNoRelease) {
			continue
		}
		sharedtest.NoError(tb, err)
		m, err := s.Manifest(tb.Context(), id)
		if err != nil {
			tb.Fatalf("%s: %v", what, err)
		}
		for _, f := range m.Files() {
			if got := sha(read(tb, s.Folder, store.FileName(f))); got != f.SHA256 {
				tb.Errorf("%s: %s: SHA-256 %s, want %s", what, f.Name, got, f.SHA256)
			}
		}
	}
}

// read returns the content of an object.
func read(tb testing.TB, f object.Folder, name string) []byte {
	tb.Helper()
	o, err := f.Stat(tb.Context(), name)
	sharedtest.NoError(tb, err)
	data, err := f.ReadRange(tb.Context(), o, 0, o.Size)
	sharedtest.NoError(tb, err)
	return data
}

func sha(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

func isCurrent(tb testing.TB, s store.Store, want string) {
	tb.Helper()
	if got, err := store.Current(tb.Context(), s); err != nil || got != want {
		tb.Errorf("Current() = %q, %v, want %q", got, err, want)
	}
}

// listed returns what List marks, by id: c for current, p for previous, n for canary, ! for broken.
func listed(tb testing.TB, s store.Store, ids []string) string {
	tb.Helper()
	infos, err := s.List(tb.Context())
	sharedtest.NoError(tb, err)
	var all []string
	for _, i := range infos {
		text := fmt.Sprint(slices.Index(ids, i.ID))
		for mark, is := range map[string]bool{"c": i.Current, "p": i.Previous, "n": i.Canary, "!": i.Err != nil} {
			if is {
				text += mark
			}
		}
		if i.Err == nil && (i.Bytes == 0 || i.Fragments != 2) {
			tb.Errorf("List: %s has %d bytes, %d fragments", i.ID, i.Bytes, i.Fragments)
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

// TestStore goes through the life of a Folder, and of a Bucket of each kind.
func TestStore(t *testing.T) {
	local, ids := releasesOf(t, 4)
	t.Run("folder", func(t *testing.T) {
		s := store.Folder{Dir: t.TempDir()}
		testStore(t, s, ids, func() {
			for _, id := range ids {
				sharedtest.NoError(t, os.CopyFS(s.Path(id), os.DirFS(local.Path(id))))
			}
		})
	})
	for name, folder := range backends(t) {
		t.Run(name, func(t *testing.T) {
			s := store.Bucket{Folder: folder}
			testStore(t, s, ids, func() { push(t, s, local, ids...) })
			isSound(t, s)
		})
	}
}

// changing is the type of Publish and SetCanary.
type changing func(ctx context.Context, s store.Store, id string) (previous string, err error)

// testStore begins with an empty store, which fill gives four releases.
func testStore(t *testing.T, s store.Store, ids []string, fill func()) {
	t.Helper()
	ctx := t.Context()
	isListed := func(want string) {
		t.Helper()
		if got := listed(t, s, ids); got != want {
			t.Errorf("List = %q, want %q", got, want)
		}
	}
	isRolledBack := func(want ...string) {
		t.Helper()
		if back, err := store.RolledBack(ctx, s); err != nil || !slices.Equal(back, want) {
			t.Errorf("RolledBack = %q, %v, want %q", back, err, want)
		}
	}
	rollsBack := func(want ...string) {
		t.Helper()
		if from, to, err := store.Rollback(ctx, s); err != nil || from != want[0] || to != want[1] {
			t.Errorf("Rollback() = %q, %q, %v, want %q", from, to, err, want)
		}
	}
	changes := func(change changing, id, want string) {
		t.Helper()
		if previous, err := change(ctx, s, id); err != nil || previous != want {
			t.Errorf("the release before %s is %q, %v, want %q", id, previous, err, want)
		}
	}
	prunes := func(want ...string) {
		t.Helper()
		if removed, err := s.Prune(ctx, 1, 0); err != nil || !slices.Equal(removed, want) {
			t.Errorf("Prune = %q, %v, want %q", removed, err, want)
		}
	}
	hasNone := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, store.ErrNoRelease) {
			t.Errorf("%s = %v, want ErrNoRelease", what, err)
		}
	}
	_, err := store.Current(ctx, s)
	hasNone("Current() of nothing", err)
	_, _, err = store.Rollback(ctx, s)
	hasNone("Rollback() of nothing", err)
	for _, change := range []changing{store.Publish, store.SetCanary} {
		if _, err := change(ctx, s, ids[0]); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Publish or SetCanary of nothing = %v, want fs.ErrNotExist", err)
		}
	}
	isListed("")
	fill()
	changes(store.Publish, ids[0], "")
	changes(store.Publish, ids[1], ids[0])
	changes(store.Publish, ids[2], ids[1])
	changes(store.Publish, ids[2], ids[2])
	changes(store.SetCanary, ids[1], "")
	changes(store.SetCanary, ids[3], ids[1])
	isListed("3n 2c 1p 0")
	rollsBack(ids[2], ids[1])
	isListed("3n 2 1c 0p")
	isRolledBack(ids[2])
	prunes() // a release that was rolled back stays
	changes(store.SetCanary, ids[2], ids[3])
	isRolledBack()
	changes(store.SetCanary, ids[3], ids[2])
	prunes(ids[2])
	isListed("3n 1c 0p")
	if id, err := store.RemoveCanary(ctx, s); err != nil || id != ids[3] {
		t.Errorf("RemoveCanary() = %q, %v", id, err)
	}
	isRolledBack(ids[3])
	_, err = store.RemoveCanary(ctx, s)
	hasNone("RemoveCanary() of none", err)
	_, err = store.Canary(ctx, s)
	hasNone("Canary() of none", err)
	rollsBack(ids[1], ids[0])
	isRolledBack(ids[1], ids[3])
	if _, _, err := store.Rollback(ctx, s); err == nil || !strings.Contains(err.Error(), "no release has been current before "+ids[0]) {
		t.Errorf("Rollback of the first one = %v", err)
	}
	changes(store.Publish, ids[1], ids[0])
	isRolledBack()
	changes(store.SetCanary, ids[1], "")
	if _, err := store.RemoveCanary(ctx, s); err != nil { // it is current too
		t.Error(err)
	}
	isRolledBack()
	if id, err := store.Current(ctx, s); err != nil || id != ids[1] {
		t.Errorf("Current() = %q, %v, want %q", id, err, ids[1])
	}
}

// TestPush uploads what is not there.
func TestPush(t *testing.T) {
	local, ids := releasesOf(t, 2)
	server := objecttest.New(t)
	s := open(t, server)
	push(t, s, local, ids[0])
	server.Requests()
	var last, total int64
	var mu sync.Mutex
	m, err := s.Push(t.Context(), local.Path(ids[1]), func(done, all int64) {
		mu.Lock()
		defer mu.Unlock()
		last, total = max(last, done), all
	})
	sharedtest.NoError(t, err)
	if last != total || total == 0 {
		t.Errorf("progress ended at %d of %d", last, total)
	}
	before, err := s.Manifest(t.Context(), ids[0])
	sharedtest.NoError(t, err)
	var want []string
	for _, f := range m.Files() {
		if !slices.ContainsFunc(before.Files(), func(b release.File) bool { return b.SHA256 == f.SHA256 }) {
			want = append(want, f.SHA256)
		}
	}
	var got []string
	for _, r := range server.Requests() {
		if _, sha, ok := strings.Cut(r, "/files/"); ok && strings.HasPrefix(r, "PUT ") {
			got = append(got, sha)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) || len(want) == len(m.Files()) {
		t.Errorf("uploaded %q, want %q", got, want)
	}
	data, err := os.ReadFile(filepath.Join(local.Path(m.ID), "manifest.json"))
	if err != nil || !bytes.Equal(server.Get(t, "releases/"+m.ID+"/manifest.json"), data) {
		t.Errorf("the manifest in the bucket differs, %v", err)
	}
	publish(t, s, ids[1])
	isSound(t, s)
}

// TestPushRefuses looks at the content of files before it uploads them.
func TestPushRefuses(t *testing.T) {
	local, ids := releasesOf(t, 1)
	m, err := release.ReadManifest(local.Path(ids[0]))
	sharedtest.NoError(t, err)
	path := filepath.Join(local.Path(ids[0]), m.Parts[0].Name)
	content, err := os.ReadFile(path)
	sharedtest.NoError(t, err)
	server := objecttest.New(t)
	s := open(t, server)
	changed := bytes.Clone(content)
	changed[len(changed)/2] ^= 1
	for _, wrong := range [][]byte{changed, content[1:], append(bytes.Clone(content), 0)} {
		sharedtest.NoError(t, os.WriteFile(path, wrong, 0o600))
		if _, err := s.Push(t.Context(), local.Path(ids[0]), nil); !errors.Is(err, release.ErrCorrupt) || !strings.Contains(err.Error(), m.Parts[0].Name) {
			t.Errorf("Push = %v, want ErrCorrupt of %s", err, m.Parts[0].Name)
		}
	}
	if keys := server.Keys(t, "releases/"); slices.Contains(keys, "releases/"+store.FileName(m.Parts[0])) || slices.Contains(keys, "releases/"+ids[0]+"/manifest.json") {
		t.Errorf("objects: %q", keys)
	}
}

// TestIncomplete refuses releases whose files are missing or short, and names the object.
func TestIncomplete(t *testing.T) {
	local, ids := releasesOf(t, 2)
	server := objecttest.New(t)
	s := open(t, server)
	m, err := release.ReadManifest(local.Path(ids[0]))
	sharedtest.NoError(t, err)
	push(t, s, local, ids...)
	publish(t, s, ids[1])
	key := "releases/" + store.FileName(m.Parts[1])
	content := server.Get(t, key)
	for text, damage := range map[string]func(){
		"want " + fmt.Sprint(len(content)): func() { server.Put(t, key, content[:10]) },
		"is missing: s3://bucket/" + key:   func() { server.Delete(t, key) },
	} {
		damage()
		for what, change := range map[string]changing{"Publish": store.Publish, "SetCanary": store.SetCanary} {
			if _, err := change(t.Context(), s, ids[0]); err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s = %v, want %q", what, err, text)
			}
		}
	}
	isCurrent(t, s, ids[1])
	if got, want := listed(t, s, ids), "1c 0!"; got != want {
		t.Errorf("List = %q, want %q", got, want)
	}
	push(t, s, local, ids[0])
	publish(t, s, ids[0])
	isSound(t, s)
}

func open(tb testing.TB, server *objecttest.Server) store.Bucket {
	tb.Helper()
	f, err := s3.OpenFolder(tb.Context(), server.URL("releases"))
	sharedtest.NoError(tb, err)
	return store.Bucket{Folder: f}
}
