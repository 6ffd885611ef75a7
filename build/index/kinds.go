package index

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
)

// Movie adds a movie with its title in en-US.
func (w *Writer) Movie(c complete.Record[catalog.Movie]) error {
	m := c.V()
	r := w.start(uint64(m.ID.V), listPopularity(m.Popularity.V, m.VoteCount.V, m.VoteAverage.V, m.ReleaseDate.V))
	r.addFields(fragment.KindMovie, record.Of(m))
	r.flag(tables.Adult, m.Adult.V)
	r.flag(tables.Softcore, m.Softcore.V)
	r.flag(tables.Video, m.Video.V)
	r.texts[tables.Title], r.texts[tables.OriginalTitle] = SortKey(m.Title.V), SortKey(m.OriginalTitle.V)
	r.addOffers(m.WatchProviders)
	// The primary date counts even if no country has it.
	if d, ok := day.Parse(m.ReleaseDate.V); ok {
		r.numbers[tables.Day] = int64(d)
		r.addRelease("", 0, d)
	}
	switch {
	case m.ReleaseDates != nil:
		for i := range m.ReleaseDates.Results {
			c := &m.ReleaseDates.Results[i]
			for j := range c.ReleaseDates {
				d := &c.ReleaseDates[j]
				r.addCertification(c.ISO3166.V, d.Certification.V)
				if date, ok := day.Parse(d.ReleaseDate.V); ok {
					r.addRelease(c.ISO3166.V, d.Type.V, date)
				}
			}
		}
	case m.Releases != nil: // they have no type
		for i := range m.Releases.Countries {
			c := &m.Releases.Countries[i]
			r.addCertification(c.ISO3166.V, c.Certification.V)
			if date, ok := day.Parse(c.ReleaseDate.V); ok {
				r.addRelease(c.ISO3166.V, 0, date)
			}
		}
	}
	return w.add(fragment.KindMovie)
}

// listPopularity returns the popularity of a title in lists. Titles with neither popularity nor votes, as from simple
// tables, are ordered by grade, then by year, after all titles with a popularity.
func listPopularity(popularity float64, votes int64, grade float64, date string) float64 {
	if popularity != 0 || votes > 0 {
		return popularity
	}
	order := 1e-6 * grade
	if day, ok := day.Parse(date); ok {
		order += 1e-15 * max(0, float64(day)+150*365) // days since 1820: less than a thousandth of a grade
	}
	return order
}

// maxReleaseType is the highest type of releases: TV.
const maxReleaseType = 6

// addRelease adds a release in a country ("" for unknown) of a type (0 for unknown).
func (r *row) addRelease(country string, typ int64, date day.Day) {
	r.addDay(date)
	if tables.CodeKey(country) == 0 {
		return
	}
	r.releases = append(r.releases, dated{tables.ReleaseKey(country, 0), date})
	if typ >= 1 && typ <= maxReleaseType {
		r.releases = append(r.releases, dated{tables.ReleaseKey(country, int(typ)), date})
	}
}

// addDay adds a day on which a movie was released or an episode aired.
func (r *row) addDay(date day.Day) {
	r.releases = append(r.releases, dated{tables.ReleaseKey("", 0), date})
	r.addYear(date)
	first, last := &r.numbers[tables.FirstDay], &r.numbers[tables.LastDay]
	if *first == posting.NoDay || int64(date) < *first {
		*first = int64(date)
	}
	*last = max(*last, int64(date))
}

func (r *row) addYear(date day.Day) {
	if y := date.Year(); y >= 0 {
		r.addKey(tables.AnyYear, uint64(y))
	}
}

func (r *row) addCertification(country, name string) {
	if country != "" && name != "" {
		r.addKey(tables.Certification, tables.CertificationKey(country, name))
	}
}

// countryCode is the length of a country code.
const countryCode = 2

// addOffers adds the providers of a title, under each combination of type or any and provider or any.
func (r *row) addOffers(p *catalog.WatchProviders) {
	if p == nil {
		return
	}
	for i := range p.Results {
		c := &p.Results[i]
		if len(c.ISO3166.V) != countryCode {
			continue // OfferKey has two bytes for it
		}
		for j := range c.Offers {
			typ := tables.OfferType(c.Offers[j].Type.V)
			for k := range c.Offers[j].Providers {
				id := c.Offers[j].Providers[k].ProviderID.V
				if id < 1 || id > tables.MaxProvider {
					continue
				}
				for _, provider := range [...]int64{0, id} {
					r.addKey(tables.Offer, tables.OfferKey(c.ISO3166.V, 0, provider))
					if typ > 0 {
						r.addKey(tables.Offer, tables.OfferKey(c.ISO3166.V, typ, provider))
					}
				}
			}
		}
	}
}

// A Series is a series with the contributions of its seasons and episodes.
type Series struct {
	TV complete.Record[catalog.TV]
	// Cast and Crew are people IDs from the series, its seasons and its episodes.
	Cast, Crew []int64
	Aired      []string // dates of all episodes, including specials
	Runtime    int64    // median over regular episodes, in minutes; 0 if unknown
}

// Series adds a series. Without episodes, it was on the air on its first and its last day.
func (w *Writer) Series(s Series) error {
	t := s.TV.V()
	r := w.start(uint64(t.ID.V), listPopularity(t.Popularity.V, t.VoteCount.V, t.VoteAverage.V, t.FirstAirDate.V))
	r.addFields(fragment.KindTV, record.Of(t))
	r.flag(tables.Adult, t.Adult.V)
	r.flag(tables.Softcore, t.Softcore.V)
	r.flag(tables.ScreenedTheatrically, t.ScreenedTheatrically != nil && len(t.ScreenedTheatrically.Results) > 0)
	r.set(tables.Runtime, s.Runtime) // the API's own record of the series lacks it
	if len(t.EpisodeRunTime) > 0 {
		r.set(tables.Runtime, t.EpisodeRunTime[0])
	}
	r.texts[tables.Title], r.texts[tables.OriginalTitle] = SortKey(t.Name.V), SortKey(t.OriginalName.V)
	for _, id := range s.Cast {
		r.addID(tables.Cast, id)
	}
	for _, id := range s.Crew {
		r.addID(tables.Crew, id)
	}
	r.addNumber(tables.Status, statuses[:], t.Status.V)
	r.addNumber(tables.SeriesType, types[:], t.Type.V)
	r.addOffers(t.WatchProviders)
	if t.ContentRatings != nil {
		for i := range t.ContentRatings.Results {
			c := &t.ContentRatings.Results[i]
			r.addCertification(c.ISO3166.V, c.Rating.V)
		}
	}
	dates := s.Aired
	for _, e := range []*catalog.EpisodeSummary{t.LastEpisodeToAir, t.NextEpisodeToAir} {
		if e != nil {
			dates = append(dates[:len(dates):len(dates)], e.AirDate.V)
		}
	}
	for _, text := range dates {
		if date, ok := day.Parse(text); ok {
			r.addDay(date)
		}
	}
	first, began := day.Parse(t.FirstAirDate.V)
	if began {
		r.numbers[tables.Day] = int64(first)
		r.addYear(first)
	}
	if len(r.releases) == 0 {
		if began {
			r.addDay(first)
		}
		if last, ok := day.Parse(t.LastAirDate.V); ok {
			r.addDay(last)
		}
	}
	return w.add(fragment.KindTV)
}

// statuses and types have numbers in discover, which are their places here.
var (
	statuses = [...]string{"Returning Series", "Planned", "In Production", "Ended", "Canceled", "Pilot"}
	types    = [...]string{"Documentary", "News", "Miniseries", "Reality", "Scripted", "Talk Show", "Video"}
)

func (r *row) addNumber(list tables.ColumnID, names []string, name string) {
	if i := slices.Index(names, name); i >= 0 {
		r.addKey(list, uint64(i))
	}
}

// Add adds a person, a collection, a company or a keyword.
func Add[T any](w *Writer, kind fragment.Kind, id uint64, c complete.Record[T], popularity float64, adult bool) error {
	r := w.start(id, popularity)
	r.addFields(kind, record.Of(c.V()))
	r.flag(tables.Adult, adult)
	return w.add(kind)
}

// SortKey returns the sort key of a title: its letters in lower case without accents.
func SortKey(title string) string {
	letters := func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}
	return strings.ToLower(strings.Map(letters, norm.NFKD.String(strings.ToLower(title))))
}

// listPaths are the record fields, by kind, whose ids and codes are keys of lists. A path leads through objects and
// list elements.
var listPaths = map[fragment.Kind]map[tables.ColumnID]string{
	fragment.KindMovie: {
		tables.Genre: "genres.id", tables.Company: "production_companies.id", tables.Keyword: "keywords.keywords.id",
		tables.Cast: "credits.cast.id", tables.Crew: "credits.crew.id",
		tables.Country: "origin_country", tables.Language: "original_language",
	},
	fragment.KindTV: { // Series has cast and crew
		tables.Genre: "genres.id", tables.Company: "production_companies.id", tables.Keyword: "keywords.results.id",
		tables.Network: "networks.id", tables.Crew: "created_by.id",
		tables.Country: "origin_country", tables.Language: "original_language",
	},
}

// A namePath is a record field that holds names.
type namePath struct {
	kind nameKind
	path string
}

// namePaths are the names of each kind.
var namePaths = map[fragment.Kind][]namePath{
	fragment.KindMovie: {
		{mainName, "title"},
		{originalName, "original_title"},
		{translatedName, "translations.translations.data.title"},
		{translatedName, "localized.title"},
		{alternativeName, "alternative_titles.titles.title"},
	},
	fragment.KindTV: {
		{mainName, "name"},
		{originalName, "original_name"},
		{translatedName, "translations.translations.data.name"},
		{translatedName, "localized.name"},
		{alternativeName, "alternative_titles.results.title"},
	},
	fragment.KindPerson: {
		{mainName, "name"},
		{originalName, "original_name"},
		{translatedName, "translations.translations.data.name"},
		{translatedName, "localized.name"},
		{alternativeName, "also_known_as"},
	},
	fragment.KindCollection: {
		{mainName, "name"}, {originalName, "original_name"}, {translatedName, "translations.translations.data.title"}, {translatedName, "localized.name"},
	},
	fragment.KindCompany: {{mainName, "name"}, {alternativeName, "alternative_names.results.name"}},
	fragment.KindKeyword: {{mainName, "name"}},
}

// addFields adds the fields of a record: the registry's numbers, lists and names.
func (r *row) addFields(kind fragment.Kind, rec record.Record) {
	for _, c := range tables.Columns(kind) {
		f, ok := rec.Schema.Field(c.Field)
		if !ok {
			continue
		}
		v := rec.Int(f).V
		if c.Digits > 0 {
			v = int64(math.Round(rec.Float(f).V * math.Pow10(c.Digits)))
		}
		if c.Type == tables.Range {
			r.set(c.ID, v)
		} else {
			r.numbers[c.ID] = v
		}
	}
	for list, path := range listPaths[kind] {
		each(rec, path, func(id int64, code string) {
			if key := tables.CodeKey(code); key != 0 {
				r.addKey(list, key)
			}
			r.addID(list, id)
		})
	}
	for _, n := range namePaths[kind] {
		each(rec, n.path, func(_ int64, text string) { r.names = append(r.names, searchName{text, n.kind}) })
	}
}

// each calls fn with each number or text at a path of a record.
func each(rec record.Record, path string, fn func(id int64, text string)) {
	parent, name := "", path
	if dot := strings.LastIndexByte(path, '.'); dot >= 0 {
		parent, name = path[:dot], path[dot+1:]
	}
	for r := range rec.Each(parent) {
		f, ok := r.Schema.Field(name)
		if !ok {
			panic("index: records have no field " + path) // paths are constants, and tests use them all
		}
		switch f.Shape {
		case record.ShapeInt:
			fn(r.Int(f).V, "")
		case record.ShapeString:
			fn(0, r.String(f).V)
		default:
			for _, text := range *r.Strings(f) {
				fn(0, text)
			}
		}
	}
}
