package sample

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A layout is the key order of the rows of one file: its own keys, and those of the
// objects that occur in it, by path. Keys of a path that is listed twice may be in
// either order.
type layout struct {
	keys []string            // of the row
	rows map[string][]string // keys by path, each a comma list
	free map[string]bool     // objects whose keys are data, sorted
}

// parseLayout reads lines of a path, ": " and its keys; the row itself has no path.
// {} in a path stands for any key of an object whose keys are data.
func parseLayout(table string) layout {
	l := layout{rows: map[string][]string{}, free: map[string]bool{"watch/providers.results": true}}
	for line := range strings.Lines(table) {
		path, list, ok := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case !ok:
		case path == "row":
			l.keys = append(l.keys, strings.Split(list, ",")...)
		default:
			l.rows[path] = append(l.rows[path], list)
		}
	}
	return l
}

// floatKeys are the keys whose numbers always carry a fraction, with the number of
// digits allowed in it.
var floatKeys = map[string]int{"popularity": 4, "vote_average": 3, "aspect_ratio": 3, "rating": 1}

type image struct {
	AspectRatio float64 `json:"aspect_ratio"`
	Height      int     `json:"height"`
	Country     *string `json:"iso_3166_1"`
	Language    *string `json:"iso_639_1"`
	FilePath    string  `json:"file_path"`
	VoteAverage float64 `json:"vote_average"`
	Width       int     `json:"width"`
}

func readLines(t *testing.T, file string) [][]byte {
	t.Helper()
	b, err := fs.ReadFile(FS(), file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(b, []byte("\n")) {
		t.Fatalf("%s: the last line does not end with a newline", file)
	}
	return bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
}

// readRows decodes every line of file.
func readRows[T any](t *testing.T, file string) []T {
	t.Helper()
	var out []T
	for n, line := range readLines(t, file) {
		var row T
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatalf("%s: line %d: %v", file, n+1, err)
		}
		out = append(out, row)
	}
	return out
}

// walk calls object for every object below v with its path and keys, and number for
// every number with the key it stands under.
func walk(d *json.Decoder, path, key string, object func(path string, keys []string), number func(key, num string)) error {
	tok, err := d.Token()
	if err != nil {
		return err
	}
	switch tok {
	case json.Delim('{'):
		var keys []string
		for d.More() {
			k, err := d.Token()
			if err != nil {
				return err
			}
			name := k.(string)
			keys = append(keys, name)
			sub := name
			if path == "watch/providers.results" {
				sub = "{}"
			}
			if path == "" && strings.HasPrefix(name, "season/") {
				sub = "season/{}"
			}
			if path != "" {
				sub = path + "." + sub
			}
			if err := walk(d, sub, name, object, number); err != nil {
				return err
			}
		}
		object(path, keys)
		_, err = d.Token()
		return err
	case json.Delim('['):
		for d.More() {
			if err := walk(d, path+"[]", key, object, number); err != nil {
				return err
			}
		}
		_, err = d.Token()
		return err
	}
	if n, ok := tok.(json.Number); ok {
		number(key, n.String())
	}
	return nil
}

// checkBytes looks at the text of each line of file: compact, unescaped, keys in wire
// order, floats with a fraction and integers without. trim, when given, may take away
// from the keys of a row those that it may lack or add. It returns the size of file.
func checkBytes(t *testing.T, file string, l layout, trim func(keys []string) []string) int {
	t.Helper()
	total := 0
	for n, line := range readLines(t, file) {
		total += len(line) + 1
		where := fmt.Sprintf("%s: line %d", file, n+1)
		var compact bytes.Buffer
		if err := json.Compact(&compact, line); err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		if !bytes.Equal(compact.Bytes(), line) {
			t.Errorf("%s is not compact", where)
		}
		for _, esc := range []string{`\u`, `\/`, "\u2028", "\u2029"} {
			if bytes.Contains(line, []byte(esc)) {
				t.Errorf("%s holds %q", where, esc)
			}
		}
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		err := walk(d, "", "", func(path string, keys []string) {
			switch want, ok := l.rows[path]; {
			case path == "":
				if trim != nil {
					keys = trim(keys)
				}
				if !slices.Equal(keys, l.keys) {
					t.Errorf("%s: keys %v", where, keys)
				}
			case l.free[path]:
				if !slices.IsSorted(keys) {
					t.Errorf("%s: %s has keys %v", where, path, keys)
				}
			case path == "watch/providers.results.{}":
				if len(keys) < 2 || keys[0] != "link" {
					t.Errorf("%s: provider keys %v", where, keys)
				}
			case !ok:
				t.Errorf("%s: unknown object %q", where, path)
			case !slices.Contains(want, strings.Join(keys, ",")):
				t.Errorf("%s: %s has keys %v", where, path, keys)
			}
		}, func(key, num string) {
			digits, float := floatKeys[key]
			_, frac, found := strings.Cut(num, ".")
			if strings.ContainsAny(num, "eE") || found != float || len(frac) > digits {
				t.Errorf("%s: %s is %s", where, key, num)
			}
		})
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
	}
	return total
}

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

var (
	imdbRE  = regexp.MustCompile(`^tt\d{7,8}$`)
	hexRE   = regexp.MustCompile(`^[0-9a-f]{24}$`)
	videoRE = regexp.MustCompile(`^[A-Za-z0-9_-]{11}$`)
	imageRE = regexp.MustCompile(`^/[A-Za-z0-9]{27}\.jpg$`)
	logoRE  = regexp.MustCompile(`^/[A-Za-z0-9]{27}\.png$`)
	stampRE = regexp.MustCompile(`^\d{4}-\d\d-\d\dT00:00:00\.000Z$`)
)

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

// checkImageList holds a list of images to their order, their ratio and their paths.
func checkImageList(t *testing.T, where string, rows []image, least, most int, path *regexp.Regexp) {
	t.Helper()
	if n := len(rows); n < least || n > most {
		t.Errorf("%s: %d images", where, n)
	}
	for i, im := range rows {
		if i > 0 && im.VoteAverage > rows[i-1].VoteAverage {
			t.Errorf("%s: images are not sorted", where)
		}
		if (im.Language == nil) != (im.Country == nil) || !path.MatchString(im.FilePath) {
			t.Errorf("%s: %+v", where, im)
		}
		if math.Abs(im.AspectRatio-float64(im.Width)/float64(im.Height)) > 0.00051 {
			t.Errorf("%s: aspect ratio %v of %dx%d", where, im.AspectRatio, im.Width, im.Height)
		}
	}
}

// firstImage returns the path of the first image of a language, "" for none.
func firstImage(rows []image, language string) string {
	for _, im := range rows {
		if language == "" && im.Language == nil || im.Language != nil && *im.Language == language {
			return im.FilePath
		}
	}
	return ""
}

// skipAlone skips, with -short, what takes seconds under the race detector and runs in one
// goroutine.
func skipAlone(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("nothing runs side by side here: run without -short")
	}
}
