package summary

import (
	"cmp"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/releases"
)

// firstWait is how long a request waits for the counts that it has started. Those of a small release
// are there by then.
const firstWait = 300 * time.Millisecond

// A Keeper has the summary of the release that is served, and counts its fragments once, when it is first
// asked for. It is safe for concurrent use.
type Keeper struct {
	releases *releases.Releases
	log      *slog.Logger
	pacer    func() rest // of a walk

	mu   sync.Mutex
	last *job               // of the release that was last asked for
	rows map[string]Release // of the store, by id: releases never change
}

// A job is the summary of one release in the making.
type job struct {
	release string
	base    *Summary // without counts
	counted chan struct{}
	// Once counted is closed:
	counts *counts // nil if the walk did not reach the end
	left   bool    // the release was no longer served before that: a later request counts anew
}

// NewKeeper returns the Keeper of the releases that rels serves.
func NewKeeper(rels *releases.Releases, log *slog.Logger) *Keeper {
	return &Keeper{releases: rels, log: log, pacer: pacer, rows: map[string]Release{}}
}

// Summary returns the summary of a release, which the caller holds. The error is that of a file that cannot
// be read, or matches release.ErrCorrupt.
func (k *Keeper) Summary(h *releases.Held) (s *Summary, err error) {
	err = release.Guard(func() error {
		j, err := k.job(h)
		if err != nil {
			return err
		}
		t := time.NewTimer(firstWait)
		defer t.Stop()
		out := *j.base
		select {
		case <-j.counted:
			out.Counting = j.left
			if j.counts != nil {
				j.counts.addTo(&out)
			}
		case <-t.C:
			out.Counting = true
		}
		out.Releases, err = k.list()
		s = &out
		return err
	})
	return s, err
}

// job returns the job of a release, and starts it if there is none.
func (k *Keeper) job(h *releases.Held) (*job, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	id := h.Reader().Manifest().ID
	if k.last != nil && k.last.release == id {
		return k.last, nil
	}
	base, err := describe(h.Reader(), k.releases.Store())
	if err != nil {
		return nil, err
	}
	j := &job{release: id, base: base, counted: make(chan struct{})}
	// The walk holds the release by itself: another one may take its place meanwhile, which ends it.
	if own := k.releases.Acquire(); own == h {
		k.last = j
		go k.count(j, own)
	} else {
		own.Release()
		j.left = true
		close(j.counted)
	}
	return j, nil
}

// count walks through the release of j. A walk that ends early is forgotten, so that the next request for the
// release starts another.
func (k *Keeper) count(j *job, h *releases.Held) {
	defer h.Release()
	defer close(j.counted)
	err := release.Guard(func() error {
		c, err := walk(h.Served(), h.Reader(), k.pacer())
		if err == nil {
			j.counts = c
		}
		return err
	})
	if err == nil {
		return
	}
	k.mu.Lock()
	if k.last == j {
		k.last = nil
	}
	k.mu.Unlock()
	if j.left = h.Served().Err() != nil; !j.left {
		k.log.Error("count the fragments of a release", "release", j.release, "error", err)
	}
}

// list returns the releases of the store, the oldest first. Folders that are no release are left out.
func (k *Keeper) list() ([]Release, error) {
	store := k.releases.Store()
	folders, err := os.ReadDir(store.Dir)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	there := map[string]Release{}
	for _, f := range folders {
		id := f.Name()
		if !release.ValidID(id) {
			continue
		}
		row, known := k.rows[id]
		if !known {
			m, err := release.ReadManifest(store.Path(id))
			if err != nil {
				continue // it is being removed, or no release
			}
			r, err := readReport(store, id)
			if err != nil {
				return nil, err
			}
			row = Release{Release: id, Built: timeOf(r.BuiltAt), StoredBytes: m.Counts.StoredBytes}
			for _, n := range m.Counts.Resources {
				row.Resources += n
			}
		}
		there[id] = row
	}
	k.rows = there
	out := make([]Release, 0, len(there))
	for _, row := range there {
		out = append(out, row)
	}
	slices.SortFunc(out, older)
	return out, nil
}

// older orders releases by the time of their build, those without one first.
func older(a, b Release) int {
	return cmp.Or(cmp.Compare(a.Built, b.Built), cmp.Compare(a.Release, b.Release))
}
