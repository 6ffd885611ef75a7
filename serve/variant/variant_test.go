package variant

import (
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/build/segment"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/serve/route"
	"github.com/reelsplice/reelsplice/serve/status"
)

// Variants of the tests.
var (
	de   = fragment.Language("de", "")
	deDE = fragment.Language("de", "DE")
	fr   = fragment.Language("fr", "")
)

// parse routes a request for a movie: parse("/images?language=de").
func parse(tb testing.TB, uri string) *route.Request {
	tb.Helper()
	return parsePath(tb, "/3/movie/550"+uri)
}

// parsePath routes a request for anything.
func parsePath(tb testing.TB, uri string) *route.Request {
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
		if c.Filter.own != fragment.Base {
			text += " +" + c.Filter.own.String()
		}
		return text
	}
	return "a fragment of another resource"
}

// TestFindShared: the language with its region wins, then the language, then the base.
func TestFindShared(t *testing.T) {
	const names = fragment.SubCredits
	base, german := fragment.Address{Sub: names}, fragment.Address{Sub: names, Variant: de}
	germany := fragment.Address{Sub: names, Variant: deDE}
	f := func(language, want string, have ...fragment.Address) {
		t.Helper()
		e := entry(t, have...)
		found, ok := FindShared(e, names, &parse(t, "?language="+language).Params)
		if got := picked(t, e, Choice{Fragment: found}, ok); got != want {
			t.Errorf("FindShared(%s) among %v = %s, want %s", language, have, got, want)
		}
	}
	f("", "credits", base, german, germany)
	f("de", "credits de", base, german, germany)
	f("de-DE", "credits deDE", base, german, germany)
	f("de-AT", "credits de", base, german, germany)
	f("de-AT", "credits", base, germany)
	f("zz", "credits", base, german, germany)
	f("de", "nothing", germany)
}

func TestPickText(t *testing.T) {
	details := fragment.SubDetails
	e := entry(t,
		fragment.Address{Sub: details},
		fragment.Address{Sub: details, Variant: fragment.Untranslated},
		fragment.Address{Sub: details, Variant: deDE},
		fragment.Address{Sub: details, Variant: de},
		fragment.Address{Sub: details, Variant: fragment.AnyRegion("fr")},
		fragment.Address{Sub: details, Variant: fragment.Language("en", "GB")},
	)
	f := func(language, want string) {
		t.Helper()
		q := parse(t, "?language="+language)
		c, ok := Pick(e, fragment.KindMovie, details, q)
		if got := picked(t, e, c, ok); got != want {
			t.Errorf("Pick(details, %s) = %s, want %s", language, got, want)
		}
	}
	f("", "details")
	f("en", "details")
	f("en-US", "details")
	f("en-GB", "details enGB")
	f("en-CA", "details")
	f("de", "details de")
	f("de-DE", "details deDE")
	f("de-AT", "details ~") // text of another region does not serve
	f("fr", "details fr~")
	f("fr-CA", "details fr~")
	f("ja-JP", "details ~")
	f("nonsense", "details")

	q := parse(t, "/credits")
	if c, ok := Pick(e, fragment.KindMovie, fragment.SubCredits, q); ok {
		t.Errorf("Pick(credits) = %s, true, want false: nothing is stored", picked(t, e, c, ok))
	}
}

func TestPickPage(t *testing.T) {
	similar, reviews := fragment.SubSimilar, fragment.SubReviews
	e := entry(t,
		fragment.Address{Sub: similar, Page: 1},
		fragment.Address{Sub: similar, Page: 3},
		fragment.Address{Sub: similar},
		fragment.Address{Sub: similar, Page: 1, Variant: deDE},
		fragment.Address{Sub: similar, Variant: deDE},
		fragment.Address{Sub: reviews, Page: 1},
		fragment.Address{Sub: reviews},
		fragment.Address{Sub: reviews, Variant: fragment.Untranslated},
	)
	f := func(s fragment.Sub, query, want string, page uint16) {
		t.Helper()
		c, ok := Pick(e, fragment.KindMovie, s, parse(t, "/"+s.Name()+query))
		if got := picked(t, e, c, ok); got != want || c.Page != page {
			t.Errorf("Pick(%s%s) = %s, page %d, want %s, page %d", s, query, got, c.Page, want, page)
		}
	}
	f(similar, "", "similar page 1", 1)
	f(similar, "?page=1", "similar page 1", 1)
	f(similar, "?page=2", "similar", 2)
	f(similar, "?page=3", "similar page 3", 3)
	f(similar, "?page=500", "similar", 500)
	f(similar, "?language=de-DE", "similar page 1 deDE", 1)
	f(similar, "?language=de-DE&page=3", "similar deDE", 3)
	f(similar, "?language=fr", "similar page 1", 1)
	f(reviews, "", "reviews page 1", 1)
	f(reviews, "?language=en-GB", "reviews page 1", 1)
	f(reviews, "?language=de", "reviews ~", 1)
	f(reviews, "?language=de&page=7", "reviews ~", 7)
}

func TestPickImages(t *testing.T) {
	images := fragment.SubImages
	group := func(v fragment.Variant) fragment.Address { return fragment.Address{Sub: images, Variant: v} }
	e := entry(t, group(fragment.Base), group(fragment.NoLanguage), group(de), group(english), group(fr))
	f := func(query, want string) {
		t.Helper()
		c, ok := Pick(e, fragment.KindMovie, images, parse(t, "/images?"+query))
		if got := picked(t, e, c, ok); got != want {
			t.Errorf("Pick(images?%s) = %s, want %s", query, got, want)
		}
		// Appended, the parameters mean the same.
		c, ok = Pick(e, fragment.KindMovie, images, parse(t, "?append_to_response=images&"+query))
		if got := picked(t, e, c, ok); got != want {
			t.Errorf("Pick(images appended, %s) = %s, want %s", query, got, want)
		}
	}
	f("", "images")
	f("language=de", "images de")
	f("language=de-AT", "images de")
	f("language=en-US&include_image_language=en", "images en")
	f("include_image_language=null", "images -")
	f("include_image_language=fr", "images fr")
	f("language=de&include_image_language=null", "images +- +xx +de")
	f("include_image_language=null,de", "images +- +de +xx")
	f("include_image_language=de-CH,en,en", "images +de +en")
	f("include_image_language=de,ja,zz", "images de")        // without rows they do not count
	f("include_image_language=fr,en,de,null,ja", "images")   // everything there is
	f("language=ja", "nothing")                              // the default answers
	f("language=ja&include_image_language=ko,zh", "nothing") // likewise
	f("include_image_language=,,german", "images")           // names no language
}

func TestPickVideos(t *testing.T) {
	videos := fragment.SubVideos
	group := func(v fragment.Variant) fragment.Address { return fragment.Address{Sub: videos, Variant: v} }
	both := entry(t, group(fragment.Base), group(fragment.All), group(de), group(english), group(fr))
	onlyEnglish := entry(t, group(fragment.Base), group(english))
	onlyGerman := entry(t, group(fragment.All), group(de)) // the base is the default, and not stored
	f := func(e release.Entry, query, want string) {
		t.Helper()
		c, ok := Pick(e, fragment.KindMovie, videos, parse(t, "/videos?"+query))
		if got := picked(t, e, c, ok); got != want {
			t.Errorf("Pick(videos?%s) = %s, want %s", query, got, want)
		}
	}
	f(both, "", "videos en")
	f(both, "language=en-US", "videos en")
	f(both, "language=de", "videos de")
	f(both, "language=ja", "nothing")
	f(both, "include_video_language=fr", "videos fr")
	f(both, "language=de&include_video_language=en", "videos * +en +de")
	f(both, "language=de&include_video_language=en,fr,null", "videos *")
	f(onlyEnglish, "", "videos en")
	f(onlyEnglish, "language=de", "nothing")
	f(onlyEnglish, "language=de&include_video_language=en", "videos en")
	f(onlyGerman, "", "nothing")
	f(onlyGerman, "language=de", "videos de")
	f(onlyGerman, "include_video_language=de,en", "videos de")
}

func TestPickFilters(t *testing.T) {
	e := entry(t, fragment.Address{Sub: fragment.SubAlternativeTitles}, fragment.Address{Sub: fragment.SubChanges})
	f := func(s fragment.Sub, query string, want bool) {
		t.Helper()
		c, ok := Pick(e, fragment.KindMovie, s, parse(t, "/"+s.Name()+"?"+query))
		if !ok || c.Filter.IsZero() == want {
			t.Errorf("Pick(%s?%s) = filter %v, %v, want filter %v", s, query, !c.Filter.IsZero(), ok, want)
		}
	}
	f(fragment.SubAlternativeTitles, "", false)
	f(fragment.SubAlternativeTitles, "country=de", true)
	f(fragment.SubAlternativeTitles, "country=Germany", false)
	f(fragment.SubAlternativeTitles, "language=de&page=3", false)
	f(fragment.SubChanges, "", false)
	f(fragment.SubChanges, "start_date=2024-12-01", true)
	f(fragment.SubChanges, "end_date=2024-12-01", true)
}

// TestPickKinds checks where kinds differ in how they choose rows and pages.
func TestPickKinds(t *testing.T) {
	base := func(s fragment.Sub) fragment.Address { return fragment.Address{Sub: s} }
	page := func(s fragment.Sub, n uint16) fragment.Address { return fragment.Address{Sub: s, Page: n} }
	in := func(s fragment.Sub, v fragment.Variant) fragment.Address { return fragment.Address{Sub: s, Variant: v} }
	const images, movies, tagged = fragment.SubImages, fragment.SubMovies, fragment.SubTaggedImages
	e := entry(t,
		base(images), in(images, de), in(images, fr),
		page(movies, 1), page(movies, 2), base(movies),
		page(tagged, 1), base(tagged),
		base(fragment.SubAlternativeTitles),
	)
	f := func(uri, want string, shown uint16) {
		t.Helper()
		q := parsePath(t, uri)
		k, s := q.Kind, q.Sub
		if list := q.Appends; len(list) > 0 {
			k, s = list[0].Kind, list[0].Sub
		}
		c, ok := Pick(e, k, s, q)
		if got := picked(t, e, c, ok); got != want || c.Page != shown {
			t.Errorf("Pick(%s) = %s, page %d, want %s, page %d", uri, got, c.Page, want, shown)
		}
		if d, ok := PickDefault(e, k, s, q); !ok || d.Page != shown || !d.Filter.IsZero() {
			t.Errorf("PickDefault(%s) = page %d, %v, want page %d", uri, d.Page, ok, shown)
		}
	}
	for _, path := range []string{
		"/3/movie/1", "/3/tv/1", "/3/tv/1/season/1", "/3/collection/1",
	} {
		f(path+"/images?language=de", "images de", 0)
		f(path+"?append_to_response=images&language=de", "images de", 0)
	}
	// A language alone does not choose among the stills of an episode.
	f("/3/tv/1/season/1/episode/1/images?language=de", "images", 0)
	f("/3/tv/1/season/1/episode/1?append_to_response=images&language=de", "images", 0)
	f("/3/tv/1/season/1/episode/1/images?include_image_language=de", "images de", 0)
	f("/3/tv/1?append_to_response=season/1/images&include_image_language=fr", "images fr", 0)
	// what takes no language is whole, whatever the details take
	f("/3/person/1?append_to_response=images&language=de", "images", 0)
	f("/3/company/1/images?language=de", "images", 0)
	f("/3/network/1?append_to_response=images&language=de", "images", 0)
	// the movies of a keyword have pages, those of a company one
	f("/3/keyword/1/movies", "movies page 1", 1)
	f("/3/keyword/1/movies?page=2", "movies page 2", 2)
	f("/3/keyword/1/movies?page=3", "movies", 3)
	f("/3/company/1/movies?page=2", "movies page 1", 1)
	f("/3/company/1?append_to_response=movies&page=3", "movies page 1", 1)
	f("/3/person/1/tagged_images?page=7", "tagged_images page 1", 0)
	// countries are for movies
	f("/3/tv/1/alternative_titles?country=DE", "alternative_titles", 0)
}
