package work

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/partial"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// A Cache has files of buckets as far as this process has read them. All who open a file share it, until
// the Cache is closed. It is safe for concurrent use.
type Cache struct {
	ctx context.Context
	dir string

	mu    sync.Mutex
	files map[string]*partial.File // by URL and version
}

// granule is how many bytes are read at least: blocks of a directory lie behind one another, but those that
// differ may lie anywhere.
const granule = 64 << 10

// NewCache returns a Cache in a folder, which is made if need be. ctx covers all reads.
func NewCache(ctx context.Context, dir string) *Cache {
	return &Cache{ctx: ctx, dir: dir, files: map[string]*partial.File{}}
}

// Open opens a version of a file; one without an ETag is any of its size.
func (c *Cache) Open(from object.Folder, o object.Info) (*partial.File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := from.URL(o.Key) + " " + o.ETag
	if f := c.files[key]; f != nil {
		return f, nil
	}
	f, err := partial.Open(c.ctx, partial.Options{Folder: from, Info: o, Path: filepath.Join(c.dir, fmt.Sprint(len(c.files))), Granule: granule})
	if err == nil {
		c.files[key] = f
	}
	return f, err
}

// Blob opens a file for a Reader of a release.
func (c *Cache) Blob(from object.Folder, o object.Info) (release.Blob, error) {
	f, err := c.Open(from, o)
	if err != nil {
		return release.Blob{}, err
	}
	// The file stays open for others.
	return release.Blob{Handle: f.Handle(), Fill: f.Fill, Refill: f.Refetch, Close: func() error { return nil }}, nil
}

// Fetched returns the number of bytes that were read from buckets.
func (c *Cache) Fetched() (n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.files {
		n += f.Fetched()
	}
	return n
}

// Close closes the files and removes them.
func (c *Cache) Close() (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.files {
		err = errors.Join(err, f.Close())
	}
	clear(c.files)
	return err
}
