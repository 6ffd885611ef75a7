package route

import (
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/serve/status"
)

func TestParsePath(t *testing.T) {
	var q Request
	f := func(path string, want target) {
		t.Helper()
		if want.Allow == "" {
			want.Allow = "GET, HEAD, OPTIONS"
		}
		if c := Parse([]byte(path), nil, &q); c != status.OK {
			t.Errorf("Parse(%q) = %d, want 0", path, c)
			return
		}
		if got, want := describe(q.target), describe(want); got != want {
			t.Errorf("Parse(%q) = %s, want %s", path, got, want)
		}
	}
	movie := target{Op: api.OpMovieDetails, Kind: fragment.KindMovie, Sub: fragment.SubDetails, ID: 550}
	popular := target{Op: api.OpMoviePopularList}
	find := func(id string) target {
		return target{Op: api.OpFindById, Kind: fragment.KindFind, Sub: fragment.SubDetails, Name: []byte(id)}
	}

	// details, with a slash at the end, with leading zeros
	f("/3/movie/550", movie)
	f("/3/movie/550/", movie)
	f("/3/movie/000550", movie)
	// zero is a number like any other, and the longest one fits
	f("/3/movie/0", target{Op: movie.Op, Kind: movie.Kind, Sub: movie.Sub})
	f("/3/movie/18446744073709551615", target{Op: movie.Op, Kind: movie.Kind, Sub: movie.Sub, ID: 1<<64 - 1})
	// a title after it, as the addresses of the web site have it
	f("/3/movie/550-fight-club", movie)
	f("/3/movie/550-fight-club/", movie)
	f("/3/movie/550-", movie)
	f("/3/movie/550-am%C3%A9lie-100%25", movie)
	f("/3/movie/550-x/videos", target{Op: api.OpMovieVideos, Kind: fragment.KindMovie, Sub: fragment.SubVideos, ID: 550})
	f("/3/movie/550-x%2Fvideos", target{Op: api.OpMovieVideos, Kind: fragment.KindMovie, Sub: fragment.SubVideos, ID: 550})
	f("/3/movie/551-x/../550-y", movie)
	f("/3/person/287-brad-pitt", target{Op: api.OpPersonDetails, Kind: fragment.KindPerson, Sub: fragment.SubDetails, ID: 287})
	// an IMDb id in place of the number, also of sub-requests
	f("/3/movie/tt0137523", target{Op: movie.Op, Kind: movie.Kind, Sub: movie.Sub, Name: []byte("tt0137523")})
	f("/3/movie/tt0137523/credits", target{
		Op: api.OpMovieCredits, Kind: fragment.KindMovie, Sub: fragment.SubCredits, Name: []byte("tt0137523"),
	})
	// the lookup of several
	f("/3/movie", target{Op: api.OpBatchMovies, Kind: fragment.KindMovie, Sub: fragment.SubDetails})
	f("/3/tv/", target{Op: api.OpBatchSeries, Kind: fragment.KindTV, Sub: fragment.SubDetails})
	// words win over parameters
	f("/3/movie/latest", target{Op: api.OpMovieLatestId, Kind: fragment.KindMovie, Sub: fragment.SubDetails})
	f("/3/movie/popular", popular)
	f("/3/movie/changes", target{Op: api.OpChangesMovieList})
	// series, seasons, episodes
	f("/3/tv/1399/season/0", target{Op: api.OpTvSeasonDetails, Kind: fragment.KindSeason, Sub: fragment.SubDetails, ID: 1399})
	// texts
	f("/3/review/5488c29bc3a3686f4a00004a", target{
		Op: api.OpReviewDetails, Kind: fragment.KindReview, Sub: fragment.SubDetails, Name: []byte("5488c29bc3a3686f4a00004a"),
	})
	f("/3/find/tt0137523", find("tt0137523"))
	f("/3/find/a%20b%25", find("a b%"))
	f("/3/find/a+b", find("a+b"))
	f("/3/find/.hidden", find(".hidden"))
	// slashes in an external id, encoded or not; the first one goes with the empty segment
	f("/3/find/%2Fm%2F03d34x8", find("m/03d34x8"))
	f("/3/find//m/03d34x8", find("m/03d34x8"))
	f("/3/find/m/03d34x8/", find("m/03d34x8"))
	f("/4/account/4bc8892a017a3c0z92001001/lists", target{Op: api.OpV4AccountLists, Name: []byte("4bc8892a017a3c0z92001001")})

	// "%2F" is a slash before dot segments are resolved
	f("/3/movie/x%2F..%2F..%2Fmovie%2F550", movie)
	f("/3/movie%2f550", movie)
	f("/3/%6d%6F%76ie/%35%35%30", movie)
	f("/3/movie/%2E%2e/movie/550", movie)
	// dot segments, also after the path and at the root
	f("/3/./movie/550", movie)
	f("/3/movie/550/.", movie)
	f("/3/movie/550/credits/..", movie)
	f("/../../3/movie/550", movie)
	f("/3/find/x/../../movie/popular", popular)
	// repeated slashes
	f("//3//movie///550//", movie)
	// tidy text after a dirty path
	f("//3/find/abc", find("abc"))
}

func TestRefusePath(t *testing.T) {
	var q Request
	f := func(path string, want status.Code) {
		t.Helper()
		if got := Parse([]byte(path), []byte("page=0"), &q); got != want {
			t.Errorf("Parse(%q) = %d, want %d", path, got, want)
		}
		if q.Op != api.NoOp || q.Kind != 0 || q.ID != 0 || q.Name != nil {
			t.Errorf("Parse(%q) leaves %s, want nothing", path, describe(q.target))
		}
	}
	// no path at all
	f("", status.NotFound)
	f("/", status.NotFound)
	f("*", status.NotFound)
	f("3/movie/550", status.NotFound)
	f("%2F3/movie/550", status.NotFound)
	// the beginning or the middle of a path
	f("/3", status.NotFound)
	f("/3/collection", status.NotFound)
	f("/3/collection/", status.NotFound)
	f("/3/movie/550/watch", status.NotFound)
	f("/3/tv/1399/season", status.NotFound)
	f("/3/find/", status.NotFound)
	f("/3/find/..", status.NotFound)
	// more than a path
	f("/3/movie/550/credits/1", status.NotFound)
	f("/3/movie/550/watch_providers", status.NotFound)
	// another version, letter case, blanks
	f("/2/movie/550", status.NotFound)
	f("/3/Movie/550", status.NotFound)
	f("/3/movie /550", status.NotFound)
	f("/3/movie/%20550", status.NotFound)
	// numbers that are none
	f("/3/movie/undefined", status.NotFound)
	f("/3/movie/-1", status.NotFound)
	f("/3/movie/+550", status.NotFound)
	f("/3/movie/550.0", status.NotFound)
	f("/3/movie/550x-y", status.NotFound)
	f("/3/tv/1399/season/1-winter", status.NotFound)
	f("/3/movie/５５０", status.NotFound)
	f("/3/movie/18446744073709551616", status.NotFound)
	f("/3/movie/99999999999999999999999", status.NotFound)
	f("/3/tv/1399/season/4294967296", status.NotFound)
	f("/3/tv/1399/season/-1", status.NotFound)
	f("/3/tv/1399/season/1/episode/4294967296", status.NotFound)
	// IMDb ids that are none, and those of kinds that take none
	f("/3/movie/tt", status.NotFound)
	f("/3/movie/TT0137523", status.NotFound)
	f("/3/movie/tt01375x3", status.NotFound)
	f("/3/movie/tt"+strings.Repeat("1", 62), status.NotFound)
	f("/3/tv/tt0944947", status.NotFound)
	f("/3/person/nm0000093", status.NotFound)
	// what a second decoding would show
	f("/3/movie/x%252F..%252F..%252Fmovie%252F550", status.NotFound)
	// letters like any other
	f(`/3/movie\550`, status.NotFound)
	f("/3/movie/550;a=b", status.NotFound)
	f("/3/movie／550", status.NotFound)
	f("/3/movie/550#x", status.NotFound)
	// too long
	f("/3/find/"+strings.Repeat("x", MaxPath), status.NotFound)
	// NUL, wherever it stands, and escapes that are none
	f("/3/movie/550%00", status.InvalidInput)
	f("/3/movie/550-%00", status.InvalidInput)
	f("/3/nothing/%00/here", status.InvalidInput)
	f("/3/find/a\x00b", status.InvalidInput)
	f("/3/movie/\x00", status.InvalidInput)
	f("/3/find/100%", status.InvalidInput)
	f("/3/find/%zz", status.InvalidInput)
	f("/3/find/%4", status.InvalidInput)
}

// TestEveryOperation routes each operation of the table by its method and path, and finds its values.
func TestEveryOperation(t *testing.T) {
	var q Request
	for i, op := range api.Operations() {
		path := fill(op.Path, "7")
		want := status.OK
		if op.Method != get || op.Name == "v4ListClear" { // a GET that changes something
			want = status.MethodNotAllowed
		}
		c := Match([]byte(op.Method), []byte(path), &q)
		if c != want || want == status.OK && (q.Op != api.Op(i) || q.Kind != op.Kind || q.Sub != op.Sub) {
			t.Errorf("Match(%s %s) = %d with %v, want %d with %s", op.Method, path, c, q.Op, want, op.Name)
		}
		q.Op = api.Op(i) // Match leaves out rejected operations
		if back := encodePath(&q.target, false); back != path {
			t.Errorf("Match(%s %s) took the values of %s", op.Method, path, back)
		}
		const allow = "GET, HEAD, OPTIONS"
		if want == status.OK && q.Allow != allow {
			t.Errorf("Match(%s %s): Allow is %q, want %q", op.Method, path, q.Allow, allow)
		}
	}
}

// fill puts a value in the place of each parameter of a path.
func fill(path, value string) string {
	segs := strings.Split(path, "/")
	for i, s := range segs {
		if strings.HasPrefix(s, "{") {
			segs[i] = value
		}
	}
	return strings.Join(segs, "/")
}

func TestMatch(t *testing.T) {
	var q Request
	f := func(method, path string, want status.Code, op api.Op, allow string) {
		t.Helper()
		got := Match([]byte(method), []byte(path), &q)
		if got != want || q.Op != op || q.Allow != allow {
			t.Errorf("Match(%s %s) = %d with %v, Allow %q, want %d with %v, Allow %q",
				method, path, got, q.Op, q.Allow, want, op, allow)
		}
	}
	const read = "GET, HEAD, OPTIONS"
	// reading
	f("GET", "/3/movie/550", status.OK, api.OpMovieDetails, read)
	f("HEAD", "/3/movie/550", status.OK, api.OpMovieDetails, read)
	f("OPTIONS", "/3/movie/550", status.OK, api.OpMovieDetails, read)
	// a GET that writes, and two whose writing leaves nothing after
	f("GET", "/4/list/1/clear", status.MethodNotAllowed, api.NoOp, "OPTIONS")
	f("HEAD", "/4/list/1/clear", status.MethodNotAllowed, api.NoOp, "OPTIONS")
	f("GET", "/3/list/1/clear", status.MethodNotAllowed, api.NoOp, "OPTIONS")
	f("GET", "/3/authentication/session/new", status.MethodNotAllowed, api.NoOp, "OPTIONS")
	f("GET", "/3/authentication/token/new", status.OK, api.OpAuthenticationCreateRequestToken, read)
	f("GET", "/3/authentication/guest_session/new", status.OK, api.OpAuthenticationCreateGuestSession, read)
	// a write that the table has, beside a GET and alone
	f("DELETE", "/3/list/1", status.MethodNotAllowed, api.NoOp, read)
	f("PUT", "/4/list/1", status.MethodNotAllowed, api.NoOp, read)
	f("POST", "/3/movie/550/rating", status.MethodNotAllowed, api.NoOp, "OPTIONS")
	f("DELETE", "/3/movie/550/rating", status.MethodNotAllowed, api.NoOp, "OPTIONS")
	// a method that the table does not have there
	f("POST", "/3/movie/550", status.MethodNotAllowed, api.NoOp, read)
	f("POST", "/3/movie/latest", status.MethodNotAllowed, api.NoOp, read)
	f("get", "/3/movie/550", status.MethodNotAllowed, api.NoOp, read)
	f("", "/3/movie/550", status.MethodNotAllowed, api.NoOp, read)
	// a path without a GET
	f("GET", "/3/movie/550/rating", status.MethodNotAllowed, api.NoOp, "OPTIONS")
	f("HEAD", "/3/list", status.MethodNotAllowed, api.NoOp, "OPTIONS")
	f("OPTIONS", "/3/list", status.OK, api.NoOp, "OPTIONS")
	// an unknown path is not found, whatever the method
	f("POST", "/3/movie/abc/rating", status.NotFound, api.NoOp, "")
	f("BREW", "/3/nothing", status.NotFound, api.NoOp, "")
}

// TestWordsAreNoNumbers guards the walk, which never tries a slot after a word.
func TestWordsAreNoNumbers(t *testing.T) {
	var visit func(n *node, at string)
	visit = func(n *node, at string) {
		for _, e := range n.kids {
			var c capture
			if n.slot != slotNone && c.take(n.slot, []byte(e.word)) {
				t.Errorf("below %q the word %q could be a parameter", at, e.word)
			}
			visit(e.to, at+"/"+e.word)
		}
		if n.param != nil {
			visit(n.param, at+"/{}")
		}
	}
	visit(load().root, "")
	for i := range load().ops {
		if ns := load().ops[i].names; ns != nil {
			visit(ns.root, api.Op(i).String())
		}
	}
}
