package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

func TestReadAccess(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const csv = "id,media_type,week,day\n550,movie,20,3\n550,movie,1,1\n1399,tv,7,0\n"
	const ndjson = `{"media_type":"movie","id":550,"day":4,"week":21}` + "\n\n" + `{"media_type":"tv","id":"1399","day":0,"week":7,"more":[]}`
	for name, text := range map[string]string{"a.csv": csv, "c.ndjson": ndjson} {
		a, err := ReadAccess(write(name, text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if day, week := a.Counts(fragment.KindMovie, 550); day != 4 || week != 21 {
			t.Errorf("%s: movie 550 has %d and %d, want 4 and 21", name, day, week)
		}
		if day, week := a.Counts(fragment.KindTV, 1399); day != 0 || week != 7 {
			t.Errorf("%s: tv 1399 has %d and %d, want 0 and 7", name, day, week)
		}
		if day, week := a.Counts(fragment.KindPerson, 1); day != 0 || week != 0 {
			t.Errorf("%s: person 1 has %d and %d, want nothing", name, day, week)
		}
	}
	for name, c := range map[string]struct{ text, want string }{
		"kind.ndjson":  {`{"media_type":"film","id":1,"day":1,"week":1}`, `line 1: media_type is "film"`},
		"id.ndjson":    {"\n" + `{"media_type":"tv","day":1,"week":1}`, `line 2: id is ""`},
		"json.ndjson":  {`{`, "line 1: want an object"},
		"column.csv":   {"id,media_type,day\n", `there is no column "week"`},
		"negative.csv": {"media_type,id,day,week\ntv,1,1,-1\n", `line 2: week is "-1"`},
		"short.csv":    {"media_type,id,day,week\ntv,1\n", "line 2"},
		"empty.csv":    {"", "want a first line"},
		"notes.txt":    {"", "want a file .ndjson, .jsonl or .csv"},
	} {
		_, err := ReadAccess(write(name, c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want an error with the name and %q", name, err, c.want)
		}
	}
}
