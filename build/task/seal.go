package task

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/reelsplice/reelsplice/build/work"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/provenance"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/compare"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/changelog"
)

// seal writes the manifest, which lists all other files of the release. It writes none if the previous
// release has the same content.
func seal(ctx context.Context, b *Build, _ int, d *taskRecord) error {
	if b.previous != nil {
		unchanged, err := b.isUnchanged(ctx, d)
		if err != nil {
			return err
		}
		if unchanged {
			d.Unchanged, d.Release = true, b.Plan.Previous
			return nil
		}
	}
	c, err := b.contents("index", "tables", "accounts", "changes")
	if err != nil {
		return err
	}
	m, err := release.WriteManifest(b.Folder.OutDir(work.Release), b.manifestSpec(), c)
	d.Release = m.ID
	return err
}

// contents describes the parts of the release, and the indexes and tables of some stages.
func (b *Build) contents(stages ...string) (c release.Contents, err error) {
	if c.Parts, err = b.parts(); err != nil {
		return c, err
	}
	done, err := b.taskRecords(stages...)
	c.Terms = map[string]int64{}
	for i := range done {
		d := &done[i]
		c.Indexes = append(c.Indexes, d.Indexes...)
		c.Tables = append(c.Tables, d.Tables...)
		if d.Stage == "tables" && d.Count > 0 { // the table of credits has no terms
			c.Terms[tables.Kinds[d.Index].String()] = d.Count
		}
	}
	return c, err
}

// preview opens the parts of the release, and the indexes and tables of some stages.
func (b *Build) preview(stages ...string) (*release.Reader, error) {
	c, err := b.contents(stages...)
	if err != nil {
		return nil, err
	}
	return release.Preview(b.manifestSpec(), c, b.Folder.InDir(work.Release), b.previousDir) // it has the reused packs
}

// manifestSpec returns the free fields of the manifest.
func (b *Build) manifestSpec() release.ManifestSpec {
	o := release.ManifestSpec{Params: b.params(), Parent: b.Plan.Previous, Sources: map[string]int64{}}
	if b.Plan.Version != "" || b.Plan.Dumps != nil {
		o.Provenance = &provenance.Release{Program: b.Plan.Version, Dumps: b.Plan.Dumps}
	}
	for kind, n := range b.Plan.Records {
		o.Sources[kind] = n
	}
	if b.Plan.Removed > 0 {
		o.Sources[fragment.KindRemoved.String()] = int64(b.Plan.Removed)
	}
	for kind, days := range b.Plan.Fetched {
		days.ToSources(o.Sources, kind)
	}
	return o
}

// isUnchanged reports whether the previous release has the same content and data age. It ignores the parts of tables
// that derive from the previous release (trends) and the table of changes.
func (b *Build) isUnchanged(ctx context.Context, d *taskRecord) (_ bool, err error) {
	if !maps.Equal(b.previous.Manifest().Params, b.params()) || !maps.Equal(day.FromSources(b.previous.Manifest().Sources), b.Plan.Fetched) {
		return false, nil
	}
	next, err := b.preview("index", "tables", "accounts")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, next.Close()) }()
	ignored := func(table, section string) bool {
		return table == changelog.Table || strings.HasPrefix(section, "trend_") || section == tables.Heat.String()
	}
	if !compare.Same(next, b.previous, ignored) {
		rewritten, err := b.isRewritten(next.Manifest())
		return rewritten && compare.SameSections(next, b.previous, ignored), err
	}
	if !b.Plan.Full {
		return true, nil
	}
	// A full build may have to repair a damaged release.
	if err := release.CheckAll(ctx, b.Plan.Releases, b.previous); err != nil {
		d.Warning = fmt.Sprintf("the previous release is damaged, so another one with the same content is made: %v", err)
		return false, ctx.Err()
	}
	return true, nil
}

// isRewritten reports whether a release has exactly the resources of the previous one, all reused, so that the build
// only moved segments out of packs with few live bytes. A full build moves them on purpose.
func (b *Build) isRewritten(m *release.Manifest) (bool, error) {
	previous := b.previous.Manifest()
	if b.Plan.Full || !maps.Equal(m.Sources, previous.Sources) || !maps.Equal(m.Counts.Resources, previous.Counts.Resources) || m.Counts.Aliases != previous.Counts.Aliases {
		return false, nil
	}
	rebuilt := int64(0)
	for _, n := range m.Counts.Resources {
		rebuilt += n
	}
	done, err := b.taskRecords(partStages...)
	for i := range done {
		rebuilt -= done[i].Reused
	}
	return rebuilt == 0, err
}

// params returns the build parameters that determine the bytes of the release, besides the catalogue and the previous
// release, by their names in the manifest.
func (b *Build) params() map[string]string {
	params := map[string]string{
		"level": fmt.Sprint(b.Plan.Level), "catalog_version": catalog.FormatVersion, paramEncoder: encoderName(b.Plan.Level),
	}
	if b.Plan.Fallback != "" {
		params[release.ParamFallback] = b.Plan.Fallback
	}
	return params
}

// An Outcome has the counts of a build for its report. Each task adds its share.
type Outcome struct {
	Release       string `json:"release"`         // id of the new release, or of the previous one if nothing has changed
	Unchanged     bool   `json:"unchanged"`       // no release was made
	Derived       int64  `json:"derived"`         // resources without a record in any dump
	SharedIMDbIDs int64  `json:"shared_imdb_ids"` // movies whose IMDb id finds a movie with a lower id instead
	Reused        int64  `json:"kept"`            // reused resources of the previous release
	// Changed has the resources that changed since the previous release, by kind; nil without one.
	Changed map[string]int `json:"changed,omitempty"`
	Created map[string]int `json:"created,omitzero"` // the new ones among Changed
	Deleted map[string]int `json:"deleted,omitzero"` // the removed ones among Changed
	Warning string         `json:"-"`
}

// Outcome returns the outcome of a finished build.
func (b *Build) Outcome() (o Outcome, err error) {
	for _, s := range Stages() {
		done, err := b.taskRecords(s.Name)
		if err != nil {
			return o, err
		}
		for i := range done {
			d := &done[i]
			o.Derived += d.Derived
			o.Reused += d.Reused
			o.SharedIMDbIDs += d.SharedIMDbIDs
			if d.Changed != nil {
				o.Changed, o.Created, o.Deleted = d.Changed, d.Created, d.Deleted
			}
			if d.Release != "" {
				o.Release, o.Unchanged = d.Release, d.Unchanged
			}
			if d.Warning != "" {
				o.Warning = d.Warning
			}
		}
	}
	return o, nil
}
