package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	. "github.com/reelsplice/reelsplice/schemas/release"
	. "github.com/reelsplice/reelsplice/schemas/release/releasetest"
)

// TestVerifyIncludes follows references and includes through whole releases.
func TestVerifyIncludes(t *testing.T) {
	text := Seg(Plain("x"))
	rowOf := func(id fragment.ID, pieces ...PieceSpec) ResourceSpec {
		return ResourceSpec{Key: Movie(id), ID: uint64(id), Fragments: []FragmentSpec{Frag(Row, pieces...)}}
	}
	fallback := ResourceSpec{
		Key:       fragment.AppendShared(nil, fragment.KindDefault, fragment.KindMovie, ""),
		Fragments: []FragmentSpec{Frag(Row, text)},
	}
	// f wants exactly the problems that have these words.
	f := func(name string, rs []ResourceSpec, want ...string) {
		t.Helper()
		dir := Write(t, rs...)
		problems, err := Verify(t.Context(), dir, Options{}, nil)
		same := err == nil && len(problems) == len(want)
		for _, w := range want {
			same = same && slices.ContainsFunc(problems, func(p CorruptError) bool {
				return strings.HasPrefix(p.File, "part-") && strings.HasSuffix(p.What, w)
			})
		}
		if !same {
			t.Errorf("%s: Verify() = %v, %v\nwant %q", name, problems, err, want)
		}
		walk(t, dir)
	}

	// Forward and backward, across shards.
	f("both ways", []ResourceSpec{rowOf(1, RowOf(2), RowOf(3)), rowOf(2, text), rowOf(3, RowOf(2))})
	f("alias", []ResourceSpec{rowOf(1, RowOf(7)), {Key: Movie(2), Aliases: [][]byte{Movie(7)}, Fragments: []FragmentSpec{Frag(Row, text)}}})
	f("default", []ResourceSpec{rowOf(1, RowOf(2)), {Key: Movie(2)}, fallback})
	f("no default", []ResourceSpec{rowOf(1, text, RowOf(2)), {Key: Movie(2)}},
		"movie 1 row: piece 1, include, leads to movie 2 row, whose base is in neither the resource nor its kind's default")
	f("default of nothing", []ResourceSpec{rowOf(1, RowOf(2)), fallback},
		"movie 1 row: piece 0, include, leads to movie 2 row, a resource which is not there")
	f("no base", []ResourceSpec{rowOf(1, RowOf(2)), fallback, {Key: Movie(2), Fragments: []FragmentSpec{
		Frag(fragment.Address{Sub: fragment.SubRow, Variant: fragment.Language("de", "")}, text),
	}}}, "leads to movie 2 row, whose base is in neither the resource nor its kind's default")
	f("no page", []ResourceSpec{rowOf(1, RowOf(2)), {Key: Movie(2), Fragments: []FragmentSpec{
		Frag(fragment.Address{Sub: fragment.SubRow, Page: 1}, text),
	}}}, "leads to movie 2 row, whose base is in neither the resource nor its kind's default")

	f("reference", []ResourceSpec{rowOf(1, PieceSpec{Op: OpReference, Shared: Movie(2), Sub: fragment.SubRow}), rowOf(2, text)})
	f("reference to nothing", []ResourceSpec{rowOf(1, PieceSpec{Op: OpReference, Shared: Movie(2), Sub: fragment.SubRow})},
		"movie 1 row: piece 0, reference, leads to movie 2 row, which is not there")

	// Circles are met from each of their resources.
	f("itself", []ResourceSpec{rowOf(1, RowOf(1))}, "piece 0, include, leads in a circle: movie 1 row, movie 1 row")
	f("circle", []ResourceSpec{rowOf(1, RowOf(2)), rowOf(2, text, RowOf(1)), rowOf(3, RowOf(2))},
		"leads in a circle: movie 1 row, movie 2 row, movie 1 row",
		"leads in a circle: movie 2 row, movie 1 row, movie 2 row",
		"leads in a circle: movie 3 row, movie 2 row, movie 1 row, movie 2 row")
	f("circle with a reference", []ResourceSpec{rowOf(1, RowOf(2)), rowOf(2, PieceSpec{Op: OpReference, Shared: Movie(1), Sub: fragment.SubRow})},
		"movie 1 row: piece 0, include, leads in a circle: movie 1 row, movie 2 row, movie 1 row",
		"movie 2 row: piece 0, reference, leads in a circle: movie 2 row, movie 1 row, movie 2 row")
	f("other variants", []ResourceSpec{rowOf(1, RowOf(2)), {Key: Movie(2), Fragments: []FragmentSpec{
		Frag(Row, text), Frag(fragment.Address{Sub: fragment.SubRow, Variant: fragment.Untranslated}, RowOf(1)),
	}}}, "movie 1 row, movie 2 row, movie 1 row", "movie 2 row, movie 1 row, movie 2 row")
	f("other subs", []ResourceSpec{
		{Key: Movie(1), Fragments: []FragmentSpec{Frag(Details, RowOf(2)), Frag(Row, text)}}, rowOf(2, RowOf(1)),
	})

	chain := func(n int) (rs []ResourceSpec) {
		for i := 1; i < n; i++ {
			rs = append(rs, rowOf(fragment.ID(i), RowOf(uint64(i+1))))
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
		return Frag(fragment.Address{Sub: s, Page: n}, pieces...)
	}
	a, b, c := Lit("a"), Lit("b"), Lit("c")
	r := Written(t, Resource(1,
		page(fragment.SubDetails, 0, b), page(fragment.SubRow, 0, a), page(fragment.SubRow, 1, b),
		page(fragment.SubRow, 2, a), page(fragment.SubRow, 3, b, c), page(fragment.SubRow, 4, b),
	))
	e, _ := r.Lookup(Movie(1))
	texts := func(s fragment.Sub) (all []string) {
		from, to := e.Subs(s)
		for _, i := range distinct(nil, e, from, to) {
			text := ""
			pieces, _ := Pieces(e.Fragment(i))
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

// TestVerifyRemoved finds what breaks the rules for removed resources.
func TestVerifyRemoved(t *testing.T) {
	f := func(want string, rs ...ResourceSpec) {
		t.Helper()
		problems, err := Verify(t.Context(), Write(t, rs...), Options{}, nil)
		switch {
		case err != nil:
			t.Error(err)
		case want == "" && len(problems) > 0:
			t.Errorf("Verify() = %v, want nothing", problems)
		case want != "" && (len(problems) != 1 || !strings.Contains(problems[0].What, want)):
			t.Errorf("Verify() = %v, want a problem with %q", problems, want)
		}
	}
	into := func(pieces ...PieceSpec) ResourceSpec {
		return ResourceSpec{Key: fragment.AppendRemoved(nil, Movie(1)), Fragments: []FragmentSpec{Frag(fragment.Address{Sub: fragment.SubMergedInto}, pieces...)}}
	}
	text := func(s string) ResourceSpec { return into(Seg(Plain(s))) }
	x := Seg(Plain("x"))
	f("", Removed(1, 0), Removed(2, 1), Resource(3, Frag(Details, x)))
	f("removed movie 1: the resource is there", Removed(1, 0), Resource(1, Frag(Details, x)))
	f("removed movie 1: merged into movie 1, want another", text(string(Movie(1))))
	f("removed movie 1: merged into person 2, want another resource of the same kind", text(string(fragment.AppendID(nil, fragment.KindPerson, 2))))
	f("removed movie 1: merged into movie", text("\x01x"))
	f("removed movie 1: merged into (empty key)", text(""))
	f("at most 64 are possible", text(strings.Repeat("x", 65)))
	f("merged_into: it is not one segment or literal", into(x, x))
	f("merged_into: it is not one segment or literal", into(Lit(string(Movie(2))), x))
	f("merged_into: it is not one segment or literal", into(PieceSpec{Op: OpIDMark}))
	f("", into(Lit(string(Movie(2)))), Resource(3, Frag(Details, x)))
	f("removed movie 1: merged into movie 1, want another", into(Lit(string(Movie(1)))))
	f("removed movie 1: merged into", into(Lit(strings.Repeat("x", 65))))
	f("it has to have one fragment at most, merged_into", ResourceSpec{Key: fragment.AppendRemoved(nil, Movie(1)), Fragments: []FragmentSpec{Frag(Details, x)}})
	f("does not name a resource", ResourceSpec{Key: fragment.AppendRemoved(nil, fragment.AppendAlias(nil, fragment.KindMovie, "tt1"))})
	f("does not name a resource", ResourceSpec{Key: fragment.AppendRemoved(nil, nil)})
}
