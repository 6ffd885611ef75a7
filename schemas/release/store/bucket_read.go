package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/release"
)

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
