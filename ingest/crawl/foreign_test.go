package crawl

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// listsArchive has lists of other programs with the requests that they lead to, and the responses of a database: by path, and
// parameters of a search. At TVDB, a series, a season and an episode of others have the same number in it, and numbers of other
// programs belong to other titles.
var listsArchive = filepath.Join("testdata", "lists.txtar")

// A database serves as TMDB.
type database struct {
	has map[string]string

	mu    sync.Mutex
	asked []string
}

func newDatabase(text string) *database {
	d := &database{has: map[string]string{}}
	for line := range strings.Lines(text) {
		path, body, _ := strings.Cut(line, "\t")
		d.has[path] = body
	}
	return d
}

func (d *database) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	path := strings.TrimPrefix(r.URL.Path, "/3/")
	for _, name := range []string{"external_source", "query", "primary_release_year", "first_air_date_year"} {
		path = strings.TrimSpace(path + " " + q.Get(name))
	}
	d.mu.Lock()
	d.asked = append(d.asked, path)
	d.mu.Unlock()
	switch body := d.has[path]; {
	case body != "":
		fmt.Fprint(w, body)
	case strings.HasPrefix(path, "find/"), strings.HasPrefix(path, "search/"):
		fmt.Fprint(w, `{"results":[]}`)
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(servetest.Body404))
	}
}

// TestLists: each row of another program's list, and each title of a library, leads to its title or is reported, and no row
// removes anything.
func TestLists(t *testing.T) {
	sharedtest.Archive(t, listsArchive, func(dir string, lines []string) string {
		responses := servetest.ReadFile(t, filepath.Join(dir, "database"))
		var out strings.Builder
		for _, line := range lines {
			kind, name, _ := strings.Cut(line, " ")
			path := filepath.Join(dir, filepath.FromSlash(name))
			fmt.Fprintf(&out, "$ %s\n%s", line, strings.ReplaceAll(listed(t, newDatabase(responses), kind, path), filepath.Dir(path)+string(filepath.Separator), ""))
		}
		return out.String()
	})
}

// listed crawls a list of rows of a kind, "-" for none, or a library, twice, and describes the requests, the details in the dump
// and the unresolved rows. The second crawl makes no requests and reports the same rows.
func listed(t *testing.T, d *database, kind, path string) string {
	t.Helper()
	cfg := testConfig(fake(t, d.ServeHTTP).URL, token, t.TempDir())
	cfg.IDs, cfg.Kind, cfg.Seasons = []string{path}, strings.TrimPrefix(kind, "-"), seasonsNone
	if kind == "library" || kind == "search" {
		cfg.IDs, cfg.Kind, cfg.Library, cfg.Search = nil, "", []string{path}, kind == "search"
	}
	first, err := Run(t.Context(), cfg)
	if err != nil {
		return fmt.Sprintln("error:", err) + unresolvedLines(first.Unresolved)
	}
	second, err := Run(t.Context(), cfg)
	slices.Sort(first.Unresolved)
	if slices.Sort(second.Unresolved); err != nil || !first.Complete || second.Requests > 0 || !slices.Equal(first.Unresolved, second.Unresolved) {
		t.Errorf("%s: %+v, then %+v, %v", path, first, second, err)
	}
	slices.Sort(d.asked)
	out := "requests: " + strings.Join(d.asked, ", ") + "\n"
	rows := dump(t, cfg.Out)
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		for _, row := range rows[name] {
			v, err := decoded([]byte(row))
			if err != nil || strings.Contains(row, "_deleted") || strings.Contains(row, "_merged_into") {
				t.Errorf("%s has the row %s", name, row)
				continue
			}
			out += fmt.Sprintln("fetched:", fileKind(name), numbers(v, "id")[0])
		}
	}
	return out + unresolvedLines(first.Unresolved)
}

func unresolvedLines(places []string) (lines string) {
	for _, place := range places {
		lines += "unresolved: " + place + "\n"
	}
	return lines
}

// TestLibraries describes the titles of libraries.
func TestLibraries(t *testing.T) {
	sharedtest.Archive(t, filepath.Join("testdata", "library.txtar"), func(dir string, lines []string) string {
		var out strings.Builder
		for _, line := range lines {
			fmt.Fprintln(&out, "$", line)
			titles, err := readLibrary(t.Context(), filepath.Join(dir, filepath.FromSlash(line)))
			if err != nil {
				fmt.Fprintln(&out, "error:", err)
			}
			slices.SortFunc(titles, func(a, b candidate) int { return cmp.Compare(a.place, b.place) })
			for _, title := range titles {
				var one selection
				text := title.kind + " named " + title.title
				if one.addLibrary(title, false); len(one.resources) > 0 {
					text = one.resources[0].key()
				} else if len(one.tasks) > 0 {
					text = title.kind + " " + one.tasks[0].source + " " + one.tasks[0].text
				}
				fmt.Fprintf(&out, "%s: %s\n", title.place, text)
			}
		}
		return out.String()
	})
}

// FuzzLists: a candidate of any object is entered with a valid ID and kind, or is reported.
func FuzzLists(f *testing.F) {
	a, err := txtar.ParseFile(listsArchive)
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range a.Files {
		if filepath.Ext(file.Name) == ".json" {
			f.Add(file.Data, "")
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, kind string) {
		v, err := decoded(data)
		if list, ok := v.([]any); ok {
			v = map[string]any{"items": list}
		}
		fields, _ := v.(map[string]any)
		if err != nil || kind != "" && kindNamed(kind) == nil {
			return
		}
		var s selection
		n := 0
		eachTitle(fields, "", "", func(fields map[string]any, list, _ string) {
			r := newListRow(fields, list)
			c := r.candidate(kind)
			s.add(&c, true)
			n++
		})
		if len(s.resources)+len(s.tasks)+len(s.unresolved) != n {
			t.Errorf("%q gives %+v for %d candidates", data, s, n)
		}
		for _, res := range s.resources {
			if res.id < 1 || kindNamed(res.kind) == nil {
				t.Errorf("%q gives %+v", data, res)
			}
		}
		for i := range s.tasks {
			if next := &s.tasks[i]; next.text == "" || next.action == searchTitle && next.year < 1 || next.source == fromTVDB && next.kind == "movie" {
				t.Errorf("%q gives %+v", data, next)
			}
		}
	})
}

// TestSharedLists reads lists that failed for users.
func TestSharedLists(t *testing.T) {
	a, err := txtar.ParseFile(listsArchive)
	if err != nil {
		t.Fatal(err)
	}
	responses := string(a.Files[0].Data)
	const pilot = "unresolved: ratings.csv:4: Pilot: want an id of the series, or the episode's IMDb id\n"
	for list, want := range map[string]string{
		"- w_export/ratings.csv":     "requests: movie/550, movie/603, tv/1396\nfetched: movie 550\nfetched: movie 603\nfetched: tv 1396\n" + pilot,
		"movie w_export/ratings.csv": "requests: movie/550, movie/603, tv/1396\nfetched: movie 550\nfetched: movie 603\nfetched: tv 1396\n" + pilot,
		"- w_simkl/SimklBackup.json": "requests: movie/550, tv/1396\nfetched: movie 550\nfetched: tv 1396\n",
		"- w_types/one.csv":          "requests: tv/1396\nfetched: tv 1396\n",
		"- w_types/plex.txt": "requests: find/tt0137523 imdb_id, movie/550\nfetched: movie 550\n" +
			"unresolved: plex.txt:2: tmdb://550: want the kind of 550: a type such as movie or tv, or --kind\n",
		"- w_arr/jellyfin.json": "requests: movie/550, tv/1396\nfetched: movie 550\nfetched: tv 1396\n",
		"- w_arr/sonarr.json":   "requests: tv/1396, tv/19885\nfetched: tv 1396\nfetched: tv 19885\n",
		"- v_imdblist/watchlist.csv": "requests: find/tt0000003 imdb_id, find/tt0137523 imdb_id, find/tt0903747 imdb_id, movie/550, tv/1396\n" +
			"fetched: movie 550\nfetched: tv 1396\nunresolved: watchlist.csv:4: Odd row\n",
	} {
		kind, name, _ := strings.Cut(list, " ")
		path := sharedtest.Path(t, "cases", filepath.FromSlash(name))
		got := strings.ReplaceAll(listed(t, newDatabase(responses), kind, path), filepath.Dir(path)+string(filepath.Separator), "")
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", list, got, want)
		}
	}
}
