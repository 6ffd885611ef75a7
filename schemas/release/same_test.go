package release

import (
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// TestSame: a release is the same as another when only what is ignored differs.
func TestSame(t *testing.T) {
	dir := t.TempDir()
	write := func(text, table, section, data string, params map[string]string) *testWriter {
		t.Helper()
		w, err := create(dir, testOptions{Params: params})
		if err != nil {
			t.Fatal(err)
		}
		s, err := w.Part(0)
		if err != nil {
			t.Fatal(err)
		}
		spec := ResourceSpec{Key: fragment.AppendID(nil, fragment.KindMovie, 1), ID: 1, Fragments: []FragmentSpec{{
			Address: fragment.Address{Sub: fragment.SubDetails}, Pieces: []PieceSpec{{Op: OpSegment, Segment: deflated(text)}},
		}}}
		if err := s.Add(spec); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if table == "" {
			return w
		}
		out, err := w.Table(table, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"kept", section} {
			if _, err := out.Section(name).Write([]byte(name[:1] + data[:len(data)*len(name)/9])); err != nil {
				t.Fatal(err)
			}
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		return w
	}
	m, err := write("one", "movie", "trend_day", "abcdefghi", nil).Seal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(Store{Dir: dir}.Path(m.ID))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ignore := func(table, section string) bool { return table == "changes" || strings.HasPrefix(section, "trend_") }
	for _, c := range []struct {
		name, text, table, section, data string
		want                             bool
	}{
		{"the same", "one", "movie", "trend_day", "abcdefghi", true},
		{"a section that does not count", "one", "movie", "trend_day", "abcdXXXXX", true},
		{"another one that does not count", "one", "movie", "trend_all", "abcdefghi", true},
		{"a section that counts", "one", "movie", "trend_day", "Xbcdefghi", false},
		{"one section more", "one", "movie", "more", "abcdefghi", false},
		{"another table", "one", "tv", "trend_day", "abcdefghi", false},
		{"no table", "one", "", "", "", false},
		{"a table that does not count in place of one that does", "one", "changes", "trend_day", "abcdefghi", false},
		{"another text", "two", "movie", "trend_day", "abcdefghi", false},
	} {
		w := write(c.text, c.table, c.section, c.data, map[string]string{"date": "2026-11-22"})
		next, err := w.Preview(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := Same(next, r, ignore); got != c.want {
			t.Errorf("%s: Same = %v, want %v", c.name, got, c.want)
		}
		if err := next.Close(); err != nil {
			t.Fatal(err)
		}
		if err := w.Abort(); err != nil {
			t.Fatal(err)
		}
	}
}
