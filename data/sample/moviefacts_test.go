package sample

import (
	"compress/gzip"
	"encoding/csv"
	"io"
	"os"
	"strconv"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// fact is what a dump says about a movie.
type fact struct {
	title, date string
	runtime     int
}

func readTMDB5000(t *testing.T) map[int]fact {
	t.Helper()
	f, err := os.Open(sharedtest.Path(t, "dumps", "tmdb5000", "tmdb_5000_movies.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(z)
	head, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	col := map[string]int{}
	for i, name := range head {
		col[name] = i
	}
	out := map[int]fact{}
	for {
		row, err := r.Read()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		id, err := strconv.Atoi(row[col["id"]])
		if err != nil {
			t.Fatal(err)
		}
		runtime, _ := strconv.ParseFloat(row[col["runtime"]], 64) // two rows have none
		out[id] = fact{row[col["original_title"]], row[col["release_date"]], int(runtime)}
	}
}

func year(date string) string { return date[:min(4, len(date))] }

// TestFacts compares movies with a dump of 2017.
func TestFacts(t *testing.T) {
	skipAlone(t)
	dump, compared := readTMDB5000(t), 0
	for _, m := range readRows[movie](t, "movies.ndjson") {
		f, ok := dump[m.ID]
		if !ok {
			continue
		}
		compared++
		if f.title != m.OriginalTitle {
			t.Errorf("%d: original title %q, the dump has %q", m.ID, m.OriginalTitle, f.title)
		}
		if year(f.date) != year(m.ReleaseDate) {
			t.Errorf("%d: release date %s, the dump has %s", m.ID, m.ReleaseDate, f.date)
		}
		if d := f.runtime - m.Runtime; d < -2 || d > 2 {
			t.Errorf("%d: runtime %d, the dump has %d", m.ID, m.Runtime, f.runtime)
		}
	}
	if compared < 100 {
		t.Errorf("only %d movies occur in the dump, want at least 100", compared)
	}
}
