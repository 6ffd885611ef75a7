package e2e

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/ingest/report"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestUsedCells: each cell that a report counts as used is served. The oracle reads the tables with other libraries and has no
// mapping. It looks for the cells of a column whose cells all count as used.
func TestUsedCells(t *testing.T) {
	skipLarge(t)
	made := t.TempDir()
	writeFiles(t, made, map[string][]byte{"movies.csv": oddTable(), "pictures.csv": oddPictures()})
	for name, least := range map[string]int{ // cells that are compared
		"movies.csv": 1500, "pictures.csv": 500, "dumps/tmdb5000/tmdb_5000_movies.csv.gz": 5000, "dumps/tmdb-v11-sample/TMDB_movie_dataset_v11.csv": 1500,
		"dumps/parquet-pandas/movies.parquet": 1200, "cases/w_arr/jellyfin.json": 8, "cases/w_arr/sonarr.json": 7, "cases/w_blanks/movies.csv": 8,
		"cases/w_dict/tmdb.json": 12, "cases/w_films/films.csv": 10, "cases/w_hits/movies.json": 8, "cases/w_kaggle/TMDB_movie_dataset_v11.csv": 30,
		"cases/w_meili/movies.json": 20, "cases/w_nul/movies.ndjson": 8, "cases/w_ownid/movies.csv": 6, "cases/w_types/one.csv": 3,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(made, name)
			if strings.Contains(name, "/") {
				path = sharedtest.Path(t, strings.Split(name, "/")...)
			}
			if n := checkCells(t, path); n < least {
				t.Errorf("%d cells were compared, want %d or more", n, least)
			}
		})
	}
}

// checkCells ingests a file, builds and serves it, and returns how many cells were compared.
func checkCells(t *testing.T, path string) (compared int) {
	t.Helper()
	dir := t.TempDir()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if plain, ok := strings.CutSuffix(path, ".gz"); ok {
		path, b = plain, startOf(t, b)
	}
	writeFiles(t, dir, map[string][]byte{"src/" + filepath.Base(path): b})
	fit := fitOf(t, dir, filepath.Join(dir, "src", filepath.Base(path)))
	rel := buildCatalog(t, dir)
	all := map[string][]*servedTitle{} // by id and by each title
	err = rel.Resources(t.Context(), func(key []byte, _ release.Entry, _ release.Ref) error {
		r, _ := fragment.ParseKey(key)
		if r.Kind != fragment.KindMovie && r.Kind != fragment.KindTV {
			return nil
		}
		v := get(t, rel, fmt.Sprintf("/3/%s/%d?append_to_response=credits,keywords,external_ids", r.Kind, r.ID))
		names := []string{fmt.Sprint(r.ID)}
		for _, name := range []string{"title", "name", "original_title", "original_name"} {
			names = append(names, plainText(v.text(name)))
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			all[name] = append(all[name], &servedTitle{r.Kind, v, valuesOf(v)})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := readTable(t, path, b, fit)
	cells, alone := map[string]int64{}, 0
	for _, row := range rows {
		missing, best := row.served(fit, all)
		if best == nil {
			alone++
			continue
		}
		for name := range row {
			cells[name]++
		}
		for _, lost := range missing {
			t.Errorf("resource %d lacks cell %s", best.body.int("id"), lost)
		}
	}
	if int64(alone) > fit.Rows-fit.Made || len(rows) == 0 {
		t.Errorf("%d of %d rows have no resource, and %d of %d made records", alone, len(rows), fit.Made, fit.Rows)
	}
	for _, c := range fit.Columns {
		if c.Used == c.Cells {
			compared += int(cells[c.Name])
		}
		if alone == 0 && cells[c.Name] != c.Cells {
			t.Errorf("column %s has %d cells, and the report counts %d", c.Name, cells[c.Name], c.Cells)
		}
	}
	return compared
}

// startOf returns the first rows of a packed table.
func startOf(t *testing.T, b []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(z).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return csvOf(strings.Join(all[0], ","), 300, func(i int) []string { return all[i+1] })
}

// fitOf ingests a file into the catalogue below dir, by its draft if need be, and returns its fit.
func fitOf(t *testing.T, dir, path string) report.FileFit {
	t.Helper()
	c := ingest.Config{Catalog: filepath.Join(dir, "catalog"), Sources: []string{path}}
	r, err := ingest.Run(t.Context(), c)
	if err != nil {
		e, explained := ingest.Explain(t.Context(), c)
		if explained != nil || e.Files[0].Suggested == "" {
			t.Fatalf("%v, and no draft: %v", err, explained)
		}
		writeFiles(t, dir, map[string][]byte{"draft.toml": []byte(e.Files[0].Suggested)})
		c.Mappings = []string{filepath.Join(dir, "draft.toml")}
		if r, err = ingest.Run(t.Context(), c); err != nil {
			t.Fatalf("with the draft\n%s\n%v", e.Files[0].Suggested, err)
		}
	}
	return r.Columns[0]
}

// A tableRow has the cells that are not empty, by column. Objects are cut up as reports have them.
type tableRow map[string]any

// readTable reads the rows of a file. Of JSON they are the objects with most of the columns, wherever they are.
func readTable(t *testing.T, path string, b []byte, fit report.FileFit) (rows []tableRow) {
	t.Helper()
	fail := func(err error) {
		if err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	}
	switch {
	case strings.HasSuffix(path, ".parquet"):
		file, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
		fail(err)
		all := make([]map[string]any, file.NumRows())
		for i := range all {
			all[i] = map[string]any{}
		}
		_, err = parquet.NewGenericReader[map[string]any](file, file.Schema()).Read(all)
		fail(err)
		for _, one := range all {
			rows = append(rows, tableRow{}.add("", one))
		}
		return rows
	case strings.Contains(path, ".csv"):
		all, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
		fail(err)
		for _, cells := range all[1:] {
			one := map[string]any{}
			for i, cell := range cells {
				one[cmp.Or(strings.TrimSpace(all[0][i]), fmt.Sprintf("column_%d", i+1))] = cell
			}
			rows = append(rows, tableRow{}.add("", one))
		}
		return rows
	}
	var walk func(v any)
	walk = func(v any) {
		list, _ := v.([]any)
		if object, ok := v.(map[string]any); ok {
			one, known := tableRow{}.add("", object), 0
			for _, c := range fit.Columns {
				if one[c.Name] != nil {
					known++
				}
			}
			if 2*known >= len(one) && known > 1 {
				rows = append(rows, one)
				return
			}
			list = slices.Collect(maps.Values(object))
		}
		for _, el := range list {
			walk(el)
		}
	}
	for d, err := json.NewDecoder(bytes.NewReader(b)), error(nil); err == nil; {
		var v any
		err = d.Decode(&v)
		fail(err)
		walk(v)
	}
	return rows
}

// add adds the cells of an object.
func (r tableRow) add(within string, object map[string]any) tableRow {
	for name, v := range object {
		if b, ok := v.([]byte); ok {
			v = string(b)
		}
		inner, isObject := v.(map[string]any)
		switch text := plainText(fmt.Sprint(v)); {
		case isObject && within == "":
			r.add(name+".", inner)
		case v != nil && text != "" && (v == "[]" || text != "[]") && text != "map[]":
			r[within+name] = v
		}
	}
	return r
}

// served returns the title that a row is about, and the cells that it lacks: of titles with an id or a name in the row, the one
// that lacks fewest.
func (r tableRow) served(fit report.FileFit, all map[string][]*servedTitle) (missing []string, best *servedTitle) {
	for _, cell := range r {
		for _, s := range all[behindTitle.ReplaceAllString(plainText(fmt.Sprint(cell)), "")] {
			var lost []string
			for _, c := range fit.Columns {
				if cell, ok := r[c.Name]; ok && c.Used == c.Cells && !s.has(c.Name, cell) {
					lost = append(lost, fmt.Sprintf("%s: %.200q", c.Name, fmt.Sprint(cell)))
				}
			}
			if best == nil || len(lost) < len(missing) {
				missing, best = lost, s
			}
		}
	}
	return missing, best
}

// A servedTitle is a response, and the texts and numbers in it.
type servedTitle struct {
	kind fragment.Kind
	body *value
	all  cellValues
}

type cellValues struct {
	texts   map[string]bool
	numbers map[float64]bool
}

func valuesOf(v *value) cellValues {
	out := cellValues{map[string]bool{}, map[float64]bool{}}
	var walk func(v *value)
	walk = func(v *value) {
		out.texts[plainText(fmt.Sprint(v.scalar))] = true
		if n, ok := v.scalar.(json.Number); ok {
			f, _ := n.Float64()
			out.numbers[f] = true
		}
		for _, inner := range append(slices.Collect(maps.Values(v.members)), v.items...) {
			walk(inner)
		}
	}
	walk(v)
	return out
}

// plainText returns a text without entities, control characters and blanks that nobody sees.
func plainText(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(html.UnescapeString(s), "\x00", "")), " ")
}

// has reports whether a cell is served: in the field of the column's name, if there is one, else anywhere.
func (s *servedTitle) has(column string, cell any) bool {
	in := s.all
	if v := s.body.at(strings.Split(column, ".")...); v != nil {
		in = valuesOf(v)
	}
	return in.has(cell) || kindsNamed[fmt.Sprint(cell)] == s.kind
}

// kindsNamed are the words for kinds in the tables.
var kindsNamed = map[string]fragment.Kind{"Movie": fragment.KindMovie, "Series": fragment.KindTV, "TV Show": fragment.KindTV}

func (in cellValues) has(cell any) bool {
	switch v := cell.(type) {
	case []any:
		return !slices.ContainsFunc(v, func(el any) bool { return !in.has(el) })
	case map[string]any: // one value shows which it is
		return in.has(cmp.Or(v["name"], v["iso_3166_1"], v["iso_639_1"], v["file_path"], v["id"]))
	}
	return in.hasText(plainText(fmt.Sprint(cell)))
}

var (
	cellDays    = []string{time.DateOnly, time.RFC3339, "2 January 2006", "2006"}
	behindTitle = regexp.MustCompile(`\s*\(\d{4}\)$`)
	inText      = regexp.MustCompile(`^(\d+) min$|(tt\d{7,}).|/t/p/[^/]+(/\S+)$`)
	joints      = regexp.MustCompile(`\s*[,|;]\s*`)
)

func (in cellValues) hasText(text string) bool {
	if in.texts[text] || in.texts[strings.ToLower(text)] || in.texts["true"] && text == "1" || in.texts["false"] && text == "0" {
		return true
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil && (in.numbers[n] || in.texts[time.Unix(int64(n), 0).UTC().Format(time.DateOnly)]) {
		return true
	}
	for _, form := range cellDays {
		if at, err := time.Parse(form, text); err == nil && in.texts[at.Format(time.DateOnly)] {
			return true
		}
	}
	var list []any
	if strings.HasPrefix(text, "[") && json.Unmarshal([]byte(text), &list) == nil {
		return in.has(list)
	}
	if title := behindTitle.ReplaceAllString(text, ""); title != text && in.texts[title] {
		return true
	}
	if m := inText.FindStringSubmatch(text); m != nil && in.hasText(m[1]+m[2]+m[3]) {
		return true
	}
	all := joints.Split(text, -1)
	return len(all) > 1 && !slices.ContainsFunc(all, func(part string) bool { return part != "" && !in.hasText(part) })
}

// oddTexts are cells that readers, writers and mappings stumble over.
var oddTexts = []string{
	"Plain", " blanks  around ", "Tom &amp; Jerry", "caf\u00e9 \u2014 \u201cquoted\u201d", "a \"quoted\" word", "line one\nline two", "\U0001f3ac \u7535\u5f71", "1776", "comma, semicolon; bar|",
	"'apostrophe", "back\\slash \\n", "<b>bold</b>", "[not a list", "{}", "no\u00a0break", "zero\u200bwidth", "=SUM(A1)", "tt0137523", "0", "-5", "true",
}

// oddTable returns a table in the API's own form.
func oddTable() []byte {
	r := rand.New(rand.NewPCG(41, 0))
	text := func(i int) string { return fmt.Sprintf("%s %d", oddTexts[r.IntN(len(oddTexts))], i) }
	return csvOf("id,title,original_title,overview,tagline,release_date,runtime,vote_average,popularity,budget,adult,homepage,imdb_id,original_language,poster_path", 150, func(i int) []string {
		return []string{
			strconv.Itoa(1000 + i), text(i), text(i), oddTexts[i%len(oddTexts)], text(i), oddDay(r).Format(time.DateOnly), strconv.Itoa(r.IntN(300) + 1), fmt.Sprintf("%.1f", r.Float64()*10), fmt.Sprint(r.Float64()),
			strconv.Itoa(r.IntN(1e9)), []string{"true", "FALSE", "1"}[r.IntN(3)], "https://example.com/?a=1&b=" + strconv.Itoa(i), fmt.Sprintf("tt%07d", 1000+i), []string{"en", "cn", "xx"}[r.IntN(3)], fmt.Sprintf("https://image.tmdb.org/t/p/w500/%d.jpg", i),
		}
	})
}

// oddPictures returns a table that needs a draft.
func oddPictures() []byte {
	r := rand.New(rand.NewPCG(41, 1))
	genres := []string{"Drama", "Comedy", "Science Fiction", "War", "Thriller"}
	return csvOf("Film,Released,Length,Genres,Directed by,Plot,TMDB id", 80, func(i int) []string {
		r.Shuffle(len(genres), func(i, j int) { genres[i], genres[j] = genres[j], genres[i] })
		return []string{
			fmt.Sprintf("Film no. %d", i), oddDay(r).Format("2 January 2006"), fmt.Sprintf("%d min", r.IntN(200)+40), strings.Join(genres[:1+r.IntN(4)], ", "),
			fmt.Sprintf("Ann N\u00famber %d", r.IntN(20)), "A story of " + oddTexts[i%len(oddTexts)], strconv.Itoa(50_000 + i),
		}
	})
}

func oddDay(r *rand.Rand) time.Time {
	return time.Date(1900, 1, 1+r.IntN(45_000), 0, 0, 0, 0, time.UTC)
}

// csvOf writes a CSV file.
func csvOf(header string, rows int, row func(i int) []string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(strings.Split(header, ",")) // to memory
	for i := range rows {
		_ = w.Write(row(i))
	}
	w.Flush()
	return b.Bytes()
}
