package gen

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/day"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// lengths are the lengths of lists: the mean in hundredths, and the maximum.
var lengths = map[string]struct{ mean, maximum int }{
	"cast": {700, 340}, "crew": {750, 990}, "created_by": {20, 3}, "companies": {110, 26}, "keywords": {110, 97},
	"backdrops": {700, 320}, "logos": {40, 180}, "posters": {650, 475}, "profiles": {170, 60}, "videos": {110, 200},
	"alternative_titles": {60, 90}, "translations": {310, 50}, "release_dates": {120, 90}, "watch/providers": {20, 80},
	"content_ratings": {50, 50}, "reviews": {5, 20},
}

// A maker makes one record from a row of the sample. It copies everything that it changes.
type maker struct {
	*world
	*head
	r *random
}

// appendLine appends record i of a population and a line feed.
func (w *world) appendLine(dst []byte, p *population, i uint64) []byte {
	h, r := w.headOf(p, i), p.random(i, streamDetails)
	return append(record.Append(dst, p.make(&maker{w, &h, &r})), '\n')
}

// moved shifts a day of the sample by the same number of days as all days of the record.
func (h *head) moved(s record.String) record.String {
	if d, ok := day.Parse(s.V); ok {
		s.V = (d + h.shift).String()
	}
	return s
}

// external returns a unique id at another site.
func (m *maker) external(prefix string) record.String {
	return record.Text(prefix + strconv.Itoa(10_000_000+4*int(m.id.V)+slices.Index(m.populations, m.population)%4))
}

// objectID returns 24 hex digits that begin with a time from 2010 to 2026.
func (m *maker) objectID() record.String {
	const first, seconds = 0x4bc88000, 0x1e000000
	var id [12]byte
	binary.BigEndian.PutUint32(id[:], uint32(first+m.r.next()%seconds))
	binary.BigEndian.PutUint64(id[4:], m.r.next())
	return record.Text(hex.EncodeToString(id[:]))
}

// count returns a random length for a list.
func (m *maker) count(list string) int {
	l := lengths[list]
	return min((l.mean*m.size/100*m.r.between(50, 150)/100+m.r.below(100))/100, l.maximum)
}

// start returns a random number of elements from the start of list.
func start[T any](m *maker, name string, list []T) []T {
	return slices.Clone(list[:min(len(list), m.count(name))])
}

// drawn returns n random elements of list.
func drawn[T any](m *maker, n int, list []T) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = pick(m.r, list)
	}
	return out
}

func (m *maker) images() *catalog.Images {
	return &catalog.Images{
		Backdrops: drawn(m, m.count("backdrops"), m.backdrops), Logos: drawn(m, m.count("logos"), m.logos), Posters: drawn(m, m.count("posters"), m.posters),
	}
}

func (m *maker) videos() *catalog.Videos {
	v := drawn(m, m.count("videos"), m.stock.videos)
	for i := range v {
		v[i].ID = m.objectID()
	}
	return &catalog.Videos{Results: v}
}

func (m *maker) alternativeTitles() []catalog.AlternativeTitle {
	titles := drawn(m, m.count("alternative_titles"), m.alternatives)
	for i := range titles {
		titles[i].Title = record.Text(m.title(m.r, m.foreign))
	}
	return titles
}

// translatedTitle returns the title in translation i. It is empty in the first, which is English, and in some others.
func (m *maker) translatedTitle(i int) record.String {
	if i == 0 || !m.r.chance(600) {
		return record.Text("")
	}
	return record.Text(m.title(m.r, m.foreign))
}

// linked returns n or fewer random records, each once.
func (m *maker) linked(n int, target *population) (all []head) {
	if target.n == 0 {
		n = 0
	}
	for range n {
		i := target.ranked(m.r.rank(target.n))
		if !slices.ContainsFunc(all, func(h head) bool { return h.i == i }) {
			all = append(all, m.headOf(target, i))
		}
	}
	return all
}

func (m *maker) companyRefs() []catalog.CompanyRef {
	out := []catalog.CompanyRef{}
	for _, h := range m.linked(m.count("companies"), m.companies) {
		row := &m.stock.companies[h.row]
		out = append(out, catalog.CompanyRef{ID: h.id, LogoPath: row.LogoPath, Name: h.name, OriginCountry: record.Text(row.OriginCountry.V)})
	}
	return out
}

// credits returns n, or 0 in a dump without people.
func (m *maker) credits(n int) int { return n * int(min(1, m.people.n)) }

// credited sets the person of a credit to a random one.
func (m *maker) credited(c *catalog.Credited, id *record.String) {
	h := m.headOf(m.people, m.people.ranked(m.r.rank(m.people.n)))
	row := &m.stock.people[h.row]
	*id = m.objectID()
	*c = catalog.Credited{
		Adult: row.Adult, Gender: row.Gender, ID: h.id, KnownForDepartment: row.KnownForDepartment, Name: h.name, OriginalName: h.name,
		Popularity: h.popularity, ProfilePath: row.ProfilePath,
	}
}

func (m *maker) crew(n int) []catalog.CrewCredit {
	crew := drawn(m, m.credits(n), m.stock.crew)
	for i := range crew {
		m.credited(&crew[i].Credited, &crew[i].CreditID)
	}
	return crew
}

// reviews returns the first reviews of a row, with new ids and without totals, which the build derives.
func (m *maker) reviews(pages []catalog.ReviewPage) []catalog.ReviewPage {
	pages = slices.Clone(pages[:min(1, len(pages))])
	for p := range pages {
		page := &pages[p]
		page.TotalPages, page.TotalResults, page.Results = record.Int{}, record.Int{}, start(m, "reviews", page.Results)
		for i := range page.Results {
			page.Results[i].ID = m.objectID()
		}
	}
	return pages
}

func makeMovie(m *maker) record.Record {
	v := m.stock.movies[m.row]
	v.ID, v.Title, v.OriginalTitle, v.Popularity, v.VoteAverage, v.VoteCount = m.id, m.name, m.original, m.popularity, m.voteAverage, m.voteCount
	v.ReleaseDate, v.IMDbID = m.moved(v.ReleaseDate), m.external("tt")
	if v.BelongsToCollection = nil; m.collections.n > 0 && m.r.chance(50) {
		h := m.headOf(m.collections, m.i*m.collections.n/m.population.n)
		row := &m.stock.collections[h.row]
		v.BelongsToCollection = &catalog.CollectionRef{ID: h.id, Name: h.name, PosterPath: row.PosterPath, BackdropPath: row.BackdropPath}
	}
	v.ProductionCompanies = m.companyRefs()
	v.AlternativeTitles = &catalog.AlternativeTitles{Titles: m.alternativeTitles()}
	v.Credits = &catalog.Credits{Cast: drawn(m, m.credits(m.count("cast")), m.cast), Crew: m.crew(m.count("crew"))}
	for i := range v.Credits.Cast {
		c := &v.Credits.Cast[i]
		m.credited(&c.Credited, &c.CreditID)
		c.CastID, c.Order = record.Number(int64(i)), record.Number(int64(i))
	}
	v.ExternalIDs = &catalog.MovieExternalIDs{IMDbID: v.IMDbID, WikidataID: m.external("Q")}
	v.Images, v.Videos, v.Reviews = m.images(), m.videos(), m.reviews(v.Reviews)
	keywords := *v.Keywords
	keywords.Keywords = []catalog.Keyword{}
	for _, h := range m.linked(m.count("keywords"), m.keywords) {
		keywords.Keywords = append(keywords.Keywords, catalog.Keyword{ID: h.id, Name: h.name})
	}
	v.Keywords = &keywords
	v.ReleaseDates = &catalog.ReleaseDates{Results: start(m, "release_dates", v.ReleaseDates.Results)}
	v.WatchProviders = &catalog.WatchProviders{Results: start(m, "watch/providers", v.WatchProviders.Results)}
	texts := slices.Clone(v.Translations.Translations[:min(len(v.Translations.Translations), 1+m.count("translations"))])
	for i := range texts {
		data := *texts[i].Data
		data.Title, texts[i].Data = m.translatedTitle(i), &data
	}
	v.Translations = &catalog.MovieTranslations{Translations: texts}
	return record.Of(&v)
}

// makeTV makes a series without the fields that the build derives from its seasons.
func makeTV(m *maker) record.Record {
	row := &m.stock.tv[m.row]
	v := row.TV
	v.ID, v.Name, v.OriginalName, v.Popularity, v.VoteAverage, v.VoteCount = m.id, m.name, m.original, m.popularity, m.voteAverage, m.voteCount
	v.FirstAirDate = m.moved(v.FirstAirDate)
	v.NumberOfSeasons, v.NumberOfEpisodes, v.Seasons, v.EpisodeGroups = record.Int{}, record.Int{}, nil, nil
	v.LastAirDate, v.LastEpisodeToAir, v.NextEpisodeToAir = record.String{}, nil, nil
	v.Unusual = strings.TrimPrefix(v.Unusual+",last_air_date,last_episode_to_air,next_episode_to_air", ",") // absent, not null
	v.CreatedBy = start(m, "created_by", v.CreatedBy)
	v.CreatedBy = v.CreatedBy[:m.credits(len(v.CreatedBy))]
	for i := range v.CreatedBy {
		c, p := &v.CreatedBy[i], catalog.Credited{}
		m.credited(&p, &c.CreditID)
		c.ID, c.Name, c.OriginalName, c.Gender, c.ProfilePath = p.ID, p.Name, p.OriginalName, p.Gender, p.ProfilePath
	}
	v.ProductionCompanies, v.Networks = m.companyRefs(), []catalog.CompanyRef{}
	for _, h := range m.linked(1, m.networks) {
		row := &m.stock.networks[h.row]
		v.Networks = append(v.Networks, catalog.CompanyRef{ID: h.id, LogoPath: row.LogoPath, Name: h.name, OriginCountry: row.OriginCountry})
	}
	v.AlternativeTitles = &catalog.TVAlternativeTitles{Results: m.alternativeTitles()}
	ratings := *v.ContentRatings
	ratings.Results = start(m, "content_ratings", ratings.Results)
	v.ContentRatings = &ratings
	v.Credits = &catalog.TVCredits{Cast: drawn(m, m.credits(m.count("cast")/2), m.tvCast), Crew: m.crew(m.count("crew") / 2)} // seasons have more
	for i := range v.Credits.Cast {
		c := &v.Credits.Cast[i]
		m.credited(&c.Credited, &c.CreditID)
		c.Order = record.Number(int64(i))
	}
	v.ExternalIDs = &catalog.TVExternalIDs{IMDbID: m.external("tt"), WikidataID: m.external("Q")}
	v.Images, v.Videos, v.Reviews = m.images(), m.videos(), m.reviews(v.Reviews)
	keywords, linked := *v.Keywords, m.linked(m.count("keywords"), m.keywords)
	keywords.Results = slices.Repeat(keywords.Results[:1:1], len(linked))
	for i, h := range linked {
		keywords.Results[i].ID, keywords.Results[i].Name = h.id, h.name
	}
	v.Keywords = &keywords
	v.WatchProviders = &catalog.WatchProviders{Results: start(m, "watch/providers", v.WatchProviders.Results)}
	texts := *v.Translations
	texts.Translations = slices.Clone(texts.Translations[:min(len(texts.Translations), 1+m.count("translations"))])
	for i := range texts.Translations {
		data := *texts.Translations[i].Data
		data.Name, texts.Translations[i].Data = m.translatedTitle(i), &data
	}
	v.Translations = &texts
	var seasons []string
	first, last := m.r.below(5), 1+m.size*m.r.between(50, 150)/60/100
	for _, s := range row.seasons {
		if n := int(s.SeasonNumber.V); (n > 0 || first == 0) && n <= last { // some series have specials
			seasons = append(seasons, fmt.Sprintf(`"season/%d":%s`, n, record.Append(nil, m.season(s, v.Networks))))
		}
	}
	v.Extra = strings.Join(seasons, ",")
	return record.Of(&v)
}

// Ids of seasons and episodes leave room for the longest series and the longest season of the sample.
const (
	seasonIDs   = 128
	episodeIDs  = 8192
	maxEpisodes = 312 // in one season
)

func (m *maker) season(s catalog.Season, networks []catalog.CompanyRef) record.Record {
	n := int(s.SeasonNumber.V)
	s.ObjectID, s.ID, s.AirDate, s.Networks = m.objectID(), record.Number(int64(m.i)*seasonIDs+int64(n)+1), m.moved(s.AirDate), networks
	credits := 0
	if mix(m.population.seed-m.i)%100 < 35 { // the other series have none
		credits = m.credits(1)
	}
	s.Episodes = slices.Clone(s.Episodes)
	for i := range s.Episodes {
		e := &s.Episodes[i]
		e.ID, e.ShowID, e.AirDate = record.Number(int64(m.i)*episodeIDs+int64(n*maxEpisodes+i+1)), m.id, m.moved(e.AirDate)
		e.Crew, e.GuestStars = slices.Clone(e.Crew[:len(e.Crew)*credits]), slices.Clone(e.GuestStars[:len(e.GuestStars)*credits])
		for i := range e.Crew {
			m.credited(&e.Crew[i].Credited, &e.Crew[i].CreditID)
		}
		for i := range e.GuestStars {
			m.credited(&e.GuestStars[i].Credited, &e.GuestStars[i].CreditID)
		}
	}
	return record.Of(&s)
}

func makePerson(m *maker) record.Record {
	v := m.stock.people[m.row]
	v.ID, v.Name, v.Popularity, v.IMDbID = m.id, m.name, m.popularity, m.external("nm")
	v.ExternalIDs = &catalog.PersonExternalIDs{IMDbID: v.IMDbID, WikidataID: m.external("Q")}
	images, texts := *v.Images, *v.Translations
	images.Profiles = drawn(m, m.count("profiles"), m.profiles)
	texts.Translations = texts.Translations[:min(len(texts.Translations), m.r.below(26)/25)] // few people have translations
	v.Images, v.Translations = &images, &texts
	return record.Of(&v)
}

func makeCollection(m *maker) record.Record {
	v, images := m.stock.collections[m.row], m.images()
	v.ID, v.Name, v.OriginalName = m.id, m.name, m.original
	v.Images = &catalog.CollectionImages{Backdrops: images.Backdrops, Posters: images.Posters}
	return record.Of(&v)
}

func makeCompany(m *maker) record.Record {
	v := m.stock.companies[m.row]
	v.ID, v.Name, v.OriginCountry = m.id, m.name, record.Text(v.OriginCountry.V)
	return record.Of(&v)
}

func makeNetwork(m *maker) record.Record {
	v := m.stock.networks[m.row]
	v.ID, v.Name = m.id, m.name
	return record.Of(&v)
}
