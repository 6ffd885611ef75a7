package render

import (
	"slices"
	"time"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/release"
)

// sub adds one sub-request, if rec has it.
func (r *Renderer) sub(m *model, s *sub, rec record.Record, langs languages) {
	if s.Field.Shape == record.ShapePages {
		p := r.out.pager(s)
		p.addRecorded(rec)
		return
	}
	raw, ok := rec.Sub(s.Field)
	body := raw
	if s.Sub == fragment.SubImages {
		body, ok = complete.Images(rec, s.Field)
	}
	if ok {
		body = complete.Sub(body)
	}
	switch {
	case s.Sub == fragment.SubTranslations && m.Localized != nil:
		r.out.translations(m, s, rec, body)
	case !ok:
	case s.Sub == fragment.SubImages:
		r.out.images(s, body)
	case s.Sub == fragment.SubVideos:
		r.out.videos(s, record.As[catalog.Videos](body))
	default:
		r.out.addBody(s, fragment.Base, body)
	}
	if s.Crawl == nil {
		return
	}
	for i := range langs {
		if langs[i].crawl.IsNil() {
			continue
		}
		c, ok := langs[i].crawl.Sub(s.Crawl)
		if !ok || c == raw { // the base came from this crawl
			continue
		}
		if r.out.body(complete.Sub(c)) {
			r.out.addTo(fragment.Address{Sub: s.Sub}, langs[i].variants(), r.out.end())
		}
	}
}

// addBody adds a sub-request in one variant, nothing for a nil record.
func (f *fragments) addBody(s *sub, v fragment.Variant, rec record.Record) {
	if !rec.IsNil() && f.body(rec) {
		f.addUnlessEmpty(s, v)
	}
}

// addUnlessEmpty ends a fragment and adds it unless it is the default of its sub-request.
func (f *fragments) addUnlessEmpty(s *sub, v fragment.Variant) {
	pieces := f.end()
	n := len(pieces) // length of their content
	for i := range pieces {
		n += len(pieces[i].Literal)
	}
	if v == fragment.Base && n == len(s.empty) && content(pieces) == s.empty {
		f.drop()
		return
	}
	f.add(fragment.Address{Sub: s.Sub, Variant: v}, pieces)
}

// body writes a sub-request's object without its opening brace, with the mark for the standalone response's id. It
// returns false for an object without fields, which is no response; then no fragment is open.
func (f *fragments) body(rec record.Record) bool {
	n, idAt := len(rec.Schema.Fields), rec.Schema.IDAt
	f.begin()
	start := len(f.buf)
	if idAt < 0 {
		idAt = 0
	} else if idAt < n {
		f.fields(rec, 0, idAt)
		if len(f.buf) > start {
			f.text(",")
		}
		f.mark(opID)
	}
	restStart := len(f.buf)
	if idAt == n {
		idAt = 0
	}
	f.fields(rec, idAt, n)
	f.extra(rec)
	if len(f.buf) == restStart && idAt > 0 && restStart > start+1 {
		// Nothing follows the id, so it goes to the front with its own comma.
		f.drop()
		f.begin()
		f.mark(opID)
		restStart = len(f.buf)
		f.fields(rec, 0, idAt)
	}
	switch {
	case len(f.buf) == restStart:
		f.drop()
		return false
	case rec.Schema.IDAt == n:
		f.cut()
		f.pieces = append(f.pieces, release.PieceSpec{Op: release.OpIDEnd})
		f.start = len(f.buf)
	default:
		f.text("}")
	}
	return true
}

// images adds all images and, for sub-requests with a language filter, the images of each language.
func (f *fragments) images(s *sub, images record.Record) {
	f.addBody(s, fragment.Base, images)
	part := images.Clone()
	partLists, lists := imageLists(part), imageLists(images)
	var groups []fragment.Variant
	for _, list := range lists {
		groups = appendGroups(groups, *list, imageGroup)
	}
	slices.Sort(groups)
	for _, group := range groups {
		for i, list := range lists {
			*partLists[i] = rowsOf(*list, imageGroup, group)
		}
		f.addBody(s, group, part)
	}
}

// imageLists returns the lists of images that have a language filter: images of people have none; logos of companies and
// networks have no language.
func imageLists(rec record.Record) []*[]catalog.Image {
	switch rec.Schema {
	case record.SchemaOf[catalog.Images]():
		m := record.As[catalog.Images](rec)
		return []*[]catalog.Image{&m.Backdrops, &m.Logos, &m.Posters}
	case record.SchemaOf[catalog.CollectionImages]():
		m := record.As[catalog.CollectionImages](rec)
		return []*[]catalog.Image{&m.Backdrops, &m.Posters}
	case record.SchemaOf[catalog.SeasonImages]():
		return []*[]catalog.Image{&record.As[catalog.SeasonImages](rec).Posters}
	case record.SchemaOf[catalog.EpisodeImages]():
		return []*[]catalog.Image{&record.As[catalog.EpisodeImages](rec).Stills}
	}
	return nil
}

// imageGroup is the filter group of an image.
func imageGroup(i *catalog.Image) fragment.Variant {
	return languageGroup(i.ISO639, fragment.NoLanguage)
}

// videoGroup is the filter group of a video. Videos without a language come from requests without one, which return
// English ones.
func videoGroup(v *catalog.Video) fragment.Variant { return languageGroup(v.ISO639, english) }

// english is the group of videos for requests without a language.
var english = fragment.Language("en", "")

// languageGroup returns the group of a language; fallback for an invalid one.
func languageGroup(lang record.String, fallback fragment.Variant) fragment.Variant {
	if g := fragment.Language(lang.V, ""); g != fragment.Base {
		return g
	}
	return fallback
}

// appendGroups appends the missing groups of rows.
func appendGroups[T any](groups []fragment.Variant, rows []T, groupOf func(*T) fragment.Variant) []fragment.Variant {
	for i := range rows {
		if g := groupOf(&rows[i]); !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	return groups
}

// rowsOf returns the rows of a group. It is nil if and only if rows is: an empty list is not a missing one.
func rowsOf[T any](rows []T, groupOf func(*T) fragment.Variant, group fragment.Variant) []T {
	if rows == nil {
		return nil
	}
	out := []T{}
	for i := range rows {
		if groupOf(&rows[i]) == group {
			out = append(out, rows[i])
		}
	}
	return out
}

// videos adds the English videos, which serve requests without a language, all videos if there are others, and the
// videos of each language.
func (f *fragments) videos(s *sub, m *catalog.Videos) {
	if m.Results == nil {
		return
	}
	groups := appendGroups(nil, m.Results, videoGroup)
	slices.Sort(groups)
	f.videosOf(s, fragment.Base, m, english)
	if len(groups) > 1 || len(groups) == 1 && groups[0] != english {
		f.addBody(s, fragment.All, record.Of(m))
	}
	for _, group := range groups {
		f.videosOf(s, group, m, group)
	}
}

// videosOf adds the videos of a group in a variant.
func (f *fragments) videosOf(s *sub, v fragment.Variant, m *catalog.Videos, group fragment.Variant) {
	part := *m
	part.Results = rowsOf(m.Results, videoGroup, group)
	f.addBody(s, v, record.Of(&part))
}

// releasesOf derives the legacy releases from the release dates: one row for each date, without the time.
func releasesOf(dates *catalog.ReleaseDates) *catalog.Releases {
	out := &catalog.Releases{Countries: []catalog.LegacyRelease{}}
	for i := range dates.Results {
		c := &dates.Results[i]
		for j := range c.ReleaseDates {
			d := &c.ReleaseDates[j]
			out.Countries = append(out.Countries, catalog.LegacyRelease{
				Certification: d.Certification,
				Descriptors:   d.Descriptors,
				ISO3166:       c.ISO3166,
				Primary:       record.Bool{Set: true},
				ReleaseDate:   record.Text(d.ReleaseDate.V[:min(len(d.ReleaseDate.V), len(time.DateOnly))]),
			})
		}
	}
	return out
}

// highDefinition is the number of lines from which a legacy trailer is "HD".
const highDefinition = 720

// trailersOf turns the English videos on YouTube into legacy trailers.
func trailersOf(v *catalog.Videos) *catalog.Trailers {
	out := &catalog.Trailers{Quicktime: []catalog.LegacyTrailer{}, YouTube: []catalog.LegacyTrailer{}}
	for i := range v.Results {
		video := &v.Results[i]
		if video.Site.V != "YouTube" || videoGroup(video) != english {
			continue
		}
		size := "HQ"
		if video.Size.V >= highDefinition {
			size = "HD"
		}
		out.YouTube = append(out.YouTube, catalog.LegacyTrailer{
			Name: video.Name, Size: record.Text(size), Source: video.Key, Type: video.Type,
		})
	}
	return out
}

// translations adds the recorded translations, which may be nil, and a row for each other language in which the record was
// crawled: clients pick languages from this list.
func (f *fragments) translations(m *model, s *sub, rec, recorded record.Record) {
	t := m.Translations
	var missing []int
	n, _ := rec.Len(m.Localized)
	for i := range n {
		if c := rec.At(m.Localized, i); m.hasText(c) && (recorded.IsNil() || !hasRow(t, recorded, c.String(m.Language).V)) {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		f.addBody(s, fragment.Base, recorded)
		return
	}
	f.begin()
	f.mark(opID)
	f.name(t.Rows.Name)
	f.text("[")
	if !recorded.IsNil() {
		rows, _ := recorded.Len(t.Rows)
		for i := range rows {
			f.comma()
			f.buf = record.Append(f.buf, recorded.At(t.Rows, i))
		}
	}
	for _, i := range missing {
		f.comma()
		crawl := rec.At(m.Localized, i)
		lang, region := tagCodes(crawl.String(m.Language).V)
		l, _ := reference.LanguageByCode(lang)
		f.text("{")
		for _, field := range [...][2]string{
			{"iso_3166_1", region}, {"iso_639_1", lang}, {"name", l.Name}, {"english_name", l.EnglishName},
		} {
			f.name(field[0])
			f.buf = record.AppendString(f.buf, field[1])
		}
		f.name("data")
		f.text("{")
		data := t.Data.Elem
		for i := range data.Fields {
			f.name(data.Fields[i].Name)
			f.text(m.crawledText(crawl, &data.Fields[i]))
		}
		f.text("}}")
	}
	f.text("]")
	if !recorded.IsNil() {
		f.extra(recorded)
	}
	f.text("}")
	f.add(fragment.Address{Sub: s.Sub}, f.end())
}

// hasText reports whether a crawl has text for a row of translations.
func (m *model) hasText(crawl record.Record) bool {
	for i := range m.Texts {
		t := &m.Texts[i]
		if t.Data != nil && t.Crawl != nil && t.Field.Shape == record.ShapeString && t.Field.Name != "homepage" &&
			crawl.String(t.Crawl).Set {
			return true
		}
	}
	return false
}

// hasRow reports whether the translations have a row of the language.
func hasRow(t *complete.Translations, recorded record.Record, tag string) bool {
	lang, region := tagCodes(tag)
	n, _ := recorded.Len(t.Rows)
	for i := range n {
		row := recorded.At(t.Rows, i)
		if row.String(t.Language).V == lang && row.String(t.Country).V == region {
			return true
		}
	}
	return false
}

// tagCodes splits xx-YY. An empty region is the language's usual one.
func tagCodes(tag string) (lang, region string) {
	lang, region = splitTag(tag)
	if region == "" {
		region = reference.DefaultRegion(lang)
	}
	return lang, region
}

// crawledText returns the JSON of a crawl's value for a field of translations.
func (m *model) crawledText(crawl record.Record, data *record.Field) string {
	for i := range m.Texts {
		t := &m.Texts[i]
		if t.Data == data && t.Crawl != nil && record.Present(crawl, t.Crawl) && !record.IsNull(crawl, t.Crawl.Name) {
			return record.FieldText(crawl, t.Crawl)
		}
	}
	return emptyValue(data)
}
