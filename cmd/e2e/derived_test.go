package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// TestRuntimeOfSeries: discover finds a series by the median runtime of its regular episodes. Specials do not count:
// the first series here has as many and as short ones as Game of Thrones.
func TestRuntimeOfSeries(t *testing.T) {
	dir := t.TempDir()
	season := func(series, number int, runtimes ...string) string {
		var b strings.Builder
		for i, r := range runtimes {
			id := series*10_000 + number*1000 + i
			fmt.Fprintf(&b, `,{"air_date":"2011-04-17","episode_number":%d,"id":%d,"name":"E","runtime":%s,"season_number":%d,"show_id":%d}`, i+1, id, r, number, series)
		}
		return fmt.Sprintf(`,"season/%d":{"id":%d,"season_number":%d,"name":"S","episodes":[%s]}`, number, series*10+number, number, strings.TrimPrefix(b.String(), ","))
	}
	clips := strings.Split(strings.Repeat("3,", 57)+"3", ",")
	ingestFile(t, dir, "tv.ndjson", "",
		`{"id":1399,"name":"A"`+season(1399, 0, clips...)+season(1399, 1, "62", "56", "58", "null", "0")+season(1399, 2, "55", "53")+`}`,
		`{"id":2,"name":"Two halves"`+season(2, 1, "40", "50")+`}`,
		`{"id":3,"name":"Only specials"`+season(3, 0, "3", "3")+season(3, 1, "null")+`}`,
		`{"id":4,"name":"Given","episode_run_time":[45]`+season(4, 1, "60")+`}`)
	rel := buildCatalog(t, dir)
	for _, tt := range []struct {
		least, most int
		want        string
	}{
		{56, 56, "[1399]"},
		{1, 39, "[]"},
		{40, 40, "[2]"},
		{45, 45, "[4]"},
		{1, 1000, "[1399 4 2]"},
	} {
		var ids []int64
		for _, row := range get(t, rel, fmt.Sprintf("/3/discover/tv?sort_by=name.asc&with_runtime.gte=%d&with_runtime.lte=%d", tt.least, tt.most)).list("results") {
			ids = append(ids, row.int("id"))
		}
		if got := fmt.Sprint(ids); got != tt.want {
			t.Errorf("series of %d to %d minutes are %s, want %s", tt.least, tt.most, got, tt.want)
		}
	}
}
