package route

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/serve/status"
)

// FuzzPath checks that parsing into a used and a new Request gives the same, and that what is accepted can
// be written as the path of its operation, which gives the same again.
func FuzzPath(f *testing.F) {
	for _, op := range api.Operations() {
		f.Add([]byte(fill(op.Path, "7")))
	}
	for _, s := range []string{
		"/3/movie/tt0137523", "/3/movie/x%2F..%2F..%2Fmovie%2F550", "/3/find/%2e%2E", "//3/./find/a%25b+c/",
		"/3/movie/%00", "/3/tv/18446744073709551616", "/3/find/..%2f", "/3/find/.a",
		"/3/tv/1399/season/0/episode/4294967295/images", "/3/tv/1399/season/-1", "/3/tv/season/0003624/changes",
		"/3/tv/18446744073709551615/season/4294967296", "/3/review/%35488c29bc3a3686f4a00004a", "/4/list/1/clear",
	} {
		f.Add([]byte(s))
	}
	var q Request
	f.Fuzz(func(t *testing.T, path []byte) {
		var again Request // into which nothing was parsed before
		keep := string(path)
		code := Parse(path, nil, &q)
		if string(path) != keep {
			t.Fatalf("Parse(%q) changed the path to %q", keep, path)
		}
		first := describe(&q)
		if c := Parse(path, nil, &again); c != code || describe(&again) != first {
			t.Fatalf("Parse(%q) again = %d %s, want %d %s", path, c, describe(&again), code, first)
		}
		if code != status.OK {
			if q.Op != api.NoOp || (code == status.MethodNotAllowed) != (q.Allow != "") {
				t.Fatalf("Parse(%q) = %d with %s", path, code, first)
			}
			return
		}
		for _, canonical := range []string{encodePath(&q.target, false), encodePath(&q.target, true)} {
			if len(canonical) > MaxPath {
				continue // escapes can make it longer
			}
			if c := Parse([]byte(canonical), nil, &again); c != status.OK || describe(&again) != first {
				t.Fatalf("Parse(%q), canonical for %q = %d %s, want 0 %s", canonical, path, c, describe(&again), first)
			}
		}
	})
}

// encodePath writes the path that t was parsed from; with escapes in place of all
// bytes of texts, or of those only that need it.
func encodePath(t *target, escapeAll bool) string {
	op := t.Op.Operation()
	out := op.Path
	for _, p := range op.PathParams {
		value := fmt.Sprint(t.ID)
		switch {
		case p.Name == "season_number":
			value = fmt.Sprint(t.Season)
		case p.Name == "episode_number":
			value = fmt.Sprint(t.Episode)
		case t.Name != nil:
			value = escape(t.Name, escapeAll)
		}
		out = strings.Replace(out, "{"+p.Name+"}", value, 1)
	}
	return out
}

func escape(text []byte, all bool) string {
	var b strings.Builder
	for _, ch := range text {
		if all || ch == '%' || ch < ' ' {
			fmt.Fprintf(&b, "%%%02X", ch)
		} else {
			b.WriteByte(ch)
		}
	}
	return b.String()
}

// FuzzQuery does so with queries, and checks the promises of Request on a series, which takes more than any
// other, on changes and on a search.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{
		"append_to_response=credits,videos,images,release_dates,watch/providers&language=de-DE",
		"append_to_response=season/1%2Cseason/01/credits,season/1/episode/2/images,similar,changes&page=500",
		"include_image_language=de,+en,null&include_video_language=xx-YY&append_to_response=images%2Cvideos",
		"start_date=2024-01-01T00:00&end_date=2024-01-15&page=2", "end_date=2023-02-29", "page=501",
		"query=100%&query=%e3%81%82+x&include_adult=true&fuzzy=true&year=1999&primary_release_year=1999&region=de", "api_key=%6B&c%61llback=&country=fr&&=&a",
		"append_to_response=" + strings.Repeat("x,", 21),
	} {
		f.Add([]byte(s))
	}
	var languages []byte
	for a := byte('z'); a >= 'a'; a-- { // each one goes in front
		for b := byte('z'); b >= 'a'; b-- {
			languages = append(languages, a, b, ',')
		}
	}
	f.Add(append([]byte("append_to_response=images&include_image_language="), languages...))
	var q Request
	f.Fuzz(func(t *testing.T, query []byte) {
		for _, path := range []string{"/3/tv/1399", "/3/movie/550", "/3/tv/changes", "/3/search/movie", "/3/find/%61"} {
			var again Request // into which nothing was parsed before
			keep := string(query)
			code := Parse([]byte(path), query, &q)
			if string(query) != keep {
				t.Fatalf("Parse(%q) changed the query to %q", keep, query)
			}
			first := describe(&q)
			c := Parse([]byte(path), query, &again)
			if c != code || describe(&again) != first {
				t.Fatalf("Parse(%s?%q) again = %d %s, want %d %s", path, query, c, describe(&again), code, first)
			}
			if code == status.OK {
				checkPromises(t, &q)
			}
		}
	})
}

func checkPromises(t *testing.T, q *Request) {
	t.Helper()
	if q.Page < 1 || q.Page > maxPage || (q.HasStart && q.HasEnd && q.End-q.Start > maxDays) || q.scratchLen > len(q.scratch) {
		t.Fatalf("page %d, start %v, end %v, used %d", q.Page, q.Start, q.End, q.scratchLen)
	}
	if len(q.Appends) > maxAppends {
		t.Fatalf("%d appends", len(q.Appends))
	}
	seen := map[string]bool{}
	for _, a := range q.Appends {
		if seen[string(a.Property)] || a.Sub == 0 || !strings.HasSuffix(string(a.Property), a.Sub.Name()) {
			t.Fatalf("append %q is %v %v, or twice there", a.Property, a.Kind, a.Sub)
		}
		seen[string(a.Property)] = true
	}
	for _, list := range [][]fragment.Variant{q.ImageLanguages, q.VideoLanguages} {
		if len(list) > maxLanguages || !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
			t.Fatalf("languages %v", list)
		}
	}
}
