package servetest

import (
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/object"
	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
	"github.com/reelsplice/reelsplice/schemas/object/s3"
	"github.com/reelsplice/reelsplice/schemas/release/store"
)

// A Bucket is a bucket of releases in the memory of the test.
type Bucket struct {
	*objecttest.Server
	Folder object.Folder
	prefix string
}

// NewBucket makes an empty bucket.
func NewBucket(tb testing.TB) *Bucket {
	tb.Helper()
	b := &Bucket{Server: objecttest.New(tb), prefix: "releases/"}
	var err error
	if b.Folder, err = s3.OpenFolder(tb.Context(), b.URL("releases")); err != nil {
		tb.Fatal(err)
	}
	return b
}

// Upload uploads a release of a local store, with the deltas from earlier ones.
func (b *Bucket) Upload(tb testing.TB, local store.Folder, id string, earlier ...string) {
	tb.Helper()
	s := store.Bucket{Folder: b.Folder}
	if _, err := s.Push(tb.Context(), local.Path(id), nil); err != nil {
		tb.Fatal(err)
	}
	for _, e := range earlier {
		if _, err := s.PushDeltas(tb.Context(), local, id, e); err != nil {
			tb.Fatal(err)
		}
	}
}

// Point sets a pointer: current or canary.
func (b *Bucket) Point(tb testing.TB, name string, ids ...string) {
	tb.Helper()
	b.Put(tb, b.prefix+name, []byte(strings.Join(ids, "\n")+"\n"))
}
