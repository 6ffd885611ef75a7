//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/edge"
)

// kept is the number of releases that stay open: more than caches and rollbacks reach back.
const kept = 20

// An answer has the compared parts of a response.
type answer struct {
	status int
	etag   string
	body   uint64 // hash
}

// A checker has the responses of inspect to releases, each computed once.
type checker struct {
	folder   string
	mu       sync.Mutex
	releases []*held // the most recent one first
}

// A held release stays open when prune removes its files.
type held struct {
	id      string
	reader  *release.Reader
	answers map[string]answer // by target
}

// release returns a release, or the most recent one if id is empty. c is locked.
func (c *checker) release(id string) (*held, error) {
	for _, h := range c.releases {
		if h.id == id || id == "" {
			return h, nil
		}
	}
	r, err := release.Open(filepath.Join(c.folder, id))
	if err != nil {
		return nil, fmt.Errorf("release %q of a response: %w", id, err)
	}
	c.releases = append([]*held{{id, r, map[string]answer{}}}, c.releases...)
	if len(c.releases) > kept {
		err = c.releases[kept].reader.Close()
		c.releases = c.releases[:kept]
	}
	return c.releases[0], err
}

// inspected reports whether inspect responds as an edge does, which is not so for data of a client.
func inspected(op *api.Operation) bool {
	return !op.Session && op.Answerer < api.AnswerValidKey
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
	in, err := edge.Inspect(h.reader, target)
	a := answer{in.Status, in.ETag, xxh3.Hash(in.Body)}
	if err != nil || in.Status == 401 {
		a = got
	}
	h.answers[target] = a
	return a, nil
}
