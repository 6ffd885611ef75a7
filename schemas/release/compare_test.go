package release

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// releaseOf writes resources into a release of two parts, half of them into each, and returns its folder.
func releaseOf(tb testing.TB, rs ...ResourceSpec) string {
	tb.Helper()
	dir := tb.TempDir()
	w, err := create(dir, testOptions{Parts: 2})
	if err != nil {
		tb.Fatal(err)
	}
	half := len(rs) / 2
	if err := errors.Join(add(w, 0, rs[:half]...), add(w, 1, rs[half:]...)); err != nil {
		tb.Fatal(err)
	}
	return filepath.Join(dir, seal(tb, w).ID)
}

// plainRelease opens a release of resources.
func plainRelease(tb testing.TB, rs ...ResourceSpec) *Reader {
	tb.Helper()
	return mustOpen(tb, releaseOf(tb, rs...))
}

// resource returns a movie with fragments.
func resource(id fragment.ID, fragments ...FragmentSpec) ResourceSpec {
	return ResourceSpec{Key: movie(id), ID: uint64(id), Fragments: fragments}
}

// differences returns what Compare finds, a line each.
func differences(tb testing.TB, a, b *Reader) []string {
	tb.Helper()
	c, err := Compare(context.Background(), a, b, nil)
	if err != nil {
		tb.Fatalf("Compare() = %v", err)
	}
	var lines []string
	for _, change := range Changes() {
		err := c.Each(context.Background(), change, func(d Difference) error {
			line := fmt.Sprintf("%s %s", d.Change, fragment.DescribeKey(d.Key))
			for _, s := range d.Subs {
				line += " " + s.String()
			}
			if d.Aliases {
				line += " aliases"
			}
			if d.Into != nil {
				line += " into " + fragment.DescribeKey(d.Into)
			}
			lines = append(lines, line)
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	err = c.NewAliases(func(key []byte) error {
		lines = append(lines, "new "+fragment.DescribeKey(key))
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return lines
}

// removed returns what says that a movie is removed; into 0 for one that is deleted.
func removed(id, into fragment.ID) ResourceSpec {
	r := ResourceSpec{Key: fragment.AppendRemoved(nil, movie(id))}
	if into != 0 {
		r.Fragments = []FragmentSpec{frag(fragment.Address{Sub: fragment.SubMergedInto}, seg(deflated(string(movie(into)))))}
	}
	return r
}

var imdb = [][]byte{fragment.AppendAlias(nil, fragment.KindMovie, "tt1")}

func TestCompare(t *testing.T) {
	x, y := seg(plain("x")), seg(plain("y"))
	mark, end := PieceSpec{Op: OpIDMark}, PieceSpec{Op: OpIDEnd}
	name := func(n uint32) PieceSpec { return PieceSpec{Op: OpName, Word: WordSeason, Number: n} }
	detailsX, detailsY := frag(details, x), frag(details, y)
	f := func(name string, a, b []ResourceSpec, want ...string) {
		t.Helper()
		was, is := plainRelease(t, a...), plainRelease(t, b...)
		if got := differences(t, was, is); !slices.Equal(got, want) {
			t.Errorf("%s: Compare() finds\n%q, want\n%q", name, got, want)
		}
		for _, r := range []*Reader{was, is} {
			if got := differences(t, r, r); len(got) > 0 {
				t.Errorf("%s: a release differs from itself: %q", name, got)
			}
		}
	}
	list := func(rs ...ResourceSpec) []ResourceSpec { return rs }

	f("same", list(resource(1, detailsX)), list(resource(1, detailsX)))
	f("other compression", list(resource(1, detailsX)), list(resource(1, frag(details, seg(deflated("x"))))))
	f("all changes", list(resource(1, detailsX), resource(2, detailsX), resource(3, detailsX), resource(5, detailsX)),
		list(resource(2, detailsY), resource(4, detailsX), resource(5, detailsX), removed(3, 5)),
		"created movie 4", "changed movie 2 details", "deleted movie 1", "merged movie 3 into movie 5")
	f("parts", list(resource(1, detailsX, frag(videos, x), frag(detailsDE, x))), list(resource(1, detailsX, frag(videos, y), frag(credits, x), frag(detailsDE, y))),
		"changed movie 1 details credits videos")
	f("a language more", list(resource(1, detailsX)), list(resource(1, detailsX, frag(detailsDE, x))), "changed movie 1 details")
	f("a part less", list(resource(1, detailsX, frag(videos, x))), list(resource(1, detailsX)), "changed movie 1 videos")
	f("pieces", list(resource(1, frag(details, x))), list(resource(1, frag(details, x, x))), "changed movie 1 details")
	f("operation", list(resource(1, frag(details, mark))), list(resource(1, frag(details, end))), "changed movie 1 details")
	f("name", list(resource(1, frag(details, name(1)))), list(resource(1, frag(details, name(2)))), "changed movie 1 details")
	number := resource(1, frag(details, mark, x), frag(videos, x, end), frag(credits, x))
	number.ID = 7
	f("own id", list(resource(1, frag(details, mark, x), frag(videos, x, end), frag(credits, x))), list(number), "changed movie 1 details videos")

	// What nobody asks for counts only where it is part of something else.
	f("row", list(resource(1, frag(row, x)), resource(2, frag(details, include(1))), resource(3, detailsX)),
		list(resource(1, frag(row, y)), resource(2, frag(details, include(1))), resource(3, detailsX)), "changed movie 2 details")
	f("row of a row", list(resource(1, frag(row, x)), resource(2, frag(row, include(1))), resource(3, frag(credits, include(2))), resource(4, frag(videos, include(2)))),
		list(resource(1, frag(row, y)), resource(2, frag(row, include(1))), resource(3, frag(credits, include(2))), resource(4, frag(videos, include(2)))),
		"changed movie 3 credits", "changed movie 4 videos")
	f("row of a language", list(resource(1, frag(row, x)), resource(2, frag(details, include(1)))),
		list(resource(1, frag(row, x), frag(fragment.Address{Sub: fragment.SubRow, Variant: detailsDE.Variant}, y)), resource(2, frag(details, include(1)))),
		"changed movie 2 details")
	f("another row", list(resource(1, frag(row, x)), resource(2, frag(row, x)), resource(3, frag(details, include(1)))),
		list(resource(1, frag(row, x)), resource(2, frag(row, x)), resource(3, frag(details, include(2)))), "changed movie 3 details")
	f("marks in a row say nothing", list(resource(1, frag(row, mark)), resource(2, frag(details, include(1)))),
		list(ResourceSpec{Key: movie(1), ID: 9, Fragments: []FragmentSpec{frag(row, mark)}}, resource(2, frag(details, include(1)))))

	// The place of what is referred to does not matter, its key and its content do.
	shared := func(name, text string) ResourceSpec {
		return ResourceSpec{
			Key:       fragment.AppendShared(nil, fragment.KindGenres, fragment.KindMovie, name),
			Fragments: []FragmentSpec{frag(genres, seg(plain(text)))},
		}
	}
	drama, adventure := shared("18", "drama"), shared("12", "adventure")
	refers := func(to ResourceSpec) ResourceSpec {
		return resource(1, frag(details, PieceSpec{Op: OpReference, Shared: to.Key, Sub: fragment.SubGenres}))
	}
	f("place of a reference", list(drama, refers(drama)), list(adventure, drama, refers(drama)))
	f("content of a reference", list(drama, refers(drama)), list(shared("18", "Drama"), refers(drama)), "changed movie 1 details")
	f("another reference", list(drama, refers(drama)), list(adventure, drama, refers(adventure)), "changed movie 1 details")

	// What is not there is answered by the defaults of the kind.
	defaults := func(fs ...FragmentSpec) ResourceSpec {
		return ResourceSpec{Key: fragment.AppendShared(nil, fragment.KindDefault, fragment.KindMovie, ""), Fragments: fs}
	}
	f("the default given", list(resource(1, detailsX), defaults(frag(videos, x))), list(resource(1, detailsX, frag(videos, x)), defaults(frag(videos, x))))
	f("no default any more", list(resource(1, detailsX), defaults(frag(videos, x))), list(resource(1, detailsX, frag(videos, y)), defaults(frag(videos, x))),
		"changed movie 1 videos")
	f("row by default", list(resource(1, detailsX), resource(2, frag(credits, include(1))), defaults(frag(row, x))),
		list(resource(1, detailsX, frag(row, y)), resource(2, frag(credits, include(1))), defaults(frag(row, x))), "changed movie 2 credits")
	f("another default", list(resource(1, detailsX), defaults(frag(videos, x))), list(resource(1, detailsX), defaults(frag(videos, y))), "changed movie 1 videos")
	f("a first default", list(resource(1, detailsX)), list(resource(1, detailsX), defaults(frag(videos, y))), "changed movie 1 videos")

	// Aliases.
	alias := func(r ResourceSpec) ResourceSpec {
		r.Aliases = imdb
		return r
	}
	f("alias moves", list(alias(resource(1, detailsX)), resource(2, detailsX)), list(resource(1, detailsX), alias(resource(2, detailsX))),
		"changed movie 1 aliases", "changed movie 2 aliases")
	f("alias comes", list(resource(1, detailsX)), list(alias(resource(1, detailsX))), "changed movie 1 aliases", `new alias of movie "tt1"`)
	f("alias goes", list(alias(resource(1, detailsX))), list(resource(1, detailsY)), "changed movie 1 details aliases")
	f("alias of what comes and goes", list(alias(resource(1, detailsX))), list(alias(resource(2, detailsX))), "created movie 2", "deleted movie 1")

	// Merges that lead on, or back, and of what was never there.
	f("merged twice", list(resource(1, detailsX), resource(2, detailsX)), list(removed(1, 2), removed(2, 3), removed(7, 8)),
		"merged movie 1 into movie 3", "merged movie 2 into movie 3")
	f("merged in a circle", list(resource(1, detailsX), resource(2, detailsX)), list(removed(1, 2), removed(2, 1)),
		"merged movie 1 into movie 2", "merged movie 2 into movie 1")
	f("removed before", list(removed(1, 2)), list(removed(1, 0), resource(3, detailsX)), "created movie 3")
	f("back again", list(removed(1, 2)), list(resource(1, detailsX)), "created movie 1")
	f("deleted and said so", list(resource(1, detailsX)), list(removed(1, 0)), "deleted movie 1")
}

// TestCompareOwn: each resource counts by itself, and equal fingerprints are believed.
func TestCompareOwn(t *testing.T) {
	x, y := seg(plain("x")), seg(plain("y"))
	f := func(name string, a, b []ResourceSpec, want ...string) {
		t.Helper()
		was, is := plainRelease(t, a...), plainRelease(t, b...)
		for shares := range 4 {
			var got []string
			for i := range max(1, shares) {
				c, err := CompareOwn(t.Context(), was, is, Share{i, shares})
				if err != nil {
					t.Fatal(err)
				}
				for _, change := range Changes() {
					err := c.Keys(t.Context(), change, func(key []byte) error {
						got = append(got, fmt.Sprintf("%s %s", change, fragment.DescribeKey(key)))
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if got = slices.Compact(got); !slices.Equal(got, want) {
				t.Errorf("%s: CompareOwn() in %d shares finds\n%q, want\n%q", name, shares, got, want)
			}
		}
	}
	list := func(rs ...ResourceSpec) []ResourceSpec { return rs }
	made := func(fingerprint uint64, r ResourceSpec) ResourceSpec {
		r.Fingerprint = fingerprint
		return r
	}
	genres := func(p PieceSpec) ResourceSpec {
		key := fragment.AppendShared(nil, fragment.KindGenres, fragment.KindMovie, "1")
		return ResourceSpec{Key: key, Fragments: []FragmentSpec{frag(fragment.Address{Sub: fragment.SubGenres}, p)}}
	}
	f("row", list(resource(1, frag(row, x)), resource(2, frag(details, include(1)))),
		list(resource(1, frag(row, y)), resource(2, frag(details, include(1)))), "changed movie 1")
	f("another row", list(resource(1, frag(row, x)), resource(2, frag(row, x)), resource(3, frag(details, include(1)))),
		list(resource(1, frag(row, x)), resource(2, frag(row, x)), resource(3, frag(details, include(2)))), "changed movie 3")
	f("only part of others", list(genres(x)), list(genres(y)), "changed "+fragment.DescribeKey(genres(x).Key))
	f("all changes", list(resource(1, frag(details, x)), resource(3, frag(details, x)), resource(5, frag(details, x))),
		list(resource(4, frag(details, x)), resource(5, frag(details, y)), removed(3, 5)),
		"created movie 4", "created "+fragment.DescribeKey(removed(3, 5).Key), "changed movie 5", "deleted movie 1", "merged movie 3")
	f("equal fingerprints", list(made(7, resource(1, frag(details, x)))), list(made(7, resource(1, frag(details, y)))))
	f("other fingerprints", list(made(7, resource(1, frag(details, x))), made(7, resource(2, frag(details, x)))),
		list(made(8, resource(1, frag(details, x))), made(8, resource(2, frag(details, y)))), "changed movie 2")
	named := resource(1, frag(details, x))
	named.Aliases = imdb
	f("aliases", list(resource(1, frag(details, x))), list(named), "changed movie 1")
}

// TestCompareRefuses: what breaks the format is an error, not a difference.
func TestCompareRefuses(t *testing.T) {
	x := seg(plain("x"))
	good := plainRelease(t, resource(1, frag(details, include(2))), resource(2, frag(row, x)))
	f := func(want string, bad *Reader) {
		t.Helper()
		_, err := Compare(context.Background(), good, bad, nil)
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), want) {
			t.Errorf("Compare() = %v, want ErrCorrupt with %q", err, want)
		}
	}
	f("movie 2, which is included, is not there", plainRelease(t, resource(1, frag(details, include(2)))))
	circle := plainRelease(t, resource(1, frag(details, include(2))), resource(2, frag(row, include(2))))
	if _, err := Compare(context.Background(), circle, circle, nil); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "more than 4 references and includes") {
		t.Errorf("Compare() of a circle = %v, want ErrCorrupt", err)
	}
	odd := removed(1, 2)
	odd.Fragments[0].Pieces[0] = x
	f("removed movie 1: merged into", plainRelease(t, odd))

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Compare(ctx, good, good, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Compare() = %v, want context.Canceled", err)
	}
}

// TestVerifyRemoved finds what breaks the rules for removed resources.
func TestVerifyRemoved(t *testing.T) {
	f := func(want string, rs ...ResourceSpec) {
		t.Helper()
		problems, err := Verify(t.Context(), releaseOf(t, rs...), VerifyOptions{}, nil)
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
		return ResourceSpec{Key: fragment.AppendRemoved(nil, movie(1)), Fragments: []FragmentSpec{frag(fragment.Address{Sub: fragment.SubMergedInto}, pieces...)}}
	}
	text := func(s string) ResourceSpec { return into(seg(plain(s))) }
	x := seg(plain("x"))
	f("", removed(1, 0), removed(2, 1), resource(3, frag(details, x)))
	f("removed movie 1: the resource is there", removed(1, 0), resource(1, frag(details, x)))
	f("removed movie 1: merged into movie 1, want another", text(string(movie(1))))
	f("removed movie 1: merged into person 2, want another resource of the same kind", text(string(fragment.AppendID(nil, fragment.KindPerson, 2))))
	f("removed movie 1: merged into movie", text("\x01x"))
	f("removed movie 1: merged into (empty key)", text(""))
	f("at most 64 are possible", text(strings.Repeat("x", 65)))
	f("merged_into: it is not one segment or literal", into(x, x))
	f("merged_into: it is not one segment or literal", into(lit(string(movie(2))), x))
	f("merged_into: it is not one segment or literal", into(PieceSpec{Op: OpIDMark}))
	f("", into(lit(string(movie(2)))), resource(3, frag(details, x)))
	f("removed movie 1: merged into movie 1, want another", into(lit(string(movie(1)))))
	f("removed movie 1: merged into", into(lit(strings.Repeat("x", 65))))
	f("it has to have one fragment at most, merged_into", ResourceSpec{Key: fragment.AppendRemoved(nil, movie(1)), Fragments: []FragmentSpec{frag(details, x)}})
	f("does not name a resource", ResourceSpec{Key: fragment.AppendRemoved(nil, fragment.AppendAlias(nil, fragment.KindMovie, "tt1"))})
	f("does not name a resource", ResourceSpec{Key: fragment.AppendRemoved(nil, nil)})
}
