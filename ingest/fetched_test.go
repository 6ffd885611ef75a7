package ingest

import (
	"slices"
	"strings"
	"testing"
)

// TestFetched: a record keeps its row's day, and the newest day wins.
func TestFetched(t *testing.T) {
	dir := t.TempDir()
	check := func(what string, want ...string) {
		t.Helper()
		if got := records(t, dir); !slices.Equal(got, want) {
			t.Errorf("%s: records = %q, want %q", what, got, want)
		}
	}
	r := lines(t, dir, Config{Strict: true},
		`{"id":1,"title":"A","_fetched":"2026-05-01"}`, `{"id":2,"title":"B","_fetched":null}`, `{"id":3,"title":"C","_fetched":""}`,
		`{"id":4,"_fetched":"2026-02-30"}`, `{"id":5,"_fetched":7}`, `{"id":6,"_deleted":true,"_fetched":"2026-05-01"}`, `{"id":7,"_deleted":true,"_fetched":"soon"}`)
	check("first", `{"id":1,"title":"A","_fetched":"2026-05-01"}`, `{"id":2,"title":"B"}`, `{"id":3,"title":"C"}`)
	bad := `_fetched: want a day as YYYY-MM-DD, found `
	if len(r.Bad) != 3 || !strings.HasSuffix(r.Bad[0], bad+`"2026-02-30"`) || !strings.Contains(r.Bad[1], "_fetched: want ") || !strings.HasSuffix(r.Bad[2], bad+`"soon"`) {
		t.Errorf("Bad = %q", r.Bad)
	}
	lenient := lines(t, t.TempDir(), Config{}, `{"id":4,"_fetched":"2026-02-30"}`, `{"id":5,"_fetched":7}`, `{"id":7,"_deleted":true,"_fetched":"soon"}`)
	if lenient.ValuesLeftOut != 3 || lenient.Quarantined != 0 || lenient.Records["movie"] != 2 || lenient.Removed != 1 {
		t.Errorf("Run = %+v, want three rows without their days", lenient)
	}

	r = lines(t, dir, Config{Update: true}, `{"id":1,"title":"A","_fetched":"2026-11-01"}`, `{"id":2,"title":"B2"}`)
	check("updated", `{"id":1,"title":"A","_fetched":"2026-11-01"}`, `{"id":2,"title":"B2"}`, `{"id":3,"title":"C"}`)
	if c := r.Details.Records[0]; c.Changed != 1 || r.Conflicts > 0 {
		t.Errorf("%d changed, conflicts %d, want 1 and none: the day is no content", c.Changed, r.Conflicts)
	}
	lines(t, dir, Config{Update: true}, `{"id":1,"budget":1,"_fetched":"2026-10-01"}`, `{"id":3,"budget":2}`)
	check("an older row, and one without a day", `{"budget":1,"id":1,"title":"A","_fetched":"2026-11-01"}`, `{"id":2,"title":"B2"}`, `{"budget":2,"id":3,"title":"C"}`)
}

// TestFetchedTwice: of two rows in one file about one resource, the one fetched last counts.
func TestFetchedTwice(t *testing.T) {
	rows := []string{
		`{"id":1,"title":"Old","_fetched":"2026-05-01"}`, `{"id":1,"title":"New","_fetched":"2026-06-01"}`, `{"id":1,"title":"Older","_fetched":"2026-04-01"}`,
	}
	for range rows {
		dir := t.TempDir()
		r := lines(t, dir, Config{}, rows...)
		if got := records(t, dir); !slices.Equal(got, rows[slices.IndexFunc(rows, func(s string) bool { return strings.Contains(s, "New") }):][:1]) || len(r.Bad) > 0 {
			t.Errorf("%q: records = %q, bad %q", rows, got, r.Bad)
		}
		rows = append(rows[1:], rows[0])
	}
	dir := t.TempDir()
	if r := lines(t, dir, Config{}, rows[0], strings.Replace(rows[0], "title", "tagline", 1)); len(r.Bad) != 1 || !strings.Contains(r.Bad[0], "with other content") {
		t.Errorf("Bad = %q, want the second row of one day", r.Bad)
	}
}

// TestFetchedOfParts: the day of a row applies to all of its records, and the day of a sub-request's response to its resource.
func TestFetchedOfParts(t *testing.T) {
	dir, from := t.TempDir(), t.TempDir()
	put(t, from, "tv.ndjson", `{"id":1,"season/1":{"id":2,"name":"S","episodes":[]},"season/1/episode/1":{"id":3,"name":"E"},"_fetched":"2026-05-01"}`+"\n")
	put(t, from, "movie/5-credits.json", `{"id":5,"cast":[],"crew":[],"_fetched":"2026-05-02"}`)
	r := ingestInto(t, dir, Config{Sources: []string{from}})
	if len(r.Bad) > 0 {
		t.Fatalf("Bad = %q", r.Bad)
	}
	for kind, want := range map[string]string{"tv": "2026-05-01", "season": "2026-05-01", "episode": "2026-05-01", "movie": "2026-05-02"} {
		got := recordsOf(t, dir, kind)
		if len(got) != 1 || strings.Count(got[0], "_fetched") != 1 || !strings.HasSuffix(got[0], `,"_fetched":"`+want+`"}`) {
			t.Errorf("%s records = %q, want one with the day %s", kind, got, want)
		}
	}
}
