package neighbours

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// TestTitleCodec: a title comes back as it was, and what is cut is no title.
func TestTitleCodec(t *testing.T) {
	ids := rapid.SliceOf(rapid.Int64())
	rapid.Check(t, func(t *rapid.T) {
		want := Title{
			ID: rapid.Int64().Draw(t, "id"), Genres: ids.Draw(t, "genres"), Keywords: ids.Draw(t, "keywords"),
			People: ids.Draw(t, "people"), Collection: rapid.Int64().Draw(t, "collection"), Votes: rapid.Int64().Draw(t, "votes"),
			Popularity: rapid.Float64().Draw(t, "popularity"), Adult: rapid.Bool().Draw(t, "adult"),
		}
		b := want.Append(nil)
		got := Title{People: []int64{7}}
		if !got.Parse(b) {
			t.Fatalf("%x is no title", b)
		}
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateNaNs()); d != "" {
			t.Fatalf("-want +got:\n%s", d)
		}
		if got.Parse(b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")]) {
			t.Fatal("what is cut is a title")
		}
	})
}
