package release_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	. "github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/check"
	. "github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// copyAll writes a release of two parts upon another one, of the resources that take accepts, the
// common one too, and of more.
func copyAll(tb testing.TB, dir, previous string, take func(key []byte) bool, more ...ResourceSpec) (Manifest, error) {
	tb.Helper()
	r, err := Open(filepath.Join(dir, previous))
	if err != nil {
		return Manifest{}, err
	}
	defer r.Close()
	w, err := Create(dir)
	sharedtest.NoError(tb, err)
	defer func() { _ = w.Abort() }()
	fill := func(i int) error {
		p, err := w.Part(r)
		if err != nil {
			return err
		}
		err = Guard(func() error {
			return r.Resources(tb.Context(), func(key []byte, e Entry, _ Ref) error {
				if (string(key) == string(GenresKey)) != (i == 0) || !take(key) {
					return nil
				}
				return p.Copy(e, nil)
			})
		})
		for k := 0; err == nil && i == 1 && k < len(more); k++ {
			err = p.Add(more[k])
		}
		_, closing := p.Close()
		return errors.Join(err, closing)
	}
	if err := errors.Join(fill(0), fill(1)); err != nil {
		return Manifest{}, err
	}
	return w.Seal(tb.Context())
}

// TestCopy: resources that are copied from release to release, while some go and others come, are
// what they were, their segments stay in their packs, and packs that are mostly dead are written anew.
func TestCopy(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := t.TempDir()
		want := map[string]ResourceSpec{}
		next := 0
		fresh := func(n int) (rs []ResourceSpec) {
			for range n {
				next++
				text := fmt.Sprintf("%d %s", next, rapid.StringN(0, 20, 100).Draw(rt, "text"))
				r := ResourceSpec{Key: Movie(fragment.ID(next)), ID: uint64(next), Fingerprint: uint64(next), Fragments: []FragmentSpec{
					Frag(Details, Seg(Deflated(text)), ToGenres(), Lit(`},{"credit_id":"52fe4250c3a36847f80149f3"`)),
					Frag(DetailsDE, Seg(Deflated(text)), ToGenres(), Lit(`},{"credit_id":"52fe4250c3a36847f80149f3"`)),
					Frag(Videos, PieceSpec{Op: OpIDMark}, Seg(Deflated(text+"!")), Seg(Deflated(text)), PieceSpec{Op: OpName, Word: WordSeason, Number: 7}),
				}}
				want[string(r.Key)] = r
				rs = append(rs, r)
			}
			return rs
		}
		w, err := Create(dir)
		sharedtest.NoError(rt, err)
		sharedtest.NoError(rt, errors.Join(w.Add(GenresOf()), w.Add(fresh(rapid.IntRange(1, 20).Draw(rt, "first"))...)))
		m := Seal(t, w)
		for range 4 {
			m, err = copyAll(t, dir, m.ID, func(key []byte) bool {
				if string(key) == string(GenresKey) || rapid.IntRange(0, 3).Draw(rt, "stays") > 0 {
					return true
				}
				delete(want, string(key))
				return false
			}, fresh(rapid.IntRange(0, 4).Draw(rt, "new"))...)
			sharedtest.NoError(rt, err)
			path := filepath.Join(dir, m.ID)
			checkCopies(rt, path, want)
		}
		path := filepath.Join(dir, m.ID)
		if problems, err := check.Verify(t.Context(), path, check.Options{}, nil); err != nil || len(problems) > 0 {
			rt.Fatalf("Verify() = %v, %v, want nothing", problems, err)
		}
	})
}

// checkCopies compares a release with the resources that it should have.
func checkCopies(t *rapid.T, path string, want map[string]ResourceSpec) {
	r, err := Open(path)
	sharedtest.NoError(t, err)
	defer r.Close()
	if n := r.Manifest().Counts.Resources["movie"]; n != int64(len(want)) {
		t.Errorf("%d movies, want %d", n, len(want))
	}
	for key, spec := range want {
		e, _ := r.Lookup([]byte(key))
		if diff := compare(e, spec); diff != "" || e.Fingerprint() != spec.Fingerprint || e.ID() != spec.ID {
			t.Errorf("%s: %s, fingerprint %d", fragment.DescribeKey([]byte(key)), diff, e.Fingerprint())
		}
	}
}

// TestSparsePacks: a pack of which less than half is in use is not in the release after the next.
func TestSparsePacks(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(dir)
	sharedtest.NoError(t, err)
	var rs []ResourceSpec
	for i := range 10 {
		rs = append(rs, ResourceSpec{Key: Movie(fragment.ID(i)), Fragments: []FragmentSpec{Frag(Details, Seg(Plain(fmt.Sprint("movie ", i))))}})
	}
	sharedtest.NoError(t, errors.Join(w.Add(GenresOf()), w.Add(rs...)))
	id := Seal(t, w).ID
	first := PackOf(t, filepath.Join(dir, id), Movie(1))
	copyTo := func(below int) string {
		t.Helper()
		m, err := copyAll(t, dir, id, func(key []byte) bool { return string(key) == string(GenresKey) || key[8] < byte(below) })
		sharedtest.NoError(t, err)
		id = m.ID
		noProblems(t, filepath.Join(dir, id))
		return PackOf(t, filepath.Join(dir, id), Movie(1))
	}
	if pack := copyTo(6); pack != first {
		t.Errorf("six of ten segments move from %s to %s", first, pack)
	}
	if pack := copyTo(4); pack != first {
		t.Errorf("four of ten segments move from %s to %s, before a release has so few", first, pack)
	}
	if pack := copyTo(4); pack == first {
		t.Errorf("four of ten segments stay in %s", pack)
	}
}

// TestCopyKeepsChecks: a release that takes over damaged packs has the checks that they had when they
// were whole; damaged parts, and packs that are written anew, are errors.
func TestCopyKeepsChecks(t *testing.T) {
	s := store.Folder{Dir: t.TempDir()}
	all := func([]byte) bool { return true }
	id := Tiny(t, s.Dir, "").ID
	pack := PackOf(t, s.Path(id), Movie(550))
	Flip(t, filepath.Join(s.Path(id), pack), HeaderLen+1, 2)
	m, err := copyAll(t, s.Dir, id, all)
	sharedtest.NoError(t, err)
	r := MustOpen(t, s.Path(m.ID))
	if err := Guard(func() error {
		e, _ := r.Lookup(Movie(550))
		pieces, _ := Pieces(e.Fragment(0))
		pieces[0].Segment.Check()
		return nil
	}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("the damaged pack: %v, want damage", err)
	}
	part := m.Parts[1].Name
	Flip(t, filepath.Join(s.Path(m.ID), part), HeaderLen+46, 2)
	if _, err := copyAll(t, s.Dir, m.ID, all); !errors.Is(err, ErrCorrupt) {
		t.Errorf("copying a damaged part = %v, want damage", err)
	}
}
