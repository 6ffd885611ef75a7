package releasetest

import (
	"path/filepath"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// GenresKey is the key of a shared list of genres.
var GenresKey = fragment.AppendShared(nil, fragment.KindGenres, fragment.KindMovie, "18,53")

// ToGenres returns the reference to it.
func ToGenres() release.PieceSpec {
	return release.PieceSpec{Op: release.OpReference, Shared: GenresKey, Sub: fragment.SubGenres}
}

// GenresOf returns that list.
func GenresOf() release.ResourceSpec {
	text := Seg(Plain(`"genres":[{"id":18,"name":"Drama"}]`))
	return release.ResourceSpec{Key: GenresKey, Fingerprint: 0x0102030405060708, Fragments: []release.FragmentSpec{
		Frag(fragment.Address{Sub: fragment.SubGenres, Variant: fragment.Language("de", "")}, text), Frag(Genres, text),
	}}
}

// FillTiny writes the parts and the table of a release with every form of piece: testdata/v9 of package release.
func FillTiny(w *Writer) error {
	include := func(i release.Include) []release.FragmentSpec {
		return []release.FragmentSpec{Frag(Details, release.PieceSpec{Op: release.OpInclude, Include: i})}
	}
	end, first := release.PieceSpec{Op: release.OpIDEnd}, Seg(Plain(`{"adult":false,`))
	w.MaxPackBytes = 80
	for _, part := range [][]release.ResourceSpec{
		{GenresOf()},
		{
			{
				Key: Movie(550), ID: 550, Aliases: [][]byte{fragment.AppendAlias(nil, fragment.KindMovie, "tt0137523")},
				Fragments: []release.FragmentSpec{
					Frag(Details, first, ToGenres(), Lit(`,"ID":550`)),
					Frag(DetailsDE, first, ToGenres(), Lit(`,"ID":550`)),
					Frag(fragment.Address{Sub: fragment.SubSimilar, Page: 2}, release.PieceSpec{Op: release.OpPageMark}, Lit(`"results":[]}`)),
					Frag(Videos, release.PieceSpec{Op: release.OpIDMark}, Seg(Plain(`"results":[{"name":"a trailer with a name that fills a row"}]}`))),
				},
			},
			Resource(551, Frag(Details, Seg(Plain("")))),
		},
		{
			Resource(13, Frag(DetailsDE, ToGenres()), Frag(Details, Seg(Plain(`{"id":13`))), Frag(Row, Seg(Plain(`"id":13`)))),
			{Key: fragment.AppendShared(nil, fragment.KindDefault, fragment.KindMovie, ""), Fragments: []release.FragmentSpec{Frag(Row, Seg(Plain(`"id":0`)))}},
			{Key: fragment.AppendSeason(nil, 1399, 1), ID: 3624, Fragments: []release.FragmentSpec{
				Frag(Details, Lit(`{"name":`), release.PieceSpec{Op: release.OpName, Word: release.WordSeason, Number: 1}),
				Frag(Credits, Seg(Plain(`"cast":[{`)), RowOf(13), Lit(`}|{`), RowOf(551), Seg(Plain(`}]`)), end),
				Frag(Row, release.PieceSpec{Op: release.OpName, Word: release.WordEpisode, Number: 1<<32 - 1}),
			}},
			{
				Key: fragment.AppendEpisode(nil, 1399, 1, 2), ID: 63057,
				Fragments: include(release.Include{Kind: fragment.KindSeason, ID: 1399, Season: 1, Sub: fragment.SubRow}),
			},
			{
				Key: fragment.AppendID(nil, fragment.KindTV, 1399), ID: 1399,
				Fragments: include(release.Include{Kind: fragment.KindEpisode, ID: 1399, Season: 1, Episode: 2, Sub: fragment.SubDetails}),
			},
		},
	} {
		if err := w.Add(part...); err != nil {
			return err
		}
	}
	t, err := w.Table("tiny", 3)
	if err != nil {
		return err
	}
	for _, s := range []string{"rows", "columns.id"} {
		if _, err := t.Section(s).Write([]byte("the bytes of " + s)); err != nil {
			return err
		}
	}
	return t.Close()
}

// Tiny writes that release, with a parent, into a folder of releases.
func Tiny(tb testing.TB, releases, parent string) release.Manifest {
	tb.Helper()
	w, err := Create(releases)
	if err == nil {
		w.Spec = release.ManifestSpec{Params: map[string]string{"level": "6"}, Sources: map[string]int64{"movies": 3}, Parent: parent}
		err = FillTiny(w)
	}
	sharedtest.NoError(tb, err)
	return Seal(tb, w)
}

// TinyDir is Tiny in a folder of its own, whose path it returns.
func TinyDir(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	return filepath.Join(dir, Tiny(tb, dir, "r0000000000000000").ID)
}
