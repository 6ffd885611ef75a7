package query

import (
	"container/list"
	"sync"
)

// A cache has the most recently used results by the keys of their queries. It is safe for
// concurrent use. The nil cache is empty.
type cache struct {
	mu    sync.Mutex
	free  int // bytes left
	byKey map[string]*list.Element
	used  list.List // of *cached, last used first
}

type cached struct {
	key  string
	hits *hits
	size int
}

// cachedOverhead is about what a kept result takes beside its key and its hits.
const cachedOverhead = 256

func newCache(bytes int) *cache { return &cache{free: bytes, byKey: map[string]*list.Element{}} }

// get returns the result of a key, nil if there is none. It is shared: read only.
func (c *cache) get(key []byte) *hits {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[string(key)]
	if e == nil {
		return nil
	}
	c.used.MoveToFront(e)
	return e.Value.(*cached).hits
}

// put adds a result, unless it alone is larger than the cache.
func (c *cache) put(key []byte, h *hits) {
	if c == nil {
		return
	}
	size := cachedOverhead + 2*len(key) + 4*cap(h.ranks) + 4*cap(h.days) + 8*cap(h.tables)
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[string(key)]; e != nil { // another goroutine was faster
		c.drop(e)
	}
	for c.free < size && c.used.Len() > 0 {
		c.drop(c.used.Back())
	}
	if c.free < size {
		return
	}
	c.free -= size
	k := string(key)
	c.byKey[k] = c.used.PushFront(&cached{key: k, hits: h, size: size})
}

func (c *cache) drop(e *list.Element) {
	old := c.used.Remove(e).(*cached)
	delete(c.byKey, old.key)
	c.free += old.size
}
