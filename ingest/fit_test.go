package ingest

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

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

// TestConservation: in every dump and case, used, left out, extra and unused values add up to all values. An oracle that reads
// CSV files with another library finds the same number of values in each column.
func TestConservation(t *testing.T) {
	t.Parallel()
	const most = 2 << 20 // bytes of a file, or a tenth of it where that is packed
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
