package edge

import "sync"

// A pageCache keeps the compressed bodies of pages by their entity tags, independent
// of requests and releases: the same content has the same body. It
// holds two generations of at most half of its bytes each; a hit moves a body into
// the younger one, and the older one goes when that is full. It is safe for concurrent use.
type pageCache struct {
	mu         sync.Mutex
	young, old map[string][]byte
	bytes      int // of young
	half       int
}

func newPageCache(bytes int) *pageCache {
	return &pageCache{young: map[string][]byte{}, half: bytes / 2}
}

// get returns the body of a tag, which must not be changed; nil when it is not there.
func (c *pageCache) get(tag []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if body, ok := c.young[string(tag)]; ok {
		return body
	}
	body, ok := c.old[string(tag)]
	if ok {
		delete(c.old, string(tag))
		c.add(string(tag), body)
	}
	return body
}

// put keeps a body, which belongs to the cache from now on.
func (c *pageCache) put(tag, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(string(tag), body)
}

// entryBytes is about the memory of an entry beside its body.
const entryBytes = 200

func (c *pageCache) add(tag string, body []byte) {
	n := len(body) + entryBytes
	if _, ok := c.young[tag]; ok || n > c.half {
		return
	}
	if c.bytes+n > c.half {
		c.old, c.young, c.bytes = c.young, map[string][]byte{}, 0
	}
	c.bytes += n
	c.young[tag] = body
}
