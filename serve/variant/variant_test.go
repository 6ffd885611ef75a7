package variant

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/build/segment"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/route"
	"github.com/reelsplice/reelsplice/serve/status"
)

// Variants of the tests.
var (
	de   = fragment.Language("de", "")
	deDE = fragment.Language("de", "DE")
	fr   = fragment.Language("fr", "")
)

// parse routes a request.
func parse(tb testing.TB, uri string) *route.Request {
	tb.Helper()
	path, query, _ := strings.Cut(uri, "?")
	q := new(route.Request)
	if c := route.Parse([]byte(path), []byte(query), q); c != status.OK {
		tb.Fatalf("route.Parse(%s) = %d, want 0", uri, c)
	}
	return q
}

// entry makes a resource with fragments that hold their own addresses as text.
func entry(tb testing.TB, addresses ...fragment.Address) release.Entry {
	tb.Helper()
	must := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	dir := tb.TempDir()
	w, err := releasetest.Create(dir)
	must(err)
	s, err := w.Part(nil)
	must(err)
	z, err := segment.New(1)
	must(err)
	key := fragment.AppendID(nil, fragment.KindMovie, 550)
	spec := release.ResourceSpec{Key: key}
	for _, a := range addresses {
		g, err := z.Segment([]byte(a.String()))
		must(err)
		spec.Fragments = append(spec.Fragments, release.FragmentSpec{
			Address: a, Pieces: []release.PieceSpec{{Op: release.OpSegment, Segment: g}},
		})
	}
	err = s.Add(spec)
	must(err)
	_, err = s.Close()
	must(err)
	m, err := w.Seal(tb.Context())
	must(err)
	r, err := release.Open(store.Folder{Dir: dir}.Path(m.ID))
	must(err)
	tb.Cleanup(func() { must(r.Close()) })
	e, ok := r.Lookup(key)
	if !ok {
		tb.Fatal("the resource is not in its release")
	}
	return e
}

// picked says which fragment of e a Choice has: its address, and the languages that
// its filter keeps.
func picked(tb testing.TB, e release.Entry, c Choice, ok bool) string {
	tb.Helper()
	if !ok {
		return "nothing"
	}
	var p release.Piece
	if pieces := c.Fragment.Pieces(); !pieces.Next(&p) {
		tb.Fatal("the chosen fragment is broken")
	}
	for i := range e.Len() {
		text := e.Address(i).String()
		if p.Segment.Hash != release.HashOf([]byte(text)) {
			continue
		}
		for _, l := range c.Filter.include {
			text += " +" + l.String()
		}
		if c.Filter.requested != fragment.Base {
			text += " +" + c.Filter.requested.String()
		}
		return text
	}
	return "a fragment of another resource"
}

// TestPick: what answers a request, among the fragments that a resource has.
func TestPick(t *testing.T) {
	in := func(s fragment.Sub, variants ...fragment.Variant) (all []fragment.Address) {
		for _, v := range variants {
			all = append(all, fragment.Address{Sub: s, Variant: v})
		}
		return all
	}
	pages := func(s fragment.Sub, v fragment.Variant, numbers ...uint16) (all []fragment.Address) {
		for _, n := range numbers {
			all = append(all, fragment.Address{Sub: s, Page: n, Variant: v})
		}
		return all
	}
	const (
		base, untranslated, none, whole                                  = fragment.Base, fragment.Untranslated, fragment.NoLanguage, fragment.All
		details, credits, images, videos, similar, reviews, movies, tags = fragment.SubDetails, fragment.SubCredits, fragment.SubImages, fragment.SubVideos, fragment.SubSimilar, fragment.SubReviews, fragment.SubMovies, fragment.SubTaggedImages
	)
	resources := map[string]release.Entry{}
	for name, have := range map[string][]fragment.Address{
		"shared":           in(credits, base, de, deDE),
		"shared-base-deDE": in(credits, base, deDE),
		"shared-deDE":      in(credits, deDE),
		"text":             in(details, base, untranslated, deDE, de, fragment.AnyRegion("fr"), fragment.Language("en", "GB")),
		"pages":            slices.Concat(pages(similar, base, 1, 3, 0), pages(similar, deDE, 1, 0), pages(reviews, base, 1, 0), in(reviews, untranslated)),
		"images":           in(images, base, none, de, english, fr),
		"videos":           in(videos, base, whole, de, english, fr),
		"videos-en":        in(videos, base, english),
		"videos-de":        in(videos, whole, de),
		"titles":           slices.Concat(in(fragment.SubAlternativeTitles, base), in(fragment.SubChanges, base)),
		"kinds":            slices.Concat(in(images, base, de, fr), pages(movies, base, 1, 2, 0), pages(tags, base, 1, 0), in(fragment.SubAlternativeTitles, base)),
	} {
		resources[name] = entry(t, have...)
	}
	sharedtest.Cases(t, "testdata/picks.txt", func(input string) string {
		name, uri, _ := strings.Cut(input, " ")
		e, q := resources[name], parse(t, uri)
		if strings.HasPrefix(name, "shared") {
			f, ok := FindShared(e, credits, &q.Params)
			return picked(t, e, Choice{Fragment: f}, ok)
		}
		k, s := q.Kind, q.Sub
		if len(q.Appends) > 0 {
			k, s = q.Appends[0].Kind, q.Appends[0].Sub
		}
		c, ok := Pick(e, k, s, q)
		got := picked(t, e, c, ok)
		if c.Page != 0 {
			got += fmt.Sprintf(", page %d", c.Page)
		}
		if c.Filter.params != nil {
			got += ", filtered"
		}
		if d, _ := PickDefault(e, k, s, q); ok && d.Page != c.Page || !d.Filter.IsZero() {
			got += fmt.Sprintf(", by default page %d, filter %v", d.Page, d.Filter)
		}
		return got
	})
}
