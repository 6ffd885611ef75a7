package route

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/serve/status"
)

// describe writes a target for comparison.
func describe(t target) string {
	return fmt.Sprintf("{%v %v/%v id %d season %d episode %d name %q allow %q}",
		t.Op, t.Kind, t.Sub, t.ID, t.Season, t.Episode, t.Name, t.Allow)
}

// describeQuery writes what a query filled in, leaving out what it did not.
func describeQuery(q *Request) string {
	var b strings.Builder
	put := func(name string, given bool, v any) {
		if given {
			fmt.Fprintf(&b, "%s=%v ", name, v)
		}
	}
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
	for _, f := range []struct {
		name  string
		value []byte
	}{
		{"query", q.Query},
		{"source", q.ExternalSource},
		{"sort", q.SortBy},
		{"timezone", q.Timezone},
	} {
		put(f.name, f.value != nil, strconv.Quote(string(f.value)))
	}
	return strings.TrimSpace(b.String())
}

func TestParseQuery(t *testing.T) {
	var q Request
	f := func(path, query, want string) {
		t.Helper()
		if c := Parse([]byte(path), []byte(query), &q); c != status.OK {
			t.Errorf("Parse(%s?%s) = %d, want 0", path, query, c)
			return
		}
		if got := describeQuery(&q); got != want {
			t.Errorf("Parse(%s?%s):\n got %s\nwant %s", path, query, got, want)
		}
	}
	const movie, similar, images, changes = "/3/movie/550", "/3/movie/550/similar", "/3/movie/550/images", "/3/movie/550/changes"

	// nothing, and what means nothing
	f(movie, "", "")
	f(movie, "&&=&x&y=1&=z", "")
	f(movie, "languages=de&Language=de&append_to_response_=credits", "")

	// language: case, bare, encoded, the last one counts
	f(movie, "language=de-DE", "language=deDE")
	f(movie, "language=PT-br", "language=ptBR")
	f(movie, "language=de", "language=de")
	f(movie, "language=d%65%2DDE", "language=deDE")
	f(movie, "l%61nguage=de", "language=de")
	f(movie, "language=de&language=fr-FR", "language=frFR")
	// of a list, the first that is valid
	f(movie, "language=fr-CA,fr-FR,en", "language=frCA")
	f(movie, "language=null,x,,en%2Cfr", "language=en")
	f(movie, "language=de,", "language=de")
	f(movie, "language=x,,", "")
	f(movie, "language=de,fr&language=fr", "language=fr")
	// what is no language is ignored, even as the last of several
	f(movie, "language=", "")
	f(movie, "language", "")
	f(movie, "language=deu", "")
	f(movie, "language=de_DE", "")
	f(movie, "language=de-419", "")
	f(movie, "language=d3", "")
	f(movie, "language=de+", "")
	f(movie, "language=de&language=1", "")
	// an operation that takes none
	f("/3/movie/550/keywords", "language=de", "")

	// page: limits, empty, and where nobody asks for it
	f(similar, "page=1", "")
	f(similar, "page=500", "page=500")
	f(similar, "page=007", "page=7")
	f(similar, "page=%32", "page=2")
	f(similar, "page=", "")
	f(similar, "page=2&page=", "")
	f(similar, "page=0&page=2", "page=2")
	f(movie, "page=501", "")
	f(movie, "page=2&append_to_response=credits", "+credits(movie 0 0 credits)")
	f(movie, "page=2&append_to_response=similar", "+similar(movie 0 0 similar) page=2")

	// languages of images: order, repetition, regions, blanks, null, rubbish
	f(images, "include_image_language=en,null", "images=[- en xx]")
	f(images, "include_image_language=null%2Cen%2Cde", "images=[- de en xx]")
	f(images, "include_image_language=en-US,en,EN-gb,NULL", "images=[- en xx]")
	f(images, "include_image_language=de,+en,%20fr%20", "images=[de en fr]")
	f(images, "include_image_language=,,en,xyz,e1,nul,", "images=[en]")
	f(images, "include_image_language=xx,cn", "images=[cn xx]")
	f(images, "include_image_language=&language=de", "language=de")
	f(movie, "include_image_language=en", "")
	f(movie, "include_image_language=en&append_to_response=images", "+images(movie 0 0 images) images=[en]")
	f("/3/movie/550/videos", "include_video_language=de,null&include_image_language=de", "videos=[- de]")

	// countries
	f("/3/movie/550/alternative_titles", "country=fr", "country=FR")
	f("/3/movie/550/alternative_titles", "country=fra", "")
	f("/3/movie/550/alternative_titles", "country=f1", "")
	f("/3/movie/popular", "region=De&page=3", "page=3 region=DE")
	f("/3/watch/providers/movie", "watch_region=de", "watch=DE")

	// dates: one, both, a time after them, the widest window, end before start
	f(changes, "start_date=2024-02-29", "start=2024-02-29")
	f(changes, "end_date=1969-12-31", "end=1969-12-31")
	f(changes, "start_date=2024-01-01&end_date=2024-01-15", "start=2024-01-01 end=2024-01-15")
	f(changes, "start_date=2024-01-01T23:59:59Z&end_date=2024-01-15+00:00", "start=2024-01-01 end=2024-01-15")
	f(changes, "start_date=2024-05-01&end_date=2024-01-15", "start=2024-05-01 end=2024-01-15")
	f(changes, "start_date=&end_date=", "")
	f("/3/tv/season/1/changes", "start_date=2024-01-01", "start=2024-01-01")
	f(movie, "start_date=rubbish", "")
	f(movie, "append_to_response=changes&start_date=2024-01-01", "+changes(movie 0 0 changes) start=2024-01-01")

	// texts
	f("/3/search/movie", "query=fight+club%21&include_adult=True", `adult=true query="fight club!"`)
	f("/3/search/movie", "query=100%&year=1999&primary_release_year=99", `year=1999 query="100%"`)
	f("/3/search/movie", "query=a%26b%3Dc=d", `query="a&b=c=d"`)
	f("/3/search/movie", "query=%E3%81%82", `query="あ"`)
	f("/3/search/movie", "query=&include_adult=1", `query=""`)
	f("/3/search/multi", "query=x&fuzzy=true", `fuzzy=true query="x"`)
	f("/3/search/multi", "query=x&fuzzy=0", `query="x"`)
	f("/3/search/multi", "query=x&fuzzy=", `query="x"`)
	f("/3/movie/1", "fuzzy=true", ``)
	f("/3/search/movie", "query", `query=""`)
	f("/3/find/tt0137523", "external_source=imdb_id&language=de", `language=de source="imdb_id"`)
	f("/3/discover/movie", "sort_by=revenue.desc&with_genres=18", `sort="revenue.desc"`)
	f("/3/tv/airing_today", "timezone=Europe%2FBerlin", `timezone="Europe/Berlin"`)
}

func TestParseAppends(t *testing.T) {
	var q Request
	f := func(path, names, want string) {
		t.Helper()
		if c := Parse([]byte(path), []byte("append_to_response="+names), &q); c != status.OK {
			t.Errorf("Parse(%s, %q) = %d, want 0", path, names, c)
			return
		}
		if got := describeQuery(&q); got != want {
			t.Errorf("Parse(%s, %q):\n got %s\nwant %s", path, names, got, want)
		}
	}
	const movie, tv, season, episode = "/3/movie/550", "/3/tv/1399", "/3/tv/1399/season/1", "/3/tv/1399/season/1/episode/2"

	// the order of the request
	f(movie, "videos,credits", "+videos(movie 0 0 videos) +credits(movie 0 0 credits)")
	// encoded commas and slashes
	f(movie, "videos%2Ccredits%2cwatch%2Fproviders",
		"+videos(movie 0 0 videos) +credits(movie 0 0 credits) +watch/providers(movie 0 0 watch/providers)")
	// each once, at its first place; empty names do not count
	f(movie, ",videos,,credits,videos,", "+videos(movie 0 0 videos) +credits(movie 0 0 credits)")
	// unknown names, letter case, an underscore for a slash
	f(movie, "nonsense,Credits,watch_providers,watch,genres,details", "")
	// blanks around names
	f(movie, "videos,+credits+,%20images", "+videos(movie 0 0 videos) +credits(movie 0 0 credits) +images(movie 0 0 images)")
	f(movie, "videos, credits, ,", "+videos(movie 0 0 videos) +credits(movie 0 0 credits)")
	// slashes around and in the middle
	f(movie, "/videos,videos/,watch//providers,./videos", "")
	// old names
	f(movie, "trailers,releases,casts,similar_movies", "+trailers(movie 0 0 trailers) +releases(movie 0 0 releases) "+
		"+casts(movie 0 0 credits) +similar_movies(movie 0 0 similar)")
	// a session may be missing: the caller's affair
	f(movie, "account_states", "+account_states(movie 0 0 account_states)")
	// names of other namespaces
	f(movie, "content_ratings,season/1,movie_credits", "")
	f("/3/movie/tt0137523", "credits", "+credits(movie 0 0 credits)")

	// seasons and episodes below a series
	f(tv, "season/0,season/1", "+season/0(season 0 0 details) +season/1(season 1 0 details)")
	f(tv, "season/1/credits,season/1/watch/providers", "+season/1/credits(season 1 0 credits) +season/1/watch/providers(season 1 0 watch/providers)")
	f(tv, "season/1/episode/2,season/1/episode/2/images",
		"+season/1/episode/2(episode 1 2 details) +season/1/episode/2/images(episode 1 2 images)")
	f(tv, "season%2F12%2Fepisode%2F3", "+season/12/episode/3(episode 12 3 details)")
	// two spellings are two members
	f(tv, "season/1,season/01,season/1", "+season/1(season 1 0 details) +season/01(season 1 0 details)")
	// what is no season, or no name below one
	f(tv, "season,season/,season/x,season/-1,season/4294967296,season/1/,season/1/keywords,season/1/episode,season/1/episode/2/keywords", "")

	// the other namespaces
	f(season, "credits,aggregate_credits,keywords", "+credits(season 0 0 credits) +aggregate_credits(season 0 0 aggregate_credits)")
	// episodes of a season: of that of the path
	f("/3/tv/1396/season/4", "episode/2,episode/2/images,episode/13/external_ids",
		"+episode/2(episode 4 2 details) +episode/2/images(episode 4 2 images) +episode/13/external_ids(episode 4 13 external_ids)")
	f(season, "episode,episode/x,episode/2/keywords,episode/2/episode/3,season/1/episode/2", "")
	f(tv, "episode/2,season/1/episode/2/episode/3", "")
	f(episode, "credits,aggregate_credits", "+credits(episode 0 0 credits)")
	// operations that append nothing, whatever is asked
	f("/3/movie/550/credits", "videos", "")
	f("/3/movie/latest", "videos", "")
	f("/3/movie/popular", strings.Repeat("x,", 30), "")

	// exactly the most names, all known or not
	f(tv, strings.Repeat("credits,", MaxAppends), "+credits(tv 0 0 credits)")
	f(movie, strings.Repeat("x,", MaxAppends), "")
	// of a repeated parameter only the last one counts
	f(movie, strings.Repeat("x,", 30)+"&append_to_response=videos", "+videos(movie 0 0 videos)")
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

func TestRefuseQuery(t *testing.T) {
	var q Request
	f := func(path, query string, want status.Code) {
		t.Helper()
		if got := Parse([]byte(path), []byte(query), &q); got != want {
			t.Errorf("Parse(%s?%.100s) = %d, want %d", path, query, got, want)
		}
	}
	const movie, similar, changes = "/3/movie/550", "/3/movie/550/similar", "/3/movie/changes"

	// pages
	f(similar, "page=0", status.InvalidPage)
	f(similar, "page=501", status.InvalidPage)
	f(similar, "page=-1", status.InvalidPage)
	f(similar, "page=1.0", status.InvalidPage)
	f(similar, "page=x", status.InvalidPage)
	f(similar, "page=+1", status.InvalidPage)
	f(similar, "page=18446744073709551617", status.InvalidPage)
	f(movie, "append_to_response=credits,similar&page=501", status.InvalidPage)
	// dates
	f(changes, "start_date=2024-1-1", status.InvalidDate)
	f(changes, "start_date=2023-02-29", status.InvalidDate)
	f(changes, "end_date=2024-13-01", status.InvalidDate)
	f(changes, "end_date=2024-00-10", status.InvalidDate)
	f(changes, "end_date=2024-01-00", status.InvalidDate)
	f(changes, "start_date=2024-01-011", status.InvalidDate)
	f(changes, "start_date=01-01-2024", status.InvalidDate)
	f(changes, "start_date=2024/01/01", status.InvalidDate)
	f(changes, "start_date=yesterday", status.InvalidDate)
	f(movie, "append_to_response=changes&end_date=x", status.InvalidDate)
	// the window
	f(changes, "start_date=2024-01-01&end_date=2024-01-16", status.InvalidDateRange)
	f(changes, "end_date=2025-01-16&start_date=2024-01-01", status.InvalidDateRange)
	f(movie, "append_to_response=changes&start_date=2024-01-01&end_date=2024-02-01", status.InvalidDateRange)
	// names: unknown ones, repeated ones and seasons count
	f(movie, "append_to_response="+strings.Repeat("credits,", 21), status.TooManyAppends)
	f(movie, "append_to_response="+strings.Repeat("x,", 21), status.TooManyAppends)
	f(movie, "append_to_response="+strings.Repeat("x%2C", 21), status.TooManyAppends)
	f("/3/tv/1399", "append_to_response=credits"+strings.Repeat(",season/1", 20), status.TooManyAppends)
	// too long
	f(movie, strings.Repeat("x", MaxQuery+1), status.InvalidInput)
	// which error wins
	many := "append_to_response=" + strings.Repeat("similar,changes,", 11)
	f("/3/nothing", many+"&page=0&start_date=x", status.NotFound)
	f(movie+"/rating", many+"&page=0&start_date=x", status.MethodNotAllowed)
	f(movie, many+"&page=0&start_date=x", status.TooManyAppends)
	f(movie, "start_date=x&page=0&append_to_response=similar,changes", status.InvalidPage)
	f(changes, "start_date=x&end_date=2024-01-16&page=0", status.InvalidPage)
	f(changes, "start_date=2024-01-01&end_date=x", status.InvalidDate)
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

// TestAppendLimit: the limit counts names.
func TestAppendLimit(t *testing.T) {
	var q Request
	for n, want := range map[int]status.Code{MaxAppends: status.OK, MaxAppends + 1: status.TooManyAppends} {
		var names strings.Builder
		for i := range n {
			fmt.Fprintf(&names, "season/%d,", i)
		}
		c := Parse([]byte("/3/tv/1399"), []byte("append_to_response="+names.String()), &q)
		if c != want || c == status.OK && len(q.Appends) != n {
			t.Errorf("%d names = %d with %d read, want %d", n, c, len(q.Appends), want)
		}
	}
}
