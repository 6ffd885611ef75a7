package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/release/check"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// faults fails one request in n: with 503, a cut body, wrong bytes, or after carrying it out.
func faults(server *objecttest.Server, seed uint64, n int, hits *atomic.Int64) objecttest.Fault {
	random := rand.New(rand.NewPCG(seed, 0))
	var mu sync.Mutex
	return func(w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		hit, kind, at := random.IntN(n) == 0, random.IntN(4), random.IntN(1000)
		mu.Unlock()
		if !hit {
			return false
		}
		hits.Add(1)
		switch {
		case kind == 0:
			return objecttest.Unavailable(w)
		case r.Method != http.MethodGet:
			return server.Lose(r)
		case kind == 1:
			return server.CutAfter(at, w, r)
		}
		return server.Flip(at, w, r)
	}
}

// TestFaults works on a store that fails one request in twenty. Each call does what it should or fails, and what
// is there afterwards is sound.
func TestFaults(t *testing.T) {
	local, ids := releasesOf(t, 5)
	failed, calls := 0, 0
	var hits atomic.Int64
	for seed := range sharedtest.Rounds(2, 12) {
		server := objecttest.New(t)
		s := open(t, server)
		ctx := t.Context()
		try := func(what string, do func() error) bool {
			t.Helper()
			calls++
			server.SetFault(faults(server, uint64(100*seed+calls), 20, &hits))
			err := do()
			server.SetFault(nil)
			if err != nil {
				failed++
				t.Logf("%s: %v", what, err)
			}
			isSound(t, s)
			return err == nil
		}
		for i, id := range ids {
			pushed := try("push", func() error { _, err := s.Push(ctx, local.Path(id), nil); return err })
			if !pushed {
				push(t, s, local, id)
			}
			if try("publish", func() error { _, err := store.Publish(ctx, s, id); return err }) {
				isCurrent(t, s, id)
			}
			publish(t, s, id)
			if i == 0 {
				continue
			}
			if try("rollback", func() error { _, _, err := store.Rollback(ctx, s); return err }) {
				isCurrent(t, s, ids[i-1])
			}
			publish(t, s, id)
			try("set canary", func() error { _, err := store.SetCanary(ctx, s, ids[i-1]); return err })
			try("remove canary", func() error { _, err := store.RemoveCanary(ctx, s); return err })
			try("verify", func() error { return verifies(ctx, s, id, t.TempDir()) })
			try("list", func() error { return listsAll(ctx, s, ids[:i+1]) })
		}
		try("prune", func() error { _, err := s.Prune(ctx, 2, 0); return err })
		if _, err := s.Prune(ctx, 2, 0); err != nil {
			t.Error(err)
		}
		server.SetFault(nil)
		isSound(t, s)
		if infos, err := s.List(ctx); err != nil || len(infos) != 2 || infos[0].Err != nil || infos[1].Err != nil {
			t.Errorf("seed %d: releases at the end: %v, %v", seed, infos, err)
		}
		if got, want := len(names(t, s.Folder)), len(uniqueFiles(t, s))+6; got != want {
			t.Errorf("seed %d: %d objects at the end, want %d", seed, got, want)
		}
	}
	t.Logf("%d faults, %d of %d calls failed", hits.Load(), failed, calls)
	if hits.Load() == 0 || failed > calls/4 {
		t.Errorf("%d faults, %d of %d calls failed, want faults that few calls feel", hits.Load(), failed, calls)
	}
}

// verifies copies a release and looks for problems.
func verifies(ctx context.Context, s store.Bucket, id, dir string) error {
	if err := s.Copy(ctx, id, dir, nil); err != nil {
		return err
	}
	problems, err := check.Verify(ctx, dir, check.Options{}, nil)
	if err == nil && len(problems) > 0 {
		err = &problems[0]
	}
	return err
}

// listsAll lists releases; all must be there, newest first.
func listsAll(ctx context.Context, s store.Bucket, ids []string) error {
	infos, err := s.List(ctx)
	if err != nil {
		return err
	}
	var got []string
	for _, i := range infos {
		got = append(got, i.ID)
	}
	slices.Reverse(got)
	if !slices.Equal(got, ids) {
		return fmt.Errorf("wrong list: %q, want %q", got, ids)
	}
	return nil
}

// uniqueFiles returns the SHA-256 of the files of all releases.
func uniqueFiles(tb testing.TB, s store.Bucket) map[string]bool {
	tb.Helper()
	infos, err := s.List(tb.Context())
	sharedtest.NoError(tb, err)
	files := map[string]bool{}
	for _, i := range infos {
		m, err := s.Manifest(tb.Context(), i.ID)
		sharedtest.NoError(tb, err)
		for _, f := range m.Files() {
			files[f.SHA256] = true
		}
	}
	return files
}
