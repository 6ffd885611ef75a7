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

// TestIDs: what must be there once in the whole sample is.
func TestIDs(t *testing.T) {
	credits, episodes, seasons := newOnce(t, "credit id"), newOnce(t, "episode"), newOnce(t, "season")
	hex, keys, imdb := newOnce(t, "id"), newOnce(t, "video key"), newOnce(t, "IMDb id")
	for _, m := range readRows[movie](t, "movies.ndjson") {
		where := fmt.Sprintf("movie %d", m.ID)
		imdb.add(m.IMDbID, where)
		for _, c := range slices.Concat(m.Credits.Cast, m.Credits.Crew) {
			credits.add(c.CreditID, where)
		}
		for _, r := range m.Reviews.Results {
			hex.add(r.ID, where)
		}
		for _, v := range m.Videos.Results {
			keys.add(v.Key, where)
			hex.add(v.ID, where)
		}
	}
	for _, s := range readSeries(t) {
		where := fmt.Sprintf("series %d", s.ID)
		imdb.add(value(s.ExternalIDs.IMDb), where)
		people := map[string]int{} // by the id of their credit
		list := slices.Concat(s.Credits.Cast, s.Credits.Crew, s.CreatedBy)
		for _, se := range s.Seasons {
			seasons.add(fmt.Sprint(se.ID), where)
			hex.add(se.OID, where)
			for _, e := range se.Episodes {
				episodes.add(fmt.Sprint(e.ID), where)
				list = slices.Concat(list, e.Crew, e.Guests)
			}
		}
		for _, c := range list {
			if c.ID <= 0 || strings.TrimSpace(c.Name) == "" || !hexRE.MatchString(c.CreditID) {
				t.Errorf("%s: credit %+v", where, c)
			}
			// A credit is one part or job of one person, however many episodes it is in.
			switch of, again := people[c.CreditID]; {
			case !again:
				people[c.CreditID] = c.ID
				credits.add(c.CreditID, where)
			case of != c.ID:
				t.Errorf("%s: credit %s is of person %d and of person %d", where, c.CreditID, of, c.ID)
			}
		}
		for _, r := range s.Reviews.Results {
			hex.add(r.ID, where)
		}
		for _, v := range s.Videos.Results {
			keys.add(v.Key, where)
			hex.add(v.ID, where)
		}
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
