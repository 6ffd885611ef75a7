package task

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/reelsplice/reelsplice/build/changes"
	"github.com/reelsplice/reelsplice/build/reuse"
	"github.com/reelsplice/reelsplice/schemas/age"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/release"
	releases "github.com/reelsplice/reelsplice/schemas/release/compare"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/changelog"
)

// A compare task finds the resources that differ, in a share of the parts, from those of the
// previous release. The first one also finds out whether there is a difference at all. Without a
// previous release there is no such task.
type compare struct {
	b    *Build
	next *release.Reader
}

func compareTasks(b *Build) (int, error) {
	if b.Plan.Previous == "" {
		return 0, nil
	}
	return b.Plan.Compares, nil
}

func openCompare(b *Build) (_ tasks, err error) {
	if err := changes.CheckDate(b.previous, b.Plan.Date); err != nil {
		return nil, err
	}
	t := &compare{b: b}
	t.next, err = b.preview("index", "tables", "accounts")
	return t, err
}

func (t *compare) close() error { return t.next.Close() }

// differencesName returns the name of the resources that compare task i finds.
func differencesName(i int) string { return fmt.Sprintf("differences-%05d", i) }

// createdCount is the prefix of the names of the counts of new resources, by kind, and
// differCount the name of the count of all that differ.
const (
	createdCount = "created_"
	differCount  = "differ"
)

func (t *compare) run(ctx context.Context, i int, d *Done) error {
	return t.b.sort(ctx, d, differencesName(i), changes.Partitions, func(s *extsort.Sorter) (err error) {
		if i == 0 {
			if d.Unchanged, err = t.isUnchanged(ctx, d); err != nil || d.Unchanged {
				return err
			}
		}
		created, differ, err := changes.Collect(ctx, t.b.previous, t.next, releases.Share{I: i, N: t.b.Plan.Compares}, s)
		if err != nil {
			return err
		}
		d.Counts[differCount] = differ
		for kind, n := range created {
			d.Counts[createdCount+kind.String()] = n
		}
		return nil
	})
}

// isUnchanged reports whether the previous release has all that this one would have, the age of the data
// too. What tables have of the previous release, trends and changes, does not count; access counts do.
func (t *compare) isUnchanged(ctx context.Context, d *Done) (bool, error) {
	if !sameParams(t.b) || !sameAge(t.b) {
		return false, nil
	}
	same := releases.Same(t.next, t.b.previous, isOfPrevious(t.b))
	if !same || !t.b.Plan.Full {
		return same, nil
	}
	// A full build may have a damaged release to mend.
	if err := release.CheckAll(ctx, t.b.Plan.Releases, t.b.previous); err != nil {
		d.Warning = fmt.Sprintf("the previous release is damaged, and another one with the same content is made: %v", err)
		return false, ctx.Err()
	}
	return true, nil
}

// isOfPrevious returns what reports whether a section follows from the previous release.
func isOfPrevious(b *Build) func(table, section string) bool {
	return func(table, section string) bool {
		trend := strings.HasPrefix(section, "trend_") || section == tables.Heat.String()
		return table == changelog.Table || trend && b.Plan.Access == ""
	}
}

// isRewritten reports whether next, of which no resource differs, has only moved segments of the
// previous release out of packs with few live bytes. A full build moves them on purpose.
func isRewritten(b *Build, next *release.Reader) bool {
	return !b.Plan.Full && sameParams(b) && maps.Equal(b.previous.Manifest().Sources, next.Manifest().Sources) &&
		releases.SameSections(next, b.previous, isOfPrevious(b))
}

// sameAge reports whether the records of the previous release were fetched when those of this one were.
func sameAge(b *Build) bool {
	return maps.Equal(age.Of(b.previous.Manifest().Sources), b.Plan.Fetched)
}

// sameParams reports whether the previous release has the same parameters, besides the date.
func sameParams(b *Build) bool {
	was, is := maps.Clone(b.previous.Manifest().Params), b.Params()
	delete(was, paramDate)
	delete(is, paramDate)
	return maps.Equal(was, is)
}

// The names of parameters in the manifest.
const (
	paramLevel   = "level"
	paramCatalog = "catalog_version"
	paramDate    = "date" // with a previous release
)

// Params returns what the bytes of the release follow from, beside the catalogue and the
// previous release.
func (b *Build) Params() map[string]string {
	p := map[string]string{paramLevel: fmt.Sprint(b.Plan.Level), reuse.ParamEncoder: reuse.Encoder(b.Plan.Level), paramCatalog: catalog.FormatVersion}
	if b.Plan.Previous != "" {
		p[paramDate] = b.Plan.Date.Format(time.RFC3339)
	}
	return p
}

// compared returns the records of all compare tasks.
func compared(b *Build) ([]Done, error) {
	done, err := b.Read("compare")
	if err == nil && len(done) == 0 {
		err = errors.New("no compare task of a build upon a release")
	}
	return done, err
}
