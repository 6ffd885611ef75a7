package route

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/status"
)

// describe writes what a request has.
func describe(q *Request) string {
	var b strings.Builder
	put := func(name string, given bool, v any) {
		if given {
			fmt.Fprintf(&b, "%s=%v ", name, v)
		}
	}
	put("op", q.Op != api.NoOp, q.Op)
	put("kind", q.Kind != 0, q.Kind)
	put("sub", q.Sub != 0, q.Sub)
	put("id", q.ID != 0, q.ID)
	put("season", q.Season != 0, q.Season)
	put("episode", q.Episode != 0, q.Episode)
	put("name", q.Name != nil, strconv.Quote(string(q.Name)))
	put("allow", q.Allow != "GET, HEAD, OPTIONS", strconv.Quote(q.Allow))
	for _, a := range q.Appends {
		fmt.Fprintf(&b, "+%s(%v %d %d %v) ", a.Property, a.Kind, a.Season, a.Episode, a.Sub)
	}
	put("language", q.HasLanguage, q.Language)
	put("page", q.Page != 1, q.Page)
	put("images", len(q.ImageLanguages) > 0, q.ImageLanguages)
	put("videos", len(q.VideoLanguages) > 0, q.VideoLanguages)
	put("country", q.Country != Country{}, q.Country)
	put("region", q.Region != Country{}, q.Region)
	put("watch", q.WatchRegion != Country{}, q.WatchRegion)
	put("start", q.HasStart, q.Start)
	put("end", q.HasEnd, q.End)
	put("adult", q.IncludeAdult, q.IncludeAdult)
	put("fuzzy", q.Fuzzy, q.Fuzzy)
	put("year", q.Year != 0, q.Year)
	put("primary", q.PrimaryYear != 0, q.PrimaryYear)
	put("first", q.FirstAirYear != 0, q.FirstAirYear)
	put("query", q.Query != nil, strconv.Quote(string(q.Query)))
	put("source", q.ExternalSource != nil, strconv.Quote(string(q.ExternalSource)))
	put("sort", q.SortBy != nil, strconv.Quote(string(q.SortBy)))
	put("timezone", q.Timezone != nil, strconv.Quote(string(q.Timezone)))
	return strings.TrimSpace(b.String())
}

// TestRequests: a path, a method or a query that is refused gives its code.
func TestRequests(t *testing.T) {
	var q Request
	sharedtest.Cases(t, "testdata/requests.txt", func(request string) string {
		method, target, _ := strings.Cut(request, " ")
		path, query, _ := strings.Cut(target, "?")
		if c := Match([]byte(method), []byte(path), &q); c != status.OK {
			return fmt.Sprintf("%d %s", c, describe(&q))
		}
		if c := ParseQuery([]byte(query), &q); c != status.OK {
			return fmt.Sprintf("%d", c)
		}
		return describe(&q)
	})
}

// TestAppendEveryName asks for each name of the table in its namespace.
func TestAppendEveryName(t *testing.T) {
	var q Request
	for _, op := range api.Operations() {
		for _, a := range api.AppendNames(op.Appends) {
			name := fill(strings.Replace(a.Name, "{sub_request}", "credits", 1), "3")
			c := Parse([]byte(fill(op.Path, "7")), []byte("append_to_response="+name), &q)
			if c != status.OK || len(q.Appends) != 1 {
				t.Errorf("%s: append %q = %d with %d objects, want 0 with 1", op.Name, name, c, len(q.Appends))
				continue
			}
			got := q.Appends[0]
			if got.Kind != a.Kind || (a.Sub != 0 && got.Sub != a.Sub) || string(got.Property) != name {
				t.Errorf("%s: append %q = %v %v %q, want %v %v", op.Name, name, got.Kind, got.Sub, got.Property, a.Kind, a.Sub)
			}
		}
	}
}

func TestLookup(t *testing.T) {
	f := func(query, name, want string, found bool) {
		t.Helper()
		got, ok := Lookup([]byte("x"), []byte(query), name)
		if string(got) != "x"+want || ok != found {
			t.Errorf("Lookup(%q, %q) = %q, %v, want %q, %v", query, name, got, ok, "x"+want, found)
		}
	}
	// plain, encoded, by an encoded name
	f("api_key=abc&x=1", "api_key", "abc", true)
	f("x=1&vote_average.gte=7%2E5", "vote_average.gte", "7.5", true)
	f("with%5Fgenres=18%7C28", "with_genres", "18|28", true)
	// the last one counts, even when it is empty
	f("year=1&year=22", "year", "22", true)
	f("year=1&year=", "year", "", true)
	f("year", "year", "", true)
	// another name, longer and shorter
	f("years=1&yea=2", "year", "", false)
	f("", "year", "", false)
}

func TestOmit(t *testing.T) {
	f := func(query, want string, found bool) {
		t.Helper()
		got, ok := Omit([]byte("x?"), []byte(query), "api_key")
		if string(got) != "x?"+want || ok != found {
			t.Errorf("Omit(%q) = %q, %v, want %q, %v", query, got, ok, "x?"+want, found)
		}
	}
	// first, in the middle, last, alone, repeated, encoded, without a value
	f("api_key=k&a=1&b=%32", "a=1&b=%32", true)
	f("a=1&api_key=k&b=2", "a=1&b=2", true)
	f("a=1&b=2?&api_key=k", "a=1&b=2?", true)
	f("api_key=k", "", true)
	f("api_key=k&a=1&api_key=l", "a=1", true)
	f("api%5Fkey=k&a", "a", true)
	f("api_key&a=1", "a=1", true)
	// another name
	f("api_keys=k&a=api_key=", "api_keys=k&a=api_key=", false)
	f("", "", false)
}

func TestEach(t *testing.T) {
	var got []string
	for name, value := range Each([]byte("a=1&&with_genres=18%2C35&b+c=%zz+&=x&alone&vote_average.gte=7")) {
		got = append(got, string(name)+"|"+string(value))
	}
	want := []string{"a|1", "with_genres|18,35", "b c|%zz ", "|x", "alone|", "vote_average.gte|7"}
	if !slices.Equal(got, want) {
		t.Errorf("Each gives %q, want %q", got, want)
	}
	for range Each([]byte("a=1&b=2")) {
		break // it may be left
	}
}
