package build

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"reelsplice/build/changes"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/schemas/tables"
	"reelsplice/schemas/tables/changelog"
)

// The names of parameters in the manifest.
const (
	paramLevel   = "level"
	paramCatalog = "catalog_version"
	paramDate    = "date" // with a previous release
)

// openPrevious opens the release that the build is made upon, if there is one.
func (b *builder) openPrevious() error {
	if b.Previous == "" {
		return nil
	}
	r, err := release.Open(release.Store{Dir: b.Releases}.Path(b.Previous))
	if err != nil {
		return fmt.Errorf("previous release: %w", err)
	}
	if id := r.Manifest().ID; id != b.Previous {
		return errors.Join(fmt.Errorf("previous release: the id of %q is %s", b.Previous, id), r.Close())
	}
	b.previous = r
	if b.Date.IsZero() {
		b.Date = b.start
		// Clocks may go wrong: what the previous release knows of is over by now.
		if log := changelog.Open(r); log.Builds() > 0 {
			b.Date = time.Unix(max(b.Date.Unix(), log.Time(log.Builds()-1)), 0)
		}
	}
	b.Date = b.Date.UTC().Truncate(time.Second)
	return nil
}

func (b *builder) closePrevious() {
	if b.previous != nil {
		_ = b.previous.Close() // read only
	}
}

// params returns what the bytes of the release follow from, beside the catalogue and the
// previous release.
func (b *builder) params() map[string]string {
	p := map[string]string{paramLevel: fmt.Sprint(b.Level), paramCatalog: catalog.FormatVersion}
	if b.previous != nil {
		p[paramDate] = b.Date.Format(time.RFC3339)
	}
	return p
}

// sinceLast finds out what the build has that the previous release does not have: nothing,
// or the changes that it writes.
func (b *builder) sinceLast(ctx context.Context, w *release.Writer) (err error) {
	if b.previous == nil {
		return nil
	}
	if b.unchanged, err = b.isNewsless(ctx, w); err != nil || b.unchanged {
		return err
	}
	return b.writeChanges(ctx, w)
}

// isNewsless tells whether the build has nothing that the previous release does not have.
// What tables say of the previous release, trends and changes, is no news by itself; what
// was asked for is.
func (b *builder) isNewsless(ctx context.Context, w *release.Writer) (bool, error) {
	was, is := maps.Clone(b.previous.Manifest().Params), b.params()
	delete(was, paramDate)
	delete(is, paramDate)
	if !maps.Equal(was, is) {
		return false, nil
	}
	next, err := w.Preview(ctx)
	if err != nil {
		return false, err
	}
	same := release.Same(next, b.previous, func(table, section string) bool {
		trend := strings.HasPrefix(section, "trend_") || section == tables.Heat.String()
		return table == changelog.Table || trend && b.Access == nil
	})
	if err := next.Close(); err != nil || !same || !b.Full {
		return same, err
	}
	// Who asks for all of it anew may have a release to mend.
	if err := release.CheckAll(ctx, b.Releases, b.previous); err != nil {
		b.Log.Warn("a release is made that says the same as the previous one", "because", err)
		return false, ctx.Err()
	}
	return true, nil
}

// writeChanges writes what differs from the previous release.
func (b *builder) writeChanges(ctx context.Context, w *release.Writer) error {
	next, err := w.Preview(ctx)
	if err != nil {
		return err
	}
	err = release.Guard(func() (err error) {
		b.changed, err = changes.Write(ctx, w, changes.Options{
			Previous: b.previous, Next: next, Date: b.Date, Level: b.Level,
			Jobs: b.workers(), Memory: b.Memory / 4, Dir: b.work,
		})
		return err
	})
	return errors.Join(err, next.Close())
}

// changedByName returns how many resources changed, by kind; nil without a previous
// release.
func changedByName(n map[fragment.Kind]int) map[string]int {
	if n == nil {
		return nil
	}
	out := map[string]int{}
	for k, c := range n {
		out[k.String()] = c
	}
	return out
}
