package sample

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
)

// marked are the titles of one meaning of an account.
type marked struct {
	Movies, TV []struct {
		ID      int64   `json:"id"`
		Value   float64 `json:"value"`
		Created string  `json:"created_at"`
	}
	Episodes []struct {
		Show    int64   `json:"show_id"`
		Season  int     `json:"season_number"`
		Episode int     `json:"episode_number"`
		Value   float64 `json:"value"`
	}
}

// TestUsers: what users put on their lists and shelves is in the sample, each once, and the
// lists are theirs.
func TestUsers(t *testing.T) {
	titles := map[string]bool{}
	for _, m := range readRows[struct{ ID int64 }](t, "movies.ndjson") {
		titles[fmt.Sprint("movie ", m.ID)] = true
	}
	for _, s := range readRows[struct{ ID int64 }](t, "tv.ndjson") {
		titles[fmt.Sprint("tv ", s.ID)] = true
	}
	type list struct {
		ID     int64
		Public bool
		By     struct{ ID string } `json:"created_by"`
		Items  []struct {
			Media string `json:"media_type"`
			ID    int64
		}
	}
	lists := readRows[list](t, "lists.ndjson")
	private := 0
	for _, l := range lists {
		seen := map[string]bool{}
		for _, it := range l.Items {
			name := fmt.Sprint(it.Media, " ", it.ID)
			if !titles[name] || seen[name] {
				t.Errorf("list %d: %s is not in the sample, or twice on the list", l.ID, name)
			}
			seen[name] = true
		}
		if !l.Public {
			private++
		}
	}
	if len(lists) != 3 || private != 1 || len(lists[0].Items) <= 20 {
		t.Errorf("%d lists, %d of them private, the first of %d items; want 3, one, more than a page", len(lists), private, len(lists[0].Items))
	}
	guest := regexp.MustCompile(`^[0-9a-f]{32}$`)
	owners := map[string]bool{}
	for _, a := range readRows[struct {
		ID        int64
		Object    string `json:"account_object_id"`
		Guest     string `json:"guest_session_id"`
		Lists     []int64
		Favorites marked
		Watchlist marked
		Rated     marked
	}](t, "accounts.ndjson") {
		owners[a.Object] = true
		if (a.ID == 0) != guest.MatchString(a.Guest) {
			t.Errorf("account %d has the guest session %q", a.ID, a.Guest)
		}
		for _, m := range []marked{a.Favorites, a.Watchlist, a.Rated} {
			for _, r := range m.Movies {
				if !titles[fmt.Sprint("movie ", r.ID)] {
					t.Errorf("account %d: movie %d is not in the sample", a.ID, r.ID)
				}
			}
			for _, r := range m.TV {
				if !titles[fmt.Sprint("tv ", r.ID)] {
					t.Errorf("account %d: series %d is not in the sample", a.ID, r.ID)
				}
			}
		}
		for _, id := range a.Lists {
			if !slices.ContainsFunc(lists, func(l list) bool { return l.ID == id && l.By.ID == a.Object }) {
				t.Errorf("account %d has list %d, which is not its own", a.ID, id)
			}
		}
	}
	for _, l := range lists {
		if !owners[l.By.ID] {
			t.Errorf("list %d is by %q, who has no account", l.ID, l.By.ID)
		}
	}
}
