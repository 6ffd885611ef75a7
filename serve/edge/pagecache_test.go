package edge

import (
	"fmt"
	"testing"
)

func TestPageCache(t *testing.T) {
	c := newPageCache(10_000)
	tag := func(i int) []byte { return fmt.Appendf(nil, "tag %d", i) }
	body := make([]byte, 800)
	if c.get(tag(0)) != nil {
		t.Error("an empty cache has a body")
	}
	for i := range 100 {
		c.put(tag(i), body)
		if c.get(tag(0)) == nil { // what is asked for again and again stays
			t.Fatalf("body 0 is gone after %d others", i)
		}
		if n := len(c.young) + len(c.old); n > 10 {
			t.Fatalf("%d bodies of 1000 bytes in 10000", n)
		}
	}
	if c.get(tag(1)) != nil {
		t.Error("a body that nobody asks for stays")
	}
	c.put(tag(7), make([]byte, 9000))
	if got := c.get(tag(7)); len(got) == 9000 {
		t.Error("a body as large as the cache is kept")
	}
	c.put(tag(99), body)
	c.put(tag(99), body)
	sum := 0
	for _, b := range c.young {
		sum += len(b) + entryBytes
	}
	if c.bytes != sum {
		t.Errorf("%d bytes are counted, there are %d", c.bytes, sum)
	}
}
