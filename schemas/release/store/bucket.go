package store

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// Names of objects.
const (
	manifestName = "/manifest.json"
	reportName   = "/report.json"
	filesPrefix  = "files/"
)

// parallel is the number of concurrent requests of a method.
const parallel = 16

// ErrLost matches the error of a publisher if another one changed the pointer at the same time.
var ErrLost = errors.New("another publisher was faster")

// A Bucket is a folder of releases in a bucket, shared by goroutines, processes and machines.
type Bucket struct{ Folder object.Folder }

// String returns the store's name for messages.
func (s Bucket) String() string { return s.Folder.String() }

// FileName returns the name of the object with the content of a release's file.
func FileName(f release.File) string { return filesPrefix + f.SHA256 }

// change takes no lock: conditional writes exclude concurrent changes.
func (s Bucket) change(operation string, fn func() error) error {
	if err := fn(); err != nil {
		return fmt.Errorf("%s: %w", operation, err)
	}
	return nil
}

func (s Bucket) pointer(ctx context.Context, name string) (p pointer, err error) {
	var data []byte
	data, p.version, err = readObject(ctx, s.Folder, name, MaxHistoryBytes, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return pointer{}, fmt.Errorf("read %s: %w", s.Folder.URL(name), ErrNoRelease)
	}
	if err != nil {
		return pointer{}, err
	}
	if p.ids, err = ParseHistory(data); err != nil {
		err = fmt.Errorf("read %s: %w", s.Folder.URL(name), err)
	}
	return p, err
}

// setPointer fails with ErrLost if another publisher changed the pointer meanwhile.
func (s Bucket) setPointer(ctx context.Context, name string, old pointer, ids []string) error {
	if name == rolledBackName {
		return s.set(ctx, name, old, ids)
	}
	if old.version.Key == "" {
		if err := s.probe(ctx, ids[0]); err != nil {
			return err
		}
	}
	if err := s.set(ctx, name, old, ids); err != nil {
		return err
	}
	return s.confirm(ctx, name, ids[0], old)
}

func (s Bucket) removePointer(ctx context.Context, name string) error {
	return s.Folder.Delete(ctx, name)
}

// set replaces the version of a pointer that was read with ids.
func (s Bucket) set(ctx context.Context, name string, old pointer, ids []string) error {
	data := encodeHistory(ids)
	var err error
	if old.version.Key == "" {
		err = s.Folder.Create(ctx, name, data)
	} else {
		err = s.Folder.Replace(ctx, old.version, data)
	}
	if err == nil {
		return nil
	}
	if errors.Is(err, object.ErrUnsupported) {
		return fmt.Errorf("%w: two publishers could undo each other's work there", err)
	}
	// A request without a response may have been executed.
	current, readErr := repairable(ctx, s, name)
	switch {
	case readErr != nil:
		return errors.Join(err, readErr)
	case len(current.ids) > 0 && bytes.Equal(encodeHistory(current.ids), data):
		return nil
	case !errors.Is(err, fs.ErrExist) && !errors.Is(err, object.ErrChanged):
		return err
	case len(current.ids) == 0:
		return fmt.Errorf("%w: %s was removed or damaged meanwhile", ErrLost, s.Folder.URL(name))
	}
	return fmt.Errorf("%w: %s names %s now", ErrLost, s.Folder.URL(name), current.ids[0])
}

// probe returns an error that matches object.ErrUnsupported for a store that ignores conditions of writes, before the
// first pointer relies on them. It writes the manifest of a release again, on conditions that must fail: that the
// object is absent, and that it has another version. A store that ignores them writes the same bytes.
func (s Bucket) probe(ctx context.Context, id string) error {
	data, _, err := s.manifest(ctx, id)
	if err != nil {
		return err
	}
	name := id + manifestName
	switch err := s.Folder.Create(ctx, name, data); {
	case err == nil:
		return fmt.Errorf("%s: %w: it ignores If-None-Match: two publishers could undo each other's work there", s, object.ErrUnsupported)
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	other := object.Info{Key: name, ETag: strings.Repeat("0", md5.Size*2)}
	switch err := s.Folder.Replace(ctx, other, data); {
	case err == nil:
		return fmt.Errorf("%s: %w: it ignores If-Match: two publishers could undo each other's work there", s, object.ErrUnsupported)
	case !errors.Is(err, object.ErrChanged):
		return err
	}
	return nil
}

// confirm verifies that the manifest of a release exists after a pointer was set to it. Prune removes a manifest before
// its last read of the pointers, so one of the two detects the conflict.
func (s Bucket) confirm(ctx context.Context, name, id string, old pointer) error {
	_, err := s.Folder.Stat(ctx, id+manifestName)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = fmt.Errorf("release %s was removed meanwhile: %w", id, err)
	current, readErr := s.pointer(ctx, name)
	switch {
	case readErr != nil || current.ids[0] != id:
		return errors.Join(err, readErr)
	case len(old.ids) == 0:
		return errors.Join(err, s.Folder.Delete(ctx, name))
	}
	return errors.Join(err, s.set(ctx, name, current, old.ids))
}

func (s Bucket) check(ctx context.Context, id string) error {
	m, err := s.Manifest(ctx, id)
	if err != nil {
		return err
	}
	files, err := s.files(ctx)
	if err != nil {
		return err
	}
	return s.complete(ctx, m, files)
}

// complete returns an error for a file of a release that was not listed and is still missing in the bucket.
func (s Bucket) complete(ctx context.Context, m *release.Manifest, listed fileSizes) error {
	for _, f := range m.Files() {
		if listed.contains(f) {
			continue
		}
		o, err := s.Folder.Stat(ctx, FileName(f))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%w: %s of release %s is missing: %s", errIncomplete, f.Name, m.ID, s.Folder.URL(FileName(f)))
		case err != nil:
			return err
		case o.Size != f.Size:
			return fmt.Errorf("%w: %s of release %s is %d bytes long, want %d: %s", errIncomplete, f.Name, m.ID, o.Size, f.Size, s.Folder.URL(FileName(f)))
		}
	}
	return nil
}
