package release_test

import (
	"encoding/binary"
	"path/filepath"
	"testing"

	. "github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/check"
	. "github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// withTable writes a release of resources and a table, whose sections are pairs of name and bytes, and returns its folder.
func withTable(t *testing.T, name string, rows int, sections [][2]string, rs ...ResourceSpec) string {
	t.Helper()
	dir := t.TempDir()
	w, err := Create(dir)
	sharedtest.NoError(t, err)
	w.Spec.Params["folder"] = dir
	sharedtest.NoError(t, w.Add(rs...))
	out, err := w.Table(name, rows)
	sharedtest.NoError(t, err)
	for _, s := range sections {
		if _, err := out.Section(s[0]).Write([]byte(s[1])); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, Seal(t, w).ID)
}

func TestTable(t *testing.T) {
	dir := withTable(t, "movie", 7, [][2]string{{"only.one", "abc"}, {"empty", ""}, {"a", "de"}})
	noProblems(t, dir)
	r := MustOpen(t, dir)
	tab, ok := r.Table("movie")
	if !ok || tab.Rows() != 7 {
		t.Fatalf("table = %v, %t", tab, ok)
	}
	for name, want := range map[string]string{"only.one": "abc", "a": "de", "empty": ""} {
		if got := tab.Section(name); string(got) != want || got == nil {
			t.Errorf("section %q = %q, want %q", name, got, want)
		}
	}
	if tab.Section("b") != nil {
		t.Error("a section that nobody wrote is there")
	}
	if _, ok := r.Table("tv"); ok {
		t.Error("a table that nobody wrote is there")
	}
}

// TestTableRows: each row of a table of resources is one that the release has, with a row
// for lists.
func TestTableRows(t *testing.T) {
	f := func(rows int, want int, ids ...uint64) {
		t.Helper()
		var section []byte
		for _, id := range ids {
			section = binary.LittleEndian.AppendUint64(section, id)
		}
		mark := PieceSpec{Op: OpIDMark}
		dir := withTable(t, "movie", rows, [][2]string{{"id", string(section)}}, Resource(1, Frag(Row, mark)), Resource(2, Frag(Details, mark)))
		problems, err := check.Verify(t.Context(), dir, check.Options{}, nil)
		if err != nil || len(problems) != want {
			t.Errorf("%d rows %v: Verify finds %v, %v, want %d problems", rows, ids, problems, err, want)
		}
		for _, p := range problems {
			if p.File != "table-movie" {
				t.Errorf("%d rows %v: %s, want a problem of the table", rows, ids, p)
			}
		}
	}
	f(1, 0, 1)
	f(0, 0)
	f(2, 1, 1, 2)    // no row for lists
	f(3, 2, 1, 3, 4) // not there
	f(2, 1, 1)       // one id for two rows
}

func TestTableNames(t *testing.T) {
	w, err := Create(t.TempDir())
	sharedtest.NoError(t, err)
	for _, name := range []string{"", "A", "a/b", "..-", "abcdefghijklmnopqrstuvwxyzabcdefg"} {
		if _, err := w.Table(name, 1); err == nil {
			t.Errorf("table %q is accepted", name)
		}
	}
	tw, err := w.Table("a", 1)
	sharedtest.NoError(t, err)
	old := tw.Section("x")
	tw.Section("y")
	if _, err := old.Write([]byte("z")); err == nil {
		t.Error("a section is written after the next one has been started")
	}
	if tw.Close() == nil {
		t.Error("the error does not show in Close")
	}
	if _, err := w.Seal(t.Context()); err == nil {
		t.Error("a release with a failed table is sealed")
	}
	sharedtest.NoError(t, w.Abort())
}
