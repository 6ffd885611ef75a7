package sample

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
)

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

// TestIDs: ids that must be unique in the whole sample are. A credit is one part or job of one person, however many
// episodes it is in.
func TestIDs(t *testing.T) {
	owners := map[string]string{}
	claim := func(what string, id any, owner string) {
		key := fmt.Sprint(what, " ", id)
		if other, ok := owners[key]; ok && other != owner {
			t.Errorf("%s is of %s and of %s", key, other, owner)
		}
		owners[key] = owner
	}
	var walk func(title, path string, v any)
	walk = func(title, path string, v any) {
		list, _ := v.([]any)
		for i, one := range list {
			walk(title, fmt.Sprintf("%s[%d]", path, i), one)
		}
		o, _ := v.(map[string]any)
		if credit, ok := o["credit_id"].(string); ok {
			if name, _ := o["name"].(string); !hexRE.MatchString(credit) || o["id"] == nil || strings.TrimSpace(name) == "" {
				t.Errorf("%s: credit %v", path, o)
			}
			claim("credit", credit, fmt.Sprint(title, ", person ", o["id"]))
		}
		for key, value := range o {
			at := path + "." + key
			switch text, isText := value.(string); {
			case key == "imdb_id" && isText:
				claim(key, text, title)
			case isText && (key == "_id" || key == "id" || key == "key"):
				claim(key, text, at)
			case strings.HasPrefix(key, "season/"):
				season := value.(map[string]any)
				claim("season", season["id"], at)
				for i, e := range season["episodes"].([]any) {
					claim("episode", e.(map[string]any)["id"], fmt.Sprint(at, i))
				}
			}
			walk(title, at, value)
		}
	}
	for _, file := range []string{"movies.ndjson", "tv.ndjson"} {
		for _, row := range readRows[map[string]any](t, file) {
			title := fmt.Sprint(file, " ", row["id"])
			walk(title, title, row)
		}
	}
	if len(owners) < 10_000 {
		t.Errorf("%d ids, want the ids of all credits and episodes", len(owners))
	}
}

// skipAlone skips, with -short, what takes seconds under the race detector and runs in one
// goroutine.
func skipAlone(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("nothing runs side by side here: run without -short")
	}
}
