package mirror

import (
	"bytes"
	"context"
	"crypto/md5" // the checksum that stores have; no secret depends on it
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/durable"
	"github.com/reelsplice/reelsplice/schemas/object"
)

// maxReads bounds the listings of a catalogue that changes during the download.
const maxReads = 5

// remote returns the objects at the top of the catalogue by name, without hidden ones.
func (m *Mirror) remote(ctx context.Context) (map[string]object.Info, error) {
	list, err := m.bucket.List(ctx, m.loc.Key)
	if err != nil {
		return nil, err
	}
	all := map[string]object.Info{}
	for _, o := range list {
		if name := strings.TrimPrefix(o.Key, m.loc.Key); isTop(name) {
			all[name] = o
		}
	}
	return all, nil
}

// isTop reports whether a file lies at the top of the catalogue and is not hidden.
func isTop(name string) bool { return !strings.Contains(name, "/") && !strings.HasPrefix(name, ".") }

// pullToWrite downloads missing files. The work of a killed ingest stays as long as the
// catalogue in the bucket is the one it began with.
func (m *Mirror) pullToWrite(ctx context.Context) error {
	remote, err := m.remote(ctx)
	if err != nil {
		return err
	}
	if m.moved(remote) {
		dropped, err := m.discard()
		if err != nil {
			return err
		}
		if dropped {
			m.log.Warn("the work of a killed ingest is dropped: another ingest changed the catalogue since")
		}
	}
	return m.pull(ctx, remote)
}

// pullToRead downloads one consistent state of the catalogue.
func (m *Mirror) pullToRead(ctx context.Context) error {
	remote, err := m.settled(ctx)
	for range maxReads {
		if err != nil {
			return err
		}
		if len(remote) == 0 {
			return fmt.Errorf("no catalogue at %s: run ingest first", m.loc)
		}
		if _, err := m.discard(); err != nil {
			return err
		}
		pullErr := m.pull(ctx, remote)
		if pullErr != nil && !errors.Is(pullErr, object.ErrChanged) {
			return pullErr
		}
		again, err := m.settled(ctx)
		if err != nil {
			return err
		}
		if pullErr == nil && maps.EqualFunc(remote, again, func(a, b object.Info) bool { return a.ETag == b.ETag }) {
			return nil
		}
		remote = again
	}
	return fmt.Errorf("%s: the catalogue keeps changing while it is read", m.loc)
}

// settled returns the objects of a catalogue that no Push replaces now.
func (m *Mirror) settled(ctx context.Context) (map[string]object.Info, error) {
	remote, err := m.remote(ctx)
	if err != nil {
		return nil, err
	}
	h, err := m.holder(ctx, writingName)
	if err != nil {
		return nil, err
	}
	if h != nil {
		return nil, fmt.Errorf("%s: being written by %s: try again when it is done; if it is dead, the same ingest again repairs the catalogue", m.loc, h)
	}
	return remote, nil
}

// moved reports whether the catalogue changed since the files of the mirror equalled it.
func (m *Mirror) moved(remote map[string]object.Info) bool {
	for name, e := range m.state.Files {
		if isTop(name) && remote[name].ETag != e.ETag {
			return true
		}
	}
	for name := range remote {
		if _, ok := m.state.Files[name]; !ok {
			return true
		}
	}
	return false
}

// discard removes what equals no object at the top of the folder: results before their Push, and the
// hidden files of an ingest. Its folders, with rows in quarantine, stay.
func (m *Mirror) discard() (some bool, err error) {
	entries, err := os.ReadDir(m.Dir())
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		known, ok := m.state.Files[e.Name()]
		switch {
		case e.IsDir() && !strings.HasPrefix(e.Name(), "."), e.Name() == ".lock":
		case !ok || !known.clean(m.path(e.Name())):
			some = true
			if err := os.RemoveAll(m.path(e.Name())); err != nil {
				return some, err
			}
		}
	}
	return some, nil
}

// pull downloads objects without an equal file, and removes the files of deleted objects.
func (m *Mirror) pull(ctx context.Context, remote map[string]object.Info) error {
	var count, bytes int64
	for _, name := range slices.Sorted(maps.Keys(remote)) {
		o := remote[name]
		known, ok := m.state.Files[name]
		if _, err := os.Stat(m.path(name)); ok && err == nil && known.ETag == o.ETag {
			continue // equal, or made from it by an ingest
		}
		if m.link(name, o) {
			continue
		}
		if err := m.download(ctx, name, o); err != nil {
			return err
		}
		count, bytes = count+1, bytes+o.Size
	}
	for name := range m.state.Files {
		if _, ok := remote[name]; ok || !isTop(name) {
			continue
		}
		if err := os.RemoveAll(m.path(name)); err != nil {
			return err
		}
		if err := m.forget(name); err != nil {
			return err
		}
	}
	if count > 0 {
		m.log.Info("downloaded from the bucket", "objects", count, "bytes", bytes)
	}
	return nil
}

// link links a file from the mirror of the other mode if it has the same version. Files of
// a catalogue are replaced and never changed, so two folders may share one.
func (m *Mirror) link(name string, o object.Info) bool {
	other := filepath.Join(filepath.Dir(m.root), modeOf(filepath.Base(m.root) == modeOf(false)))
	s, err := loadState(filepath.Join(other, "state.json"))
	e := s.Files[name]
	from, tmp := filepath.Join(other, "catalog", name), filepath.Join(m.root, "link")
	if err != nil || o.ETag == "" || e.ETag != o.ETag || e.Size != o.Size {
		return false
	}
	_ = os.Remove(tmp) // of a run that was killed
	if os.Link(from, tmp) != nil {
		return false
	}
	if !e.clean(tmp) || durable.Rename(tmp, m.path(name)) != nil {
		_ = os.Remove(tmp) // the file changed; a leftover harms nothing
		return false
	}
	return m.remember(name, o.ETag) == nil
}

// download fetches one object and checks its size and, where the store has one, its MD5.
func (m *Mirror) download(ctx context.Context, name string, o object.Info) error {
	tmp, err := os.CreateTemp(m.root, "download-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone already when all went well
	defer tmp.Close()           // again, where it was left early
	r := m.bucket.NewReader(ctx, o)
	defer func() { _ = r.Close() }() // read side
	sum := md5.New()
	if _, err := io.Copy(io.MultiWriter(tmp, sum), r); err != nil {
		return err
	}
	if o.MD5 != nil && !bytes.Equal(sum.Sum(nil), o.MD5) {
		return fmt.Errorf("%s: the content does not have the MD5 of the store: want %x, found %x", m.loc.At(o.Key), o.MD5, sum.Sum(nil))
	}
	if err := errors.Join(tmp.Chmod(0o644), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := durable.Rename(tmp.Name(), m.path(name)); err != nil {
		return err
	}
	return m.remember(name, o.ETag)
}
