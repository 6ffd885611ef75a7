package release

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release/releasetest"
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
	w, err := create(dir, testOptions{Parts: 2, Parent: previous, Previous: r, MaxPackBytes: 1 << 20})
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = w.Abort() }()
	fill := func(i int) error {
		p, err := w.Part(i)
		if err != nil {
			return err
		}
		err = Guard(func() error {
			return r.Resources(tb.Context(), func(key []byte, e Entry, _ Ref) error {
				if (string(key) == string(genresKey)) != (i == 0) || !take(key) {
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
				r := ResourceSpec{Key: movie(fragment.ID(next)), ID: uint64(next), Fingerprint: uint64(next), Fragments: []FragmentSpec{
					frag(details, seg(deflated(text)), toGenres(), lit(`},{"credit_id":"52fe4250c3a36847f80149f3"`)),
					frag(detailsDE, seg(deflated(text)), toGenres(), lit(`},{"credit_id":"52fe4250c3a36847f80149f3"`)),
					frag(videos, PieceSpec{Op: OpIDMark}, seg(deflated(text+"!")), seg(deflated(text)), PieceSpec{Op: OpName, Word: WordSeason, Number: 7}),
				}}
				want[string(r.Key)] = r
				rs = append(rs, r)
			}
			return rs
		}
		w, err := create(dir, testOptions{Parts: 2})
		if err != nil {
			rt.Fatal(err)
		}
		if err := errors.Join(add(w, 0, tinyCommon()), add(w, 1, fresh(rapid.IntRange(1, 20).Draw(rt, "first"))...)); err != nil {
			rt.Fatal(err)
		}
		m := seal(t, w)
		for range 4 {
			m, err = copyAll(t, dir, m.ID, func(key []byte) bool {
				if string(key) == string(genresKey) || rapid.IntRange(0, 3).Draw(rt, "stays") > 0 {
					return true
				}
				delete(want, string(key))
				return false
			}, fresh(rapid.IntRange(0, 4).Draw(rt, "new"))...)
			if err != nil {
				rt.Fatal(err)
			}
			path := filepath.Join(dir, m.ID)
			checkCopies(rt, path, want)
		}
		path := filepath.Join(dir, m.ID)
		if problems, err := Verify(t.Context(), path, VerifyOptions{}, nil); err != nil || len(problems) > 0 {
			rt.Fatalf("Verify() = %v, %v, want nothing", problems, err)
		}
	})
}

// checkCopies compares a release with the resources that it should have.
func checkCopies(t *rapid.T, path string, want map[string]ResourceSpec) {
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n := r.manifest.Counts.Resources["movie"]; n != int64(len(want)) {
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
	w, err := create(dir, testOptions{Parts: 2})
	if err != nil {
		t.Fatal(err)
	}
	var rs []ResourceSpec
	for i := range 10 {
		rs = append(rs, ResourceSpec{Key: movie(fragment.ID(i)), Fragments: []FragmentSpec{frag(details, seg(plain(fmt.Sprint("movie ", i))))}})
	}
	if err := errors.Join(add(w, 0, tinyCommon()), add(w, 1, rs...)); err != nil {
		t.Fatal(err)
	}
	id := seal(t, w).ID
	first := packOf(t, filepath.Join(dir, id), movie(1))
	copyTo := func(below int) string {
		t.Helper()
		m, err := copyAll(t, dir, id, func(key []byte) bool { return string(key) == string(genresKey) || key[8] < byte(below) })
		if err != nil {
			t.Fatal(err)
		}
		id = m.ID
		noProblems(t, filepath.Join(dir, id))
		return packOf(t, filepath.Join(dir, id), movie(1))
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

// TestInstallTakesPacksOver: Install gives a release the packs of its parent, as links, or as copies where the
// file system has none. Before that they lie in the parent alone, which the preview reads.
func TestInstallTakesPacksOver(t *testing.T) {
	for _, noLinks := range []bool{false, true} {
		s := Store{Dir: t.TempDir()}
		id := buildTiny(t, s.Dir, "").ID
		r := mustOpen(t, s.Path(id))
		w, err := create(s.Dir, testOptions{Parent: id, Previous: r})
		if err != nil {
			t.Fatal(err)
		}
		w.disk.noLinks = noLinks
		p, err := w.Part(0)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(copyAllTo(p, r), p.Add(ResourceSpec{Key: movie(9999), Fragments: []FragmentSpec{frag(details, seg(plain("new")))}})); err != nil {
			t.Fatal(err)
		}
		c, err := w.contents(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		taken := 0
		for _, pack := range c.Parts[0].Packs {
			if _, err := os.Stat(filepath.Join(w.tmp, pack.Name)); os.IsNotExist(err) {
				taken++
			}
		}
		if taken != len(r.manifest.Packs) || taken != len(c.Parts[0].Packs)-1 {
			t.Errorf("%d packs lie in the parent alone, want %d of %d", taken, len(r.manifest.Packs), len(c.Parts[0].Packs))
		}
		next, err := Preview(w.manifest(), c, w.tmp, s.Path(id))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := digest(next); err != nil {
			t.Error(err)
		}
		if err := next.Close(); err != nil {
			t.Error(err)
		}
		m, err := w.Seal(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		noProblems(t, s.Path(m.ID))
		for _, f := range r.manifest.Packs {
			a, err := os.Stat(filepath.Join(s.Path(id), f.Name))
			if err != nil {
				t.Fatal(err)
			}
			b, err := os.Stat(filepath.Join(s.Path(m.ID), f.Name))
			if err != nil || os.SameFile(a, b) == noLinks || a.Mode() != b.Mode() {
				t.Errorf("%s is a link: %v, want %v (%v)", f.Name, os.SameFile(a, b), !noLinks, err)
			}
		}
		onlyListed(t, s.Path(m.ID))
	}
}

// copyAllTo copies all resources of r to a part.
func copyAllTo(p *PartWriter, r *Reader) error {
	return Guard(func() error {
		return r.Resources(context.Background(), func(_ []byte, e Entry, _ Ref) error { return p.Copy(e, nil) })
	})
}

// onlyListed fails t if a release has other files than its manifest lists.
func onlyListed(t *testing.T, dir string) {
	t.Helper()
	m, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(m.Files())+1 {
		t.Errorf("%d files in %s, want those of the manifest and itself: %d (%v)", len(entries), dir, len(m.Files())+1, err)
	}
}

// TestInstallWithoutParent: a pack that neither the release nor its parent has keeps the release from its name.
func TestInstallWithoutParent(t *testing.T) {
	for _, parent := range []string{"", "r0123456789abcdef"} {
		s := Store{Dir: t.TempDir()}
		r := mustOpen(t, s.Path(buildTiny(t, s.Dir, "").ID))
		w, err := create(s.Dir, testOptions{Parent: parent, Previous: r})
		if err != nil {
			t.Fatal(err)
		}
		p, err := w.Part(0)
		if err == nil {
			err = copyAllTo(p, r)
		}
		if err != nil {
			t.Fatal(err)
		}
		m, err := w.Seal(t.Context())
		if err == nil || !strings.Contains(err.Error(), r.manifest.Packs[0].Name) {
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

// TestCopyKeepsChecks: a release that takes over damaged packs has the checks that they had when they
// were whole; damaged parts, and packs that are written anew, are errors.
func TestCopyKeepsChecks(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	all := func([]byte) bool { return true }
	id := buildTiny(t, s.Dir, "").ID
	pack := packOf(t, s.Path(id), movie(550))
	releasetest.Flip(t, filepath.Join(s.Path(id), pack), headerLen+1, 2)
	m, err := copyAll(t, s.Dir, id, all)
	if err != nil {
		t.Fatal(err)
	}
	r := mustOpen(t, s.Path(m.ID))
	if err := Guard(func() error { r.files[pack].check(headerLen, 1); return nil }); !errors.Is(err, ErrCorrupt) {
		t.Errorf("the damaged pack: %v, want damage", err)
	}
	part := m.Parts[1].Name
	releasetest.Flip(t, filepath.Join(s.Path(m.ID), part), headerLen+blockKey+30, 2)
	if _, err := copyAll(t, s.Dir, m.ID, all); !errors.Is(err, ErrCorrupt) {
		t.Errorf("copying a damaged part = %v, want damage", err)
	}
}
