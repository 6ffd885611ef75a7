package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
)

// Push uploads changed and new files, and deletes the objects of files removed since Open.
// The order is: rows in quarantine, so that none is lost; what the kinds' files depend on,
// such as overlays; the kinds' files; reports. The next ingest pushes the rest of a killed
// Push.
//
// The mirror must be open for writing. A broken lock, or an object that another changed
// since Open, is an error before the first write.
func (m *Mirror) Push(ctx context.Context) error {
	if m.lock == nil {
		return errors.New("push: the mirror is open for reading")
	}
	changed, gone, err := m.changes()
	if err != nil {
		return err
	}
	if err := m.unmoved(ctx); err != nil {
		return err
	}
	if err := m.bucket.Put(ctx, m.key(writingName), m.lock.json()); err != nil {
		return err
	}
	for _, name := range changed {
		if err := m.upload(ctx, name); err != nil {
			return fmt.Errorf("push catalogue: %w; the same ingest again repairs it", err)
		}
	}
	for _, name := range gone {
		if err := m.bucket.Delete(ctx, m.key(name)); err != nil {
			return err
		}
		if err := m.forget(name); err != nil {
			return err
		}
	}
	m.log.Info("uploaded to the bucket", "objects", len(changed), "removed", len(gone))
	return m.bucket.Delete(ctx, m.key(writingName))
}

// unmoved checks that the lock holds and no other has changed the catalogue.
func (m *Mirror) unmoved(ctx context.Context) error {
	h, err := m.holder(ctx, lockName)
	if err != nil {
		return err
	}
	if h == nil || h.ID != m.lock.ID {
		return fmt.Errorf("%s: the lock was broken: no object is written; run the ingest again", m.loc)
	}
	remote, err := m.remote(ctx)
	if err != nil {
		return err
	}
	if m.moved(remote) {
		return fmt.Errorf("%s: another ingest changed the catalogue: no object is written; run the ingest again", m.loc)
	}
	return nil
}

// changes returns the names of files that differ from their objects, in the order of
// Push, and of files removed since Open.
func (m *Mirror) changes() (changed, gone []string, err error) {
	err = filepath.WalkDir(m.Dir(), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if p == m.Dir() {
			return nil
		}
		if strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(m.Dir(), p)
		if err != nil || d.IsDir() {
			return err
		}
		name := filepath.ToSlash(rel)
		if e, ok := m.state.Files[name]; !ok || !e.clean(p) {
			changed = append(changed, name)
		}
		return nil
	})
	slices.SortFunc(changed, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b))
	})
	for name := range m.state.Files {
		if _, err := os.Stat(m.path(name)); isTop(name) && errors.Is(err, fs.ErrNotExist) {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	return changed, gone, err
}

// rank orders files as Push does, kinds in the order in which ingest publishes them.
func rank(name string) int {
	kinds := catalog.Types()
	kind := slices.IndexFunc(kinds, func(t *catalog.Type) bool { return t.File() == name })
	switch {
	case strings.Contains(name, "/"):
		return 0
	case kind >= 0:
		return 2 + kind
	case path.Ext(name) == ".json" || path.Ext(name) == ".html":
		return 2 + len(kinds)
	}
	return 1
}

// upload sends one file to the bucket, with a checksum for the store to check.
func (m *Mirror) upload(ctx context.Context, name string) error {
	f, err := os.Open(m.path(name))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	o, err := m.bucket.Upload(ctx, m.key(name), f, info.Size())
	if err != nil {
		return err
	}
	if o.Size != info.Size() {
		return fmt.Errorf("%s: %d bytes arrived of %d", m.loc.At(o.Key), o.Size, info.Size())
	}
	return m.remember(name, o.ETag)
}
