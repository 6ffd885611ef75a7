package join

import (
	"slices"
	"testing"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/wire"
)

func movie(tb testing.TB, row string) *catalog.Movie {
	tb.Helper()
	m := &catalog.Movie{}
	if err := wire.NewParser().Parse(row, wire.RecordOf(m)); err != nil {
		tb.Fatalf("Parse(%s): %v", row, err)
	}
	return m
}

func text(m *catalog.Movie) string { return string(wire.Append(nil, wire.RecordOf(m))) }

func TestMovie(t *testing.T) {
	f := func(old, row, want string) {
		t.Helper()
		m := movie(t, old)
		Movie(m, movie(t, row), nil)
		if got := text(m); got != want {
			t.Errorf("Movie(%s, %s)\n = %s\nwant %s", old, row, got, want)
		}
		// The same row again changes nothing.
		Movie(m, movie(t, row), nil)
		if got := text(m); got != want {
			t.Errorf("Movie(%s, %s) twice\n = %s\nwant %s", old, row, got, want)
		}
		// Nothing new changes nothing, and all news is all there is.
		m = movie(t, want)
		Movie(m, movie(t, `{}`), nil)
		if got := text(m); got != want {
			t.Errorf("Movie(%s, {}) = %s, want no change", want, got)
		}
		m = movie(t, `{}`)
		Movie(m, movie(t, want), nil)
		if got := text(m); got != want {
			t.Errorf("Movie({}, %s) = %s, want all of it", want, got)
		}
	}

	// Member by member: the later value wins, a null too; what one lacks stays.
	f(`{"id":1,"title":"A","budget":1}`, `{"id":1,"title":"B"}`, `{"budget":1,"id":1,"title":"B"}`)
	f(`{"id":1,"title":"A"}`, `{"id":1,"title":""}`, `{"id":1,"title":""}`)
	f(`{"id":1,"poster_path":"/p"}`, `{"id":1,"poster_path":null}`, `{"id":1,"poster_path":null}`)
	f(`{"id":1,"poster_path":null}`, `{"id":1,"poster_path":"/p"}`, `{"id":1,"poster_path":"/p"}`)
	f(`{"id":1,"poster_path":null}`, `{"id":1}`, `{"id":1,"poster_path":null}`)
	f(`{"id":1,"runtime":100}`, `{"id":1,"runtime":null}`, `{"id":1,"runtime":null}`)
	f(`{"id":1,"runtime":null}`, `{"id":1,"runtime":100}`, `{"id":1,"runtime":100}`)
	// Lists and sub-requests are replaced as a whole, an empty one too.
	f(`{"id":1,"genres":[{"id":1,"name":"a"},{"id":2,"name":"b"}]}`, `{"id":1,"genres":[{"id":2,"name":"c"}]}`, `{"genres":[{"id":2,"name":"c"}],"id":1}`)
	f(`{"id":1,"genres":[{"id":1,"name":"a"}]}`, `{"id":1,"genres":[]}`, `{"genres":[],"id":1}`)
	f(`{"id":1,"keywords":{"keywords":[{"id":1}]}}`, `{"id":1,"credits":{"cast":[]}}`, `{"id":1,"credits":{"cast":[]},"keywords":{"keywords":[{"id":1}]}}`)
	f(`{"id":1,"watch/providers":{"results":{"US":{"buy":[]}}}}`, `{"id":1,"watch/providers":{"results":{"DE":{"rent":[]}}}}`, `{"id":1,"watch/providers":{"results":{"DE":{"rent":[]}}}}`)
	// Unknown members of both are kept.
	f(`{"id":1,"a":1,"b":{"x":1}}`, `{"id":1,"b":2,"c":[3]}`, `{"id":1,"b":2,"c":[3],"a":1}`)
	f(`{"id":1,"images":{"posters":[],"a":1}}`, `{"id":1,"images":{"posters":[],"b":2}}`, `{"id":1,"images":{"posters":[],"b":2,"a":1}}`)
	f(`{"id":1,"videos":{"results":[],"a":1}}`, `{"id":1,"videos":{"results":[]}}`, `{"id":1,"videos":{"results":[],"a":1}}`)
	// Images and videos unite: by rank where both lists follow it, else old ones last.
	f(`{"id":1,"images":{"posters":[{"file_path":"/a","vote_average":9.0},{"file_path":"/b","vote_average":5.0}]}}`,
		`{"id":1,"images":{"posters":[{"file_path":"/c","vote_average":7.0},{"file_path":"/b","vote_average":6.0}],"logos":[]}}`,
		`{"id":1,"images":{"logos":[],"posters":[{"file_path":"/a","vote_average":9.0},{"file_path":"/c","vote_average":7.0},{"file_path":"/b","vote_average":6.0}]}}`)
	f(`{"id":1,"images":{"backdrops":[{"file_path":"/a","vote_average":1.0},{"file_path":"/b","vote_average":5.0}]}}`,
		`{"id":1,"images":{"backdrops":[{"file_path":"/c","vote_average":0.0}]}}`,
		`{"id":1,"images":{"backdrops":[{"file_path":"/c","vote_average":0.0},{"file_path":"/a","vote_average":1.0},{"file_path":"/b","vote_average":5.0}]}}`)
	f(`{"id":1,"videos":{"results":[{"key":"k","site":"YouTube","published_at":"2001"},{"key":"k","site":"Vimeo","published_at":"2000"}]}}`,
		`{"id":1,"videos":{"results":[{"name":"n","key":"k","site":"YouTube","published_at":"2003"}]}}`,
		`{"id":1,"videos":{"results":[{"name":"n","key":"k","site":"YouTube","published_at":"2003"},{"key":"k","site":"Vimeo","published_at":"2000"}]}}`)
	// Rows of a language that the news lists too are gone where it lacks them; rows
	// of other languages, and of no known language, stay.
	f(`{"id":1,"images":{"posters":[{"iso_639_1":"en","file_path":"/a"},{"iso_639_1":"de","file_path":"/b"},{"iso_639_1":null,"file_path":"/c"},{"file_path":"/d"}],"logos":[{"iso_639_1":"en","file_path":"/e"}]}}`,
		`{"id":1,"images":{"posters":[{"iso_639_1":"en","file_path":"/f"},{"iso_639_1":null,"file_path":"/g"}],"logos":[]}}`,
		`{"id":1,"images":{"logos":[{"iso_639_1":"en","file_path":"/e"}],"posters":[{"iso_639_1":"en","file_path":"/f"},{"iso_639_1":null,"file_path":"/g"},{"iso_639_1":"de","file_path":"/b"},{"file_path":"/d"}]}}`)
	f(`{"id":1,"videos":{"results":[{"iso_639_1":"en","id":"1"},{"iso_639_1":"de","id":"2"}]}}`, `{"id":1,"videos":{"results":[{"iso_639_1":"en","id":"3"}]}}`,
		`{"id":1,"videos":{"results":[{"iso_639_1":"en","id":"3"},{"iso_639_1":"de","id":"2"}]}}`)
	f(`{"id":1,"images":{"posters":[{"file_path":"/a"}],"logos":[]}}`, `{"id":1,"images":{"posters":null}}`, `{"id":1,"images":{"logos":[],"posters":[{"file_path":"/a"}]}}`)
	// A row without a name is itself alone.
	f(`{"id":1,"images":{"posters":[{"height":1},{"height":2}]}}`, `{"id":1,"images":{"posters":[{"height":2},{"height":3}]}}`,
		`{"id":1,"images":{"posters":[{"height":2},{"height":3},{"height":1}]}}`)
	f(`{"id":1,"videos":{"results":[{"name":"a"}]}}`, `{"id":1,"videos":{"results":[{"name":"b"},{"name":"a"}]}}`, `{"id":1,"videos":{"results":[{"name":"b"},{"name":"a"}]}}`)
	// Videos: the id, or else site and key.
	f(`{"id":1,"videos":{"results":[{"key":"k","site":"s","id":"1"},{"key":"l","site":"s","id":"2"},{"key":"m","site":"s","id":"3"}]}}`,
		`{"id":1,"videos":{"results":[{"key":"new","site":"s","id":"1"},{"key":"l","site":"s"},{"key":"m","site":"s","id":"4"}]}}`,
		`{"id":1,"videos":{"results":[{"key":"new","site":"s","id":"1"},{"key":"l","site":"s","id":"2"},{"key":"m","site":"s","id":"4"},{"key":"m","site":"s","id":"3"}]}}`)
	// What only the older row says of an image stays.
	f(`{"id":1,"images":{"posters":[{"iso_639_1":"en","file_path":"/a","vote_average":9.0,"width":5,"x":1}]}}`, `{"id":1,"images":{"posters":[{"file_path":"/a","width":6,"y":2}]}}`,
		`{"id":1,"images":{"posters":[{"iso_639_1":"en","file_path":"/a","vote_average":9.0,"width":6,"y":2,"x":1}]}}`)
	f(`{"id":1,"images":{"posters":[{"iso_639_1":"en","file_path":"/a"}]}}`, `{"id":1,"images":{"posters":[{"iso_639_1":null,"file_path":"/a"}]}}`,
		`{"id":1,"images":{"posters":[{"iso_639_1":null,"file_path":"/a"}]}}`)
	// A list that became shorter loses its last pages, in its language alone.
	f(`{"id":1,"reviews":[{"page":1,"total_pages":3},{"page":2},{"page":3},{"language":"de-DE","page":2}]}`, `{"id":1,"reviews":{"page":1,"total_pages":2}}`,
		`{"id":1,"reviews":[{"page":1,"total_pages":2},{"page":2},{"language":"de-DE","page":2}]}`)
	f(`{"id":1,"reviews":[{"page":1},{"page":2}]}`, `{"id":1,"reviews":{"page":1,"results":[],"total_pages":0}}`, `{"id":1,"reviews":{"page":1,"results":[],"total_pages":0}}`)
	// Pages unite by language and number.
	f(`{"id":1,"similar":[{"page":1,"results":[]},{"page":3,"total_pages":3}]}`,
		`{"id":1,"similar":[{"page":2,"total_pages":4},{"page":3,"total_pages":4}]}`,
		`{"id":1,"similar":[{"page":1,"results":[]},{"page":2,"total_pages":4},{"page":3,"total_pages":4}]}`)
	f(`{"id":1,"reviews":{"page":1,"results":[]}}`, `{"id":1,"reviews":{"language":"de-DE","page":1,"results":[]}}`,
		`{"id":1,"reviews":[{"page":1,"results":[]},{"language":"de-DE","page":1,"results":[]}]}`)
	// Texts unite by language.
	f(`{"id":1,"localized":[{"language":"it","title":"I","overview":"o"}]}`,
		`{"id":1,"localized":[{"language":"de-DE","title":"D"},{"language":"it","title":"J","poster_path":null}]}`,
		`{"id":1,"localized":[{"language":"de-DE","title":"D"},{"language":"it","overview":"o","poster_path":null,"title":"J"}]}`)
}

func TestConflicts(t *testing.T) {
	f := func(old, row string, want ...Conflict) {
		t.Helper()
		var got []Conflict
		Movie(movie(t, old), movie(t, row), func(c Conflict) { got = append(got, c) })
		if !slices.Equal(got, want) {
			t.Errorf("Movie(%s, %s): conflicts = %+v, want %+v", old, row, got, want)
		}
	}
	f(`{"id":1,"title":"A","vote_average":8.0}`, `{"id":1,"title":"B","vote_average":8.0}`, Conflict{"title", `"A"`, `"B"`})
	f(`{"id":1,"poster_path":null,"adult":true}`, `{"id":1,"poster_path":"/p","adult":false}`,
		Conflict{"adult", `true`, `false`}, Conflict{"poster_path", `null`, `"/p"`})
	f(`{"id":1,"title":"A"}`, `{"id":1,"overview":"o"}`)               // nothing that both have
	f(`{"id":1,"genres":[]}`, `{"id":1,"genres":[{"id":1}],"more":1}`) // lists are no conflict
	f(`{"id":1,"overview":"o"}`, `{"id":1,"overview":"o"}`)
}
