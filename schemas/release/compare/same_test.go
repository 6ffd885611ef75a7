package compare_test

import (
	"path/filepath"
	"strings"
	"testing"

	. "github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/compare"
	. "github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// TestSame: a release is the same as another when only what is ignored differs.
func TestSame(t *testing.T) {
	write := func(text, table, kept, section, data string) *Reader {
		t.Helper()
		dir := t.TempDir()
		w, err := Create(dir)
		if err == nil {
			err = w.Add(Resource(1, Frag(Details, Seg(Deflated(text)))))
		}
		sharedtest.NoError(t, err)
		out, err := w.Table(table, 1)
		sharedtest.NoError(t, err)
		for name, data := range map[string]string{"kept": kept, section: data} {
			_, _ = out.Section(name).Write([]byte(data)) // Close has the error
		}
		return MustOpen(t, filepath.Join(dir, Seal(t, w).ID))
	}
	r := write("one", "movie", "abc", "trend_day", "def")
	ignore := func(table, section string) bool { return table == "changes" || strings.HasPrefix(section, "trend_") }
	for _, c := range []struct {
		name, text, table, kept, section, data string
		want                                   bool
	}{
		{"the same", "one", "movie", "abc", "trend_day", "def", true},
		{"a section that does not count", "one", "movie", "abc", "trend_day", "longer", true},
		{"another one that does not count", "one", "movie", "abc", "trend_all", "def", true},
		{"a section that counts", "one", "movie", "Xbc", "trend_day", "def", false},
		{"one section more", "one", "movie", "abc", "more", "def", false},
		{"another table", "one", "tv", "abc", "trend_day", "def", false},
		{"a table that does not count in place of one that does", "one", "changes", "abc", "trend_day", "def", false},
		{"another text", "two", "movie", "abc", "trend_day", "def", false},
	} {
		if got := compare.Same(write(c.text, c.table, c.kept, c.section, c.data), r, ignore); got != c.want {
			t.Errorf("%s: Same = %v, want %v", c.name, got, c.want)
		}
	}
}
