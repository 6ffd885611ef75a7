package gen

// A show is what lists say of a series, and how it is cut into seasons.
type show struct {
	title
	seasons  int // without season 0
	specials bool
	typical  int64  // episodes of a season, in hundredths
	network  uint64 // record
	interval day    // between episodes
	generic  bool   // most episodes have no names
	guests   bool   // somebody keeps guest stars and crews
}

// Distributions of series, by the votes of the series.
var (
	seasonCount = spread{
		median: curve{95, 100, 110, 120, 140, 165, 190, 210, 230, 250, 280, 310, 340, 380},
		sigma:  curve{75, 80, 85, 90, 100, 110, 118, 120, 118, 115, 110, 100, 90, 80},
		most:   81,
	}
	episodeCount = spread{
		any:    curve{930, 940, 950, 955, 956},
		median: curve{650, 700, 760, 850, 950, 1050, 1150, 1250, 1250, 1250, 1200},
		sigma:  curve{75, 78, 80, 84, 88, 92, 95, 95, 92, 88, 80},
		most:   2868,
	}
	guestCount = spread{
		median: curve{200, 250, 300, 350, 420, 500, 600, 650, 700, 750, 800},
		sigma:  curve{75},
		most:   116,
	}
	episodeCrew = spread{
		median: curve{120, 120, 140, 160, 200, 240, 280, 320, 400, 480, 560},
		sigma:  curve{105},
		most:   197,
	}
	ratingCount = spread{
		any:    curve{150, 250, 350, 450, 580, 700, 800, 880, 940, 980},
		median: curve{100, 100, 110, 130, 160, 210, 290, 420, 600, 900, 1300, 1700, 2100, 2600, 3000},
		sigma:  curve{50},
		most:   50,
	}
)

// Permille, by the votes of the series.
var (
	hasSpecials      = curve{25, 50, 80, 110, 150, 190, 230, 260, 300, 360, 430, 500, 560}
	genericNames     = curve{680, 620, 560, 510, 470, 430, 400, 360, 300, 240, 190, 150, 120}
	noEpisodeText    = curve{800, 750, 700, 660, 620, 590, 560, 520, 460, 380, 300, 240, 190}
	noStill          = curve{740, 670, 620, 570, 520, 480, 430, 380, 310, 240, 190, 150, 120}
	noEpisodeRuntime = curve{430, 390, 350, 310, 280, 260, 240, 220, 190, 160, 130, 110, 100}
	noEpisodeVotes   = curve{980, 960, 940, 910, 880, 850, 820, 780, 710, 610, 500, 380, 260}
	keepsGuests      = curve{60, 90, 130, 170, 210, 260, 310, 380, 460, 560, 660, 750, 830}
	noSeasonText     = curve{920, 880, 850, 820, 800, 770, 750, 720, 680, 620, 560, 500, 450}
	noSeasonPoster   = curve{520, 420, 340, 280, 230, 190, 160, 130, 100, 70, 50, 40, 30}
)

// maxEpisodes is how many the longest series has.
const maxEpisodes = 3677

// Ids of seasons and episodes leave room for as many as a series may have.
const (
	seasonIDs  = 128
	episodeIDs = 8192
)

// showOf makes what lists say of series i.
func (w *world) showOf(i uint64) show {
	t, r := w.titleOf(w.tv, i, tvVotes, tvPopularity, &w.tvGenre)
	s := show{title: t}
	if earliest := makeDay(1950, 0); s.out < earliest {
		s.out = earliest + s.out%(70*365)
	}
	s.seasons = seasonCount.of(&r, s.votes)
	s.specials = r.chance(int(hasSpecials.at(s.votes)))
	s.typical = r.logNormal(episodeCount.median.at(s.votes), episodeCount.sigma.at(s.votes))
	if r.chance(30) { // daily
		s.typical *= int64(r.between(6, 16))
	}
	s.network = w.networks.ranked(crowd(&r, w.networks.n))
	s.interval = 7
	if s.typical > 6000 || r.chance(60) {
		s.interval = 1
	}
	s.generic = r.chance(int(genericNames.at(s.votes)))
	s.guests = r.chance(int(keepsGuests.at(s.votes)))
	if int64(s.seasons)*s.typical > 300*100 { // of the long ones, few do
		s.guests = s.guests && r.chance(250)
	}
	return s
}

// A season is what lists say of one.
type season struct {
	number   int
	id       int64
	episodes int
	before   int // episodes of the seasons before, season 0 aside
	out      day
	dated    bool
	average  int64 // thousandths
	poster   uint64
	overview uint64
	named    uint64 // seed of a name; 0: the generic one
}

// seasonsOf makes the seasons of a series in order. It appends to list.
func (w *world) seasonsOf(s *show, list []season) []season {
	total, before := 0, 0
	next := s.out
	first := 1
	if s.specials {
		first = 0
	}
	for number := first; number <= s.seasons; number++ {
		r := w.tv.random(s.i, streamSeason+stream(number))
		one := season{number: number, id: int64(s.i)*seasonIDs + int64(number) + 1, before: before, out: next, dated: s.dated}
		if r.chance(int(episodeCount.any.at(s.votes))) || number == 1 {
			one.episodes = max(1, int(r.logNormal(s.typical, 30)+50)/100)
		}
		one.episodes = min(one.episodes, episodeCount.most, maxEpisodes-total)
		total += one.episodes
		if s.votes > 0 && r.chance(600) {
			one.average = r.voteAverage(max(1, s.votes/8))
		}
		one.poster = r.seed(1000 - int(noSeasonPoster.at(s.votes)))
		one.overview = r.seed(1000 - int(noSeasonText.at(s.votes)))
		one.named = r.seed(80)
		if number > 0 {
			before += one.episodes
			next += day(one.episodes)*s.interval + day(r.between(120, 420))
		}
		list = append(list, one)
	}
	return list
}

// airs returns when an episode airs, counted from 0.
func (s *show) airs(one *season, episode int) day { return one.out + day(episode)*s.interval }

// appendSeasonName appends the name of a season.
func (w *world) appendSeasonName(b []byte, one *season) []byte {
	switch {
	case one.number == 0:
		return append(b, "Specials"...)
	case one.named != 0:
		r := random{one.named}
		return w.words.appendTitle(b, &r, w.words.languages[0])
	}
	return appendInt(append(b, "Season "...), int64(one.number))
}

// appendSeasonOverview appends the text of a season.
func (w *world) appendSeasonOverview(b []byte, one *season) []byte {
	if one.overview == 0 {
		return b
	}
	r := random{one.overview}
	return w.words.appendText(b, &r, w.words.languages[0], int(r.logNormal(260, 50)))
}

// appendTV appends the record of series i, its seasons appended.
func (w *world) appendTV(b []byte, i uint64) []byte {
	s := w.showOf(i)
	seasons := w.seasonsOf(&s, nil)
	r := w.tv.random(i, streamDetails)
	own := w.localeOf(s.language)
	last := &seasons[len(seasons)-1]
	ended := !s.dated || s.airs(last, last.episodes) < today-400
	b = append(b, `{"adult":`...)
	b = appendBool(b, s.adult)
	b = append(b, `,"backdrop_path":`...)
	b = appendPathOf(b, s.backdrop, ".jpg")
	b = append(b, `,"created_by":[`...)
	b = w.appendCreators(b, &r, s.votes)
	b = append(b, `],"episode_run_time":[`...)
	if r.chance(300) {
		b = appendInt(b, int64(5*r.between(2, 14)))
	}
	b = append(b, `],"first_air_date":"`...)
	if s.dated {
		b = appendDate(b, s.out)
	}
	b = append(b, `","genres":[`...)
	b = w.tvGenre.append(b, s.genres[:s.genreCount])
	b = append(b, `],"homepage":"`...)
	b = r.appendHomepage(b, int(hasHomepage.at(s.votes))+150)
	b = append(b, `","id":`...)
	b = appendInt(b, s.id)
	b = append(b, `,"in_production":`...)
	b = appendBool(b, !ended)
	b = append(append(b, `,"languages":["`...), s.language.code...)
	b = append(b, `"]`...)
	b = w.appendAired(b, &s, seasons)
	b = append(b, `,"networks":[`...)
	b = w.appendNetworkRef(b, &s)
	b = append(b, `],"number_of_episodes":`...)
	b = appendInt(b, int64(last.before+last.episodes))
	b = append(b, `,"number_of_seasons":`...)
	b = appendInt(b, int64(s.seasons))
	b = append(append(b, `,"origin_country":["`...), w.countries[s.country].code...)
	b = append(append(b, `"],"original_language":"`...), s.language.code...)
	b = append(b, `","original_name":"`...)
	b = w.appendOriginalTitle(b, &s.title)
	b = append(b, `","overview":"`...)
	b = w.appendOverview(b, &s.title)
	b = append(b, `","popularity":`...)
	b = appendFixed(b, s.popularity, 4)
	b = append(b, `,"poster_path":`...)
	b = appendPathOf(b, s.poster, ".jpg")
	b = append(b, `,"production_companies":[`...)
	b = w.appendCompanies(b, &r, s.votes)
	b = append(b, `],"production_countries":[`...)
	b = w.appendCountries(b, &r, s.country)
	b = append(b, `],"seasons":[`...)
	for n := range seasons {
		if n > 0 {
			b = append(b, ',')
		}
		b = w.appendSeasonSummary(b, &seasons[n])
	}
	b = append(b, `],"softcore":false,"spoken_languages":[`...)
	b = w.appendSpoken(b, &r, s.language)
	b = append(append(b, `],"status":"`...), r.tvStatus(ended)...)
	b = append(b, `","tagline":"`...)
	if r.chance(int(hasTagline.at(s.votes)) / 2) {
		b = w.words.appendTagline(b, &r, w.words.languages[0])
	}
	b = append(append(b, `","type":"`...), pick(&r, showTypes)...)
	b = append(b, `","vote_average":`...)
	b = appendFixed(b, s.average, 3)
	b = append(b, `,"vote_count":`...)
	b = appendInt(b, s.votes)
	b = w.appendTVParts(b, &s, own)
	for n := range seasons {
		b = appendInt(append(b, `,"season/`...), int64(seasons[n].number))
		b = append(b, `":`...)
		b = w.appendSeason(b, &s, &seasons[n])
	}
	return append(b, "}\n"...)
}

var showTypes = []string{"Scripted", "Scripted", "Scripted", "Scripted", "Scripted", "Scripted", "Reality", "Documentary", "Miniseries", "Talk Show", "News"}

func (r *random) tvStatus(ended bool) string {
	switch {
	case !ended:
		return "Returning Series"
	case r.chance(80):
		return "Canceled"
	}
	return "Ended"
}

// appendAired appends the members last_air_date, last_episode_to_air, name and
// next_episode_to_air.
func (w *world) appendAired(b []byte, s *show, seasons []season) []byte {
	var last, next *season
	var lastEpisode, nextEpisode int
	for n := range seasons {
		one := &seasons[n]
		if one.number == 0 || one.episodes == 0 || !one.dated {
			continue
		}
		aired := 0
		if one.out <= today {
			aired = min(one.episodes, int((today-one.out)/s.interval)+1)
		}
		if aired > 0 {
			last, lastEpisode = one, aired-1
		}
		if aired < one.episodes && next == nil {
			next, nextEpisode = one, aired
		}
	}
	b = append(b, `,"last_air_date":`...)
	if last == nil {
		b = append(b, "null"...)
	} else {
		b = append(appendDate(append(b, '"'), s.airs(last, lastEpisode)), '"')
	}
	b = append(b, `,"last_episode_to_air":`...)
	b = w.appendEpisodeSummary(b, s, last, lastEpisode)
	b = append(b, `,"name":"`...)
	b = w.appendEnglishTitle(b, &s.title)
	b = append(b, `","next_episode_to_air":`...)
	return w.appendEpisodeSummary(b, s, next, nextEpisode)
}

// appendCreators appends the people who created a series.
func (w *world) appendCreators(b []byte, r *random, votes int64) []byte {
	if w.people.n == 0 || !r.chance(int(hasTagline.at(votes))) {
		return b
	}
	for n := range 1 + r.front(4) {
		if n > 0 {
			b = append(b, ',')
		}
		i := w.credited(r, &w.departments[acting+2]) // writers
		p := w.personOf(i)
		b = append(b, `{"id":`...)
		b = appendInt(b, w.people.id(i))
		b = append(b, `,"credit_id":`...)
		b = appendObjectID(b, r)
		b = append(b, `,"name":"`...)
		b = p.appendName(b)
		b = append(b, `","original_name":"`...)
		b = p.appendOwnName(b)
		b = append(b, `","gender":`...)
		b = append(b, byte('0'+p.gender))
		b = append(b, `,"profile_path":`...)
		b = append(appendPathOf(b, p.profile, ".jpg"), '}')
	}
	return b
}

func (w *world) appendNetworkRef(b []byte, s *show) []byte {
	c := w.companyIn(w.networks, s.network)
	return w.appendCompanyRef(b, &c)
}

// appendSeasonDay appends when a season started, or null.
func appendSeasonDay(b []byte, one *season) []byte {
	if !one.dated {
		return append(b, "null"...)
	}
	return append(appendDate(append(b, '"'), one.out), '"')
}

// appendSeasonSummary appends a season as the details of its series have it.
func (w *world) appendSeasonSummary(b []byte, one *season) []byte {
	b = append(b, `{"air_date":`...)
	b = appendSeasonDay(b, one)
	b = append(b, `,"episode_count":`...)
	b = appendInt(b, int64(one.episodes))
	b = append(b, `,"id":`...)
	b = appendInt(b, one.id)
	b = append(b, `,"name":"`...)
	b = w.appendSeasonName(b, one)
	b = append(b, `","overview":"`...)
	b = w.appendSeasonOverview(b, one)
	b = append(b, `","poster_path":`...)
	b = appendPathOf(b, one.poster, ".jpg")
	b = append(b, `,"season_number":`...)
	b = appendInt(b, int64(one.number))
	b = append(b, `,"vote_average":`...)
	return append(appendFixed(b, one.average, 3), '}')
}

// appendTVParts appends the answers to sub-requests but for seasons.
func (w *world) appendTVParts(b []byte, s *show, own *locale) []byte {
	r := w.tv.random(s.i, streamLists)
	b = append(b, `,"alternative_titles":{"results":[`...)
	b = w.appendAlternativeTitles(b, &r, s.votes*3)
	b = append(b, `]},"content_ratings":{"results":[`...)
	b = w.appendContentRatings(b, &r, s)
	b = append(b, `]},"credits":{"cast":[`...)
	cast := w.tv.random(s.i, streamCast)
	b = w.appendRegulars(b, &cast, s.votes)
	b = append(b, `],"crew":[`...)
	crew := w.tv.random(s.i, streamCrew)
	b = w.appendCrew(b, &crew, s.votes/8)
	b = append(b, `]},"external_ids":`...)
	b = w.appendTVExternalIDs(b, &r, s.votes)
	b = append(b, `,"images":`...)
	images := w.tv.random(s.i, streamImages)
	b = w.appendImages(b, &images, s.votes, s.poster, s.backdrop, own)
	b = append(b, `,"keywords":{"results":[`...)
	b = w.appendKeywords(b, &r, s.votes, false /* idFirst */)
	b = append(b, `]}`...)
	if s.votes >= recommendFrom {
		b = append(b, `,"recommendations":`...)
		b = appendRecommendations(b, &r, w.tv, s.i, w.appendTVRow)
	}
	b = append(b, `,"reviews":`...)
	b = w.appendReviews(b, &r, s.votes/4, s.out)
	b = append(b, `,"translations":{"translations":[`...)
	translations := w.tv.random(s.i, streamTranslations)
	b = w.appendTVTranslations(b, &translations, s, own)
	b = append(b, `]},"videos":`...)
	videos := w.tv.random(s.i, streamVideos)
	b = w.appendVideos(b, &videos, s.votes/2, s.out, own)
	b = append(b, `,"watch/providers":{"results":{`...)
	b = w.appendOffers(b, &r, "tv", s.id, s.votes)
	return append(b, "}}"...)
}

// appendRegulars appends the cast of a series.
func (w *world) appendRegulars(b []byte, r *random, votes int64) []byte {
	if w.people.n == 0 {
		return b
	}
	for order := range castSize.of(r, votes/16) {
		if order > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		b = w.appendCredited(b, w.credited(r, &w.departments[acting]))
		b = append(b, `"character":"`...)
		b = w.appendCharacter(b, r)
		b = append(b, `","credit_id":`...)
		b = appendObjectID(b, r)
		b = append(b, `,"order":`...)
		b = append(appendInt(b, int64(order)), '}')
	}
	return b
}

// appendContentRatings appends age ratings by country.
func (w *world) appendContentRatings(b []byte, r *random, s *show) []byte {
	var seen [64]int
	n := 0
	for range ratingCount.of(r, s.votes) {
		i := s.country
		if n > 0 {
			i = w.countryOf.pick(r)
		}
		list := w.tvRatings[w.countries[i].code]
		if len(list) == 0 || contains(seen[:n], i) {
			continue
		}
		if n > 0 {
			b = append(b, ',')
		}
		seen[n] = i
		n++
		b = append(append(b, `{"descriptors":[],"iso_3166_1":"`...), w.countries[i].code...)
		b = append(append(b, `","rating":"`...), pick(r, list)...)
		b = append(b, `"}`...)
	}
	return b
}

func (w *world) appendTVExternalIDs(b []byte, r *random, votes int64) []byte {
	b = append(b, `{"imdb_id":`...)
	b = appendIMDb(b, "tt", r.seed(1000-2*int(noIMDb.at(votes)))%38_000_000)
	b = append(b, `,"freebase_mid":null,"freebase_id":null,"tvdb_id":`...)
	if r.chance(int(min(950, 450+votes))) {
		b = appendInt(b, int64(r.between(70_000, 460_000)))
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"tvrage_id":null,"wikidata_id":`...)
	b = appendWikidata(b, r, int(hasWikidata.at(votes)))
	for _, name := range []string{"facebook", "instagram", "twitter"} {
		b = append(append(append(b, `,"`...), name...), `_id":`...)
		b = appendAccount(b, r, int(hasHomepage.at(votes))/2)
	}
	return append(b, '}')
}

// appendTVTranslations appends translations, English first.
func (w *world) appendTVTranslations(b []byte, r *random, s *show, own *locale) []byte {
	first := true
	w.eachTranslation(r, s.votes, own, func(l *locale) {
		if !first {
			b = append(b, ',')
		}
		english := first
		first = false
		b = l.append(b)
		b = append(b, `"data":{"name":"`...)
		switch {
		case english:
			if s.language.words != nil && s.english {
				b = w.appendEnglishTitle(b, &s.title)
			}
		case l != own && r.chance(500):
			b = w.words.appendTitle(b, r, l.language)
		}
		b = append(b, `","overview":"`...)
		switch {
		case english:
			b = w.appendOverview(b, &s.title)
		case r.chance(int(translatedOverview.at(s.votes)) - 100):
			b = w.words.appendText(b, r, l.language, int(r.logNormal(overviewSize.at(s.votes), 45)))
		}
		b = append(b, `","homepage":"`...)
		b = r.appendHomepage(b, 20)
		b = append(b, `","tagline":"`...)
		if !english && r.chance(int(hasTagline.at(s.votes))/6) {
			b = w.words.appendTagline(b, r, l.language)
		}
		b = append(b, `"}}`...)
	})
	return b
}

// appendTVRow appends series i as lists have it.
func (w *world) appendTVRow(b []byte, i uint64) []byte {
	s := w.showOf(i)
	b = append(b, `{"adult":`...)
	b = appendBool(b, s.adult)
	b = append(b, `,"backdrop_path":`...)
	b = appendPathOf(b, s.backdrop, ".jpg")
	b = append(b, `,"id":`...)
	b = appendInt(b, s.id)
	b = append(b, `,"name":"`...)
	b = w.appendEnglishTitle(b, &s.title)
	b = append(b, `","original_name":"`...)
	b = w.appendOriginalTitle(b, &s.title)
	b = append(b, `","overview":"`...)
	b = w.appendOverview(b, &s.title)
	b = append(b, `","poster_path":`...)
	b = appendPathOf(b, s.poster, ".jpg")
	b = append(append(b, `,"media_type":"tv","original_language":"`...), s.language.code...)
	b = append(b, `","genre_ids":[`...)
	b = w.tvGenre.appendIDs(b, s.genres[:s.genreCount])
	b = append(b, `],"popularity":`...)
	b = appendFixed(b, s.popularity, 4)
	b = append(b, `,"first_air_date":"`...)
	if s.dated {
		b = appendDate(b, s.out)
	}
	b = append(b, `","softcore":false,"vote_average":`...)
	b = appendFixed(b, s.average, 3)
	b = append(b, `,"vote_count":`...)
	b = appendInt(b, s.votes)
	b = append(append(b, `,"origin_country":["`...), w.countries[s.country].code...)
	return append(b, `"]}`...)
}
