package mirror

import (
	"bytes"
	"context"
	"crypto/md5" // what stores tell of their objects; no secret depends on it
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"reelsplice/schemas/object"
)

// maxReads is how often a catalogue is listed anew that changes while it is brought.
const maxReads = 5

// remote returns the objects at the top of the catalogue by name. Hidden ones are not
// part of it.
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

// pullToWrite brings what is missing, and keeps what an ingest has left that did not
// come to its end as long as it fits.
func (m *Mirror) pullToWrite(ctx context.Context) error {
	remote, err := m.remote(ctx)
	if err != nil {
		return err
	}
	if m.moved(remote) {
		work, err := m.work()
		if err != nil {
			return err
		}
		if len(work) > 0 {
			m.log.Warn("what an ingest of this machine had done is given up: the catalogue was changed by another since")
			if err := m.discard(); err != nil {
				return err
			}
		}
	}
	if err := m.pull(ctx, remote); err != nil {
		return err
	}
	m.before = slices.Sorted(maps.Keys(remote))
	return nil
}

// pullToRead brings the catalogue as it was at one moment.
func (m *Mirror) pullToRead(ctx context.Context) error {
	remote, err := m.settled(ctx)
	for range maxReads {
		if err != nil {
			return err
		}
		if len(remote) == 0 {
			return fmt.Errorf("no catalogue at %s: run ingest first", m.loc)
		}
		work, err := m.work()
		if err != nil {
			return err
		}
		for _, name := range work {
			if err := os.RemoveAll(m.path(name)); err != nil {
				return err
			}
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

// settled returns the objects of a catalogue in which nothing is being replaced.
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
		return nil, fmt.Errorf("%s: being written by %s: try again when it is done; if it does not run any more, the same ingest once more makes the catalogue whole", m.loc, h)
	}
	return remote, nil
}

// moved reports whether the catalogue is another than the one that the files of the
// mirror were last equal to.
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

// work returns the names of what is at the top of the folder and not known to be equal
// to an object: results that were not pushed, and the hidden files of an ingest.
func (m *Mirror) work() ([]string, error) {
	entries, err := os.ReadDir(m.Dir())
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		known, ok := m.state.Files[e.Name()]
		switch {
		case e.IsDir() && !strings.HasPrefix(e.Name(), "."), e.Name() == ".lock":
		case !ok || !known.clean(m.path(e.Name())):
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// discard empties the folder but for its folders, in which are rows in quarantine.
func (m *Mirror) discard() error {
	names, err := m.work()
	if err != nil {
		return err
	}
	for name := range m.state.Files {
		if isTop(name) {
			names = append(names, name)
			delete(m.state.Files, name)
		}
	}
	if err := m.state.save(m.statePath()); err != nil {
		return err
	}
	for _, name := range names {
		if err := os.RemoveAll(m.path(name)); err != nil {
			return err
		}
	}
	return nil
}

// pull brings the objects that the folder has no equal file of, and removes the files
// that were equal to objects that are gone.
func (m *Mirror) pull(ctx context.Context, remote map[string]object.Info) error {
	var count, bytes int64
	for _, name := range slices.Sorted(maps.Keys(remote)) {
		o := remote[name]
		known, ok := m.state.Files[name]
		if _, err := os.Stat(m.path(name)); ok && err == nil && known.ETag == o.ETag {
			continue // equal, or an ingest's result that was made from it
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
		m.log.Info("brought from the bucket", "objects", count, "bytes", bytes)
	}
	return nil
}

// link takes a file from the mirror of the other mode, if that has it. Files of a
// catalogue are only ever replaced, so two folders may share one.
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
	if !e.clean(tmp) || os.Rename(tmp, m.path(name)) != nil {
		_ = os.Remove(tmp) // it is not what it was, or stays in the way of nothing
		return false
	}
	return m.remember(name, o.ETag) == nil
}

// download brings one object, and checks it by its size and, where the store tells one,
// its MD5.
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
		return fmt.Errorf("%s: the content does not have the MD5 that the store tells: want %x, found %x", m.loc.At(o.Key), o.MD5, sum.Sum(nil))
	}
	if err := errors.Join(tmp.Chmod(0o644), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), m.path(name)); err != nil {
		return err
	}
	return m.remember(name, o.ETag)
}
