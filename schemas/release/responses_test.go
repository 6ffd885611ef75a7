package release

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// TestAnswers: a resource counts once for each sub-request and language, whatever its pages, variants and regions.
func TestAnswers(t *testing.T) {
	german, austrian := fragment.Language("de", ""), fragment.Language("de", "AT")
	details := func(v fragment.Variant) fragment.Address {
		return fragment.Address{Sub: fragment.SubDetails, Variant: v}
	}
	movie := []fragment.Address{
		details(fragment.Base), details(german), details(austrian), details(fragment.AnyRegion("de")), details(fragment.Language("fr", "")), details(fragment.Untranslated),
		{Sub: fragment.SubSimilar},
		{Sub: fragment.SubSimilar, Page: 2},
		{Sub: fragment.SubVideos, Variant: fragment.Language("it", "")},
		{Sub: fragment.SubRow},
	}
	c := ResponseCounter{}
	for _, r := range []struct {
		kind      fragment.Kind
		addresses []fragment.Address
	}{
		{fragment.KindMovie, movie},
		{fragment.KindMovie, movie[:2]},
		{fragment.KindSeason, movie[:3]},
		{fragment.KindDefault, movie},
		{fragment.KindTV, nil},
	} {
		b := new(block)
		for _, a := range r.addresses {
			b.row(a, 0)
		}
		c.addRows(r.kind, b.rows)
	}
	want := ResponseCounts{
		SubRequests: map[string]int64{"movie/details": 2, "movie/similar": 1, "movie/videos": 1, "season/details": 1},
		Languages:   map[string]int64{"de": 3, "fr": 1},
	}
	if got := c.Counts(); !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}
