package serve

import (
	"bytes"
	"os"
	"testing"

	"reelsplice/build/segment"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
)

// Releases of these tests are written piece by piece, so that they hold what the edge
// promises to serve rather than what the builder makes of a record.

// A resource is what a release holds of one key.
type resource struct {
	key     []byte
	id      uint64
	aliases [][]byte
	frags   []frag
}

// A frag is a fragment: texts for segments, literals, and release.PieceSpec for the rest.
type frag struct {
	address fragment.Address
	pieces  []any
}

// A literal is text that stands in the program.
type literal string

// The marks of programs.
var (
	idMark   = release.PieceSpec{Op: release.OpIDMark}
	idEnd    = release.PieceSpec{Op: release.OpIDEnd}
	pageMark = release.PieceSpec{Op: release.OpPageMark}
)

func nameMark(w release.Word, n uint32) release.PieceSpec {
	return release.PieceSpec{Op: release.OpName, Word: w, Number: n}
}

func include(i release.Include) release.PieceSpec {
	return release.PieceSpec{Op: release.OpInclude, Include: i}
}

// rowOf includes a row of a resource that is known by one number.
func rowOf(k fragment.Kind, id uint64, s fragment.Sub) release.PieceSpec {
	return include(release.Include{Kind: k, ID: id, Sub: s})
}

// of is a fragment of a sub-request in its base variant.
func of(s fragment.Sub, pieces ...any) frag { return in(s, fragment.Base, pieces...) }

// in is a fragment in a variant.
func in(s fragment.Sub, v fragment.Variant, pieces ...any) frag {
	return frag{fragment.Address{Sub: s, Variant: v}, pieces}
}

// on is a fragment of a page.
func on(s fragment.Sub, page uint16, pieces ...any) frag {
	return frag{fragment.Address{Sub: s, Page: page}, pieces}
}

// numbered is a resource that is known by one number.
func numbered(k fragment.Kind, id uint64, frags ...frag) resource {
	return resource{key: fragment.AppendID(nil, k, fragment.ID(id)), id: id, frags: frags}
}

// known adds aliases.
func (r resource) known(k fragment.Kind, texts ...string) resource {
	for _, text := range texts {
		r.aliases = append(r.aliases, fragment.AppendAlias(nil, k, text))
	}
	return r
}

// defaultsOf is the resource of defaults of a kind.
func defaultsOf(k fragment.Kind, frags ...frag) resource {
	return resource{key: fragment.AppendShared(nil, fragment.KindDefault, k, ""), frags: frags}
}

// writeRelease writes a release into a folder and makes it the current one.
func writeRelease(tb tester, dir string, resources ...resource) {
	tb.Helper()
	must := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatalf("write release: %v", err)
		}
	}
	w, err := release.Create(dir, release.WriterOptions{})
	must(err)
	defer w.Abort() // does nothing after Seal
	s, err := w.Shard(0)
	must(err)
	z, err := segment.New(6)
	must(err)
	for _, r := range resources {
		spec, err := r.spec(z)
		must(err)
		_, err = s.Add(spec)
		must(err)
	}
	must(s.Close())
	m, err := w.Seal(tb.Context())
	must(err)
	_, err = release.Store{Dir: dir}.Publish(m.ID)
	must(err)
}

func (r *resource) spec(z *segment.Compressor) (release.ResourceSpec, error) {
	spec := release.ResourceSpec{Key: r.key, ID: r.id, Aliases: r.aliases}
	for _, f := range r.frags {
		fs := release.FragmentSpec{Address: f.address}
		for _, p := range f.pieces {
			ps, err := pieceOf(z, p)
			if err != nil {
				return spec, err
			}
			fs.Pieces = append(fs.Pieces, ps)
		}
		spec.Fragments = append(spec.Fragments, fs)
	}
	return spec, nil
}

func pieceOf(z *segment.Compressor, piece any) (release.PieceSpec, error) {
	switch p := piece.(type) {
	case release.PieceSpec:
		return p, nil
	case literal:
		return release.PieceSpec{Op: release.OpLiteral, Literal: []byte(p)}, nil
	default:
		g, err := z.Segment([]byte(p.(string)))
		g.Stored = bytes.Clone(g.Stored) // the next one overwrites it
		return release.PieceSpec{Op: release.OpSegment, Segment: g}, err
	}
}

// writtenWorld returns an Edge over resources.
func writtenWorld(tb testing.TB, change func(*Config), resources ...resource) *world {
	tb.Helper()
	w := bareWorld(tb, change)
	writeRelease(tb, w.cfg.Releases, resources...)
	w.open(tb)
	return w
}

// verify checks the current release of w.
func (w *world) verify(tb tester) {
	tb.Helper()
	problems, err := release.Verify(tb.Context(), w.releases.store.Path(w.releases.ID()), release.VerifyOptions{}, nil)
	if err != nil || len(problems) != 0 {
		tb.Fatalf("Verify = %v, %v, want no problem", problems, err)
	}
}

// catalogue is a little of each kind.
func catalogue() []resource {
	const (
		review  = "5488c29bc3a3686f4a00004a"
		credit  = "52542282760ee313280017f9"
		group   = "5acf93e60e0a26346d0000ce"
		noTexts = `"results":[]}`
	)
	deDE := fragment.Language("de", "DE")
	movie, tv, person := fragment.KindMovie, fragment.KindTV, fragment.KindPerson
	season := resource{
		key: fragment.AppendSeason(nil, 1399, 1), id: 3624,
		frags: []frag{
			of(fragment.SubDetails, `{"_id":"5256c89f19c2956ff6046d47","name":"Season One","id":3624`),
			in(fragment.SubDetails, fragment.Untranslated, `{"_id":"5256c89f19c2956ff6046d47","name":`, nameMark(release.WordSeason, 1), `,"id":3624`),
			of(fragment.SubCredits, `"cast":[],"crew":[]`, idEnd),
			of(fragment.SubChanges, literal(`"changes":[{"key":"name","items":[]}]}`)),
			of(fragment.SubImages, idMark, `"posters":[{"iso_639_1":"en"},{"iso_639_1":"de"},{"iso_639_1":null}]}`),
			in(fragment.SubImages, fragment.Language("en", ""), idMark, literal(`"posters":[{"iso_639_1":"en"}]}`)),
			in(fragment.SubImages, fragment.Language("de", ""), idMark, literal(`"posters":[{"iso_639_1":"de"}]}`)),
			in(fragment.SubImages, fragment.NoLanguage, idMark, `"posters":[{"iso_639_1":null}]}`),
			of(fragment.SubMediaRow, `"id":3624,"name":"Season One","media_type":"tv_season"`),
		},
	}.known(fragment.KindSeason, "3624")
	specials := resource{
		key: fragment.AppendSeason(nil, 1399, 0), id: 3627,
		frags: []frag{
			of(fragment.SubDetails, `{"_id":"5256c89f19c2956ff6046dd7","name":"Specials","id":3627`),
			in(fragment.SubDetails, fragment.Untranslated, `{"_id":"5256c89f19c2956ff6046dd7","name":`, nameMark(release.WordSpecials, 0), `,"id":3627`),
		},
	}
	episode := resource{
		key: fragment.AppendEpisode(nil, 1399, 1, 2), id: 63057,
		frags: []frag{
			of(fragment.SubDetails, `{"name":"The Kingsroad","id":63057`),
			in(fragment.SubDetails, fragment.Untranslated, `{"name":`, nameMark(release.WordEpisode, 2), `,"id":63057`),
			of(fragment.SubImages, idMark, literal(`"stills":[{"iso_639_1":null}]}`)),
			in(fragment.SubImages, fragment.NoLanguage, idMark, `"stills":[{"iso_639_1":null}]}`),
			of(fragment.SubMediaRow, `"id":63057,"name":"The Kingsroad","media_type":"tv_episode"`),
		},
	}.known(fragment.KindEpisode, "63057")
	return []resource{
		numbered(movie, 550,
			of(fragment.SubDetails, `{"id":550,"title":"Fight Club"`),
			in(fragment.SubDetails, deDE, `{"id":550,"title":"Klub"`),
			of(fragment.SubRow, `"id":550,`, literal(`"title":"Fight Club"`)),
			in(fragment.SubRow, deDE, `"id":550,"title":"Klub"`),
			of(fragment.SubMediaRow, `"id":550,"title":"Fight Club","media_type":"movie"`),
			in(fragment.SubMediaRow, deDE, `"id":550,"title":"Klub","media_type":"movie"`),
			on(fragment.SubSimilar, 1, pageMark, literal(`"results":[{`), rowOf(movie, 1<<40, fragment.SubRow), literal(`}],"total_pages":1,"total_results":1}`)),
			of(fragment.SubSimilar, pageMark, `"results":[],"total_pages":1,"total_results":1}`),
		).known(movie, "tt0137523"),
		numbered(movie, 1<<40,
			of(fragment.SubDetails, `{"id":1099511627776,"title":"Far"`),
			of(fragment.SubRow, `"id":1099511627776,"title":"Far"`),
			of(fragment.SubMediaRow, `"id":1099511627776,"title":"Far","media_type":"movie"`),
		).known(movie, "latest"),
		numbered(tv, 1399,
			of(fragment.SubDetails, `{"id":1399,"name":"Game of Thrones"`),
			of(fragment.SubAlternativeTitles, `"results":[{"iso_3166_1":"FR","title":"T"}]`, idEnd),
			of(fragment.SubRow, `"id":1399,"name":"Game of Thrones"`),
			of(fragment.SubMediaRow, `"id":1399,"name":"Game of Thrones","media_type":"tv"`),
		).known(tv, "latest"),
		season, specials, episode,
		numbered(person, 287,
			of(fragment.SubDetails, `{"id":287,"name":"Brad Pitt"`),
			of(fragment.SubMediaRow, `"id":287,"name":"Brad Pitt","media_type":"person"`),
			of(fragment.SubKnownFor, `"known_for":[{`, rowOf(movie, 550, fragment.SubMediaRow), `},{`, rowOf(tv, 1399, fragment.SubMediaRow), `}]`),
			of(fragment.SubImages, idMark, `"profiles":[{"iso_639_1":null},{"iso_639_1":"de"}]}`),
			of(fragment.SubCombinedCredits, `"cast":[{`, rowOf(movie, 550, fragment.SubRow), `,"character":"Tyler"},{`, rowOf(tv, 1399, fragment.SubRow), `,"character":"X"}],"crew":[]`, idEnd),
		).known(person, "latest"),
		numbered(person, 819, of(fragment.SubDetails, `{"id":819,"name":"Edward Norton"`), of(fragment.SubMediaRow, `"id":819,"media_type":"person"`)),
		numbered(fragment.KindCollection, 10, of(fragment.SubDetails, `{"id":10,"parts":[{`, rowOf(movie, 550, fragment.SubMediaRow), `}]`)),
		numbered(fragment.KindCompany, 1,
			of(fragment.SubDetails, `{"id":1,"name":"Lucasfilm"`),
			on(fragment.SubMovies, 1, idMark, pageMark, `"results":[1]}`),
			on(fragment.SubMovies, 2, idMark, pageMark, `"results":[2]}`),
			of(fragment.SubMovies, idMark, pageMark, noTexts),
		),
		numbered(fragment.KindNetwork, 49, of(fragment.SubDetails, `{"id":49,"name":"HBO"`)),
		numbered(fragment.KindKeyword, 825,
			of(fragment.SubDetails, `{"id":825,"name":"support group"`),
			on(fragment.SubMovies, 1, idMark, pageMark, `"results":[1]}`),
			on(fragment.SubMovies, 2, idMark, pageMark, `"results":[2]}`),
			of(fragment.SubMovies, idMark, pageMark, noTexts),
		),
		{key: fragment.AppendText(nil, fragment.KindReview, review), frags: []frag{of(fragment.SubDetails, `{"id":"`+review+`","author":"A"`)}},
		{key: fragment.AppendText(nil, fragment.KindCredit, credit), frags: []frag{of(fragment.SubDetails,
			`{"credit_type":"cast","media":{`, rowOf(tv, 1399, fragment.SubMediaRow), `,"seasons":[{`,
			include(release.Include{Kind: fragment.KindSeason, ID: 1399, Season: 1, Sub: fragment.SubMediaRow}), `}]},"id":"`+credit+`"`)}},
		{key: fragment.AppendText(nil, fragment.KindEpisodeGroup, group), frags: []frag{of(fragment.SubDetails, `{"id":"`+group+`","name":"G"`)}},
		{key: fragment.AppendFind(nil, fragment.SourceIMDb, "nm0000093"), frags: []frag{of(fragment.SubDetails,
			`{"movie_results":[],"person_results":[{`, rowOf(person, 287, fragment.SubMediaRow), `,`, rowOf(person, 287, fragment.SubKnownFor), `},{`,
			rowOf(person, 819, fragment.SubMediaRow), `,`, rowOf(person, 819, fragment.SubKnownFor),
			`}],"tv_results":[],"tv_episode_results":[{`,
			include(release.Include{Kind: fragment.KindEpisode, ID: 1399, Season: 1, Episode: 2, Sub: fragment.SubMediaRow}), `}],"tv_season_results":[]`)}},
		defaultsOf(movie, of(fragment.SubVideos, idMark, noTexts), of(fragment.SubCredits, idMark, `"cast":[],"crew":[]}`),
			of(fragment.SubSimilar, pageMark, `"results":[],"total_pages":1,"total_results":0}`), of(fragment.SubChanges, `"changes":[]}`)),
		defaultsOf(tv, of(fragment.SubVideos, idMark, noTexts), of(fragment.SubCredits, idMark, `"cast":[],"crew":[]}`),
			of(fragment.SubExternalIDs, idMark, `"imdb_id":null}`), of(fragment.SubWatchProviders, idMark, `"results":{}}`)),
		defaultsOf(fragment.KindSeason, of(fragment.SubVideos, idMark, noTexts), of(fragment.SubImages, idMark, `"posters":[]}`),
			of(fragment.SubCredits, `"cast":[],"crew":[]`, idEnd), of(fragment.SubWatchProviders, idMark, `"results":{}}`), of(fragment.SubChanges, `"changes":[]}`)),
		defaultsOf(fragment.KindEpisode, of(fragment.SubVideos, idMark, noTexts), of(fragment.SubImages, idMark, `"stills":[]}`), of(fragment.SubChanges, `"changes":[]}`)),
		defaultsOf(person, of(fragment.SubKnownFor, `"known_for":[]`), of(fragment.SubImages, idMark, `"profiles":[]}`),
			of(fragment.SubCombinedCredits, `"cast":[],"crew":[]`, idEnd),
			of(fragment.SubTaggedImages, idMark, pageMark, `"results":[],"total_pages":0,"total_results":0}`)),
		defaultsOf(fragment.KindCollection, of(fragment.SubImages, idMark, `"backdrops":[],"posters":[]}`)),
		defaultsOf(fragment.KindCompany, of(fragment.SubAlternativeNames, idMark, noTexts), of(fragment.SubImages, idMark, `"logos":[]}`)),
		defaultsOf(fragment.KindNetwork, of(fragment.SubAlternativeNames, idMark, noTexts), of(fragment.SubImages, idMark, `"logos":[]}`)),
		defaultsOf(fragment.KindKeyword, of(fragment.SubMovies, idMark, pageMark, noTexts)),
	}
}

// overWritten returns a world like w over a new release of resources in dir, which
// close removes.
func (w *world) overWritten(tb tester, dir string, resources ...resource) (over *world, closeIt func()) {
	tb.Helper()
	writeRelease(tb, dir, resources...)
	out := &world{cfg: w.cfg, tokens: w.tokens, token: w.token}
	var err error
	if out.releases, err = OpenReleases(release.Store{Dir: dir}, 0, w.cfg.Log); err != nil {
		tb.Fatalf("OpenReleases: %v", err)
	}
	out.edge = newEdge(tb, out)
	return out, func() {
		out.releases.Close()
		_ = os.RemoveAll(dir)
	}
}
