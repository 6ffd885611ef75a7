package compare_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	. "github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/compare"
	. "github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// differences returns what Compare finds, a line each.
func differences(tb testing.TB, a, b *Reader) []string {
	tb.Helper()
	c, err := compare.Releases(context.Background(), a, b, nil)
	if err != nil {
		tb.Fatalf("Compare() = %v", err)
	}
	var lines []string
	for _, change := range compare.Changes() {
		err := c.Each(context.Background(), change, func(d compare.Difference) error {
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
		sharedtest.NoError(tb, err)
	}
	err = c.NewAliases(func(key []byte) error {
		lines = append(lines, "new "+fragment.DescribeKey(key))
		return nil
	})
	sharedtest.NoError(tb, err)
	return lines
}

var imdb = [][]byte{fragment.AppendAlias(nil, fragment.KindMovie, "tt1")}

func TestCompare(t *testing.T) {
	x, y := Seg(Plain("x")), Seg(Plain("y"))
	mark, end := PieceSpec{Op: OpIDMark}, PieceSpec{Op: OpIDEnd}
	name := func(n uint32) PieceSpec { return PieceSpec{Op: OpName, Word: WordSeason, Number: n} }
	detailsX, detailsY := Frag(Details, x), Frag(Details, y)
	f := func(name string, a, b []ResourceSpec, want ...string) {
		t.Helper()
		was, is := Written(t, a...), Written(t, b...)
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

	f("same", list(Resource(1, detailsX)), list(Resource(1, detailsX)))
	f("other compression", list(Resource(1, detailsX)), list(Resource(1, Frag(Details, Seg(Deflated("x"))))))
	f("all changes", list(Resource(1, detailsX), Resource(2, detailsX), Resource(3, detailsX), Resource(5, detailsX)),
		list(Resource(2, detailsY), Resource(4, detailsX), Resource(5, detailsX), Removed(3, 5)),
		"created movie 4", "changed movie 2 details", "deleted movie 1", "merged movie 3 into movie 5")
	f("parts", list(Resource(1, detailsX, Frag(Videos, x), Frag(DetailsDE, x))), list(Resource(1, detailsX, Frag(Videos, y), Frag(Credits, x), Frag(DetailsDE, y))),
		"changed movie 1 details credits videos")
	f("a language more", list(Resource(1, detailsX)), list(Resource(1, detailsX, Frag(DetailsDE, x))), "changed movie 1 details")
	f("a part less", list(Resource(1, detailsX, Frag(Videos, x))), list(Resource(1, detailsX)), "changed movie 1 videos")
	f("pieces", list(Resource(1, Frag(Details, x))), list(Resource(1, Frag(Details, x, x))), "changed movie 1 details")
	f("operation", list(Resource(1, Frag(Details, mark))), list(Resource(1, Frag(Details, end))), "changed movie 1 details")
	f("name", list(Resource(1, Frag(Details, name(1)))), list(Resource(1, Frag(Details, name(2)))), "changed movie 1 details")
	number := Resource(1, Frag(Details, mark, x), Frag(Videos, x, end), Frag(Credits, x))
	number.ID = 7
	f("own id", list(Resource(1, Frag(Details, mark, x), Frag(Videos, x, end), Frag(Credits, x))), list(number), "changed movie 1 details videos")

	// What nobody asks for counts only where it is part of something else.
	f("row", list(Resource(1, Frag(Row, x)), Resource(2, Frag(Details, RowOf(1))), Resource(3, detailsX)),
		list(Resource(1, Frag(Row, y)), Resource(2, Frag(Details, RowOf(1))), Resource(3, detailsX)), "changed movie 2 details")
	f("row of a row", list(Resource(1, Frag(Row, x)), Resource(2, Frag(Row, RowOf(1))), Resource(3, Frag(Credits, RowOf(2))), Resource(4, Frag(Videos, RowOf(2)))),
		list(Resource(1, Frag(Row, y)), Resource(2, Frag(Row, RowOf(1))), Resource(3, Frag(Credits, RowOf(2))), Resource(4, Frag(Videos, RowOf(2)))),
		"changed movie 3 credits", "changed movie 4 videos")
	f("row of a language", list(Resource(1, Frag(Row, x)), Resource(2, Frag(Details, RowOf(1)))),
		list(Resource(1, Frag(Row, x), Frag(fragment.Address{Sub: fragment.SubRow, Variant: DetailsDE.Variant}, y)), Resource(2, Frag(Details, RowOf(1)))),
		"changed movie 2 details")
	f("another row", list(Resource(1, Frag(Row, x)), Resource(2, Frag(Row, x)), Resource(3, Frag(Details, RowOf(1)))),
		list(Resource(1, Frag(Row, x)), Resource(2, Frag(Row, x)), Resource(3, Frag(Details, RowOf(2)))), "changed movie 3 details")
	f("marks in a row say nothing", list(Resource(1, Frag(Row, mark)), Resource(2, Frag(Details, RowOf(1)))),
		list(ResourceSpec{Key: Movie(1), ID: 9, Fragments: []FragmentSpec{Frag(Row, mark)}}, Resource(2, Frag(Details, RowOf(1)))))

	// The place of what is referred to does not matter, its key and its content do.
	shared := func(name, text string) ResourceSpec {
		return ResourceSpec{
			Key:       fragment.AppendShared(nil, fragment.KindGenres, fragment.KindMovie, name),
			Fragments: []FragmentSpec{Frag(Genres, Seg(Plain(text)))},
		}
	}
	drama, adventure := shared("18", "drama"), shared("12", "adventure")
	refers := func(to ResourceSpec) ResourceSpec {
		return Resource(1, Frag(Details, PieceSpec{Op: OpReference, Shared: to.Key, Sub: fragment.SubGenres}))
	}
	f("place of a reference", list(drama, refers(drama)), list(adventure, drama, refers(drama)))
	f("content of a reference", list(drama, refers(drama)), list(shared("18", "Drama"), refers(drama)), "changed movie 1 details")
	f("another reference", list(drama, refers(drama)), list(adventure, drama, refers(adventure)), "changed movie 1 details")

	// What is not there is answered by the defaults of the kind.
	defaults := func(fs ...FragmentSpec) ResourceSpec {
		return ResourceSpec{Key: fragment.AppendShared(nil, fragment.KindDefault, fragment.KindMovie, ""), Fragments: fs}
	}
	f("the default given", list(Resource(1, detailsX), defaults(Frag(Videos, x))), list(Resource(1, detailsX, Frag(Videos, x)), defaults(Frag(Videos, x))))
	f("no default any more", list(Resource(1, detailsX), defaults(Frag(Videos, x))), list(Resource(1, detailsX, Frag(Videos, y)), defaults(Frag(Videos, x))),
		"changed movie 1 videos")
	f("row by default", list(Resource(1, detailsX), Resource(2, Frag(Credits, RowOf(1))), defaults(Frag(Row, x))),
		list(Resource(1, detailsX, Frag(Row, y)), Resource(2, Frag(Credits, RowOf(1))), defaults(Frag(Row, x))), "changed movie 2 credits")
	f("another default", list(Resource(1, detailsX), defaults(Frag(Videos, x))), list(Resource(1, detailsX), defaults(Frag(Videos, y))), "changed movie 1 videos")
	f("a first default", list(Resource(1, detailsX)), list(Resource(1, detailsX), defaults(Frag(Videos, y))), "changed movie 1 videos")

	// Aliases.
	alias := func(r ResourceSpec) ResourceSpec {
		r.Aliases = imdb
		return r
	}
	f("alias moves", list(alias(Resource(1, detailsX)), Resource(2, detailsX)), list(Resource(1, detailsX), alias(Resource(2, detailsX))),
		"changed movie 1 aliases", "changed movie 2 aliases")
	f("alias comes", list(Resource(1, detailsX)), list(alias(Resource(1, detailsX))), "changed movie 1 aliases", `new alias of movie "tt1"`)
	f("alias goes", list(alias(Resource(1, detailsX))), list(Resource(1, detailsY)), "changed movie 1 details aliases")
	f("alias of what comes and goes", list(alias(Resource(1, detailsX))), list(alias(Resource(2, detailsX))), "created movie 2", "deleted movie 1")

	// Merges that lead on, or back, and of what was never there.
	f("merged twice", list(Resource(1, detailsX), Resource(2, detailsX)), list(Removed(1, 2), Removed(2, 3), Removed(7, 8)),
		"merged movie 1 into movie 3", "merged movie 2 into movie 3")
	f("merged in a circle", list(Resource(1, detailsX), Resource(2, detailsX)), list(Removed(1, 2), Removed(2, 1)),
		"merged movie 1 into movie 2", "merged movie 2 into movie 1")
	f("removed before", list(Removed(1, 2)), list(Removed(1, 0), Resource(3, detailsX)), "created movie 3")
	f("back again", list(Removed(1, 2)), list(Resource(1, detailsX)), "created movie 1")
	f("deleted and said so", list(Resource(1, detailsX)), list(Removed(1, 0)), "deleted movie 1")
}

// TestCompareRefuses: what breaks the format is an error, not a difference.
func TestCompareRefuses(t *testing.T) {
	x := Seg(Plain("x"))
	good := Written(t, Resource(1, Frag(Details, RowOf(2))), Resource(2, Frag(Row, x)))
	f := func(want string, bad *Reader) {
		t.Helper()
		_, err := compare.Releases(context.Background(), good, bad, nil)
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), want) {
			t.Errorf("Compare() = %v, want ErrCorrupt with %q", err, want)
		}
	}
	f("movie 2, which is included, is not there", Written(t, Resource(1, Frag(Details, RowOf(2)))))
	circle := Written(t, Resource(1, Frag(Details, RowOf(2))), Resource(2, Frag(Row, RowOf(2))))
	if _, err := compare.Releases(context.Background(), circle, circle, nil); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "more than 4 references and includes") {
		t.Errorf("Compare() of a circle = %v, want ErrCorrupt", err)
	}
	odd := Removed(1, 2)
	odd.Fragments[0].Pieces[0] = x
	f("removed movie 1: merged into", Written(t, odd))

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := compare.Releases(ctx, good, good, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Compare() = %v, want context.Canceled", err)
	}
}
