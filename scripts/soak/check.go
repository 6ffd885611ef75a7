//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/edge"
)

// maxOpen limits the open releases. Caches and rollbacks use fewer.
const maxOpen = 20

// An answer has the compared parts of a response.
type answer struct {
	status int
	etag   string
	body   uint64 // hash
}

// A checker caches inspect's responses by release.
type checker struct {
	folder   string
	mu       sync.Mutex
	releases []*openRelease // the most recent one first
}

// An openRelease stays readable when prune removes its files.
type openRelease struct {
	id      string
	reader  *release.Reader
	answers map[string]answer // by target
}

// release returns a release, or the most recent one if id is empty. The caller holds c.mu.
func (c *checker) release(id string) (*openRelease, error) {
	for _, h := range c.releases {
		if h.id == id || id == "" {
			return h, nil
		}
	}
	r, err := release.Open(filepath.Join(c.folder, id))
	if err != nil {
		return nil, fmt.Errorf("release %q of a response: %w", id, err)
	}
	c.releases = append([]*openRelease{{id, r, map[string]answer{}}}, c.releases...)
	if len(c.releases) > maxOpen {
		err = c.releases[maxOpen].reader.Close()
		c.releases = c.releases[:maxOpen]
	}
	return c.releases[0], err
}

// want returns the response to a target from a release. If inspect refuses the target, such as an account's data, the
// first response, got, is the reference.
func (c *checker) want(id, target string, got answer) (answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, err := c.release(id)
	if err != nil {
		return answer{}, err
	}
	if a, ok := h.answers[target]; ok {
		return a, nil
	}
	response, err := edge.Inspect(h.reader, target)
	a := answer{response.Status, response.ETag, xxh3.Hash(response.Body)}
	if err != nil || response.Status == 401 {
		a = got
	}
	h.answers[target] = a
	return a, nil
}
