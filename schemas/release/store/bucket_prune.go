package store

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/reelsplice/reelsplice/schemas/object"
)

// DefaultGrace is the age above which Prune removes objects that no manifest names.
const DefaultGrace = 24 * time.Hour

var (
	sha256Text  = regexp.MustCompile(`[0-9a-f]{64}`)
	contentName = regexp.MustCompile(`^(?:files/([0-9a-f]{64})|deltas/([0-9a-f]{64})-[0-9a-f]{64})$`)
)

// Prune implements Store. It removes manifests first, then the objects older than grace that no manifest references,
// because Push uploads the files of a release before its manifest. After a failed or contradictory listing it removes
// nothing more.
func (s Bucket) Prune(ctx context.Context, keep int, grace time.Duration) (removed []string, err error) {
	if keep < 1 {
		return nil, fmt.Errorf("prune releases: keep at least 1, not %d", keep)
	}
	err = s.change("prune releases", func() error {
		v, err := s.view(ctx)
		if err != nil {
			return err
		}
		surplus := surplus(v.infos, keep)
		orphans, err := v.orphans(ctx, surplus, time.Now().Add(-grace))
		if err != nil {
			return err
		}
		if removed, err = v.removeReleases(ctx, surplus); err == nil {
			err = v.unchanged(ctx, removed)
		}
		if err != nil {
			return err
		}
		g, inGroup := errgroup.WithContext(ctx)
		g.SetLimit(parallel)
		for _, name := range orphans {
			g.Go(func() error { return s.Folder.Delete(inGroup, name) })
		}
		return g.Wait()
	})
	return removed, err
}

// orphans lists the objects from before a time that no manifest references once the releases surplus are gone.
func (v *view) orphans(ctx context.Context, surplus []string, before time.Time) (names []string, err error) {
	named := map[string]bool{} // SHA-256 of the files of the other releases
	for _, r := range v.releases {
		switch {
		case slices.Contains(surplus, r.id):
		case r.m == nil: // invalid, or of another version: everything that looks like a SHA-256
			for _, sha := range sha256Text.FindAll(r.data, -1) {
				named[string(sha)] = true
			}
		default:
			for _, f := range r.m.Files() {
				named[f.SHA256] = true
			}
		}
	}
	for id, o := range v.reports {
		if v.release(id) == nil && o.ModTime.Before(before) {
			names = append(names, o.Key)
		}
	}
	for _, prefix := range []string{filesPrefix, DeltasPrefix} {
		all, err := v.store.Folder.List(ctx, prefix, object.MaxListed)
		if err != nil {
			return nil, err
		}
		for _, o := range all {
			match := contentName.FindStringSubmatch(o.Key)
			if match != nil && !named[match[1]+match[2]] && o.ModTime.Before(before) {
				names = append(names, o.Key)
			}
		}
	}
	return names, nil
}

// removeReleases removes the manifests of releases, then their reports. If a pointer refers to a release meanwhile,
// its manifest is restored.
func (v *view) removeReleases(ctx context.Context, ids []string) (removed []string, err error) {
	folder := v.store.Folder
	for _, id := range ids {
		if err := folder.Delete(ctx, id+manifestName); err != nil {
			return removed, err
		}
		removed = append(removed, id)
	}
	for _, name := range []string{currentName, canaryName} {
		p, err := v.store.pointer(ctx, name)
		if err != nil && !errors.Is(err, ErrNoRelease) {
			return removed, err
		}
		id := p.first()
		if !slices.Contains(removed, id) {
			continue
		}
		if err := folder.Put(ctx, id+manifestName, v.release(id).data); err != nil {
			return removed, fmt.Errorf("release %s was published meanwhile: %w", id, err)
		}
		removed = slices.DeleteFunc(removed, func(r string) bool { return r == id })
		return removed, fmt.Errorf("release %s was published meanwhile and stays: try again", id)
	}
	for _, id := range removed {
		if err := folder.Delete(ctx, id+reportName); err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// unchanged returns an error unless the store lists exactly the releases of v without the removed ones. A new one may
// reference files that no release referenced before.
func (v *view) unchanged(ctx context.Context, removed []string) error {
	releases, _, err := v.store.listReleases(ctx)
	if err != nil {
		return err
	}
	want := slices.DeleteFunc(slices.Clone(v.releases), func(r *listed) bool { return slices.Contains(removed, r.id) })
	if slices.EqualFunc(releases, want, func(a, b *listed) bool { return a.id == b.id && a.manifest.Size == b.manifest.Size }) {
		return nil
	}
	return fmt.Errorf("the releases of %s changed meanwhile, files stay: try again", v.store)
}
