package release

import (
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// TestVerifyIncludes follows references and includes through whole releases.
func TestVerifyIncludes(t *testing.T) {
	text := seg(plain("x"))
	rowOf := func(id fragment.ID, pieces ...PieceSpec) ResourceSpec {
		return ResourceSpec{Key: movie(id), ID: uint64(id), Fragments: []FragmentSpec{frag(row, pieces...)}}
	}
	fallback := ResourceSpec{
		Key:       fragment.AppendShared(nil, fragment.KindDefault, fragment.KindMovie, ""),
		Fragments: []FragmentSpec{frag(row, text)},
	}
	// f wants exactly the problems that have these words.
	f := func(name string, rs []ResourceSpec, want ...string) {
		t.Helper()
		dir := releaseOf(t, rs...)
		problems, err := Verify(t.Context(), dir, VerifyOptions{}, nil)
		same := err == nil && len(problems) == len(want)
		for _, w := range want {
			same = same && slices.ContainsFunc(problems, func(p CorruptError) bool {
				return strings.HasPrefix(p.File, partPrefix) && strings.HasSuffix(p.What, w)
			})
		}
		if !same {
			t.Errorf("%s: Verify() = %v, %v\nwant %q", name, problems, err, want)
		}
		walk(t, dir)
	}

	// Forward and backward, across shards.
	f("both ways", []ResourceSpec{rowOf(1, include(2), include(3)), rowOf(2, text), rowOf(3, include(2))})
	f("alias", []ResourceSpec{rowOf(1, include(7)), {Key: movie(2), Aliases: [][]byte{movie(7)}, Fragments: []FragmentSpec{frag(row, text)}}})
	f("default", []ResourceSpec{rowOf(1, include(2)), {Key: movie(2)}, fallback})
	f("no default", []ResourceSpec{rowOf(1, text, include(2)), {Key: movie(2)}},
		"movie 1 row: piece 1, include, leads to movie 2 row, of which neither the resource nor the default of its kind has the base")
	f("default of nothing", []ResourceSpec{rowOf(1, include(2)), fallback},
		"movie 1 row: piece 0, include, leads to movie 2 row, a resource which is not there")
	f("no base", []ResourceSpec{rowOf(1, include(2)), fallback, {Key: movie(2), Fragments: []FragmentSpec{
		frag(fragment.Address{Sub: fragment.SubRow, Variant: fragment.Language("de", "")}, text),
	}}}, "leads to movie 2 row, of which neither the resource nor the default of its kind has the base")
	f("no page", []ResourceSpec{rowOf(1, include(2)), {Key: movie(2), Fragments: []FragmentSpec{
		frag(fragment.Address{Sub: fragment.SubRow, Page: 1}, text),
	}}}, "leads to movie 2 row, of which neither the resource nor the default of its kind has the base")

	f("reference", []ResourceSpec{rowOf(1, PieceSpec{Op: OpReference, Shared: movie(2), Sub: fragment.SubRow}), rowOf(2, text)})
	f("reference to nothing", []ResourceSpec{rowOf(1, PieceSpec{Op: OpReference, Shared: movie(2), Sub: fragment.SubRow})},
		"movie 1 row: piece 0, reference, leads to movie 2 row, which is not there")

	// Circles are met from each of their resources.
	f("itself", []ResourceSpec{rowOf(1, include(1))}, "piece 0, include, leads in a circle: movie 1 row, movie 1 row")
	f("circle", []ResourceSpec{rowOf(1, include(2)), rowOf(2, text, include(1)), rowOf(3, include(2))},
		"leads in a circle: movie 1 row, movie 2 row, movie 1 row",
		"leads in a circle: movie 2 row, movie 1 row, movie 2 row",
		"leads in a circle: movie 3 row, movie 2 row, movie 1 row, movie 2 row")
	f("circle with a reference", []ResourceSpec{rowOf(1, include(2)), rowOf(2, PieceSpec{Op: OpReference, Shared: movie(1), Sub: fragment.SubRow})},
		"movie 1 row: piece 0, include, leads in a circle: movie 1 row, movie 2 row, movie 1 row",
		"movie 2 row: piece 0, reference, leads in a circle: movie 2 row, movie 1 row, movie 2 row")
	f("other variants", []ResourceSpec{rowOf(1, include(2)), {Key: movie(2), Fragments: []FragmentSpec{
		frag(row, text), frag(fragment.Address{Sub: fragment.SubRow, Variant: fragment.Untranslated}, include(1)),
	}}}, "movie 1 row, movie 2 row, movie 1 row", "movie 2 row, movie 1 row, movie 2 row")
	f("other subs", []ResourceSpec{
		{Key: movie(1), Fragments: []FragmentSpec{frag(details, include(2)), frag(row, text)}}, rowOf(2, include(1)),
	})

	chain := func(n int) (rs []ResourceSpec) {
		for i := 1; i < n; i++ {
			rs = append(rs, rowOf(fragment.ID(i), include(uint64(i+1))))
		}
		return append(rs, rowOf(fragment.ID(n), text))
	}
	f("deep", chain(MaxDepth+1))
	f("too deep", chain(MaxDepth+2),
		"leads through more than 4 references and includes: movie 1 row, movie 2 row, movie 3 row, movie 4 row, movie 5 row, movie 6 row")
}

// TestRecipeFragments takes one of the fragments that share their bytes, so that what
// follows them does not walk through 65535 pieces 65535 times.
func TestRecipeFragments(t *testing.T) {
	page := func(s fragment.Sub, n uint16, pieces ...PieceSpec) FragmentSpec {
		return frag(fragment.Address{Sub: s, Page: n}, pieces...)
	}
	a, b, c := lit("a"), lit("b"), lit("c")
	r := plainRelease(t, resource(1,
		page(fragment.SubDetails, 0, b), page(fragment.SubRow, 0, a), page(fragment.SubRow, 1, b),
		page(fragment.SubRow, 2, a), page(fragment.SubRow, 3, b, c), page(fragment.SubRow, 4, b),
	))
	e, _ := r.Lookup(movie(1))
	texts := func(s fragment.Sub) (all []string) {
		for _, f := range (recipe{e, s}).fragments() {
			text := ""
			pieces, _ := piecesOf(f)
			for _, p := range pieces {
				text += string(p.Text())
			}
			all = append(all, text)
		}
		return all
	}
	for s, want := range map[fragment.Sub][]string{
		fragment.SubDetails: {"b"}, fragment.SubRow: {"b", "a", "bc"}, fragment.SubVideos: nil,
	} {
		if got := texts(s); !slices.Equal(got, want) {
			t.Errorf("fragments of %s = %q, want %q", s, got, want)
		}
	}
}
