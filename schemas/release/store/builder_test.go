package store_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	. "github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/check"
	. "github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

func noProblems(tb testing.TB, dir string) {
	tb.Helper()
	problems, err := check.Verify(context.Background(), dir, check.Options{}, nil)
	if err != nil || len(problems) != 0 {
		tb.Errorf("Verify(%q) = %v, %v, want nothing", dir, problems, err)
	}
}

func TestOneBuilderAtATime(t *testing.T) {
	dir := t.TempDir()
	stale := filepath.Join(dir, store.BuildingPrefix+"1")
	sharedtest.NoError(t, os.MkdirAll(filepath.Join(stale, "x"), 0o755))
	w, err := Create(dir)
	sharedtest.NoError(t, err)
	if _, err := os.Stat(stale); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Create() leaves %q: %v", stale, err)
	}
	if _, err := Create(dir); !errors.Is(err, store.ErrLocked) {
		t.Errorf("Create() while another works = %v, want ErrLocked", err)
	}
	sharedtest.NoError(t, w.Abort())
	w, err = Create(dir)
	if err != nil {
		t.Fatalf("Create() after Abort = %v", err)
	}
	m := Seal(t, w)
	noProblems(t, filepath.Join(dir, m.ID)) // an empty release is one too
}

// TestSameReleaseTwice keeps the first, and replaces it when it is broken.
func TestSameReleaseTwice(t *testing.T) {
	dir := t.TempDir()
	m := Tiny(t, dir, "")
	marker := filepath.Join(dir, m.ID, ReportName)
	sharedtest.NoError(t, os.WriteFile(marker, nil, 0o644))
	if again := Tiny(t, dir, ""); again.ID != m.ID {
		t.Errorf("id = %s, then %s", m.ID, again.ID)
	}
	if _, err := os.Stat(marker); err != nil {
		t.Errorf("the first release is gone: %v", err)
	}
	sharedtest.NoError(t, os.Truncate(filepath.Join(dir, m.ID, m.Packs[1].Name), 70))
	Tiny(t, dir, "")
	noProblems(t, filepath.Join(dir, m.ID))
	if names, _ := filepath.Glob(filepath.Join(dir, ".*")); len(names) != 1 {
		t.Errorf("left in the folder: %v, want the lock alone", names)
	}
}

// TestInstallTakesPacksOver: Install gives a release the packs of its parent, as links. Before that they lie in the
// parent alone, which the preview reads.
func TestInstallTakesPacksOver(t *testing.T) {
	s := store.Folder{Dir: t.TempDir()}
	id := Tiny(t, s.Dir, "").ID
	r := MustOpen(t, s.Path(id))
	w, err := Create(s.Dir)
	sharedtest.NoError(t, err)
	p, err := w.Part(r)
	sharedtest.NoError(t, err)
	sharedtest.NoError(t, errors.Join(copyAllTo(p, r), p.Add(Resource(9999, Frag(Details, Seg(Plain("new")))))))
	c, err := w.Contents(t.Context())
	sharedtest.NoError(t, err)
	taken := 0
	for _, pack := range c.Parts[0].Packs {
		if _, err := os.Stat(filepath.Join(w.Dir(), pack.Name)); os.IsNotExist(err) {
			taken++
		}
	}
	if taken != len(r.Manifest().Packs) || taken != len(c.Parts[0].Packs)-1 {
		t.Errorf("%d packs lie in the parent alone, want %d of %d", taken, len(r.Manifest().Packs), len(c.Parts[0].Packs))
	}
	next, err := Preview(w.Spec, c, w.Dir(), s.Path(id))
	sharedtest.NoError(t, err)
	e, _ := next.Lookup(Movie(550))
	pieces, ok := Pieces(e.Fragment(0))
	if err := Guard(func() error { pieces[0].Segment.Check(); return nil }); err != nil || !ok {
		t.Errorf("a segment of the parent, by the preview: %v", err)
	}
	if err := next.Close(); err != nil {
		t.Error(err)
	}
	m, err := w.Seal(t.Context())
	sharedtest.NoError(t, err)
	noProblems(t, s.Path(m.ID))
	for _, f := range r.Manifest().Packs {
		a, err := os.Stat(filepath.Join(s.Path(id), f.Name))
		sharedtest.NoError(t, err)
		b, err := os.Stat(filepath.Join(s.Path(m.ID), f.Name))
		if err != nil || !os.SameFile(a, b) {
			t.Errorf("%s is no link (%v)", f.Name, err)
		}
	}
	entries, err := os.ReadDir(s.Path(m.ID))
	if err != nil || len(entries) != len(m.Files())+1 {
		t.Errorf("%d files, want those of the manifest and itself: %d (%v)", len(entries), len(m.Files())+1, err)
	}
}

// TestInstallLinksEqualFiles: a release shares files that came out the same with its parent, unless the parent's file
// is damaged.
func TestInstallLinksEqualFiles(t *testing.T) {
	s := store.Folder{Dir: t.TempDir()}
	build := func(parent string, all ...fragment.ID) Manifest {
		t.Helper()
		w, err := Create(s.Dir)
		sharedtest.NoError(t, err)
		w.Spec.Parent = parent
		for _, id := range all {
			sharedtest.NoError(t, w.Add(Resource(id, Frag(Details, Lit(fmt.Sprint(id))))))
		}
		return Seal(t, w)
	}
	// same returns, for each part of both releases, whether it is one file.
	same := func(a, b Manifest) (same []bool) {
		t.Helper()
		noProblems(t, s.Path(b.ID))
		for _, f := range b.Parts {
			x, err := os.Stat(filepath.Join(s.Path(a.ID), f.Name))
			y, missing := os.Stat(filepath.Join(s.Path(b.ID), f.Name))
			if missing != nil {
				t.Fatal(missing)
			}
			same = append(same, err == nil && os.SameFile(x, y))
		}
		return same
	}
	first := build("", 1, 2)
	second := build(first.ID, 1, 2, 3)
	if got := same(first, second); !slices.Equal(got, []bool{true, true, false}) {
		t.Errorf("the same file: %v, want the first two parts", got)
	}
	path := filepath.Join(s.Path(second.ID), second.Parts[2].Name)
	data, err := os.ReadFile(path)
	sharedtest.NoError(t, err)
	data[40] ^= 1
	sharedtest.NoError(t, os.WriteFile(path, data, 0o600))
	if got := same(second, build(second.ID, 1, 2, 3, 4)); !slices.Equal(got, []bool{true, true, false, false}) {
		t.Errorf("the same file: %v, want neither the damaged part nor the new one", got)
	}
}

// copyAllTo copies all resources of r to a part.
func copyAllTo(p *PartWriter, r *Reader) error {
	return Guard(func() error {
		return r.Resources(context.Background(), func(_ []byte, e Entry, _ Ref) error { return p.Copy(e, nil) })
	})
}

// TestInstallWithoutParent: a pack that neither the release nor its parent has keeps the release from its name.
func TestInstallWithoutParent(t *testing.T) {
	for _, parent := range []string{"", "r0123456789abcdef"} {
		s := store.Folder{Dir: t.TempDir()}
		r := MustOpen(t, s.Path(Tiny(t, s.Dir, "").ID))
		w, err := Create(s.Dir)
		sharedtest.NoError(t, err)
		p, err := w.Part(r)
		w.Spec.Parent = parent
		if err == nil {
			err = copyAllTo(p, r)
		}
		sharedtest.NoError(t, err)
		m, err := w.Seal(t.Context())
		if err == nil || !strings.Contains(err.Error(), r.Manifest().Packs[0].Name) {
			t.Errorf("parent %q: Install = %v, want an error that names the first pack", parent, err)
		}
		if _, err := os.Stat(s.Path(m.ID)); !os.IsNotExist(err) {
			t.Errorf("parent %q: the release has its name: %v", parent, err)
		}
		if err := w.Abort(); err != nil {
			t.Error(err)
		}
	}
}
