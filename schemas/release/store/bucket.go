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

// maxReads limits the reads of an object until two agree.
const maxReads = 6

// readObject returns a small object once two consecutive reads agree, or a single read is sound. Without a checksum, this
// detects a faulty store. The error matches fs.ErrNotExist if the object is absent.
func readObject(ctx context.Context, folder object.Folder, name string, limit int64, isSound func([]byte) bool) ([]byte, object.Info, error) {
	var last []byte
	for range maxReads {
		version, err := folder.Stat(ctx, name)
		if err == nil && version.Size > limit {
			err = fmt.Errorf("%s: %d bytes, at most %d are allowed", folder.URL(name), version.Size, limit)
		}
		var data []byte
		if err == nil {
			data, err = folder.ReadRange(ctx, version, 0, version.Size)
		}
		switch {
		case errors.Is(err, object.ErrChanged):
			continue
		case err != nil:
			return nil, object.Info{}, err
		case isSound != nil && isSound(data), last != nil && bytes.Equal(data, last):
			return data, version, nil
		}
		last = data
	}
	return nil, object.Info{}, fmt.Errorf("%s: %d reads gave different content", folder.URL(name), maxReads)
}

// Manifest implements Store.
func (s Bucket) Manifest(ctx context.Context, id string) (*release.Manifest, error) {
	_, m, err := s.manifest(ctx, id)
	return m, err
}

// manifest returns the manifest and its bytes. It returns the bytes also with errors that match release.ErrCorrupt or
// release.ErrVersion.
func (s Bucket) manifest(ctx context.Context, id string) (data []byte, m *release.Manifest, err error) {
	if !release.ValidID(id) {
		return nil, nil, fmt.Errorf("%q is not a release id", id)
	}
	var parseErr error
	data, _, err = readObject(ctx, s.Folder, id+manifestName, release.MaxManifestBytes, func(data []byte) bool {
		m, parseErr = release.ParseManifest(data)
		return parseErr == nil && m.ID == id
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, fmt.Errorf("release %s is not in %s: %w", id, s, err)
	case err != nil:
		return nil, nil, err
	case parseErr != nil:
		return data, nil, fmt.Errorf("%s: %w", s.Folder.URL(id+manifestName), parseErr)
	case m.ID != id:
		return data, nil, fmt.Errorf("%s: %w: id is %s", s.Folder.URL(id+manifestName), release.ErrCorrupt, m.ID)
	}
	return data, m, nil
}

// fileSizes are the sizes of the files of all releases, by SHA-256.
type fileSizes map[string]int64

// contains reports whether f has the content of a file.
func (f fileSizes) contains(file release.File) bool {
	size, ok := f[file.SHA256]
	return ok && size == file.Size
}

// files lists the files of all releases, in one listing.
func (s Bucket) files(ctx context.Context) (fileSizes, error) {
	all, err := s.Folder.List(ctx, filesPrefix, object.MaxListed)
	if err != nil {
		return nil, err
	}
	sizes := make(fileSizes, len(all))
	for _, o := range all {
		sizes[strings.TrimPrefix(o.Key, filesPrefix)] = o.Size
	}
	return sizes, nil
}
