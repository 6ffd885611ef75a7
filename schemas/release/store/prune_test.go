package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// names lists a folder.
func names(tb testing.TB, f object.Folder) (all []string) {
	tb.Helper()
	list, err := f.List(tb.Context(), "", object.MaxListed)
	sharedtest.NoError(tb, err)
	for _, o := range list {
		all = append(all, o.Key)
	}
	return all
}

// TestPruneObjects removes what no manifest names, once it is old enough.
func TestPruneObjects(t *testing.T) {
	local, ids := releasesOf(t, 4)
	for name, folder := range backends(t) {
		t.Run(name, func(t *testing.T) {
			s := store.Bucket{Folder: folder}
			push(t, s, local, ids[2:]...)
			publish(t, s, ids[2], ids[3])
			m, err := s.Manifest(t.Context(), ids[3])
			sharedtest.NoError(t, err)
			put(t, folder, store.DeltaName(m.Parts[0], release.File{SHA256: sha(nil)}), "kept")
			put(t, folder, "foreign/thing", "not ours")
			put(t, folder, "files/readme", "not ours")
			// A release of another program version keeps its files.
			foreign := sha([]byte("foreign"))
			put(t, folder, "files/"+foreign, "foreign")
			put(t, folder, "r0123456789abcdef/manifest.json", fmt.Sprintf(`{"format_version": 999, "blobs": [%q]}`, foreign))
			want := names(t, folder)

			push(t, s, local, ids[:2]...) // to be pruned
			leftover := sha([]byte("leftover"))
			put(t, folder, "files/"+leftover, "leftover")
			put(t, folder, "deltas/"+leftover+"-"+m.Parts[0].SHA256, "of the leftover")
			put(t, folder, "rfedcba9876543210/report.json", "{}")
			before := names(t, folder)

			removed, err := s.Prune(t.Context(), 2, time.Hour)
			if err != nil || !slices.Equal(removed, []string{ids[1], ids[0]}) {
				t.Errorf("Prune = %q, %v", removed, err)
			}
			if got, want := len(names(t, folder)), len(before)-4; got != want { // two manifests, two reports
				t.Errorf("%d objects within the grace, want %d", got, want)
			}
			if removed, err := s.Prune(t.Context(), 2, 0); err != nil || len(removed) > 0 {
				t.Errorf("Prune again = %q, %v", removed, err)
			}
			if got := names(t, folder); !slices.Equal(got, want) {
				t.Errorf("objects are %q, want %q", got, want)
			}
			isSound(t, s)
		})
	}
}

// A listing changes what a folder lists.
type listing struct {
	object.Folder
	change func(prefix string, all []object.Info) ([]object.Info, error)
}

func (l listing) List(ctx context.Context, prefix string, most int) ([]object.Info, error) {
	all, err := l.Folder.List(ctx, prefix, most)
	if err != nil {
		return nil, err
	}
	return l.change(prefix, all)
}

// TestPruneListingFails removes nothing when a listing fails.
func TestPruneListingFails(t *testing.T) {
	local, ids := releasesOf(t, 4)
	s := open(t, objecttest.New(t))
	push(t, s, local, ids...)
	publish(t, s, ids[2], ids[3])
	want := names(t, s.Folder)
	for _, prefix := range []string{"r", "files/", "deltas/"} {
		gone := errors.New("no listing today")
		blind := listing{s.Folder, func(of string, all []object.Info) ([]object.Info, error) {
			if of == prefix {
				return nil, gone
			}
			return all, nil
		}}
		if _, err := (store.Bucket{Folder: blind}).Prune(t.Context(), 2, 0); !errors.Is(err, gone) {
			t.Errorf("Prune without listing of %q = %v", prefix, err)
		}
		if got := names(t, s.Folder); !slices.Equal(got, want) {
			t.Errorf("without listing of %q, objects are %q, want %q", prefix, got, want)
		}
	}
}

// TestPruneListingLies keeps the files of a release that one listing left out.
func TestPruneListingLies(t *testing.T) {
	local, ids := releasesOf(t, 4)
	for i := range ids {
		s := open(t, objecttest.New(t))
		push(t, s, local, ids...)
		publish(t, s, ids[2], ids[3])
		first := true
		forgetful := listing{s.Folder, func(prefix string, all []object.Info) ([]object.Info, error) {
			if prefix == "r" && first {
				first = false
				all = slices.DeleteFunc(all, func(o object.Info) bool { return strings.HasPrefix(o.Key, ids[i]) })
			}
			return all, nil
		}}
		if _, err := (store.Bucket{Folder: forgetful}).Prune(t.Context(), 3, 0); err == nil {
			t.Errorf("Prune after a listing without release %d = nil", i)
		}
		infos, err := s.List(t.Context())
		sharedtest.NoError(t, err)
		for _, info := range infos {
			if info.Err != nil {
				t.Errorf("after a listing without release %d: %v", i, info.Err)
			}
		}
	}
}
