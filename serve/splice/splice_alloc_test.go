//go:build !race

package splice

import (
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/build/segment"
)

// TestAllocs: an answer of six objects is composed and written without an allocation.
func TestAllocs(t *testing.T) {
	z, err := segment.New(segment.DefaultLevel)
	if err != nil {
		t.Fatal(err)
	}
	s, err := z.Segment([]byte(strings.Repeat(`{"adult":false,"gender":2,"known_for_department":"Acting","name":"Name"},`, 300)))
	if err != nil {
		t.Fatal(err)
	}
	var a Answer
	var dst []byte
	f := func(name string, write func()) {
		t.Helper()
		run := func() {
			a.Reset()
			a.Segment(&s)
			for range 5 {
				Literal(&a, `,"credits":{`)
				a.Segment(&s)
			}
			Literal(&a, "}")
			write()
		}
		run() // grows the buffers
		if n := testing.AllocsPerRun(1000, run); n != 0 {
			t.Errorf("%s allocates %v times, want 0", name, n)
		}
	}
	f("AppendGzip", func() { dst = a.AppendGzip(dst[:0]) })
	f("AppendETag", func() { dst = a.AppendETag(dst[:0]) })
	f("AppendIdentity", func() { dst, _ = a.AppendIdentity(dst[:0]) })
}
