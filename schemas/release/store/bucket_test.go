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
)

// releasesOf writes n releases, built a minute apart, the oldest first, and returns their folder. Releases 0
// and 1 share a part, 2 and 3 ...
func releasesOf(tb testing.TB, n int) (local store.Folder, ids []string) {
	tb.Helper()
	local = store.Folder{Dir: tb.TempDir()}
	for i := range n {
		w, err := releasetest.Create(local.Dir)
		if err != nil {
			tb.Fatal(err)
		}
		w.Spec.Sources["n"] = int64(i)
		for part, text := range []string{fmt.Sprint("shared ", i/2), fmt.Sprint("own ", i)} {
			fill(tb, w, part, text)
		}
		m, err := w.Seal(tb.Context())
		if err != nil {
			tb.Fatal(err)
		}
		report := fmt.Sprintf(`{"built_at": %q}`, time.Unix(int64(60*i), 0).UTC().Format(time.RFC3339))
		if err := os.WriteFile(filepath.Join(local.Path(m.ID), "report.json"), []byte(report), 0o600); err != nil {
			tb.Fatal(err)
		}
		ids = append(ids, m.ID)
	}
	return local, ids
}

// fill writes a part with one resource.
func fill(tb testing.TB, w *releasetest.Writer, part int, text string) {
	tb.Helper()
	p, err := w.Part(nil)
	if err != nil {
		tb.Fatal(err)
	}
	id := uint64(1 + part)
	err = p.Add(release.ResourceSpec{
		Key: fragment.AppendID(nil, fragment.KindMovie, fragment.ID(id)), ID: id,
		Fragments: []release.FragmentSpec{{
			Address: fragment.Address{Sub: fragment.SubVideos},
			Pieces:  []release.PieceSpec{{Op: release.OpLiteral, Literal: []byte(text)}},
		}},
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// backends are the folders that a store must work over.
func backends(t *testing.T) map[string]object.Folder {
	t.Helper()
	all := map[string]object.Folder{}
	for name, url := range map[string]string{"s3": objecttest.New(t).URL("some/releases"), "google": objecttest.NewGoogle(t).URL("releases")} {
		f, err := s3.OpenFolder(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
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

func publish(tb testing.TB, s store.Bucket, ids ...string) {
	tb.Helper()
	for _, id := range ids {
		if _, err := s.Publish(tb.Context(), id); err != nil {
			tb.Fatal(err)
		}
	}
}

// isSound checks that the pointers name releases whose files are all there, with the right content.
func isSound(tb testing.TB, s store.Bucket) {
	tb.Helper()
	for what, pointer := range map[string]func(context.Context) (string, error){"current": s.Current, "canary": s.Canary} {
		id, err := pointer(tb.Context())
		if errors.Is(err, store.ErrNoRelease) {
			continue
		}
		if err != nil {
			tb.Fatal(err)
		}
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
	if err != nil {
		tb.Fatal(err)
	}
	data, err := f.ReadRange(tb.Context(), o, 0, o.Size)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func sha(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

func isCurrent(tb testing.TB, s store.Bucket, want string) {
	tb.Helper()
	if got, err := s.Current(tb.Context()); err != nil || got != want {
		tb.Errorf("Current() = %q, %v, want %q", got, err, want)
	}
}

// A lifecycle has the methods that Folder and Bucket share.
type lifecycle interface {
	Current(ctx context.Context) (string, error)
	Canary(ctx context.Context) (string, error)
	RolledBack(ctx context.Context) ([]string, error)
	Publish(ctx context.Context, id string) (string, error)
	SetCanary(ctx context.Context, id string) (string, error)
	RemoveCanary(ctx context.Context) (string, error)
	Rollback(ctx context.Context) (from, to string, err error)
	List(ctx context.Context) ([]store.Info, error)
	Prune(ctx context.Context, keep int, grace time.Duration) ([]string, error)
}

// A localStore is a Folder with the methods of a Bucket.
type localStore struct{ store.Folder }

func (s localStore) Current(context.Context) (string, error)      { return s.Folder.Current() }
func (s localStore) Canary(context.Context) (string, error)       { return s.Folder.Canary() }
func (s localStore) RolledBack(context.Context) ([]string, error) { return s.Folder.RolledBack() }
func (s localStore) Publish(_ context.Context, id string) (string, error) {
	return s.Folder.Publish(id)
}

func (s localStore) SetCanary(_ context.Context, id string) (string, error) {
	return s.Folder.SetCanary(id)
}

func (s localStore) RemoveCanary(context.Context) (string, error) { return s.Folder.RemoveCanary() }
func (s localStore) Rollback(context.Context) (from, to string, err error) {
	return s.Folder.Rollback()
}
func (s localStore) List(context.Context) ([]store.Info, error) { return s.Folder.List() }

func (s localStore) Prune(_ context.Context, keep int, _ time.Duration) ([]string, error) {
	return s.Folder.Prune(keep)
}

// listed returns what List marks, by id: c for current, p for previous, n for canary, ! for broken.
func listed(tb testing.TB, s lifecycle, ids []string) string {
	tb.Helper()
	infos, err := s.List(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
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
		s := localStore{store.Folder{Dir: t.TempDir()}}
		testStore(t, s, ids, func() {
			for _, id := range ids {
				if err := os.CopyFS(s.Path(id), os.DirFS(local.Path(id))); err != nil {
					t.Fatal(err)
				}
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

// testStore begins with an empty store, which fill gives four releases.
func testStore(t *testing.T, s lifecycle, ids []string, fill func()) {
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
		if back, err := s.RolledBack(ctx); err != nil || !slices.Equal(back, want) {
			t.Errorf("RolledBack = %q, %v, want %q", back, err, want)
		}
	}
	rollsBack := func(want ...string) {
		t.Helper()
		if from, to, err := s.Rollback(ctx); err != nil || from != want[0] || to != want[1] {
			t.Errorf("Rollback() = %q, %q, %v, want %q", from, to, err, want)
		}
	}
	changes := func(change func(context.Context, string) (string, error), id, want string) {
		t.Helper()
		if previous, err := change(ctx, id); err != nil || previous != want {
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
	_, err := s.Current(ctx)
	hasNone("Current() of nothing", err)
	_, _, err = s.Rollback(ctx)
	hasNone("Rollback() of nothing", err)
	for _, change := range []func(context.Context, string) (string, error){s.Publish, s.SetCanary} {
		if _, err := change(ctx, ids[0]); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Publish or SetCanary of nothing = %v, want fs.ErrNotExist", err)
		}
	}
	isListed("")
	fill()
	changes(s.Publish, ids[0], "")
	changes(s.Publish, ids[1], ids[0])
	changes(s.Publish, ids[2], ids[1])
	changes(s.Publish, ids[2], ids[2])
	changes(s.SetCanary, ids[1], "")
	changes(s.SetCanary, ids[3], ids[1])
	isListed("3n 2c 1p 0")
	rollsBack(ids[2], ids[1])
	isListed("3n 2 1c 0p")
	isRolledBack(ids[2])
	prunes() // a release that was rolled back stays
	changes(s.SetCanary, ids[2], ids[3])
	isRolledBack()
	changes(s.SetCanary, ids[3], ids[2])
	prunes(ids[2])
	isListed("3n 1c 0p")
	if id, err := s.RemoveCanary(ctx); err != nil || id != ids[3] {
		t.Errorf("RemoveCanary() = %q, %v", id, err)
	}
	isRolledBack(ids[3])
	_, err = s.RemoveCanary(ctx)
	hasNone("RemoveCanary() of none", err)
	_, err = s.Canary(ctx)
	hasNone("Canary() of none", err)
	rollsBack(ids[1], ids[0])
	isRolledBack(ids[1], ids[3])
	if _, _, err := s.Rollback(ctx); err == nil || !strings.Contains(err.Error(), "no release has been current before "+ids[0]) {
		t.Errorf("Rollback of the first one = %v", err)
	}
	changes(s.Publish, ids[1], ids[0])
	isRolledBack()
	changes(s.SetCanary, ids[1], "")
	if _, err := s.RemoveCanary(ctx); err != nil { // it is current too
		t.Error(err)
	}
	isRolledBack()
	if id, err := s.Current(ctx); err != nil || id != ids[1] {
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
	if err != nil {
		t.Fatal(err)
	}
	if last != total || total == 0 {
		t.Errorf("progress ended at %d of %d", last, total)
	}
	before, err := s.Manifest(t.Context(), ids[0])
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(local.Path(ids[0]), m.Parts[0].Name)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	server := objecttest.New(t)
	s := open(t, server)
	changed := bytes.Clone(content)
	changed[len(changed)/2] ^= 1
	for _, wrong := range [][]byte{changed, content[1:], append(bytes.Clone(content), 0)} {
		if err := os.WriteFile(path, wrong, 0o600); err != nil {
			t.Fatal(err)
		}
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
	if err != nil {
		t.Fatal(err)
	}
	push(t, s, local, ids...)
	publish(t, s, ids[1])
	key := "releases/" + store.FileName(m.Parts[1])
	content := server.Get(t, key)
	for text, damage := range map[string]func(){
		"want " + fmt.Sprint(len(content)): func() { server.Put(t, key, content[:10]) },
		"is missing: s3://bucket/" + key:   func() { server.Delete(t, key) },
	} {
		damage()
		for what, change := range map[string]func(context.Context, string) (string, error){"Publish": s.Publish, "SetCanary": s.SetCanary} {
			if _, err := change(t.Context(), ids[0]); err == nil || !strings.Contains(err.Error(), text) {
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
	if err != nil {
		tb.Fatal(err)
	}
	return store.Bucket{Folder: f}
}
