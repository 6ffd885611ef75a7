package ingest

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestFit: a file gets the meaning that uses most of its cells, and the fates of the others are reported.
func TestFit(t *testing.T) {
	t.Parallel()
	f := func(name, text, meaning string, columns ...string) {
		t.Helper()
		r := ingestInto(t, t.TempDir(), Config{Sources: []string{put(t, t.TempDir(), name, text)}})
		if len(r.Columns) != 1 || r.Columns[0].Meaning != meaning {
			t.Errorf("%s is taken as %+v, want %s", name, r.Columns, meaning)
			return
		}
		var got []string
		for _, c := range r.Columns[0].Columns {
			line := fmt.Sprintf("%s %d=%d+%d+%d+%d", c.Name, c.Cells, c.Used, c.LeftOut, c.Extra, c.Unused)
			if c.Example != nil {
				line += " " + c.Example.String()
			}
			got = append(got, line)
		}
		if !slices.Equal(got, columns) {
			t.Errorf("%s: columns\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(columns, "\n"))
		}
	}
	const own = "movie records of the API"
	f("movies.ndjson", `{"id":1,"title":"A","mood":"x","runtime":"soon"}`+"\n"+`{"id":2,"title":"B","runtime":90,"credits":{"cast":[{"id":5}],"note":"y"}}`, own,
		"credits.cast 1=1+0+0+0", "credits.note 1=0+0+1+0", "id 2=2+0+0+0", "mood 1=0+0+1+0",
		`runtime 2=1+1+0+0 movies.ndjson:1: want an integer, found "soon"`, "title 2=2+0+0+0")
	f("movies.csv", "id,title,release_date,note\n1,A,1999-10-15,x\n2,B,,\n", own, "id 2=2+0+0+0", "note 1=0+0+0+1", "release_date 1=1+0+0+0", "title 2=2+0+0+0")
	f("keywords.ndjson", `{"id":862,"keywords":[{"id":931,"name":"jealousy"}]}`+"\n"+`{"id":5,"keywords":[]}`, "keywords of a movie", "id 2=2+0+0+0", "keywords 1=1+0+0+0")
	f("x.csv", ",id,title,genres,original_language\n0,550,A,\"Drama, Crime\",en\n1,551,B,Nothing,de\n", "table tmdb_movie_dataset of tmdb-v11.toml",
		"column_1 2=0+0+0+2", "genres 2=1+0+1+0", "id 2=2+0+0+0", "original_language 2=2+0+0+0", "title 2=2+0+0+0")
	f("movies.json", `{"_id":{"$oid":"5b2d1ba70e0a26431d004b10"},"id":{"$numberInt":"1"},"title":"A","revenue":{"$numberLong":"7"},"release_date":{"$date":{"$numberLong":"939945600000"}}}`, own,
		"_id 1=0+0+0+1", "id 1=1+0+0+0", "release_date 1=1+0+0+0", "revenue 1=1+0+0+0", "title 1=1+0+0+0")
	f("tv.ndjson", `{"id":1396,"name":"A","first_air_date":1200787200,"genres":["Drama"],"seasons":[{"id":1,"season_number":1,"poster_path":"/s.jpg"}]}`, "tv records of the API",
		"first_air_date 1=1+0+0+0", "genres 1=1+0+0+0", "id 1=1+0+0+0", "name 1=1+0+0+0", "seasons 1=1+0+0+0")
	f("movies.json", `{"id":{"0":5,"1":6},"title":{"0":"A","1":"B"}}`, own+", rows at columns()", "id 2=2+0+0+0", "title 2=2+0+0+0")
	f("movies.json", `{"id":7,"title":"My list","items":[{"id":5,"title":"A"},{"id":6,"title":"B"}]}`, own+", rows at items", "id 2=2+0+0+0", "title 2=2+0+0+0")
	f("list.json", `{"page":1,"results":[{"id":1,"title":"A","overview":"o"}]}`, own+", rows at results", "id 1=1+0+0+0", "overview 1=1+0+0+0", "title 1=1+0+0+0")
}

// TestSpread: if the first rows are not clear, rows of the whole file decide, whatever its length.
func TestSpread(t *testing.T) {
	sharedtest.Set(t, &headRows, 4)
	for _, most := range []int{7, 8, 9, 1000} {
		sharedtest.Set(t, &spreadRows, most)
		var rows []string // the first have only a name, which any kind has
		for i := range 8 {
			row := fmt.Sprintf(`{"id":%d,"name":"A"}`, i+1)
			if i > 4 {
				row = fmt.Sprintf(`{"id":%d,"name":"A","birthday":"1950-01-0%d","known_for_department":"Acting"}`, i+1, i)
			}
			rows = append(rows, row)
		}
		r := fileOf(t, t.TempDir(), "data.ndjson", Config{}, rows...)
		if r.Records["person"] != 8 {
			t.Errorf("with a sample of %d rows: %v, want 8 people", most, r.Records)
		}
	}
}

// TestRowsAreNoDocuments: rows that a draft fits are not passed over for an object inside them that looks like a record.
func TestRowsAreNoDocuments(t *testing.T) {
	t.Parallel()
	row := `{"id":%d,"title":"A","genres":"Drama","images":{"posters":[{"file_path":"/a.jpg"}]},"belongs_to_collection":{"id":5,"name":"X"}}`
	path := put(t, t.TempDir(), "movies.ndjson", fmt.Sprintf(row+"\n"+row, 1, 2))
	_, err := Run(t.Context(), Config{Catalog: t.TempDir(), Sources: []string{path}})
	if err == nil || !strings.Contains(err.Error(), "want an array of objects, found \"Drama\"") || !strings.Contains(err.Error(), "ingest --explain") {
		t.Errorf("Run = %v, want the rows refused for their genres, and the next command", err)
	}
}

// TestPoorFit: a file with a poor fit ends the ingest with the reason and advice, and the catalogue is unchanged.
func TestPoorFit(t *testing.T) {
	t.Parallel()
	dir, src := t.TempDir(), t.TempDir()
	lines(t, dir, Config{}, `{"id":1,"title":"Old"}`)
	before := allFiles(t, dir)
	f := func(c Config, name, text string, want ...string) {
		t.Helper()
		c.Catalog, c.Sources = dir, []string{put(t, src, name, text)}
		r, err := Run(t.Context(), c)
		var poor *poorFitError
		if want == nil {
			if err != nil {
				t.Errorf("%s: %v, want it to be taken", name, err)
			}
			before = allFiles(t, dir)
			return
		}
		if !errors.As(err, &poor) || !slices.Equal(poor.Files[0].Problems, want) || !r.Stopped || !maps.Equal(allFiles(t, dir), before) {
			t.Errorf("%s: %v, want it refused for %q", name, err, want)
		}
	}
	rows := func(n int, row func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(row(i) + "\n")
		}
		return b.String()
	}
	two := `{"id":5,"title":"A","runtime":"a"}` + "\n" + `{"id":6,"title":"B","runtime":"b"}`
	f(Config{}, "movies.ndjson", two, `2 of 2 values of column runtime do not fit its field, such as "a" in line 1`)
	f(Config{MinFit: AnyFit}, "movies.ndjson", two)
	many := rows(30, func(i int) string {
		if i < 16 {
			return fmt.Sprintf(`{"id":%d,"title":"A","runtime":"x"}`, i+10)
		}
		return fmt.Sprintf(`{"id":%d,"title":"A","runtime":9}`, i+10)
	})
	f(Config{}, "movies.ndjson", many, `16 of 30 values of column runtime do not fit its field, such as "x" in line 1`)
	f(Config{MinFit: 0.4}, "movies.ndjson", many)
	f(Config{Kind: "movie", Layout: "tmdb"}, "movies.csv", "id,title,a,b,c\n1,A,1,2,3\n", "no field takes 3 of 5 values: columns a, b, c")
	f(Config{}, "movies.ndjson", rows(20, func(i int) string {
		if i < 2 {
			return `{"id":"x","title":"A"}`
		}
		return fmt.Sprintf(`{"id":%d,"title":"A"}`, i+10)
	}), "2 of 20 rows made no record")

	put(t, src, "films.toml", "[[table]]\nfiles = ['films']\nignore = [{ column = 'b' }, { column = 'c' }]\n[[table.record]]\nkind = 'movie'\nfields.id = 'nr'\nfields.title = 'name'\n")
	f(Config{}, "films.csv", "nr,name,b,c\n1,A,x,y\n")
	f(Config{}, "films.csv", "nr,b,c\n1,x,y\n", "mapping films.toml reads columns that the file lacks: name")
	f(Config{}, "films.csv", "nr,name,b\n1,,x\n2,,y\n", "name, which names the movie records, is empty")
	put(t, src, "films.toml", "[[table]]\nfiles = ['films']\nmin_fit = 0.1\n[[table.record]]\nkind = 'movie'\nfields.id = 'nr'\nfields.title = 'name'\n")
	f(Config{}, "films.csv", "nr,name,b,c,d\n1,A,x,y,z\n")

	crawl := t.TempDir() // files of one resource each count together
	for n := 1; n < 4; n++ {
		put(t, crawl, fmt.Sprintf("movie/%d.json", n), fmt.Sprintf(`{"id":%d,"title":"A","genres":"Drama"}`, n))
	}
	r, err := Run(t.Context(), Config{Catalog: dir, Sources: []string{crawl}})
	var poor *poorFitError
	if !errors.As(err, &poor) || len(r.Columns) != 1 || r.Columns[0].Files != 3 {
		t.Errorf("a crawl whose genres are texts: %v, %+v, want it refused for all of its files", err, r.Columns)
	}
}

// TestConservation: in every dump and case, used, left out, extra and unused values add up to all values. An oracle that reads
// CSV files with another library finds the same number of values in each column.
func TestConservation(t *testing.T) {
	t.Parallel()
	const most = 20 << 20 // bytes of a file, or a tenth of it where that is packed
	var files []string
	for _, dir := range []string{"cases", "dumps"} {
		err := filepath.WalkDir(sharedtest.Path(t, dir), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			plain := strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")
			if slices.Contains([]string{".csv", ".json", ".ndjson", ".parquet"}, filepath.Ext(plain)) && (info.Size() < most/10 || plain == path && info.Size() < most) {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	taken := 0
	for _, path := range files {
		dir := t.TempDir()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		copied := put(t, dir, "src/"+filepath.Base(path), string(b)) // a draft is written beside it
		r, err := Run(t.Context(), Config{Catalog: filepath.Join(dir, "catalog"), Sources: []string{copied}, MinFit: AnyFit, Drafted: func(Drafted) {}})
		if err != nil {
			continue // it has a reason
		}
		for _, fit := range r.Columns {
			taken++
			checkSums(t, path, fit)
			if strings.HasSuffix(path, ".csv") && fit.Made == fit.Rows && !strings.HasPrefix(fit.Meaning, "table") {
				want := valuesOf(t, path)
				for _, c := range fit.Columns {
					if want[c.Name] != c.Cells {
						t.Errorf("%s: column %s has %d values, and another reader finds %d", path, c.Name, c.Cells, want[c.Name])
					}
				}
			}
		}
	}
	if 2*taken < len(files) {
		t.Errorf("%d of %d files were taken, want most", taken, len(files))
	}
}

func checkSums(tb testing.TB, path string, fit report.FileFit) {
	tb.Helper()
	for _, c := range fit.Columns {
		if c.Cells == 0 || c.Used+c.LeftOut+c.Extra+c.Unused != c.Cells {
			tb.Errorf("%s: column %+v does not add up", path, c)
		}
	}
}

// valuesOf counts the values of each column of a CSV file with the standard library.
func valuesOf(t *testing.T, path string) map[string]int64 {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.FieldsPerRecord = -1
	all, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for _, row := range all[1:] {
		for i, cell := range row {
			if strings.TrimSpace(cell) != "" {
				out[strings.TrimSpace(all[0][i])]++
			}
		}
	}
	return out
}

// FuzzFit: the counts of any table add up.
func FuzzFit(f *testing.F) {
	f.Add("movies.csv", "id,title,genres\n1,A,x\n2,,\n")
	f.Add("movies.ndjson", `{"id":1,"title":"A","credits":{"cast":[1],"x":{}},"y":[]}`+"\n"+`{"id":1,"title":null}`)
	f.Add("x.csv", "movieId,imdbId,tmdbId\n1,2,3\n4,,\n")
	f.Add("data.json", `{"page":1,"results":[{"id":1,"title":5}]}`)
	f.Add("movies.ndjson", `{"id":1,"title":"A","":1,"title":null}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, name, text string) {
		ext := ".csv"
		if strings.HasPrefix(strings.TrimSpace(text), "{") || json.Valid([]byte(text)) {
			ext = ".ndjson"
		}
		path := filepath.Join(dir, strings.Map(func(r rune) rune {
			if r < 'a' || r > 'z' {
				return -1
			}
			return r
		}, name[:min(len(name), 20)])+ext)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Run(t.Context(), Config{Catalog: filepath.Join(dir, "catalog"), Sources: []string{path}, MinFit: AnyFit})
		if err != nil && strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("%q: want one line", err)
		}
		for _, fit := range r.Columns {
			checkSums(t, path, fit)
		}
	})
}
