package sample

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// fact is what a dump says about a movie.
type fact struct {
	title, date       string
	runtime           int
	overview, tagline string
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
		out[id] = fact{
			row[col["original_title"]], row[col["release_date"]], int(runtime),
			row[col["overview"]], row[col["tagline"]],
		}
	}
}

func readMovnix(t *testing.T) map[int]fact {
	t.Helper()
	f, err := os.Open(sharedtest.Path(t, "dumps", "movnix", "movies.ndjson.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	out := map[int]fact{}
	r := bufio.NewReader(z)
	for {
		line, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var row struct {
				Movie struct {
					ID            int    `json:"tmdbId"`
					OriginalTitle string `json:"originalTitle"`
					ReleaseDate   string `json:"releaseDate"`
					Runtime       int    `json:"runtime"`
					Overview      string `json:"overview"`
					Tagline       string `json:"tagline"`
				} `json:"movie"`
			}
			if err := json.Unmarshal(line, &row); err != nil {
				t.Fatal(err)
			}
			m := row.Movie
			out[m.ID] = fact{m.OriginalTitle, m.ReleaseDate, m.Runtime, m.Overview, m.Tagline}
		}
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func readDumps(t *testing.T) map[string]map[int]fact {
	t.Helper()
	return map[string]map[int]fact{"tmdb5000": readTMDB5000(t), "movnix": readMovnix(t)}
}

func year(date string) string { return date[:min(4, len(date))] }

func TestFacts(t *testing.T) {
	skipAlone(t)
	dumps := readDumps(t)
	compared := map[int]bool{}
	for _, m := range readMovies(t) {
		for name, dump := range dumps {
			f, ok := dump[m.ID]
			if !ok {
				continue
			}
			compared[m.ID] = true
			if f.title != m.OriginalTitle {
				t.Errorf("%d: original title %q, %s has %q", m.ID, m.OriginalTitle, name, f.title)
			}
			if year(f.date) != year(m.ReleaseDate) {
				t.Errorf("%d: release date %s, %s has %s", m.ID, m.ReleaseDate, name, f.date)
			}
			if d := f.runtime - m.Runtime; d < -2 || d > 2 {
				t.Errorf("%d: runtime %d, %s has %d", m.ID, m.Runtime, name, f.runtime)
			}
		}
	}
	if len(compared) < 100 {
		t.Errorf("only %d movies occur in a dump, want at least 100", len(compared))
	}
	t.Logf("%d movies compared", len(compared))
}
