package task

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/compare"
	"github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

func movieKey(id fragment.ID) []byte { return fragment.AppendID(nil, fragment.KindMovie, id) }

// text returns n bytes that compress badly.
func text(seed string, n int) []byte {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%x ", xxh3.HashString(fmt.Sprint(seed, i))%0xffff)
	}
	return []byte(b.String()[:n])
}

func fragmentOf(sub fragment.Sub, texts ...[]byte) release.FragmentSpec {
	f := release.FragmentSpec{Address: fragment.Address{Sub: sub}}
	for _, t := range texts {
		f.Pieces = append(f.Pieces, release.PieceSpec{Op: release.OpSegment, Literal: t})
	}
	return f
}

// fingerprintOf replaces the inputs of fragments.
func fingerprintOf(fragments []release.FragmentSpec) uint64 {
	return xxh3.HashString(fmt.Sprint(fragments))
}

// buildMovies writes a release of movies by their ids, reusing from, and opens it.
func buildMovies(t *testing.T, dir string, from *release.Reader, level int, movies map[fragment.ID][]release.FragmentSpec) (*release.Reader, int64) {
	t.Helper()
	out, err := releasetest.Create(dir)
	sharedtest.NoError(t, err)
	out.Spec.Params[paramEncoder] = encoderName(level)
	_, err = out.Part(nil) // the common part
	sharedtest.NoError(t, err)
	part, err := out.Part(from)
	sharedtest.NoError(t, err)
	w, err := newResourceWriter(from, part, level)
	sharedtest.NoError(t, err)
	for id := range fragment.ID(100) {
		if fragments, ok := movies[id]; ok {
			spec := release.ResourceSpec{Key: movieKey(id), ID: uint64(id), Fingerprint: fingerprintOf(fragments)}
			fragments = slices.Clone(fragments) // other releases get them too
			for i := range fragments {
				fragments[i].Pieces = slices.Clone(fragments[i].Pieces)
			}
			sharedtest.NoError(t, w.add(spec, func() []release.FragmentSpec { return fragments }))
		}
	}
	_, err = w.close()
	sharedtest.NoError(t, err)
	m, err := out.Seal(t.Context())
	sharedtest.NoError(t, err)
	return buildtest.OpenRelease(t, filepath.Join(dir, m.ID)), w.copied
}

// segmentsOf returns the packs of the segments of a movie, in order.
func segmentsOf(t *testing.T, r *release.Reader, id fragment.ID) (packs []string) {
	t.Helper()
	e, ok := r.Lookup(movieKey(id))
	if !ok {
		t.Fatalf("movie %d is not there", id)
	}
	var p release.Piece
	for i := range e.Len() {
		for c := e.Fragment(i).Pieces(); c.Next(&p); {
			if p.Op == release.OpSegment {
				pack, _ := p.Segment.Place()
				packs = append(packs, pack)
			}
		}
	}
	return packs
}

// TestTakeOver: equal resources are copied, equal texts of others stay in their packs, and nothing from another
// encoder is reused.
func TestTakeOver(t *testing.T) {
	dir := t.TempDir()
	long, other, credits := text("a", 500), text("b", 600), text("c", 700)
	first, n := buildMovies(t, dir, nil, 6, map[fragment.ID][]release.FragmentSpec{
		1: {fragmentOf(fragment.SubDetails, long, []byte("short")), fragmentOf(fragment.SubCredits, credits)},
		2: {fragmentOf(fragment.SubDetails, other)},
	})
	if n != 0 {
		t.Errorf("%d resources taken over from nothing", n)
	}
	old := segmentsOf(t, first, 1)[0]
	changed := map[fragment.ID][]release.FragmentSpec{
		1: {fragmentOf(fragment.SubDetails, long, []byte("Short")), fragmentOf(fragment.SubCredits, credits, other)},
		2: {fragmentOf(fragment.SubDetails, other)},
		3: {fragmentOf(fragment.SubDetails, long)},
	}
	second, n := buildMovies(t, dir, first, 6, changed)
	if n != 1 {
		t.Errorf("%d resources taken over, want the one that is the same", n)
	}
	packs := segmentsOf(t, second, 1)
	if packs[0] != old || packs[1] != old || packs[2] == old {
		t.Errorf("segments of movie 1 lie in %v, want the first two in %s", packs, old)
	}
	if packs := segmentsOf(t, second, 3); packs[0] == old {
		t.Error("a new movie takes over a segment of another one")
	}
	if !isReusable(first, 6) || isReusable(first, 5) {
		t.Error("want a release of level 6 to be reusable at that level alone")
	}
	full, _ := buildMovies(t, dir, nil, 6, changed)
	found, err := compare.Releases(t.Context(), second, full, nil)
	sharedtest.NoError(t, err)
	for _, change := range compare.Changes() {
		if n := found.Count(change); len(n) > 0 {
			t.Errorf("%s: %v, want no difference from a full build", change, n)
		}
	}
}

// TestFingerprint: any difference of the inputs changes the fingerprint.
func TestFingerprint(t *testing.T) {
	movie := func(m catalog.Movie) func(*resourceInputs) {
		return func(in *resourceInputs) { in.Record(record.Of(&m)) }
	}
	all := func(steps ...func(*resourceInputs)) func(*resourceInputs) {
		return func(in *resourceInputs) {
			for _, step := range steps {
				step(in)
			}
		}
	}
	bytes := func(s string) func(*resourceInputs) { return func(in *resourceInputs) { in.Bytes([]byte(s)) } }
	numbers := func(list ...int64) func(*resourceInputs) { return func(in *resourceInputs) { in.Numbers(list) } }
	one := movie(catalog.Movie{ID: record.Number(1)})
	seen, in := map[uint64]string{0: "none"}, &resourceInputs{}
	for name, add := range map[string]func(*resourceInputs){
		"nothing": func(*resourceInputs) {}, "no record": func(in *resourceInputs) { in.Record(record.Of((*catalog.Movie)(nil))) },
		"an empty record": movie(catalog.Movie{}), "a record": one, "two records": all(one, one),
		"a field": movie(catalog.Movie{ID: record.Number(1), Title: record.Text("")}), "its value": movie(catalog.Movie{ID: record.Number(1), Title: record.Text("T")}),
		"a null":         movie(catalog.Movie{ID: record.Number(1), Object: record.Object{Unusual: "title"}}),
		"a contribution": bytes("ab"), "where it ends": all(bytes("a"), bytes("b")),
		"neighbours": all(numbers(1, 2), numbers(3)), "other neighbours": all(numbers(1), numbers(2, 3)),
		"a fingerprint": func(in *resourceInputs) { in.AddFingerprint(1) }, "another one": func(in *resourceInputs) { in.AddFingerprint(2) },
	} {
		add(in)
		fingerprint := in.Fingerprint()
		if was, ok := seen[fingerprint]; ok {
			t.Errorf("%s and %s give the same fingerprint", name, was)
		}
		seen[fingerprint] = name
		if add(in); in.Fingerprint() != fingerprint {
			t.Errorf("%s gives another fingerprint the second time", name)
		}
	}
}

// TestVersion pins the encoding of texts. A change needs a new version or segment.Version, so that releases of the
// old one are not reused.
func TestVersion(t *testing.T) {
	const want = "2.2: 1: 436b 2: 436b 3: f910 4: aa87 5: 64ba 6: 42d1 7: 4125 8: 2c58 9: d3e7"
	got := strings.TrimSuffix(encoderName(0), ".0") + ":"
	for level := 1; level <= 9; level++ {
		var fragments []release.FragmentSpec
		for i, n := range []int{1, 90, 96, 97, 130, 160, 161, 500, 3000, 40_000} {
			fragments = append(fragments, release.FragmentSpec{
				Address: fragment.Address{Sub: fragment.SubDetails, Page: uint16(i)}, Pieces: []release.PieceSpec{{Op: release.OpSegment, Literal: text("x", n)}},
			})
		}
		phrases := []byte(strings.Repeat(`},{"adult":false,"character":"`, 5))
		fragments = append(fragments, fragmentOf(fragment.SubCredits, phrases), fragmentOf(fragment.SubAlternativeTitles, []byte(strings.Repeat(string(phrases[:30]), 6))))
		r, _ := buildMovies(t, t.TempDir(), nil, level, map[fragment.ID][]release.FragmentSpec{1: fragments})
		e, _ := r.Lookup(movieKey(1))
		h := xxh3.New()
		var p release.Piece
		for i := range e.Len() {
			for c := e.Fragment(i).Pieces(); c.Next(&p); {
				fmt.Fprintf(h, "%d %q %q\n", p.Op, p.Text(), p.Segment.Stored)
			}
		}
		got += fmt.Sprintf(" %d: %04x", level, h.Sum64()&0xffff)
	}
	if got != want {
		t.Errorf("texts are written as\n%q, pinned is\n%q: change version in this package, or segment.Version, and pin it", got, want)
	}
}

// TestForms: short texts, and longer ones with short codes, are literals. All texts are read back unchanged.
func TestForms(t *testing.T) {
	phrases := []byte(`{"movie_results":[],"person_results":[],"tv_results":[],"tv_episode_results":[],"tv_season_results":[{` +
		`}],"person_results":[],"tv_results":[],"tv_episode_results":[],"tv_season_results":[]`)
	codes := func(n int) []byte { return append(slices.Clone(phrases), bytes.Repeat([]byte("x"), n-len(phrases))...) }
	texts := map[string][]byte{
		"short":          text("a", maxLiteral),
		"not short":      text("b", maxLiteral+1),
		"of codes":       codes(maxPhrased),
		"of many codes":  text("c", maxPhrased),
		"long, of codes": codes(maxPhrased + 1),
	}
	if n := len(release.AppendText(nil, texts["of codes"])); n > maxCoded {
		t.Fatalf("%q takes %d bytes with codes", texts["of codes"], n)
	}
	for name, raw := range texts {
		r, _ := buildMovies(t, t.TempDir(), nil, 6, map[fragment.ID][]release.FragmentSpec{1: {fragmentOf(fragment.SubDetails, raw)}})
		e, _ := r.Lookup(movieKey(1))
		var p release.Piece
		if c := e.Fragment(0).Pieces(); !c.Next(&p) || c.Broken {
			t.Fatalf("%s: no piece", name)
		}
		isLiteral := name == "short" || name == "of codes"
		switch {
		case isLiteral != (p.Op == release.OpLiteral):
			t.Errorf("%s: %s", name, p.Op)
		case isLiteral && !bytes.Equal(p.Text(), raw) || !isLiteral && p.Segment.Hash != release.HashOf(raw):
			t.Errorf("%s: another text is stored", name)
		}
	}
}
