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
	a, err := ReadAccess(write("counts.csv", "id,media_type,week,more,day\n550,movie,20,,3\n550,movie,1,,1\n1399,tv,7,,0\n"))
	if err != nil {
		t.Fatal(err)
	}
	if day, week := a.Counts(fragment.KindMovie, 550); day != 4 || week != 21 {
		t.Errorf("movie 550 has %d and %d, want 4 and 21", day, week)
	}
	if day, week := a.Counts(fragment.KindTV, 1399); day != 0 || week != 7 {
		t.Errorf("tv 1399 has %d and %d, want 0 and 7", day, week)
	}
	if day, week := a.Counts(fragment.KindPerson, 1); day != 0 || week != 0 {
		t.Errorf("person 1 has %d and %d, want nothing", day, week)
	}
	for name, c := range map[string]struct{ text, want string }{
		"kind.csv":     {"media_type,id,day,week\nfilm,1,1,1\n", `line 2: media_type is "film"`},
		"id.csv":       {"media_type,id,day,week\ntv,1,1,1\ntv,,1,1\n", `line 3: id is ""`},
		"column.csv":   {"id,media_type,day\n", `there is no column "week"`},
		"negative.csv": {"media_type,id,day,week\ntv,1,1,-1\n", `line 2: week is "-1"`},
		"short.csv":    {"media_type,id,day,week\ntv,1\n", "line 2"},
		"empty.csv":    {"", "want a first line"},
	} {
		_, err := ReadAccess(write(name, c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want an error with the name and %q", name, err, c.want)
		}
	}
}
