package mirror

import (
	"bytes"
	"cmp"
	"context"
	"crypto/md5" // what stores tell of their objects; no secret depends on it
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/object"
)

// Push replaces the objects of files that changed, makes those of new files, and
// removes those of files that were removed since Open. The order is: rows in
// quarantine, so that none is lost; what the kinds' files depend on, such as overlays;
// the kinds' files; reports. If it is ended in between, what is left is pushed after the
// next ingest.
//
// The mirror must have been opened for writing. A lock that another has broken, and
// objects that another has changed since Open, are errors before anything is written.
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
	if err := m.bucket.Put(ctx, m.key(writingName), m.lock.holder.json()); err != nil {
		return err
	}
	for _, name := range changed {
		if err := m.upload(ctx, name); err != nil {
			return fmt.Errorf("push catalogue: %w; the same ingest once more makes it whole", err)
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
	m.log.Info("taken to the bucket", "objects", len(changed), "removed", len(gone))
	return m.bucket.Delete(ctx, m.key(writingName))
}

// unmoved checks that nobody else has touched the catalogue.
func (m *Mirror) unmoved(ctx context.Context) error {
	h, err := m.holder(ctx, lockName)
	if err != nil {
		return err
	}
	if h == nil || h.ID != m.lock.holder.ID {
		return fmt.Errorf("%s: the lock was broken: nothing is written; run the ingest again", m.loc)
	}
	remote, err := m.remote(ctx)
	if err != nil {
		return err
	}
	if m.moved(remote) {
		return fmt.Errorf("%s: the catalogue was changed by another: nothing is written; run the ingest again", m.loc)
	}
	return nil
}

// changes returns the names of files that differ from their objects, in the order of
// Push, and of those that are gone since Open.
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
	for _, name := range m.before {
		if _, err := os.Stat(m.path(name)); errors.Is(err, fs.ErrNotExist) {
			gone = append(gone, name)
		}
	}
	return changed, gone, err
}

// rank orders files as Push has it. The kinds come in the order in which ingest
// publishes them.
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

// upload takes one file to the bucket, and checks what arrived as download does.
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
	if err := m.arrived(f, info.Size(), o); err != nil {
		return err
	}
	return m.remember(name, o.ETag)
}

// arrived compares a file with its object by size and, where the store tells one, MD5.
func (m *Mirror) arrived(f io.ReaderAt, size int64, o object.Info) error {
	if size != o.Size {
		return fmt.Errorf("%s: %d bytes arrived of %d", m.loc.At(o.Key), o.Size, size)
	}
	if o.MD5 == nil {
		return nil
	}
	sum := md5.New()
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, size)); err != nil {
		return err
	}
	if !bytes.Equal(sum.Sum(nil), o.MD5) {
		return fmt.Errorf("%s: what arrived has the MD5 %x, not %x", m.loc.At(o.Key), o.MD5, sum.Sum(nil))
	}
	return nil
}
