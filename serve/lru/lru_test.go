package lru

import "testing"

func TestCache(t *testing.T) {
	const most = 10_000
	c := New[*int](most)
	put := func(key byte, v, size int) { c.Put([]byte{key}, &v, size) }
	get := func(key byte) *int { return c.Get([]byte{key}) }
	for i := range 100 {
		put(byte(i), i, 4*i)
	}
	size, kept := 0, 0
	for i := range 100 {
		if v := get(byte(i)); v != nil {
			if *v != i {
				t.Errorf("key %d has the value of %d", i, *v)
			}
			kept++
			size += overhead + 2 + 4*i
		}
	}
	if size+c.free != most || kept < 10 || get(99) == nil || get(0) != nil {
		t.Errorf("%d values are kept, %d bytes of %d", kept, size, most-c.free)
	}
	// The value that was used last stays.
	first := byte(100 - kept)
	get(first)
	put(200, 20, 80)
	if get(first) == nil || get(first+1) != nil {
		t.Error("the wrong one was dropped")
	}
	put(200, 30, 120)
	if v := get(200); v == nil || *v != 30 {
		t.Error("a value is not replaced")
	}
	// One that is too large is not kept, takes the old one of its key away, and no other.
	before := c.used.Len()
	put(200, 40, most)
	if get(200) != nil || c.used.Len() != before-1 || c.free < 0 {
		t.Errorf("after a value that is too large: %d values of %d, %d bytes left", c.used.Len(), before-1, c.free)
	}
	var none *Cache[*int]
	if none.Put([]byte{1}, new(int), 1); none.Get([]byte{1}) != nil {
		t.Error("the nil cache has a value")
	}
}
