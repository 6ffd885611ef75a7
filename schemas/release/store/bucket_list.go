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

	data []byte            // bytes of the manifest
	m    *release.Manifest // nil if invalid; see err
	err  error
	at   time.Time // time of the build

	forced bool // published despite the gate
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
	have, err := s.files(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range v.releases {
		info, err := v.info(ctx, r, have)
		if err != nil {
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
	r.at = r.manifest.ModTime
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
		r.at = report.BuiltAt
	}
	return nil
}

// info describes a release for List.
func (v *view) info(ctx context.Context, r *listed, have fileSizes) (Info, error) {
	err := r.err
	if err == nil {
		err = v.store.complete(ctx, r.m, have)
	}
	switch {
	case err == nil:
		i := Describe(r.m, r.at)
		i.Forced = r.forced
		return i, nil
	case r.err == nil && !errors.Is(err, errIncomplete):
		return Info{}, err
	}
	return Info{ID: r.id, Built: r.at, Err: err}, nil
}
