package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// List implements Store. The Err of a release with a missing file names the object.
func (s Bucket) List(ctx context.Context) ([]Info, error) {
	v, err := s.view(ctx)
	if err != nil {
		return nil, fmt.Errorf("list releases: %w", err)
	}
	return v.infos, nil
}

// A view is the state of a store at some moment.
type view struct {
	store    Bucket
	infos    []Info // result of List
	releases []*listed
	reports  map[string]object.Info // by id
}

// A listed release has a manifest object.
type listed struct {
	id       string
	manifest object.Info
	report   object.Info // zero if absent

	data    []byte            // bytes of the manifest
	m       *release.Manifest // nil if invalid; see err
	err     error
	builtAt time.Time
	forced  bool // published despite the gate
}

// release returns the release with an ID, or nil.
func (v *view) release(id string) *listed {
	i := slices.IndexFunc(v.releases, func(r *listed) bool { return r.id == id })
	if i < 0 {
		return nil
	}
	return v.releases[i]
}

// view reads pointers, manifests and reports, and lists the files.
func (s Bucket) view(ctx context.Context) (*view, error) {
	current, err := s.pointer(ctx, currentName)
	if err != nil && !errors.Is(err, ErrNoRelease) {
		return nil, err
	}
	canary, err := s.pointer(ctx, canaryName)
	if err != nil && !errors.Is(err, ErrNoRelease) {
		return nil, err
	}
	rolledBack, err := RolledBack(ctx, s)
	if err != nil && !errors.Is(err, release.ErrCorrupt) { // a corrupt list marks none
		return nil, err
	}
	v := &view{store: s}
	if v.releases, v.reports, err = s.listReleases(ctx); err != nil {
		return nil, err
	}
	g, inGroup := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for _, r := range v.releases {
		g.Go(func() error { return v.describe(inGroup, r) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	files, err := s.files(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range v.releases {
		err := r.err
		if err == nil {
			err = s.complete(ctx, r.m, files)
		}
		info := Info{ID: r.id, Built: r.builtAt, Err: err}
		switch {
		case err == nil:
			info = Describe(r.m, r.builtAt)
			info.Forced = r.forced
		case r.err == nil && !errors.Is(err, errIncomplete):
			return nil, err
		}
		v.infos = append(v.infos, info)
	}
	if id := current.first(); id != "" && v.release(id) == nil {
		_, _, err := s.manifest(ctx, id)
		if err == nil {
			return nil, fmt.Errorf("release %s exists, but was not listed: try again", id)
		}
		v.infos = append(v.infos, Info{ID: id, Err: err})
	}
	arrange(v.infos, current.ids, canary.first(), rolledBack)
	return v, nil
}

// listReleases lists the manifests, sorted by ID, and the reports.
func (s Bucket) listReleases(ctx context.Context) (releases []*listed, reports map[string]object.Info, err error) {
	all, err := s.Folder.List(ctx, "r", object.MaxListed) // all release IDs start with it
	if err != nil {
		return nil, nil, err
	}
	reports = map[string]object.Info{}
	for _, o := range all {
		if id, ok := strings.CutSuffix(o.Key, manifestName); ok && release.ValidID(id) {
			releases = append(releases, &listed{id: id, manifest: o})
		}
		if id, ok := strings.CutSuffix(o.Key, reportName); ok && release.ValidID(id) {
			reports[id] = o
		}
	}
	for _, r := range releases {
		r.report = reports[r.id]
	}
	return releases, reports, nil
}

// describe reads the manifest and the report of a release.
func (v *view) describe(ctx context.Context, r *listed) error {
	r.data, r.m, r.err = v.store.manifest(ctx, r.id)
	if r.err != nil && !errors.Is(r.err, release.ErrCorrupt) && !errors.Is(r.err, release.ErrVersion) {
		return r.err
	}
	r.builtAt = r.manifest.ModTime
	if r.report.Key == "" {
		return nil
	}
	data, _, err := readObject(ctx, v.store.Folder, r.report.Key, maxReportBytes, nil)
	if err != nil {
		return err
	}
	report := readReport(data)
	r.forced = report.Forced != nil
	if !report.BuiltAt.IsZero() {
		r.builtAt = report.BuiltAt
	}
	return nil
}
