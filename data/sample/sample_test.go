package sample

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"regexp"
	"slices"
	"testing"
)

type image struct {
	AspectRatio float64 `json:"aspect_ratio"`
	Height      int     `json:"height"`
	Country     *string `json:"iso_3166_1"`
	Language    *string `json:"iso_639_1"`
	FilePath    string  `json:"file_path"`
	VoteAverage float64 `json:"vote_average"`
	Width       int     `json:"width"`
}

func readLines(t *testing.T, file string) [][]byte {
	t.Helper()
	b, err := fs.ReadFile(FS(), file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(b, []byte("\n")) {
		t.Fatalf("%s: the last line does not end with a newline", file)
	}
	return bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
}

// readRows decodes every line of file.
func readRows[T any](t *testing.T, file string) []T {
	t.Helper()
	var out []T
	for n, line := range readLines(t, file) {
		var row T
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatalf("%s: line %d: %v", file, n+1, err)
		}
		out = append(out, row)
	}
	return out
}

// TestWellKnown: the titles that people try first have all that clients show of a title.
func TestWellKnown(t *testing.T) {
	type title struct {
		ID           int
		Title, Name  string
		Votes        int                                  `json:"vote_count"`
		Alternatives struct{ Titles, Results []struct{} } `json:"alternative_titles"`
		Reviews      struct{ Results []struct{} }
		Providers    struct{ Results map[string]struct{} } `json:"watch/providers"`
	}
	for file, n := range map[string]int{"movies.ndjson": 25, "tv.ndjson": 12} {
		rows := readRows[title](t, file)
		slices.SortFunc(rows, func(a, b title) int { return b.Votes - a.Votes })
		for _, r := range rows[:n] {
			if len(r.Alternatives.Titles)+len(r.Alternatives.Results) == 0 || len(r.Reviews.Results) == 0 || len(r.Providers.Results) == 0 {
				t.Errorf("%s: %d %s%s: alternative titles %v, %d reviews, %d countries with offers, want some of each",
					file, r.ID, r.Title, r.Name, r.Alternatives, len(r.Reviews.Results), len(r.Providers.Results))
			}
		}
	}
}

// TestSize keeps what the binary carries within bounds.
func TestSize(t *testing.T) {
	total := 0
	entries, err := fs.ReadDir(FS(), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		total += int(info.Size())
	}
	if len(entries) != 12 || total > 9_000_000 {
		t.Errorf("%d files with %d bytes, want 12 with at most 9 MB", len(entries), total)
	}
}

var hexRE = regexp.MustCompile(`^[0-9a-f]{24}$`)

// once reports what it has seen before.
type once struct {
	t    *testing.T
	what string
	seen map[string]string
}

func newOnce(t *testing.T, what string) once {
	t.Helper()
	return once{t, what, map[string]string{}}
}

func (u once) add(id, where string) {
	u.t.Helper()
	if other, ok := u.seen[id]; ok {
		u.t.Errorf("%s %s occurs in %s and %s", u.what, id, other, where)
	}
	u.seen[id] = where
}

// skipAlone skips, with -short, what takes seconds under the race detector and runs in one
// goroutine.
func skipAlone(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("nothing runs side by side here: run without -short")
	}
}
