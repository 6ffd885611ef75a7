// Package lru keeps the most recently used values within a number of bytes.
package lru

import (
	"container/list"
	"sync"
)

// A Cache keeps values by their keys. It is safe for concurrent use. A nil Cache is empty.
type Cache[V any] struct {
	mu    sync.Mutex
	max   int // bytes in all
	free  int // bytes left
	byKey map[string]*list.Element
	used  list.List // elements are *entry[V], last used first
	// Lookups so far.
	hits, misses uint64
}

type entry[V any] struct {
	key   string
	value V
	size  int
}

// overhead is about the memory of a value in addition to its size and its key, in bytes.
const overhead = 256

// New returns a Cache with a limit in bytes.
func New[V any](bytes int) *Cache[V] {
	return &Cache[V]{max: bytes, free: bytes, byKey: map[string]*list.Element{}}
}

// Get returns the value of a key, or the zero value. It is shared: read only.
func (c *Cache[V]) Get(key []byte) (v V) {
	if c == nil {
		return v
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[string(key)]
	if e == nil {
		c.misses++
		return v
	}
	c.hits++
	c.used.MoveToFront(e)
	return e.Value.(*entry[V]).value
}

// Lookups returns how many calls of Get found a value, and how many found none.
func (c *Cache[V]) Lookups() (hits, misses uint64) {
	if c == nil {
		return 0, 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hits, c.misses
}

// Put adds a value of size bytes, unless it alone is larger than the cache.
func (c *Cache[V]) Put(key []byte, v V, size int) {
	if c == nil {
		return
	}
	size += overhead + 2*len(key)
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[string(key)]; e != nil { // another goroutine was faster
		c.drop(e)
	}
	if size > c.max {
		return
	}
	for c.free < size {
		c.drop(c.used.Back())
	}
	c.free -= size
	k := string(key)
	c.byKey[k] = c.used.PushFront(&entry[V]{key: k, value: v, size: size})
}

func (c *Cache[V]) drop(e *list.Element) {
	old := c.used.Remove(e).(*entry[V])
	delete(c.byKey, old.key)
	c.free += old.size
}
