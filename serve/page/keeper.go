package page

import (
	"cmp"
	"os"
	"slices"
	"sync"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/releases"
)

// A Keeper describes the release that is served, and remembers the others of its store. It is safe for
// concurrent use.
type Keeper struct {
	releases *releases.Releases

	mu   sync.Mutex
	rows map[string]Release // of the store, by id: releases never change
}

// NewKeeper returns the Keeper of the releases that rels serves.
func NewKeeper(rels *releases.Releases) *Keeper {
	return &Keeper{releases: rels, rows: map[string]Release{}}
}

// Summary returns the summary of a release, which the caller holds. The error is that of a file that cannot
// be read, or matches release.ErrCorrupt.
func (k *Keeper) Summary(rel *release.Reader) (s *Summary, err error) {
	err = release.Guard(func() error {
		var err error
		if s, err = describe(rel, k.releases.Store()); err == nil {
			s.Releases, err = k.list()
		}
		return err
	})
	return s, err
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
