//go:build !race

package splice

import "testing"

func TestAllocs(t *testing.T) {
	var parts [6]preparedPart
	prepare(t, parts[:])
	var a Answer
	var dst []byte
	f := func(name string, fn func()) {
		t.Helper()
		fn() // grows the buffers
		if n := testing.AllocsPerRun(1000, fn); n != 0 {
			t.Errorf("%s allocates %v times, want 0", name, n)
		}
	}
	f("AppendGzip", func() {
		compose(&a, parts[:])
		dst = a.AppendGzip(dst[:0])
	})
	f("AppendETag", func() {
		compose(&a, parts[:])
		dst = a.AppendETag(dst[:0])
	})
	f("AppendIdentity", func() {
		compose(&a, parts[:])
		dst, _ = a.AppendIdentity(dst[:0])
	})
}
