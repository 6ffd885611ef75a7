package merge

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

func movie(tb testing.TB, row string) *catalog.Movie {
	tb.Helper()
	m := &catalog.Movie{}
	if err := record.NewParser().Parse(row, record.Of(m)); err != nil {
		tb.Fatalf("Parse(%s): %v", row, err)
	}
	return m
}

func textOf(m *catalog.Movie) string { return jsonOf(record.Of(m)) }

// TestJoinLeavesShared: join changes a clone of a record and none of the lists and objects that the
// two share, so that the record before and after can be compared.
func TestJoinLeavesShared(t *testing.T) {
	rows := []string{
		`{"id":1,"title":"A","poster_path":null,"a":1}`, `{"id":1,"title":"A","budget":2}`, `{"id":1,"poster_path":"/p","b":2}`,
		`{"id":1,"external_ids":{"imdb_id":"tt1"},"credits":{"cast":[{"id":1}]}}`, `{"id":1,"external_ids":{"wikidata_id":"Q1"},"credits":{"crew":[]}}`,
		`{"id":1,"images":{"posters":[{"iso_639_1":"en","file_path":"/a"}],"logos":[]}}`, `{"id":1,"images":{"posters":[{"file_path":"/a","width":6},{"file_path":"/b"}]}}`,
		`{"id":1,"reviews":[{"page":1,"results":[]},{"page":2}],"genres":[]}`, `{"id":1,"reviews":{"page":2,"results":[],"total_pages":2},"genres":[{"id":1}]}`,
		`{"id":1,"localized":[{"language":"de-DE","title":"D"}],"origin_country":["US"]}`, `{"id":1,"localized":[{"language":"de-DE","overview":"o"},{"language":"fr-FR"}],"origin_country":[]}`,
	}
	for _, old := range rows {
		for _, row := range rows {
			before := record.Of(movie(t, old))
			join(before, record.Of(movie(t, rows[0])), nil)
			binary := string(record.AppendBinary(nil, before))
			after := before.Clone()
			join(after, record.Of(movie(t, row)), nil)
			if string(record.AppendBinary(nil, before)) != binary {
				t.Errorf("joining %s into a clone of %s changed the record", row, old)
			}
			if same := string(record.AppendBinary(nil, after)) == binary; record.Equal(before, after) != same {
				t.Errorf("Equal of %s and %s = %v, want %v as the binary forms have it", jsonOf(before), jsonOf(after), !same, same)
			}
		}
	}
}

func TestMovie(t *testing.T) {
	f := func(old, row, want string) {
		t.Helper()
		m := movie(t, old)
		join(record.Of(m), record.Of(movie(t, row)), nil)
		if got := textOf(m); got != want {
			t.Errorf("Merge(%s, %s)\n = %s\nwant %s", old, row, got, want)
		}
		// The same row again changes nothing.
		join(record.Of(m), record.Of(movie(t, row)), nil)
		if got := textOf(m); got != want {
			t.Errorf("Merge(%s, %s) twice\n = %s\nwant %s", old, row, got, want)
		}
		// Nothing new changes nothing, and all news is all there is.
		m = movie(t, want)
		join(record.Of(m), record.Of(movie(t, `{}`)), nil)
		if got := textOf(m); got != want {
			t.Errorf("Merge(%s, {}) = %s, want no change", want, got)
		}
		m = movie(t, `{}`)
		join(record.Of(m), record.Of(movie(t, want)), nil)
		if got := textOf(m); got != want {
			t.Errorf("Merge({}, %s) = %s, want all of it", want, got)
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
	// External ids are united, one by one.
	f(`{"id":1,"external_ids":{"imdb_id":"tt1","wikidata_id":"Q1"}}`, `{"id":1,"external_ids":{"wikidata_id":"Q2"}}`, `{"id":1,"external_ids":{"imdb_id":"tt1","wikidata_id":"Q2"}}`)
	f(`{"id":1,"external_ids":{"imdb_id":"tt1"}}`, `{"id":1,"external_ids":{"imdb_id":null,"wikidata_id":"Q2"}}`, `{"id":1,"external_ids":{"imdb_id":null,"wikidata_id":"Q2"}}`)
	// So are sub-requests: a table may know just the cast.
	f(`{"id":1,"credits":{"cast":[{"id":1}],"crew":[{"id":2}]}}`, `{"id":1,"credits":{"cast":[{"id":3}]}}`, `{"id":1,"credits":{"cast":[{"id":3}],"crew":[{"id":2}]}}`)
	f(`{"id":1,"credits":{"cast":[{"id":1}]}}`, `{"id":1,"credits":{"cast":[],"crew":[{"id":2}]}}`, `{"id":1,"credits":{"cast":[],"crew":[{"id":2}]}}`)
	// Lists and other objects are replaced as a whole, an empty one too.
	f(`{"id":1,"belongs_to_collection":{"id":1,"name":"a"}}`, `{"id":1,"belongs_to_collection":{"id":2}}`, `{"belongs_to_collection":{"id":2},"id":1}`)
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
	f(`{"id":1,"images":{"posters":[{"file_path":"/a"}]}}`, `{"id":1,"images":null}`, `{"id":1,"images":{"posters":[{"file_path":"/a"}]}}`)
	f(`{"id":1,"videos":{"results":[{"key":"a"}]}}`, `{"id":1,"videos":null}`, `{"id":1,"videos":{"results":[{"key":"a"}]}}`)
	f(`{"id":1,"credits":{"cast":[{"id":1}]}}`, `{"id":1,"credits":null}`, `{"id":1,"credits":null}`)
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

func rec(tb testing.TB, kind, row string) record.Record {
	tb.Helper()
	t, ok := catalog.TypeNamed(kind)
	if !ok {
		tb.Fatalf("no kind %s", kind)
	}
	r := t.New()
	if err := record.NewParser().Parse(row, r); err != nil {
		tb.Fatalf("Parse(%s): %v", row, err)
	}
	return r
}

// TestKinds: what differs in the other kinds from movies.
func TestKinds(t *testing.T) {
	f := func(kind, old, row, want string) {
		t.Helper()
		r := rec(t, kind, old)
		for _, times := range []string{"", " twice"} {
			join(r, rec(t, kind, row), nil)
			if got := jsonOf(r); got != want {
				t.Errorf("Merge(%s, %s)%s\n = %s\nwant %s", old, row, times, got, want)
			}
		}
		r = rec(t, kind, `{}`)
		join(r, rec(t, kind, want), nil)
		if got := jsonOf(r); got != want {
			t.Errorf("Merge({}, %s) = %s, want all of it", want, got)
		}
	}
	f("tv", `{"id":1,"name":"A","seasons":[{"id":1}],"images":{"posters":[{"file_path":"/a"}]}}`,
		`{"id":1,"name":"B","seasons":[{"id":2}],"images":{"posters":[{"file_path":"/b"}]}}`,
		`{"id":1,"name":"B","seasons":[{"id":2}],"images":{"posters":[{"file_path":"/b"},{"file_path":"/a"}]}}`)
	// Episodes unite by number, member by member, in the order of the numbers.
	f("season", `{"season_number":1,"episodes":[{"episode_number":1,"name":"A","overview":"o"},{"episode_number":3,"name":"C"}]}`,
		`{"season_number":1,"episodes":[{"air_date":null,"episode_number":1,"name":"B"},{"episode_number":2,"crew":[]}]}`,
		`{"episodes":[{"air_date":null,"episode_number":1,"name":"B","overview":"o"},{"episode_number":2,"crew":[]},{"episode_number":3,"name":"C"}],"season_number":1}`)
	f("season", `{"episodes":[{"episode_number":3},{"episode_number":1}]}`, `{"episodes":[{"episode_number":2}]}`,
		`{"episodes":[{"episode_number":2},{"episode_number":3},{"episode_number":1}]}`)
	// A crawl's list decides which episodes there are; one without a number is like no other.
	f("season", `{"episodes":[{"episode_number":1,"id":5,"name":"A","overview":"o"},{"episode_number":2,"id":6}]}`,
		`{"episodes":[{"episode_number":1,"id":5,"name":"B"}]}`, `{"episodes":[{"episode_number":1,"id":5,"name":"B","overview":"o"}]}`)
	f("season", `{"episodes":[{"name":"A"},{"name":"B"}]}`, `{"episodes":[{"name":"C"}]}`,
		`{"episodes":[{"name":"C"},{"name":"A"},{"name":"B"}]}`)
	f("season", `{"episodes":[{"episode_number":3}]}`, `{"episodes":null}`, `{"episodes":[{"episode_number":3}]}`)
	f("season", `{"episodes":null}`, `{"episodes":[]}`, `{"episodes":[]}`)
	f("season", `{"localized":[{"language":"de-DE","episodes":[{"episode_number":1,"name":"A"}]}]}`,
		`{"localized":[{"language":"de-DE","name":"N","episodes":[{"episode_number":2}]},{"language":"ar-SA"}]}`,
		`{"localized":[{"language":"ar-SA"},{"language":"de-DE","episodes":[{"episode_number":1,"name":"A"},{"episode_number":2}],"name":"N"}]}`)
	f("episode", `{"images":{"stills":[{"file_path":"/a"}]}}`, `{"images":{"stills":[]}}`, `{"images":{"stills":[{"file_path":"/a"}]}}`)
	f("person", `{"images":{"profiles":[{"file_path":"/a"}]},"tagged_images":{"page":1,"results":[]}}`,
		`{"images":{"profiles":[{"file_path":"/b"}]},"tagged_images":{"page":2,"results":[]}}`,
		`{"images":{"profiles":[{"file_path":"/b"},{"file_path":"/a"}]},"tagged_images":[{"page":1,"results":[]},{"page":2,"results":[]}]}`)
	f("person", `{"known_for":[{"id":1}],"localized":[{"language":"de-DE","name":"N"}]}`, `{"known_for":[{"id":2}],"localized":[{"language":"de-DE","known_for":[]}]}`,
		`{"known_for":[{"id":2}],"localized":[{"language":"de-DE","name":"N","known_for":[]}]}`)
	// Logos of companies are a list like others.
	f("company", `{"images":{"logos":[{"id":"a"}]}}`, `{"images":{"logos":[{"id":"b"}]}}`, `{"images":{"logos":[{"id":"b"}]}}`)
	f("keyword", `{"name":"a","movies":[{"page":1},{"page":2}]}`, `{"movies":{"page":1,"total_pages":1}}`, `{"name":"a","movies":{"page":1,"total_pages":1}}`)
}

// TestParts: rows of a table make one record, the same in any order.
func TestParts(t *testing.T) {
	rows := []string{
		`{"id":1,"credits":{"cast":[{"id":10,"name":"B","character":"x","order":1}]}}`,
		`{"id":1,"credits":{"cast":[{"id":9,"name":"A","character":"y","order":0}]}}`,
		`{"id":1,"credits":{"cast":[{"id":9,"name":"AA","character":"y","order":0}]},"x":1}`,
		`{"id":1,"credits":{"cast":[{"id":10,"name":"B","character":"z"}]}}`,
		`{"id":1,"credits":{"crew":[{"id":10,"department":"Writing","job":"Writer"}]},"title":"S"}`,
		`{"id":1,"credits":{"crew":[{"id":9,"department":"Writing","job":"Writer"}]},"title":"T","x":2}`,
		`{"id":1,"credits":{"crew":[{"id":10,"department":"Directing","job":"Director"}]},"title":"R"}`,
		`{"id":1,"credits":{"crew":[{"name":"no id","job":"Z"}]}}`,
		`{"id":1,"reviews":{"page":1,"results":[{"author":"B","created_at":"2024-01-02"}]}}`,
		`{"id":1,"reviews":{"page":1,"results":[{"author":"A","created_at":"2024-01-03"}]}}`,
		`{"id":1,"reviews":{"page":1,"results":[{"author":"B","created_at":"2024-01-02"}]}}`,
	}
	want := `{"id":1,"title":"T","credits":{"cast":[{"id":9,"name":"A","character":"y","order":0},{"id":10,"name":"B","character":"x","order":1},{"id":10,"name":"B","character":"z"}],` +
		`"crew":[{"name":"no id","job":"Z"},{"id":10,"department":"Directing","job":"Director"},{"id":9,"department":"Writing","job":"Writer"},{"id":10,"department":"Writing","job":"Writer"}]},` +
		`"reviews":{"page":1,"results":[{"author":"B","created_at":"2024-01-02"},{"author":"A","created_at":"2024-01-03"}],"total_pages":1,"total_results":2},"x":2}`
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		var p parts
		var told []string
		for i, row := range rows {
			p.put(rec(t, "movie", row), int64(i), func(c conflict) { told = append(told, c.field) })
		}
		if got := jsonOf(p.finish()); got != want || !slices.Equal(told, []string{"title"}) {
			t.Fatalf("parts %s\n = %s, conflicts %q\nwant %s, one of title", rows, got, told, want)
		}
	}
}

// TestPartsOfRow: what one row gives stays in the order of its list: the first of several directors is the
// first in the table. A row that is there twice changes nothing.
func TestPartsOfRow(t *testing.T) {
	var p parts
	for row := range int64(2) {
		for _, id := range []string{"30", "10", "20"} {
			p.put(rec(t, "movie", `{"id":1,"credits":{"crew":[{"id":`+id+`,"department":"Directing","job":"Director"}]}}`), row, nil)
		}
		p.put(rec(t, "movie", `{"id":1,"credits":{"crew":[{"id":5,"department":"Writing","job":"Writer"},{"id":4,"department":"Writing","job":"Writer"}]}}`), row, nil)
	}
	want := `{"id":1,"credits":{"crew":[{"id":30,"department":"Directing","job":"Director"},{"id":10,"department":"Directing","job":"Director"},` +
		`{"id":20,"department":"Directing","job":"Director"},{"id":5,"department":"Writing","job":"Writer"},{"id":4,"department":"Writing","job":"Writer"}]}}`
	if got := jsonOf(p.finish()); got != want {
		t.Errorf("parts of one row =\n%s, want\n%s", got, want)
	}
}

func TestConflicts(t *testing.T) {
	f := func(old, row string, want ...conflict) {
		t.Helper()
		var got []conflict
		join(record.Of(movie(t, old)), record.Of(movie(t, row)), func(c conflict) { got = append(got, c) })
		if !slices.Equal(got, want) {
			t.Errorf("Merge(%s, %s): conflicts = %+v, want %+v", old, row, got, want)
		}
	}
	f(`{"id":1,"title":"A","vote_average":8.0}`, `{"id":1,"title":"B","vote_average":8.0}`, conflict{"title", `"A"`, `"B"`})
	f(`{"id":1,"poster_path":null,"adult":true}`, `{"id":1,"poster_path":"/p","adult":false}`,
		conflict{"adult", `true`, `false`}, conflict{"poster_path", `null`, `"/p"`})
	f(`{"id":1,"title":"A"}`, `{"id":1,"overview":"o"}`)               // no common field
	f(`{"id":1,"genres":[]}`, `{"id":1,"genres":[{"id":1}],"more":1}`) // lists are no conflict
	f(`{"id":1,"overview":"o"}`, `{"id":1,"overview":"o"}`)
}
