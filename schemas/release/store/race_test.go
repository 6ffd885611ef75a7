package store_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// A meeting lets writes of pointers through once as many wait as there are publishers: all have read the same.
type meeting struct {
	object.Folder
	waiting sync.WaitGroup
}

func (m *meeting) meet() {
	m.waiting.Done()
	m.waiting.Wait()
}

func (m *meeting) Create(ctx context.Context, name string, data []byte) error {
	if name == "current" {
		m.meet()
	}
	return m.Folder.Create(ctx, name, data)
}

func (m *meeting) Replace(ctx context.Context, old object.Info, data []byte) error {
	if old.Key == "current" {
		m.meet()
	}
	return m.Folder.Replace(ctx, old, data)
}

// TestPublishers: of eight that publish upon the same release, one wins, and the others name its release.
func TestPublishers(t *testing.T) {
	const publishers = 8
	local, ids := releasesOf(t, publishers+1)
	for name, folder := range backends(t) {
		t.Run(name, func(t *testing.T) {
			s := store.Bucket{Folder: folder}
			push(t, s, local, ids...)
			for round := range 4 {
				winner := race(t, folder, ids[:publishers])
				isCurrent(t, s, winner)
				isSound(t, s)
				if round%2 == 1 { // the first publish of all is a race too
					publish(t, s, ids[publishers])
					continue
				}
				sharedtest.NoError(t, folder.Delete(t.Context(), "current"))
			}
		})
	}
}

// race publishes all ids at once and returns the one that won.
func race(t *testing.T, folder object.Folder, ids []string) (winner string) {
	t.Helper()
	m := &meeting{Folder: folder}
	m.waiting.Add(len(ids))
	errs := make([]error, len(ids))
	var all sync.WaitGroup
	for i, id := range ids {
		all.Go(func() { _, errs[i] = store.Publish(t.Context(), store.Bucket{Folder: m}, id) })
	}
	all.Wait()
	for i, err := range errs {
		if err == nil {
			winner += ids[i]
		}
	}
	for _, err := range errs {
		if err != nil && (!errors.Is(err, store.ErrLost) || !strings.Contains(err.Error(), winner)) {
			t.Errorf("a loser got %v, want ErrLost with %s", err, winner)
		}
	}
	return winner
}

// TestLostResponse: a pointer that was written although the request failed counts.
func TestLostResponse(t *testing.T) {
	local, ids := releasesOf(t, 2)
	server := objecttest.New(t)
	s := open(t, server)
	push(t, s, local, ids...)
	for _, id := range ids {
		if _, err := store.Publish(t.Context(), store.Bucket{Folder: deaf{s.Folder}}, id); err != nil {
			t.Errorf("Publish = %v", err)
		}
		isCurrent(t, s, id)
	}
}

// deaf writes conditionally and fails.
type deaf struct{ object.Folder }

func (d deaf) Create(ctx context.Context, name string, data []byte) error {
	return errors.Join(errors.New("connection reset"), d.Folder.Create(ctx, name, data))
}

func (d deaf) Replace(ctx context.Context, old object.Info, data []byte) error {
	if err := d.Folder.Replace(ctx, old, data); err != nil {
		return err
	}
	return d.Folder.Replace(ctx, old, data) // a driver repeats a request that was carried out: ErrChanged
}

// unconditional has no conditional writes.
type unconditional struct{ object.Folder }

func (unconditional) Create(context.Context, string, []byte) error { return object.ErrUnsupported }
func (unconditional) Replace(context.Context, object.Info, []byte) error {
	return object.ErrUnsupported
}

// TestUnconditional refuses a store where two publishers could both win, unless nothing is to be written.
func TestUnconditional(t *testing.T) {
	local, ids := releasesOf(t, 2)
	s := open(t, objecttest.New(t))
	push(t, s, local, ids...)
	u := store.Bucket{Folder: unconditional{s.Folder}}
	if _, err := store.Publish(t.Context(), u, ids[0]); !errors.Is(err, object.ErrUnsupported) {
		t.Errorf("the first Publish = %v, want ErrUnsupported", err)
	}
	publish(t, s, ids[0])
	if _, err := store.Publish(t.Context(), u, ids[1]); !errors.Is(err, object.ErrUnsupported) {
		t.Errorf("Publish = %v, want ErrUnsupported", err)
	}
	if _, err := store.Publish(t.Context(), u, ids[0]); err != nil {
		t.Errorf("Publish of the current one = %v", err)
	}
}

// TestIgnoredConditions refuses a store that accepts conditional writes and ignores the conditions, before its first
// pointer is written.
func TestIgnoredConditions(t *testing.T) {
	local, ids := releasesOf(t, 2)
	for _, header := range []string{"If-None-Match", "If-Match"} {
		server := objecttest.New(t)
		s := open(t, server)
		push(t, s, local, ids...)
		server.SetFault(func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPut {
				r.Header.Del(header)
			}
			return false
		})
		for name, change := range map[string]changing{"Publish": store.Publish, "SetCanary": store.SetCanary} {
			_, err := change(t.Context(), s, ids[0])
			if !errors.Is(err, object.ErrUnsupported) || !strings.Contains(err.Error(), "s3://bucket/releases/: the store has no conditional writes: it ignores "+header) {
				t.Errorf("%s on a store that ignores %s: %v, want ErrUnsupported", name, header, err)
			}
		}
		for _, name := range names(t, s.Folder) {
			if name == "current" || name == "canary" {
				t.Errorf("%s was written on a store that ignores %s", name, header)
			}
		}
		isSound(t, s)
	}
}

// between calls do after a name was deleted, once.
type between struct {
	object.Folder
	name string
	do   func()
	done atomic.Bool
}

func (b *between) Delete(ctx context.Context, name string) error {
	err := b.Folder.Delete(ctx, name)
	if name == b.name && !b.done.Swap(true) {
		b.do()
	}
	return err
}

func (b *between) Create(ctx context.Context, name string, data []byte) error {
	if name == b.name && !b.done.Swap(true) {
		b.do()
	}
	return b.Folder.Create(ctx, name, data)
}

// TestPruneBesidePublish: a release that is pruned while it is published stays, or is not published.
func TestPruneBesidePublish(t *testing.T) {
	local, ids := releasesOf(t, 3)
	for _, first := range []string{"prune", "publish"} {
		t.Run(first, func(t *testing.T) {
			s := open(t, objecttest.New(t))
			push(t, s, local, ids...)
			publish(t, s, ids[1], ids[2])
			manifest := ids[0] + "/manifest.json"
			if first == "prune" {
				data := read(t, s.Folder, manifest)
				f := &between{Folder: s.Folder, name: manifest}
				f.do = func() { // what a publisher does that saw the manifest a moment ago
					put(t, s.Folder, "current", ids[0]+"\n"+ids[2]+"\n")
				}
				if removed, err := (store.Bucket{Folder: f}).Prune(t.Context(), 2, 0); err == nil || len(removed) > 0 {
					t.Errorf("Prune = %q, %v, want an error", removed, err)
				}
				if !slices.Equal(read(t, s.Folder, manifest), data) {
					t.Error("the manifest was not put back")
				}
			} else {
				f := &between{Folder: s.Folder, name: "canary"}
				f.do = func() {
					if _, err := s.Prune(t.Context(), 2, 0); err != nil {
						t.Error(err)
					}
				}
				if _, err := store.SetCanary(t.Context(), store.Bucket{Folder: f}, ids[0]); err == nil {
					t.Error("SetCanary of a release that went = nil")
				}
				if _, err := store.Canary(t.Context(), s); !errors.Is(err, store.ErrNoRelease) {
					t.Errorf("Canary() = %v, want ErrNoRelease", err)
				}
			}
			isSound(t, s)
		})
	}
}

func put(tb testing.TB, f object.Folder, name, text string) {
	tb.Helper()
	sharedtest.NoError(tb, f.Put(tb.Context(), name, []byte(text)))
}
