package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/file"
	. "github.com/reelsplice/reelsplice/schemas/release"
	. "github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

var errKilled = errors.New("killed")

// A killer ends the work after a number of actions, and notes them.
type killer struct {
	after int // actions; negative for never
	did   []string
}

func (k *killer) step(action, path string) error {
	if k.after >= 0 && len(k.did) >= k.after {
		return errKilled // whoever goes on after a kill finds the same wall
	}
	k.did = append(k.did, action+" "+filepath.Base(path))
	if len(k.did) == k.after {
		return errKilled
	}
	return nil
}

// replace builds a release upon another one, whose packs it takes over, publishes it, goes back and
// forth and prunes, until k ends it.
func replace(s store.Folder, parent string, k *killer) error {
	r, err := Open(s.Path(parent))
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := Create(s.Dir)
	if err != nil {
		return err
	}
	defer func() { _ = w.Unlock() }() // what the system does for a process that was killed
	file.Step = k.step
	defer func() { file.Step = nil }()
	p, err := w.Part(r)
	if err == nil {
		err = copyAllTo(p, r)
	}
	if err == nil {
		err = w.Add(Resource(9999, Frag(Details, Seg(Plain("new")))))
	}
	if err == nil {
		_, err = w.Table("tiny", 1)
	}
	if err != nil {
		return err
	}
	ctx := context.Background()
	m, err := w.Seal(ctx)
	if err == nil {
		_, err = store.Publish(ctx, s, m.ID)
	}
	if err == nil {
		_, _, err = store.Rollback(ctx, s)
	}
	if err == nil {
		_, err = store.Publish(ctx, s, m.ID)
	}
	if err == nil {
		_, err = s.Prune(ctx, 1, 0)
	}
	return err
}

// wholeStore checks that the store serves one of ids, and that whatever has the name of
// a release is a whole one, but for one that was broken before.
func wholeStore(tb testing.TB, s store.Folder, broken string, ids ...string) {
	tb.Helper()
	id, err := store.Current(tb.Context(), s)
	if err != nil || !slices.Contains(ids, id) {
		tb.Errorf("Current() = %q, %v, want one of %v", id, err, ids)
	}
	infos, err := s.List(tb.Context())
	if err != nil {
		tb.Errorf("List() = %v", err)
	}
	for _, i := range infos {
		if i.Err == nil {
			noProblems(tb, s.Path(i.ID))
		} else if i.ID != broken || i.Current {
			tb.Errorf("release %s: %v", i.ID, i.Err)
		}
	}
}

// TestKillAtEveryStep kills a builder and publisher, also of a release whose name something broken has.
func TestKillAtEveryStep(t *testing.T) {
	start := func(broken string) (store.Folder, []string) {
		s, ids := storeOf(t, 2)
		publish(t, s, ids...)
		if broken != "" {
			sharedtest.NoError(t, os.Mkdir(s.Path(broken), 0o755))
		}
		return s, ids
	}
	s, ids := start("")
	sharedtest.NoError(t, replace(s, ids[1], &killer{after: -1}))
	final, err := store.Current(t.Context(), s)
	sharedtest.NoError(t, err)
	for _, broken := range []string{"", final} {
		s, _ := start(broken)
		all := &killer{after: -1}
		sharedtest.NoError(t, replace(s, ids[1], all))
		steps := len(all.did)
		if steps < 25 || !slices.ContainsFunc(all.did, func(did string) bool { return strings.HasPrefix(did, "link ") }) {
			t.Fatalf("%d steps: %q, want links too", steps, all.did)
		}
		for n := 1; n <= steps; n++ {
			s, _ := start(broken)
			k := &killer{after: n}
			if err := replace(s, ids[1], k); !errors.Is(err, errKilled) {
				t.Fatalf("stopped after %q: %v, want errKilled", k.did, err)
			}
			wholeStore(t, s, broken, ids[1], final)
			if t.Failed() {
				t.Fatalf("after %q", k.did[n-1])
			}
			// Whoever comes next finds nothing in the way.
			if n%3 == 0 {
				if err := replace(s, ids[1], &killer{after: -1}); err != nil {
					t.Fatalf("again after %q: %v", k.did[n-1], err)
				}
				isCurrent(t, s, final)
				onlyThese(t, s.Dir, final, ids[1])
			}
		}
	}
}
