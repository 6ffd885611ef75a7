package layout

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestLists: rows about users' lists in all forms, and their records.
func TestLists(t *testing.T) {
	f := func(row, want string, dropped ...string) Record {
		t.Helper()
		l := tmdb.New("")
		recs, err := l.Records(Row{Type: kind("list"), JSON: row})
		if err != nil || len(recs) != 1 || text(recs[0].Record) != want {
			t.Fatalf("Records(%s)\n = %s, %v\nwant %s", row, strings.Join(described(recs), " "), err, want)
		}
		if got := slices.Sorted(maps.Keys(l.Counts().Dropped)); !slices.Equal(got, dropped) {
			t.Errorf("Records(%s) dropped %q, want %q", row, got, dropped)
		}
		return recs[0]
	}

	// A row with all items, which becomes page 1 of 1.
	f(`{"id":1,"name":"A","items":[{"media_type":"movie","id":550,"comment":"c"},{"media_type":"tv","id":1399}]}`,
		`{"id":1,"name":"A","items":{"page":1,"results":[{"media_type":"movie","id":550,"comment":"c","order":0},{"media_type":"tv","id":1399,"order":1}],"total_pages":1}}`)
	f(`{"id":1,"items":[]}`, `{"id":1,"items":{"page":1,"results":[],"total_pages":1}}`)
	f(`{"id":1,"poster_path":null,"public":false}`, `{"id":1,"poster_path":null,"public":false}`)

	// A response of version 3.
	whole := f(`{"created_by":"u","id":7,"item_count":2,"items":[{"adult":false,"id":5,"title":"T","media_type":"movie"},{"id":6,"original_name":"N","media_type":"tv"}],"page":1,"total_pages":1,"total_results":2}`,
		`{"created_by":{"username":"u"},"id":7,"item_count":2,"items":{"page":1,"results":[{"media_type":"movie","id":5,"order":0},{"media_type":"tv","id":6,"order":1}],"total_pages":1,"total_results":2}}`,
		"items[].results[].adult", "items[].results[].original_name", "items[].results[].title")
	if whole.Part {
		t.Error("a list of one page is a part of it")
	}

	// A page of version 4.
	part := f(`{"average_rating":7.5,"results":[{"id":5,"media_type":"movie"},{"id":6,"media_type":"tv"}],"comments":{"movie:5":"good","tv:6":null},"object_ids":{"movie:5":"x"},`+
		`"created_by":{"id":"4bc8892a017a3c0c92000002","username":"u"},"id":7,"page":2,"public":true,"runtime":"90","total_pages":3,"total_results":45,"new":[1]}`,
		`{"average_rating":7.5,"created_by":{"id":"4bc8892a017a3c0c92000002","username":"u"},"id":7,"public":true,"runtime":90,`+
			`"items":{"page":2,"results":[{"media_type":"movie","id":5,"comment":"good","order":0},{"media_type":"tv","id":6,"order":1}],"total_pages":3,"total_results":45},"new":[1]}`, "object_ids")
	if !part.Part {
		t.Error("a page of several is no part")
	}

	// In the catalogue's form.
	f(`{"id":7,"items":[{"page":600,"results":[{"media_type":"movie","id":5,"order":3}],"total_pages":700},{"page":2,"results":[]}]}`,
		`{"id":7,"items":[{"page":600,"results":[{"media_type":"movie","id":5,"order":0}],"total_pages":700},{"page":2,"results":[]}]}`)

	// The same as JSON texts, as tables have it.
	f(`{"id":7,"created_by":"{\"username\":\"u\"}","items":"[{\"page\":1,\"results\":[{\"media_type\":\"tv\",\"id\":5}],\"total_pages\":1}]"}`,
		`{"created_by":{"username":"u"},"id":7,"items":{"page":1,"results":[{"media_type":"tv","id":5,"order":0}],"total_pages":1}}`)

	// A crawl in another language: lists have no language.
	l := tmdb.New("de-DE")
	if recs, err := l.Records(Row{Type: kind("list"), JSON: `{"id":1,"name":"A","items":[{"media_type":"movie","id":5}]}`}); err != nil || strings.Contains(text(recs[0].Record), "de-DE") {
		t.Errorf("in de-DE: %s, %v", described(recs), err)
	}
	// A file named after one page.
	if recs, err := tmdb.New("").Records(Row{Type: kind("list"), JSON: `{"id":1,"page":2,"total_pages":2}`, ID: 1, Sub: "page_2"}); err != nil {
		t.Errorf("1-page-2.json: %s, %v", described(recs), err)
	}
}

// TestAccounts: rows about accounts in all forms, and their records.
func TestAccounts(t *testing.T) {
	f := func(row, want string) {
		t.Helper()
		recs, err := tmdb.New("").Records(Row{Type: kind("account"), JSON: row})
		if err != nil || len(recs) != 1 || text(recs[0].Record) != want {
			t.Errorf("Records(%s)\n = %s, %v\nwant %s", row, strings.Join(described(recs), " "), err, want)
		}
	}
	f(`{"id":548,"username":"u","favorites":{"movies":[{"id":550},{"id":5,"created_at":"2026-08-01 12:30:00 UTC","title":"T"}],"tv":[]},"lists":[3,1]}`,
		`{"id":548,"username":"u","favorites":{"movies":[{"id":550},{"id":5,"created_at":"2026-08-01 12:30:00 UTC"}],"tv":[]},"lists":[3,1]}`)
	f(`{"id":548,"rated":{"movies":[{"id":5,"rating":8}],"tv":[{"id":6,"account_rating":{"created_at":"2026-08-01T12:30:00.000Z","value":7.5},"media_type":"tv"}],"episodes":[{"id":9,"show_id":6,"season_number":0,"episode_number":1,"value":10}]}}`,
		`{"id":548,"rated":{"movies":[{"id":5,"value":8.0}],"tv":[{"id":6,"value":7.5,"created_at":"2026-08-01T12:30:00.000Z"}],"episodes":[{"id":9,"show_id":6,"season_number":0,"episode_number":1,"value":10.0}]}}`)
	f(`{"guest_session_id":"0123456789abcdef0123456789abcdef","rated":{"movies":[{"id":5,"value":0.5}]}}`,
		`{"guest_session_id":"0123456789abcdef0123456789abcdef","rated":{"movies":[{"id":5,"value":0.5}]}}`)
}

// TestBadLists: errors in a row about a list or an account name their place.
func TestBadLists(t *testing.T) {
	f := func(kindName, row, field, what string) {
		t.Helper()
		_, err := tmdb.New("").Records(Row{Type: kind(kindName), JSON: row})
		var fe *record.FieldError
		if !errors.As(err, &fe) || fe.Field != field || fe.What != what {
			t.Errorf("Records(%s) = %v, want %s: %s", row, err, field, what)
		}
	}
	f("list", `{"name":"A"}`, "id", "want an integer, found nothing")
	f("list", `{"id":"509ec17b19c2950a0600050d"}`, "id", `want an integer, found "509ec17b19c2950a0600050d"`)
	f("list", `{"id":1,"items":5}`, "items[0].results", "want an array of objects, found 5")
	f("list", `{"id":1,"items":[{"id":5,"media_type":"movie"},{"id":6}]}`, "items[1].media_type", `want "movie" or "tv", found ""`)
	f("list", `{"id":1,"results":[{"id":6,"media_type":"person"}]}`, "items[0].media_type", `want "movie" or "tv", found "person"`)
	f("list", `{"id":1,"items":[{"id":0,"media_type":"tv"}]}`, "items[0].id", "want 1 or more, found 0")
	f("list", `{"id":1,"items":[7]}`, "items[0].results[0]", "want an object, found 7")
	f("list", `{"id":1,"items":[],"comments":{"movie:5":7}}`, "comments", "want texts by title, such as movie:550")
	f("list", `{"id":1,"public":1}`, "public", "want true or false, found 1")
	f("account", `{"username":"u"}`, "id", "want an integer, found nothing")
	f("account", `{"guest_session_id":"xyz"}`, "guest_session_id", `want 32 hex digits in lower case, found "xyz"`)
	f("account", `{"guest_session_id":"0123456789abcdef0123456789abcdef","_deleted":true}`, "_deleted", "want the id of an account: guests are not removed one by one")
	f("account", `{"id":1,"account_object_id":"1"}`, "account_object_id", `want 24 hex digits, found "1"`)
	f("account", `{"id":1,"favorites":{"movies":[5]}}`, "favorites.movies[0]", "want an object, found 5")
	f("account", `{"id":1,"favorites":{"tv":{}}}`, "favorites.tv", "want an array of objects, found an object")
	f("account", `{"id":1,"rated":{"movies":[{"id":5,"value":11}]}}`, "rated.movies[0].value", "want 0.5 to 10, found 11")
	f("account", `{"id":1,"rated":{"movies":[{"id":5}]}}`, "rated.movies[0].value", "want 0.5 to 10, found nothing")
	f("account", `{"id":1,"rated":{"movies":[{"id":5,"account_rating":{"value":"x"}}]}}`, "rated.movies[].account_rating.value", `want a number, found "x"`)
	f("account", `{"id":1,"rated":{"episodes":[{"id":5,"value":1}]}}`, "rated.episodes[0].show_id", "want an integer, found nothing")
	f("account", `{"id":1,"watchlist":{"tv":[{"id":5,"created_at":"yesterday"}]}}`, "watchlist.tv[0].created_at",
		`want a time such as 2026-08-01 12:30:00 UTC or in RFC 3339, found "yesterday"`)
	f("account", `{"id":1,"lists":["a"]}`, "lists[0]", `want an integer, found "a"`)
}

// TestLongList: the time for a list of 300,000 items, and for as many unknown fields, is linear.
func TestLongList(t *testing.T) {
	const n = 300_000
	var items, fields strings.Builder
	for i := range n {
		fmt.Fprintf(&items, `{"media_type":"movie","id":%d,"title":"T","comment":"c"},`, i+1)
		fmt.Fprintf(&fields, `"m%d":1,`, i)
	}
	records := func(json string) (recs []Record, err error) {
		sharedtest.Within(t, "a long row", func() { recs, err = tmdb.New("").Records(Row{Type: kind("list"), JSON: json}) })
		return recs, err
	}
	recs, err := records(`{"id":1,"items":[` + strings.TrimSuffix(items.String(), ",") + `]}`)
	if err != nil {
		t.Fatal(err)
	}
	f, _ := recs[0].Schema.Field("items")
	page := recs[0].At(f, 0)
	results, _ := page.Schema.Field("results")
	if got, _ := page.Len(results); got != n {
		t.Errorf("%d items, want %d", got, n)
	}
	if _, err := records(`{` + fields.String() + `"id":1}`); err != nil {
		t.Error(err)
	}
}
