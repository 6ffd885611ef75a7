package render

import (
	"slices"
	"strconv"

	"reelsplice/data/reference"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/release"
	"reelsplice/schemas/wire"
)

// A Renderer turns records into fragments. It is not safe for concurrent use.
type Renderer struct {
	out    fragments
	plan   *wire.Plan
	genres int // index of the genres member of a movie
	empty  map[fragment.Sub]string
	// imageRows and videoRows hold the rows of one language at a time.
	imageRows []catalog.Image
	videoRows []catalog.Video
}

// New returns a Renderer.
func New() *Renderer {
	r := &Renderer{plan: wire.PlanOf[catalog.Movie](), empty: map[fragment.Sub]string{}}
	r.genres = genresMember(r.plan)
	for _, d := range MovieDefaults() {
		r.empty[d.Address.Sub] = content(d.Pieces)
	}
	return r
}

// genresMember returns the index of the genres among the members of a plan.
func genresMember(p *wire.Plan) int {
	return slices.IndexFunc(p.Fields, func(f wire.Field) bool { return f.Name == fragment.SubGenres.Name() })
}

// content identifies what a fragment made of segments and marks says.
func content(pieces []Piece) string {
	var b []byte
	for _, p := range pieces {
		b = append(append(b, byte(p.Op)), p.Raw...)
	}
	return string(b)
}

// Movie returns the fragments of m, which it may change. They are valid until the
// next call.
func (r *Renderer) Movie(m *catalog.Movie) []Fragment {
	r.out.reset()
	langs := languagesOf(m)
	fillBase(m)
	r.details(m, langs)
	r.subRequests(m, langs)
	return r.out.list
}

// details adds the details in the base variant, in the untranslated one, and in the
// languages in which they differ from that.
func (r *Renderer) details(m *catalog.Movie, langs []language) {
	r.out.add(fragment.Address{Sub: fragment.SubDetails}, r.detail(m))
	plain := untranslated(m, "")
	r.untranslated(m, plain)
	for i := range langs {
		l := &langs[i]
		v := l.apply(m)
		if sameText(v, plain) && (l.crawl == nil || l.crawl.Genres == nil) {
			continue
		}
		r.addLanguage(fragment.SubDetails, l, r.detail(v))
	}
	r.textless(m, plain)
}

// addLanguage adds a fragment for a language, and for the language without its
// region where l answers that too.
func (r *Renderer) addLanguage(s fragment.Sub, l *language, pieces ...Piece) {
	r.out.add(fragment.Address{Sub: s, Variant: l.variant()}, pieces...)
	if bare := l.variant().Bare(); l.bare && bare != l.variant() {
		r.out.add(fragment.Address{Sub: s, Variant: bare}, pieces...)
	}
}

// detail is the details of v without their closing brace.
func (r *Renderer) detail(v *catalog.Movie) Piece {
	return r.out.segment(func(dst []byte) []byte {
		return r.appendUnknown(wire.AppendMembers(append(dst, '{'), wire.RecordOf(v), 0, r.plan.Subs), v)
	})
}

// appendUnknown appends the members that the struct does not know.
func (r *Renderer) appendUnknown(dst []byte, v *catalog.Movie) []byte {
	if v.Extra == "" {
		return dst
	}
	return append(append(dst, ','), v.Extra...)
}

// untranslated adds the details for all languages without text. Only the names of
// the genres differ between those, so they are a fragment of their own that many
// movies share, and the details are cut around it.
func (r *Renderer) untranslated(m, plain *catalog.Movie) {
	a := fragment.Address{Sub: fragment.SubDetails, Variant: fragment.Untranslated}
	if !ShareGenres(m.Genres) {
		r.out.add(a, r.detail(plain))
		return
	}
	rec := wire.RecordOf(plain)
	ids := GenreIDs(m.Genres)
	before := r.out.segment(func(dst []byte) []byte {
		dst = wire.AppendMembers(append(dst, '{'), rec, 0, r.genres)
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		return dst
	})
	after := r.out.segment(func(dst []byte) []byte {
		return r.appendUnknown(wire.AppendMembers(append(dst, ','), rec, r.genres+1, r.plan.Subs), plain)
	})
	r.out.add(a, before, Piece{Op: release.OpReference, Genres: ids}, after)
}

// ShareGenres reports whether the genres of a movie can be a shared fragment: the
// reference names them all in English as the record does.
func ShareGenres(genres []catalog.Genre) bool {
	if len(genres) == 0 || len(GenresName(GenreIDs(genres))) > fragment.MaxKeyLen-2 {
		return false
	}
	for i := range genres {
		g := &genres[i]
		english := reference.GenreName(reference.Movie, g.ID.V, "en", "")
		if g.Extra != "" || g.Unusual != "" || english == "" || g.Name.V != english {
			return false
		}
	}
	return true
}

// GenreIDs returns the ids of genres, in their order.
func GenreIDs(genres []catalog.Genre) []int64 {
	ids := make([]int64, len(genres))
	for i := range genres {
		ids[i] = genres[i].ID.V
	}
	return ids
}

// GenresName is the resource name of a shared list of genres: its ids.
func GenresName(ids []int64) string {
	var b []byte
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, id, 10)
	}
	return string(b)
}

// SharedGenres returns the fragments of one shared list of genres: the member
// `"genres":[...]`, in English and in each language that names a genre otherwise.
func SharedGenres(ids []int64) []Fragment {
	var f fragments
	member := genresMember(wire.PlanOf[catalog.Movie]())
	write := func(lang, region string) Piece {
		genres := make([]catalog.Genre, len(ids))
		for i, id := range ids {
			genres[i] = catalog.Genre{
				ID:   wire.Number(id),
				Name: wire.Text(reference.GenreName(reference.Movie, id, lang, region)),
			}
		}
		m := catalog.Movie{Genres: genres}
		return f.members(wire.RecordOf(&m), member, member+1, "")
	}
	english := write("en", "")
	f.add(fragment.Address{Sub: fragment.SubGenres}, english)
	for _, key := range reference.GenreLanguages() {
		lang, region := splitTag(key)
		if p := write(lang, region); string(p.Raw) != string(english.Raw) {
			f.add(fragment.Address{Sub: fragment.SubGenres, Variant: fragment.Language(lang, region)}, p)
		}
	}
	return f.list
}

// textless adds the details for languages that have no text but a poster of their
// own, or names for genres that no shared fragment has. They answer every region of
// the language that has no text.
func (r *Renderer) textless(m, plain *catalog.Movie) {
	for _, lang := range textlessLanguages(m) {
		v := untranslated(m, lang)
		v.Genres = localGenres(m.Genres, lang, "")
		if v.PosterPath == plain.PosterPath && (ShareGenres(m.Genres) || slices.Equal(v.Genres, m.Genres)) {
			continue
		}
		a := fragment.Address{Sub: fragment.SubDetails, Variant: fragment.AnyRegion(lang)}
		r.out.add(a, r.detail(v))
	}
}

// textlessLanguages returns the languages, but English, of m's posters, and those of
// the reference where m's genres are not shared.
func textlessLanguages(m *catalog.Movie) []string {
	var list []string
	add := func(lang string) {
		if languageVariant(lang, "") != fragment.Base && lang != "en" && !slices.Contains(list, lang) {
			list = append(list, lang)
		}
	}
	if m.Images != nil && !lacksPoster(m) {
		for i := range m.Images.Posters {
			add(m.Images.Posters[i].ISO639.V)
		}
	}
	if m.Genres != nil && !ShareGenres(m.Genres) {
		for _, key := range reference.GenreLanguages() {
			lang, _ := splitTag(key)
			add(lang)
		}
	}
	return list
}

// sameText reports whether a and b agree in all members that depend on the
// language, but for the names of genres.
func sameText(a, b *catalog.Movie) bool {
	return a.Title == b.Title && a.Overview == b.Overview && a.Tagline == b.Tagline &&
		a.Homepage == b.Homepage && a.Runtime == b.Runtime && a.PosterPath == b.PosterPath &&
		a.BackdropPath == b.BackdropPath && a.BelongsToCollection == b.BelongsToCollection
}
