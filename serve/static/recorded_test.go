package static

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// These tests compare answers with recorded answers of TMDB, the newest of each kind
// and those whose source kept the bytes.

// order tells how much the order in a recording says.
type order int

const (
	same     order = iota // every byte but the blanks between tokens
	anyArray              // arrays are sets: TMDB's order changes, or the source sorted them
)

var recordings = []struct {
	uri   string
	file  string
	order order
}{
	{"/3/configuration", "configuration/details--tmdblib.json", same},
	{"/3/configuration/countries", "configuration/countries--krelinga.json", same},
	{"/3/configuration/countries", "configuration/countries--tmdblib.json", anyArray},
	{"/3/configuration/jobs", "configuration/jobs--tmdblib.json", anyArray},
	{"/3/configuration/jobs", "configuration/jobs--openapi.json", anyArray},
	{"/3/configuration/languages", "configuration/languages--tmdblib.json", anyArray},
	{"/3/configuration/primary_translations", "configuration/primary_translations--tmdblib.json", same},
	{"/3/configuration/timezones", "configuration/timezones--tmdblib.json", anyArray},
	{"/3/genre/movie/list", "genre/movie_list--krelinga.json", same},
	{"/3/genre/movie/list?language=da", "genre/movie_list--tmdblib-da.json", same},
	{"/3/genre/movie/list?language=de", "genre/movie_list--openapi.json", same}, // recorded in German
	{"/3/genre/tv/list", "genre/tv_list--krelinga.json", same},
	{"/3/genre/tv/list?language=da", "genre/tv_list--tmdblib-da.json", same},
	{"/3/genre/tv/list?language=de", "genre/tv_list--openapi.json", same},
	{"/3/certification/movie/list", "certification/movie--tmdblib.json", anyArray},
	{"/3/certification/tv/list", "certification/tv--tmdblib.json", anyArray},
	{"/3/watch/providers/regions", "watch-providers/regions--tmdblib.json", anyArray},
	{"/3/watch/providers/movie", "watch-providers/movie--tmdblib.json", same},
	{"/3/watch/providers/tv", "watch-providers/tv--tmdblib.json", same},
	{"/3/job/list", "configuration/job_list_legacy--18months-en.json", anyArray},
}

func TestRecorded(t *testing.T) {
	s := newSet(t, "")
	for _, tt := range recordings {
		got, want := answer(t, s, tt.uri).Identity, readRecorded(t, tt.file)
		if tt.order == anyArray {
			got, want = sortArrays(t, got), sortArrays(t, want)
		}
		if !bytes.Equal(got, want) {
			i := firstDifference(got, want)
			t.Errorf("%s, byte %d = %s, want %s as in %s", tt.uri, i, around(got, i), around(want, i), tt.file)
		}
	}
}

// TestRecordedJobOrder compares the order of jobs in a department, which three
// recordings of four years agree on.
func TestRecordedJobOrder(t *testing.T) {
	type department struct {
		Name string `json:"department"`
		Jobs []string
	}
	var got, want []department
	mustUnmarshal(t, answer(t, newSet(t, ""), "/3/configuration/jobs").Identity, &got)
	mustUnmarshal(t, readRecorded(t, "configuration/jobs--openapi.json"), &want)
	slices.SortFunc(want, func(a, b department) int { return strings.Compare(a.Name, b.Name) })
	if !slices.EqualFunc(got, want, func(a, b department) bool { return a.Name == b.Name && slices.Equal(a.Jobs, b.Jobs) }) {
		t.Errorf("configuration/jobs = %v, want %v", got, want)
	}
}

// TestRecordedETag compares entity tags with those that TMDB sent with equal bodies.
func TestRecordedETag(t *testing.T) {
	data, err := os.ReadFile(sharedtest.Path(t, "recorded", "HEADERS.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	s, seen := newSet(t, ""), 0
	for line := range strings.Lines(string(data)) {
		file, header, _ := strings.Cut(strings.TrimSpace(line), "\t")
		for _, tt := range recordings {
			var h struct{ ETag string }
			if tt.file != file || tt.order != same {
				continue
			}
			seen++
			mustUnmarshal(t, []byte(header), &h)
			if got := answer(t, s, tt.uri).ETag; string(got) != h.ETag {
				t.Errorf("entity tag of %s = %s, want %s as sent with %s", tt.uri, got, h.ETag, file)
			}
		}
	}
	if seen < 3 {
		t.Errorf("compared %d entity tags, want at least 3", seen)
	}
}

// readRecorded returns a recording without the blanks between tokens.
func readRecorded(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(sharedtest.Path(t, append([]string{"recorded"}, strings.Split(file, "/")...)...))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return b.Bytes()
}

func mustUnmarshal(t *testing.T, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("Unmarshal(%.80s): %v", data, err)
	}
}

// sortArrays returns data with the members of objects and the items of arrays sorted.
func sortArrays(t *testing.T, data []byte) []byte {
	t.Helper()
	var v any
	mustUnmarshal(t, data, &v)
	return sorted(t, v)
}

func sorted(t *testing.T, v any) []byte {
	t.Helper()
	switch v := v.(type) {
	case []any:
		items := make([]string, len(v))
		for i := range v {
			items[i] = string(sorted(t, v[i]))
		}
		slices.Sort(items)
		return []byte("[" + strings.Join(items, ",") + "]")
	case map[string]any:
		fields := make(map[string]json.RawMessage, len(v))
		for k := range v {
			fields[k] = sorted(t, v[k])
		}
		return mustMarshal(t, fields) // sorts the members
	}
	return mustMarshal(t, v)
}

func mustMarshal(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func firstDifference(a, b []byte) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return i
}

// around returns some bytes of b before and after i.
func around(b []byte, i int) []byte { return b[max(0, min(i, len(b))-40):min(len(b), i+40)] }
