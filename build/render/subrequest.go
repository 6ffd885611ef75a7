package render

import (
	"slices"

	"reelsplice/data/reference"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/wire"
)

// subRequests adds every sub-request that m says something about. Those that say
// nothing more than MovieDefaults are left to it.
func (r *Renderer) subRequests(m *catalog.Movie, langs []language) {
	r.whole(fragment.SubAlternativeTitles, fragment.Base, wire.RecordOf(m.AlternativeTitles))
	r.changes(m.Changes)
	r.credits(m, langs)
	r.whole(fragment.SubExternalIDs, fragment.Base, wire.RecordOf(externalIDs(m)))
	r.images(m.Images)
	r.whole(fragment.SubKeywords, fragment.Base, wire.RecordOf(m.Keywords))
	r.whole(fragment.SubReleaseDates, fragment.Base, wire.RecordOf(m.ReleaseDates))
	r.whole(fragment.SubReleases, fragment.Base, wire.RecordOf(releases(m)))
	r.whole(fragment.SubTranslations, fragment.Base, wire.RecordOf(translations(m)))
	r.whole(fragment.SubWatchProviders, fragment.Base, wire.RecordOf(m.WatchProviders))
	r.videos(m.Videos)
	r.trailers(m, langs)
	addPages(r, fragment.SubLists, m.Lists)
	addPages(r, fragment.SubRecommendations, m.Recommendations)
	addPages(r, fragment.SubReviews, m.Reviews)
	addPages(r, fragment.SubSimilar, m.Similar)
}

// whole adds a sub-request that is one segment after the id; none for a nil record.
func (r *Renderer) whole(s fragment.Sub, v fragment.Variant, rec wire.Record) {
	if rec.IsNil() {
		return
	}
	if body, ok := r.out.body(rec); ok {
		r.addUnlessEmpty(fragment.Address{Sub: s, Variant: v}, idMark, body)
	}
}

// addUnlessEmpty adds a fragment unless it is the default of its sub-request.
func (r *Renderer) addUnlessEmpty(a fragment.Address, pieces ...Piece) {
	if a.Variant == fragment.Base && sameContent(pieces, r.empty[a.Sub]) {
		return
	}
	r.out.add(a, pieces...)
}

// sameContent reports whether pieces say what content returned. Most are longer by
// far than an empty answer, which their lengths tell.
func sameContent(pieces []Piece, want string) bool {
	n := len(pieces)
	for _, p := range pieces {
		n += len(p.Raw)
	}
	return n == len(want) && content(pieces) == want
}

// changes have no id in either form.
func (r *Renderer) changes(c *catalog.Changes) {
	if c == nil {
		return
	}
	if body, ok := r.out.body(wire.RecordOf(c)); ok {
		r.addUnlessEmpty(fragment.Address{Sub: fragment.SubChanges}, body)
	}
}

func (r *Renderer) credits(m *catalog.Movie, langs []language) {
	r.whole(fragment.SubCredits, fragment.Base, wire.RecordOf(m.Credits))
	for i := range langs {
		if c := langs[i].crawl; c != nil && c.Credits != nil && c.Credits != m.Credits {
			if body, ok := r.out.body(wire.RecordOf(c.Credits)); ok {
				r.addLanguage(fragment.SubCredits, &langs[i], idMark, body)
			}
		}
	}
}

// externalIDs returns the given ids, or what the details say of them.
func externalIDs(m *catalog.Movie) *catalog.MovieExternalIDs {
	if m.ExternalIDs != nil || m.IMDbID.V == "" {
		return m.ExternalIDs
	}
	return &catalog.MovieExternalIDs{IMDbID: m.IMDbID}
}

// translations returns the given translations, and a row for each language in which
// the movie was crawled without one: clients pick languages from this list.
func translations(m *catalog.Movie) *catalog.Translations {
	if len(m.Localized) == 0 {
		return m.Translations
	}
	out := catalog.Translations{Translations: []catalog.Translation{}}
	if m.Translations != nil {
		out = *m.Translations
		out.Translations = slices.Clone(out.Translations)
	}
	for i := range m.Localized {
		c := &m.Localized[i]
		if row, ok := translationOf(c); ok && !slices.ContainsFunc(out.Translations, func(t catalog.Translation) bool {
			return t.ISO639.V == row.ISO639.V && t.ISO3166.V == row.ISO3166.V
		}) {
			out.Translations = append(out.Translations, row)
		}
	}
	return &out
}

// translationOf makes a row of translations of what a crawl gave; ok is false for a
// crawl without text.
func translationOf(c *catalog.Localized) (row catalog.Translation, ok bool) {
	lang, region := splitTag(c.Language.V)
	if region == "" {
		region = reference.DefaultRegion(lang)
	}
	if !c.Title.Set && !c.Overview.Set && !c.Tagline.Set {
		return row, false
	}
	l, _ := reference.LanguageByCode(lang)
	text := func(s wire.String) wire.String { return wire.Text(s.V) }
	return catalog.Translation{
		ISO3166: wire.Text(region), ISO639: wire.Text(lang), Name: wire.Text(l.Name), EnglishName: wire.Text(l.EnglishName),
		Data: &catalog.TranslationData{
			Homepage: text(c.Homepage), Overview: text(c.Overview), Runtime: wire.Number(c.Runtime.V),
			Tagline: text(c.Tagline), Title: text(c.Title),
		},
	}, true
}

// releases returns the given legacy releases, or derives them from the release
// dates: one row for each date, the day without its time.
func releases(m *catalog.Movie) *catalog.Releases {
	if m.Releases != nil || m.ReleaseDates == nil {
		return m.Releases
	}
	out := &catalog.Releases{Countries: []catalog.LegacyRelease{}}
	for i := range m.ReleaseDates.Results {
		c := &m.ReleaseDates.Results[i]
		for j := range c.ReleaseDates {
			d := &c.ReleaseDates[j]
			out.Countries = append(out.Countries, catalog.LegacyRelease{
				Certification: d.Certification,
				Descriptors:   d.Descriptors,
				ISO3166:       c.ISO3166,
				Primary:       wire.Bool{Set: true},
				ReleaseDate:   wire.Text(day(d.ReleaseDate.V)),
			})
		}
	}
	return out
}

// day returns the date of a timestamp.
func day(timestamp string) string {
	if len(timestamp) > len("2006-01-02") {
		return timestamp[:len("2006-01-02")]
	}
	return timestamp
}

// trailers adds the legacy trailers as given, or as the videos say.
func (r *Renderer) trailers(m *catalog.Movie, langs []language) {
	t := m.Trailers
	if t == nil && m.Videos != nil {
		t = trailersOf(m.Videos)
	}
	r.whole(fragment.SubTrailers, fragment.Base, wire.RecordOf(t))
	for i := range langs {
		if c := langs[i].crawl; c != nil && c.Trailers != nil {
			if body, ok := r.out.body(wire.RecordOf(c.Trailers)); ok {
				r.addLanguage(fragment.SubTrailers, &langs[i], idMark, body)
			}
		}
	}
}

// highDefinition is the number of lines from which a legacy trailer is "HD".
const highDefinition = 720

// trailersOf turns the English videos on YouTube into legacy trailers.
func trailersOf(v *catalog.Videos) *catalog.Trailers {
	out := &catalog.Trailers{Quicktime: []catalog.LegacyTrailer{}, YouTube: []catalog.LegacyTrailer{}}
	for i := range v.Results {
		x := &v.Results[i]
		if x.Site.V != "YouTube" || videoGroup(x) != fragment.Language("en", "") {
			continue
		}
		size := "HQ"
		if x.Size.V >= highDefinition {
			size = "HD"
		}
		out.YouTube = append(out.YouTube, catalog.LegacyTrailer{
			Name: x.Name, Size: wire.Text(size), Source: x.Key, Type: x.Type,
		})
	}
	return out
}

// images adds all images, and those of each language by themselves. The id of the
// standalone answer stands between the backdrops and the rest.
func (r *Renderer) images(m *catalog.Images) {
	if m == nil {
		return
	}
	r.imageSet(fragment.Base, m)
	for _, g := range imageGroups(m) {
		kept := r.imageRows[:0]
		only := func(list []catalog.Image) []catalog.Image {
			n := len(kept)
			for i := range list {
				if imageGroup(&list[i]) == g {
					kept = append(kept, list[i])
				}
			}
			return sameNil(kept[n:len(kept):len(kept)], list)
		}
		part := *m
		part.Backdrops, part.Logos, part.Posters = only(m.Backdrops), only(m.Logos), only(m.Posters)
		r.imageSet(g, &part)
		r.imageRows = kept
	}
}

// sameNil returns part, nil if and only if whole is: an empty list is not a missing
// one.
func sameNil[T any](part, whole []T) []T {
	switch {
	case whole == nil:
		return nil
	case part == nil:
		return []T{}
	}
	return part
}

func (r *Renderer) imageSet(v fragment.Variant, m *catalog.Images) {
	rec := wire.RecordOf(m)
	n := len(rec.Plan.Fields)
	// Backdrops are the first member.
	first := r.out.members(rec, 0, 1, ",")
	rest := r.out.members(rec, 1, n, "}")
	a := fragment.Address{Sub: fragment.SubImages, Variant: v}
	switch {
	case len(first.Raw) == 0 && len(rest.Raw) == 0:
	case len(first.Raw) == 0:
		r.addUnlessEmpty(a, idMark, rest)
	case len(rest.Raw) == 0:
		body := r.out.segment(func(dst []byte) []byte {
			return append(append(dst, first.Raw[:len(first.Raw)-1]...), '}')
		})
		r.addUnlessEmpty(a, idMark, body)
	default:
		r.addUnlessEmpty(a, first, idMark, rest)
	}
}

// imageGroup is the filter group of an image.
func imageGroup(i *catalog.Image) fragment.Variant {
	return group(i.ISO639, fragment.NoLanguage)
}

// videoGroup is the filter group of a video. Dumps that leave the language out were
// made without a language parameter, which gives English ones.
func videoGroup(v *catalog.Video) fragment.Variant {
	return group(v.ISO639, fragment.Language("en", ""))
}

func group(lang wire.String, none fragment.Variant) fragment.Variant {
	if g := languageVariant(lang.V, ""); g != fragment.Base {
		return g
	}
	return none
}

func imageGroups(m *catalog.Images) []fragment.Variant {
	var groups []fragment.Variant
	for _, list := range [][]catalog.Image{m.Backdrops, m.Logos, m.Posters} {
		for i := range list {
			if g := imageGroup(&list[i]); !slices.Contains(groups, g) {
				groups = append(groups, g)
			}
		}
	}
	slices.Sort(groups)
	return groups
}

// videos adds the English videos, which answer a request without a language, all of
// them where there are others, and those of each language by themselves.
func (r *Renderer) videos(m *catalog.Videos) {
	if m == nil || m.Results == nil {
		return
	}
	var groups []fragment.Variant
	for i := range m.Results {
		if g := videoGroup(&m.Results[i]); !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	slices.Sort(groups)
	english := fragment.Language("en", "")
	r.videoSet(fragment.Base, m, english)
	if len(groups) > 1 || len(groups) == 1 && groups[0] != english {
		r.videoSet(fragment.All, m, fragment.All)
	}
	for _, g := range groups {
		r.videoSet(g, m, g)
	}
}

func (r *Renderer) videoSet(v fragment.Variant, m *catalog.Videos, g fragment.Variant) {
	part := *m
	if g != fragment.All {
		kept := r.videoRows[:0]
		for i := range m.Results {
			if videoGroup(&m.Results[i]) == g {
				kept = append(kept, m.Results[i])
			}
		}
		part.Results, r.videoRows = sameNil(kept, m.Results), kept
	}
	r.whole(fragment.SubVideos, v, wire.RecordOf(&part))
}

// maxPage is the last page that the API answers.
const maxPage = 500

// addPages adds the given pages, by language, and for each language the tail that
// answers all other pages: no rows, the true totals.
func addPages[R any](r *Renderer, s fragment.Sub, list []catalog.Page[R]) {
	marks := pageMarks(s)
	var tails []fragment.Variant
	for i := range list {
		p := &list[i]
		for _, v := range pageVariants(list, p.Language.V) {
			a := fragment.Address{Sub: s, Page: uint16(max(p.Page.V, 1)), Variant: v}
			body := r.pageBody(wire.RecordOf(p))
			if p.Page.V > maxPage || len(body.Raw) == 1 || r.has(a) {
				continue // beyond what the API answers, without members, or there before
			}
			r.out.add(a, append(slices.Clone(marks), body)...)
			if !slices.Contains(tails, v) {
				tails = append(tails, v)
				a.Page = 0
				r.out.add(a, append(slices.Clone(marks), pageTail(&r.out, p.TotalPages.V, p.TotalResults.V))...)
			}
		}
	}
	if s != fragment.SubReviews {
		r.borrowPages(s, tails)
		return
	}
	if slices.Contains(tails, fragment.Base) {
		// Reviews are not translated: in a language without any there are none.
		a := fragment.Address{Sub: s, Variant: fragment.Untranslated}
		r.out.add(a, append(slices.Clone(marks), emptyPage(&r.out))...)
	}
}

// borrowPages adds, for each language, the pages that only the base has: a crawl in
// another language mostly has the first page alone, and rows in English are better
// than none.
func (r *Renderer) borrowPages(s fragment.Sub, langs []fragment.Variant) {
	for _, f := range r.out.list[:len(r.out.list):len(r.out.list)] {
		if f.Address.Sub != s || f.Address.Variant != fragment.Base || f.Address.Page == 0 {
			continue
		}
		for _, v := range langs {
			a := f.Address
			a.Variant = v
			if !r.has(a) {
				r.out.add(a, f.Pieces...)
			}
		}
	}
}

// pageVariants returns the addresses under which pages of a language are found.
func pageVariants[R any](list []catalog.Page[R], tag string) []fragment.Variant {
	if tag == "" {
		return []fragment.Variant{fragment.Base}
	}
	langs := make([]catalog.Localized, 0, len(list))
	for i := range list {
		if t := list[i].Language.V; t != "" {
			langs = append(langs, catalog.Localized{Language: wire.Text(t)})
		}
	}
	lang, region := splitTag(tag)
	for _, l := range languagesOf(&catalog.Movie{Localized: langs}) {
		if l.lang != lang || region != "" && l.region != region {
			continue
		}
		if l.bare {
			return []fragment.Variant{l.variant(), l.variant().Bare()}
		}
		return []fragment.Variant{l.variant()}
	}
	return nil
}

func (r *Renderer) has(a fragment.Address) bool {
	return slices.ContainsFunc(r.out.list, func(f Fragment) bool { return f.Address == a })
}

// pageMarks are the marks before a page's rows.
func pageMarks(s fragment.Sub) []Piece {
	if s == fragment.SubLists || s == fragment.SubReviews {
		return []Piece{idMark, pageMark}
	}
	return []Piece{pageMark}
}

// pageBody is a page without its number.
func (r *Renderer) pageBody(rec wire.Record) Piece {
	return r.out.segment(func(dst []byte) []byte {
		n := len(dst)
		dst = append(dst, '{')
		for i := range rec.Plan.Fields {
			if name := rec.Plan.Fields[i].Name; name != "language" && name != "page" {
				dst = wire.AppendMembers(dst, rec, i, i+1)
			}
		}
		if x := rec.Object().Extra; x != "" {
			if len(dst) > n+1 {
				dst = append(dst, ',')
			}
			dst = append(dst, x...)
		}
		return append(append(dst[:n], dst[n+1:]...), '}')
	})
}

// pageTail is a page without rows and without its number.
func pageTail(f *fragments, pages, results int64) Piece {
	t := catalog.MediaPage{
		Results: []catalog.MediaRow{}, TotalPages: wire.Number(pages), TotalResults: wire.Number(results),
	}
	p, _ := f.body(wire.RecordOf(&t))
	return p
}

// emptyPage is the page of a list without rows. It has one page, as TMDB counts
// since 2025.
func emptyPage(f *fragments) Piece { return pageTail(f, 1, 0) }

// MovieDefaults returns what a movie answers to the sub-requests of which its
// record says nothing.
func MovieDefaults() []Fragment {
	var f fragments
	add := func(s fragment.Sub, marks []Piece, body string) {
		p := f.segment(func(dst []byte) []byte { return append(dst, body...) })
		f.add(fragment.Address{Sub: s}, append(slices.Clone(marks), p)...)
	}
	id := []Piece{idMark}
	add(fragment.SubAlternativeTitles, id, `"titles":[]}`)
	add(fragment.SubChanges, nil, `"changes":[]}`)
	add(fragment.SubCredits, id, `"cast":[],"crew":[]}`)
	add(fragment.SubExternalIDs, id,
		`"imdb_id":null,"wikidata_id":null,"facebook_id":null,"instagram_id":null,"twitter_id":null}`)
	backdrops := f.segment(func(dst []byte) []byte { return append(dst, `"backdrops":[],`...) })
	others := f.segment(func(dst []byte) []byte { return append(dst, `"logos":[],"posters":[]}`...) })
	f.add(fragment.Address{Sub: fragment.SubImages}, backdrops, idMark, others)
	add(fragment.SubKeywords, id, `"keywords":[]}`)
	add(fragment.SubReleaseDates, id, `"results":[]}`)
	add(fragment.SubReleases, id, `"countries":[]}`)
	add(fragment.SubTrailers, id, `"quicktime":[],"youtube":[]}`)
	add(fragment.SubTranslations, id, `"translations":[]}`)
	add(fragment.SubVideos, id, `"results":[]}`)
	add(fragment.SubWatchProviders, id, `"results":{}}`)
	for _, s := range []fragment.Sub{
		fragment.SubLists, fragment.SubRecommendations, fragment.SubReviews, fragment.SubSimilar,
	} {
		f.add(fragment.Address{Sub: s}, append(pageMarks(s), emptyPage(&f))...)
	}
	return f.list
}
