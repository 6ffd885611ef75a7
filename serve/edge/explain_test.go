package edge

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// explained asks for the pieces of a target.
func explained(tb servetest.Tester, w *world, target string) Inspection {
	tb.Helper()
	a := w.get(tb, "/page/explain?path="+url.QueryEscape(target))
	var in Inspection
	if a.Status != 200 || a.Cache != privateStore || a.Policy == "" || len(a.Keys)+len(a.ETag) > 0 {
		tb.Fatalf("explain %s = %d, Cache-Control %q, policy %q, keys %q, tag %q: %s", target, a.Status, a.Cache, a.Policy, a.Keys, a.ETag, a.plain)
	}
	if err := json.Unmarshal([]byte(a.plain), &in); err != nil {
		tb.Fatalf("explain %s: %v", target, err)
	}
	return in
}

// TestExplain: the pieces are those of the response to the same target.
func TestExplain(t *testing.T) {
	w := sampleWorld(t, nil)
	for _, target := range []string{
		"/3/movie/550", "/3/movie/550?language=de&append_to_response=credits,similar,videos,images", "/3/movie/550/images?include_image_language=de,null",
		"/3/tv/1399?append_to_response=season/1,aggregate_credits", "/3/movie/popular", "/3/configuration", "/3/person/819/movie_credits?language=de",
		"/3/movie?ids=550,807&append_to_response=credits", "/3/find/tt0137523?external_source=imdb_id", "/3/search/multi?query=fight",
	} {
		a, in := w.get(t, target), explained(t, w, target)
		if in.Status != a.Status || in.ETag != string(a.ETag) || in.RawBytes != len(a.plain) || in.GzipBytes != len(a.sent) || in.Path != target {
			t.Errorf("%s: explained as %d, %s, %d bytes, %d in gzip; served as %d, %s, %d, %d", target, in.Status, in.ETag, in.RawBytes, in.GzipBytes, a.Status, a.ETag, len(a.plain), len(a.sent))
		}
		stored, at := 20, int64(0)
		for i, p := range in.Pieces {
			if p.Number != i+1 || p.Offset != at || p.Kind == "segment" && (p.File == "" || p.Resource == "" || p.Sub == "") {
				t.Errorf("%s: piece %d = %+v, want one at %d with its place", target, i+1, p, at)
			}
			if p.Kind == "literal" && !strings.HasPrefix(a.plain[at:], p.Text) {
				t.Errorf("%s: piece %d has the text %.60q, the response %.60q", target, i+1, p.Text, a.plain[at:])
			}
			stored, at = stored+p.Stored, at+int64(p.Raw)
		}
		if at != int64(len(a.plain)) || in.Class == "stored" && stored != len(a.sent) {
			t.Errorf("%s: pieces have %d bytes, %d in gzip, want %d and %d", target, at, stored, len(a.plain), len(a.sent))
		}
	}
	pieces := explained(t, w, "/3/movie/550?language=de&append_to_response=credits,similar").Pieces
	for _, want := range []string{"details: movie/550 de", "credits: movie/550", "similar: movie/807 row de"} {
		if !slices.ContainsFunc(pieces, func(p Piece) bool { return p.String() == want }) {
			t.Errorf("no piece is of %q, but of %v", want, pieces)
		}
	}
	pieces = explained(t, w, "/3/movie?ids=550,807&append_to_response=casts").Pieces
	if want := "casts: movie/550 credits"; !slices.ContainsFunc(pieces, func(p Piece) bool { return p.String() == want }) {
		t.Errorf("no piece of the batch is of %q, but of %v", want, pieces)
	}
}

// TestExplainRefuses: targets that are refused are explained as such; what is refused itself is in testdata/sample.txt.
func TestExplainRefuses(t *testing.T) {
	w := sampleWorld(t, nil)
	rq := w.request("/page/explain?path=/3/movie/550")
	rq.Authorization = nil
	if a := w.do(t, rq); a.Status != 401 || a.plain != servetest.Body401 {
		t.Errorf("without a token: %d %s", a.Status, a.plain)
	}
	for target, status := range map[string]int{
		"/3/movie/0": 404, "/3/../page/explain": 404, "/3/account": 401, "/3/movie/popular?page=501": 400, "/3/movie/popular?page=3": 200, "/3/movie/%zz": 400,
	} {
		if in := explained(t, w, target); in.Status != status || in.Status != 200 && len(in.Pieces) > 0 {
			t.Errorf("%s is explained as %d with %d pieces, want %d", target, in.Status, len(in.Pieces), status)
		}
	}
}

// TestExplainMemory: what explaining takes counts as any response.
func TestExplainMemory(t *testing.T) {
	w := sampleWorld(t, func(o *Options) { o.MaxInflight = 64 << 10 })
	if a := w.get(t, "/page/explain?path=/3/tv/1399%3Fappend_to_response=season/1,season/2,credits,images"); a.Status != 503 {
		t.Errorf("explained %d bytes = %d, want 503", len(a.plain), a.Status)
	}
	if a := w.get(t, "/page/explain?path=/3/genre/movie/list"); a.Status != 200 {
		t.Errorf("explained the genres = %d, want 200", a.Status)
	}
	if held, refused := w.edge.Inflight(); held != 0 || refused == 0 {
		t.Errorf("%d bytes are held, %d responses were refused, want 0 and some", held, refused)
	}
}

// TestInspectionBytes: the memory that counts has room for the body, the pieces and two copies of their JSON.
func TestInspectionBytes(t *testing.T) {
	w := sampleWorld(t, nil)
	held := w.edge.Releases.Acquire()
	defer held.Release()
	for _, target := range []string{
		"/3/movie/550?language=de&append_to_response=credits,similar,videos,images", "/3/movie/popular", "/3/person/819/movie_credits?language=de",
	} {
		x := new(exchange)
		x.engine = held.Engine
		in, err := inspect(x, w.edge, held.Reader, target)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(&in)
		if err != nil {
			t.Fatal(err)
		}
		own := exchangeBytes + x.bytes() // what any response counts
		if counted, want := x.leased-own, in.RawBytes+len(in.Pieces)*int(unsafe.Sizeof(Piece{}))+2*len(text); counted < want {
			t.Errorf("%s: %d bytes are counted, want at least %d", target, counted, want)
		}
		_ = x.lease(0)
	}
}

func TestResourceNames(t *testing.T) {
	for want, key := range map[string][]byte{
		"movie/550":                  fragment.AppendID(nil, fragment.KindMovie, 550),
		"tv/1399/season/0":           fragment.AppendSeason(nil, 1399, 0),
		"tv/1399/season/1/episode/2": fragment.AppendEpisode(nil, 1399, 1, 2),
		"review/abc":                 fragment.AppendText(nil, fragment.KindReview, "abc"),
		"find/imdb_id/tt1":           fragment.AppendFind(nil, fragment.SourceIMDb, "tt1"),
		"default/movie":              fragment.AppendShared(nil, fragment.KindDefault, fragment.KindMovie, ""),
		"genres/tv/18,35":            fragment.AppendShared(nil, fragment.KindGenres, fragment.KindTV, "18,35"),
		"alias":                      {byte(fragment.KindAlias)},
		"":                           nil,
	} {
		if got := resourceName(key); got != want {
			t.Errorf("resourceName(%x) = %q, want %q", key, got, want)
		}
	}
	for want, v := range map[string]fragment.Variant{
		"": fragment.Base, "de": fragment.Language("de", ""), "de-AT": fragment.Language("de", "AT"), "null": fragment.NoLanguage, "fr": fragment.AnyRegion("fr"),
	} {
		if got := languageName(v); got != want {
			t.Errorf("languageName(%s) = %q, want %q", v, got, want)
		}
	}
}

// FuzzExplain: any query gets a response that is JSON, and the pieces of a response are all of it.
func FuzzExplain(f *testing.F) {
	for _, query := range []string{
		"path=/3/movie/550", "path=%2F3%2Fmovie%2F550%3Fappend_to_response%3Dcredits%2Cimages&path=", "path=/3/movie/550/images%3Fimage_language=de",
		"path=/3/person/819/movie_credits", "path=/page/explain%3Fpath=/3/movie/550", "path=/3/search/movie%3Fquery=%00", "%zz=&path", "path=/3/movie/popular%3Fpage=2",
	} {
		f.Add([]byte(query))
	}
	w := sampleWorld(f, nil)
	f.Fuzz(func(t *testing.T, query []byte) {
		rq := w.request("/page/explain")
		rq.Query = query
		a := w.do(t, rq)
		var in Inspection
		if err := json.Unmarshal([]byte(a.plain), &in); err != nil {
			t.Fatalf("%q = %d %.200q: %v", query, a.Status, a.plain, err)
		}
		raw := 0
		for _, p := range in.Pieces {
			raw += p.Raw
		}
		if a.Status == 200 && in.Status == 200 && raw != in.RawBytes || a.Status == 500 {
			t.Fatalf("%q = %d: pieces have %d bytes of %d", query, a.Status, raw, in.RawBytes)
		}
	})
}
