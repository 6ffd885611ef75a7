package edge

import (
	"errors"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/tables/accounts"
	"github.com/reelsplice/reelsplice/serve/status"
)

// TestPlaces: every page has its rows, and no number of a page leads outside.
func TestPlaces(t *testing.T) {
	f := func(n, number, from, to, all int) {
		t.Helper()
		if a, b := placesOf(n, number); a != from || b != to || pagesOf(n, pageRows) != all {
			t.Errorf("page %d of %d rows: %d to %d of %d pages, want %d to %d of %d", number, n, a, b, pagesOf(n, pageRows), from, to, all)
		}
	}
	f(0, 1, 0, 0, 1)
	f(20, 1, 0, 20, 1)
	f(21, 1, 0, 20, 2)
	f(21, 2, 20, 21, 2)
	f(21, 3, 21, 21, 2)
	f(21, 500, 21, 21, 2)
	f(21, 0, 0, 20, 2)
	f(100_000, 5000, 99_980, 100_000, 5000)
}

// TestNobody: a release without tables knows no list and no account.
func TestNobody(t *testing.T) {
	tables, err := openAccounts(&release.Reader{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tables.list(1); !errors.Is(err, status.NotFound) {
		t.Errorf("List(1) = %v, want %v", err, status.NotFound)
	}
	if _, ok, err := tables.accounts.Find([]byte("1")); ok || err != nil {
		t.Errorf("Find(1) = %v, %v, want nobody", ok, err)
	}
	if b, ok, err := tables.appendHolding([]byte("x"), accounts.Title{Kind: fragment.KindMovie, ID: 1}, true, 1); ok || err != nil || string(b) != "x" {
		t.Errorf("appendHolding = %s, %v, %v, want nothing", b, ok, err)
	}
	// Nor does one who has marked nothing think anything of a title.
	want := `"favorite":false,"rated":false,"watchlist":false}`
	for _, k := range []fragment.Kind{fragment.KindMovie, fragment.KindTV, fragment.KindEpisode} {
		if got := string(appendStates(nil, &accounts.Account{}, accounts.Title{Kind: k, ID: 1})); got != want {
			t.Errorf("appendStates of a %s = %s, want %s", k, got, want)
		}
	}
	if got := string(appendSeasonStates(nil, &accounts.Account{}, 1, 2, []seasonEpisode{{5, 1}})); !strings.HasSuffix(got, `{"id":5,"episode_number":1,"rated":false}]}`) {
		t.Errorf("appendSeasonStates = %s", got)
	}
}

// TestRating: ratings have a fraction, as the API writes them.
func TestRating(t *testing.T) {
	for v, want := range map[float64]string{8: "8.0", 8.5: "8.5", 0.5: "0.5", 10: "10.0"} {
		w := &writer{}
		if w.float("", v); string(w.buf) != want {
			t.Errorf("%v is written as %s, want %s", v, w.buf, want)
		}
	}
}
