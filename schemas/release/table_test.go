package release

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// writeTable makes a release of one resource and one table of two sections, and returns
// its folder.
func writeTable(t *testing.T) string {
	t.Helper()
	releases := t.TempDir()
	w, err := create(releases, testOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.Part(0)
	if err != nil {
		t.Fatal(err)
	}
	key := fragment.AppendID(nil, fragment.KindMovie, 550)
	if err := s.Add(ResourceSpec{Key: key, ID: 550}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := w.Preview(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Lookup(key); !ok {
		t.Error("the preview does not have the resource")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	tw, err := w.Table("movie", 7)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"only.one": "abc"} {
		if _, err := io.WriteString(tw.Section(name), text); err != nil {
			t.Fatal(err)
		}
	}
	z := tw.Section("empty")
	if _, err := z.Write(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(tw.Section("a"), "de"); err != nil {
		t.Fatal(err)
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	m, err := w.Seal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(releases, m.ID)
}

func TestTable(t *testing.T) {
	dir := writeTable(t)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
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
	if problems, err := Verify(t.Context(), dir, VerifyOptions{}, nil); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v, %v", problems, err)
	}
}

// TestTableDamage changes each byte of a table: Open or Verify has to notice, and
// nothing may panic.
func TestTableDamage(t *testing.T) {
	dir := writeTable(t)
	path := filepath.Join(dir, tableName("movie"))
	good := readFile(t, path)
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x41
		if err := os.WriteFile(path, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		problems, err := Verify(context.Background(), dir, VerifyOptions{}, nil)
		if err != nil && !errors.Is(err, ErrVersion) {
			t.Fatal(err)
		}
		if err == nil && len(problems) == 0 {
			t.Fatalf("a change of byte %d goes unnoticed", i)
		}
	}
}

// TestTableRows: each row of a table of resources is one that the release has, with a row
// for lists.
func TestTableRows(t *testing.T) {
	f := func(rows int, want int, ids ...uint64) {
		t.Helper()
		releases := t.TempDir()
		w, err := create(releases, testOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := w.Part(0)
		if err != nil {
			t.Fatal(err)
		}
		for id, sub := range map[fragment.ID]fragment.Sub{1: fragment.SubRow, 2: fragment.SubDetails} {
			spec := ResourceSpec{Key: fragment.AppendID(nil, fragment.KindMovie, id), ID: uint64(id), Fragments: []FragmentSpec{
				{Address: fragment.Address{Sub: sub}, Pieces: []PieceSpec{{Op: OpIDMark}}},
			}}
			if err := s.Add(spec); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Close(); err != nil {
			t.Fatal(err)
		}
		tw, err := w.Table("movie", rows)
		if err != nil {
			t.Fatal(err)
		}
		out := tw.Section("id")
		for _, id := range ids {
			if _, err := out.Write(le.AppendUint64(nil, id)); err != nil {
				t.Fatal(err)
			}
		}
		if err := tw.Close(); err != nil {
			t.Fatal(err)
		}
		m, err := w.Seal(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		problems, err := Verify(t.Context(), filepath.Join(releases, m.ID), VerifyOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(problems) != want {
			t.Errorf("%d rows %v: Verify finds %v, want %d problems", rows, ids, problems, want)
		}
		for _, p := range problems {
			if p.File != tableName("movie") {
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
	w, err := create(t.TempDir(), testOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "A", "a/b", "..-", "abcdefghijklmnopqrstuvwxyzabcdefg"} {
		if _, err := w.Table(name, 1); err == nil {
			t.Errorf("table %q is accepted", name)
		}
	}
	tw, err := w.Table("a", 1)
	if err != nil {
		t.Fatal(err)
	}
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
	if err := w.Abort(); err != nil {
		t.Fatal(err)
	}
}
