package imdb

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/encoding"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// Contents of the titles sorter for one title, in this order. The rank is the upper half of the sort key's position; the lower
// half is the index in a list.
const (
	rankBasics     = 1
	rankRatings    = 2
	rankEpisode    = 3 // after a byte that is 1 if another episode has its number
	rankCrew       = 4
	rankAkas       = 5
	rankPrincipals = 6 // after the person
	rankCrewPeople = 7 // the person, and the place of the row of title.crew

	rankShift = 32
)

// ofRank maps ranks to tables.
var ofRank = [...]string{
	rankBasics: titleBasics, rankRatings: titleRatings, rankEpisode: titleEpisode, rankCrew: titleCrew,
	rankAkas: titleAkas, rankPrincipals: titlePrincipals, rankCrewPeople: "",
}

func titleKey(title uint32, rank, nth, seq uint64) rowKey {
	return rowKey{title, rank<<rankShift | nth, seq}
}

// addOf returns a function that adds a row to its title.
func addOf(rank uint64) func(j *Joiner, t *table, at place) error {
	return func(j *Joiner, t *table, at place) error {
		title, _ := parseID(j.cells[0], titlePrefix)
		var nth int64
		if rank == rankAkas {
			nth, _ = parseNumber(j.cells[akasOrdering])
		}
		j.payload = j.appendRow(j.payload[:0], t, at)
		return j.sort(j.titles, titleKey(title, rank, uint64(nth), at.seq()), j.payload)
	}
}

// A title holds the rows of all tables about one title.
type title struct {
	number  uint32
	rows    [rankAkas]row // by rank, for ranks below rankAkas
	taken   bool          // another episode has the number
	akas    []row
	credits []credit
}

// A credit is a row of title.principals, or an ID in title.crew.
type credit struct {
	person     person
	at         place
	category   string
	job        string
	characters string
}

// has reports whether the title has a row of a rank below rankAkas.
func (t *title) has(rank int) bool { return t.rows[rank].table != nil }

// cell returns a cell of title.basics.
func (t *title) cell(column int) string { return t.rows[rankBasics].cells[column] }

// place returns the place of the row that stands for the title.
func (t *title) place() place {
	for _, rank := range []int{rankBasics, rankEpisode, rankRatings, rankCrew} {
		if t.has(rank) {
			return t.rows[rank].place
		}
	}
	if len(t.akas) > 0 {
		return t.akas[0].place
	}
	if len(t.credits) > 0 {
		return t.credits[0].at
	}
	return place{}
}

// joinTitles makes the records of titles.
func (j *Joiner) joinTitles(ctx context.Context, out output) error {
	g := &titleGroup{j: j, out: out}
	err := each(ctx, j.titles, func(key rowKey, payload []byte) error {
		if key.id != g.number {
			if err := g.finish(); err != nil {
				return err
			}
			g.title = title{number: key.id, akas: g.akas[:0], credits: g.credits[:0]}
			g.size, g.full = 0, false
			g.named = map[credited]bool{}
		}
		return g.add(key.at, payload)
	})
	if err != nil {
		return err
	}
	return g.finish()
}

// A titleGroup collects the rows of the current title.
type titleGroup struct {
	j   *Joiner
	out output
	title
	last  uint64            // position of first
	first row               // first row of its key; its table is nil if there was none
	named map[credited]bool // directors and writers so far, whatever their jobs
	size  int               // bytes of the title's rows
	full  bool              // the row of title.crew was refused because its people take too much memory
}

// A credited identifies a credit of a title: a person, a category and a detail.
type credited struct {
	person           uint32
	category, detail string
}

// add adds a row from the sorter. at is the position in its key.
func (g *titleGroup) add(at uint64, payload []byte) error {
	in := encoding.NewReader(payload)
	g.size += len(payload)
	rank := at >> rankShift
	var who person
	taken := false
	switch rank {
	case rankCrewPeople:
		who = readPerson(&in)
		return cmp.Or(g.crewPerson(who, readPlace(&in), at&writerBit != 0), in.Err())
	case rankPrincipals:
		who = readPerson(&in)
	case rankEpisode:
		taken = in.Byte() == 1
	}
	r, err := readRow(&in, tableNamed(ofRank[rank]))
	switch {
	case err != nil:
		return err
	case g.first.table != nil && g.last == at:
		return g.j.again(&g.first, &r)
	case g.size > maxTitleBytes:
		return g.j.refuse(&r, tooLong(g.number))
	}
	g.last, g.first, g.taken = at, r, g.taken || taken
	g.keep(rank, &r, who)
	return nil
}

// keep adds a row to the title. who is the person of a credit.
func (g *titleGroup) keep(rank uint64, r *row, who person) {
	switch rank {
	case rankAkas:
		g.akas = append(g.akas, *r)
	case rankPrincipals:
		g.named[credited{person: who.number, category: r.cells[principalsCategory]}] = true
		g.credits = append(g.credits, credit{
			person: who, at: r.place, category: r.cells[principalsCategory], job: r.cells[principalsJob], characters: r.cells[principalsCharacters],
		})
	default:
		g.rows[rank] = *r
	}
}

// tooLong returns the reason for refusing a row of a title.
func tooLong(title uint32) string {
	return fmt.Sprintf("the rows of %s take more than %d bytes together", titleText(title), maxTitleBytes)
}

// crewPerson adds a director or a writer of title.crew that title.principals lacks. People of a title's second row are ignored
// like the row itself.
func (g *titleGroup) crewPerson(who person, at place, writer bool) error {
	category := categoryDirector
	if writer {
		category = categoryWriter
	}
	is := credited{person: who.number, category: category}
	switch {
	case !g.has(rankCrew) || g.rows[rankCrew].place != at || g.named[is] || g.full:
		return nil
	case g.size > maxTitleBytes:
		g.full = true
		return g.j.refuse(&g.rows[rankCrew], tooLong(g.number))
	}
	g.named[is] = true
	g.credits = append(g.credits, credit{person: who, at: at, category: category})
	return nil
}

// kindsOfTypes maps title types to kinds of the API. Episodes also need a row of title.episode.
var kindsOfTypes = map[string]fragment.Kind{
	"movie": fragment.KindMovie, "short": fragment.KindMovie, "video": fragment.KindMovie,
	"tvMovie": fragment.KindMovie, "tvShort": fragment.KindMovie, "tvSpecial": fragment.KindMovie,
	"tvSeries": fragment.KindTV, "tvMiniSeries": fragment.KindTV,
	typeEpisode: fragment.KindEpisode,
}

const (
	typeEpisode    = "tvEpisode"
	typeTVMovie    = "tvMovie"
	typeMiniSeries = "tvMiniSeries"
)

// finish makes the record of the title.
func (g *titleGroup) finish() error {
	if g.number == 0 {
		return nil
	}
	g.first.table = nil
	if !g.has(rankBasics) {
		return g.withoutBasics()
	}
	typ := g.cell(basicsType)
	kind, ok := kindsOfTypes[typ]
	if !ok {
		g.j.dropName("titleType ", typ)
		return nil
	}
	if kind == fragment.KindEpisode {
		if !g.has(rankEpisode) {
			g.j.drop(titleEpisode+": no series", 1)
			return nil
		}
		return g.makeEpisode()
	}
	if g.has(rankEpisode) {
		g.j.drop(titleEpisode+": no episode", 1)
	}
	return g.make(g.j.identify(g.number, kind))
}

// withoutBasics makes the record of a title that title.basics lacks, if it is an episode or the catalogue has it.
func (g *titleGroup) withoutBasics() error {
	if g.has(rankEpisode) {
		return g.makeEpisode()
	}
	if is := g.j.identify(g.number, fragment.KindMovie); is.known {
		return g.make(is)
	}
	g.j.drop("titles that neither "+titleBasics+" nor the catalogue has", 1)
	return nil
}

// make makes the record of a movie or a series.
func (g *titleGroup) make(is identity) error {
	if is.kind == fragment.KindTV {
		return g.out.record(g.place(), is.kind, record.Of(g.series(is)))
	}
	return g.out.record(g.place(), is.kind, record.Of(g.movie(is)))
}

func (g *titleGroup) movie(is identity) *catalog.Movie {
	average, votes := g.votes()
	m := &catalog.Movie{
		ID: record.Number(is.id), IMDbID: record.Text(titleText(g.number)),
		Title: text(g.cell(basicsPrimary)), OriginalTitle: text(g.cell(basicsOriginal)), Adult: g.adult(),
		Runtime: number(g.cell(basicsRuntime)), Genres: g.genres(movieGenres), VoteAverage: average, VoteCount: votes,
	}
	if list := g.alternatives(); list != nil {
		m.AlternativeTitles = &catalog.AlternativeTitles{Titles: list}
	}
	if roles := g.roles(g.number, fragment.KindMovie); len(roles) > 0 {
		m.Credits = &catalog.Credits{}
		m.Credits.Cast = appendRoles(m.Credits.Cast, roles, cast)
		m.Credits.Crew = appendRoles(m.Credits.Crew, roles, crew)
	}
	return m
}

func (g *titleGroup) series(is identity) *catalog.TV {
	average, votes := g.votes()
	s := &catalog.TV{
		ID: record.Number(is.id), Name: text(g.cell(basicsPrimary)), OriginalName: text(g.cell(basicsOriginal)), Adult: g.adult(),
		Genres: g.genres(seriesGenres), VoteAverage: average, VoteCount: votes,
	}
	if g.cell(basicsType) == typeMiniSeries {
		s.Type = record.Text("Miniseries")
	}
	if n := number(g.cell(basicsRuntime)); n.Set {
		s.EpisodeRunTime = []int64{n.V}
	}
	if !is.foreign { // another source has more external IDs
		s.ExternalIDs = &catalog.TVExternalIDs{IMDbID: record.Text(titleText(g.number))}
		markUnknown(record.Of(s.ExternalIDs))
	}
	if list := g.alternatives(); list != nil {
		s.AlternativeTitles = &catalog.TVAlternativeTitles{Results: list}
	}
	roles := g.roles(g.number, fragment.KindTV)
	if s.CreatedBy = appendRoles(s.CreatedBy, roles, creators); len(s.CreatedBy) < len(roles) {
		s.Credits = &catalog.TVCredits{}
		s.Credits.Cast = appendRoles(s.Credits.Cast, roles, cast)
		s.Credits.Crew = appendRoles(s.Credits.Crew, roles, crew)
	}
	return s
}

// makeEpisode makes the record of an episode if its series and number are known.
func (g *titleGroup) makeEpisode() error {
	season, episode := number(g.rows[rankEpisode].cells[episodeSeason]), number(g.rows[rankEpisode].cells[episodeNumber])
	parent, _ := parseID(g.rows[rankEpisode].cells[episodeParent], titlePrefix)
	series := g.j.identify(parent, fragment.KindTV)
	switch {
	case !season.Set || !episode.Set:
		g.j.drop(titleEpisode+": without season or number", 1)
		return nil
	case g.taken:
		g.j.drop(titleEpisode+": the number is taken", 1)
		return nil
	case series.kind != fragment.KindTV:
		g.j.drop(titleEpisode+": of a movie", 1)
		return nil
	}
	is := g.j.identify(g.number, fragment.KindEpisode)
	average, votes := g.votes()
	e := &catalog.Episode{
		SeriesID: record.Number(series.id), SeasonNumber: season, EpisodeNumber: episode, ID: record.Number(is.id),
		Name: text(g.cell(basicsPrimary)), Runtime: number(g.cell(basicsRuntime)), VoteAverage: average, VoteCount: votes,
	}
	if !is.foreign {
		e.ExternalIDs = &catalog.EpisodeExternalIDs{IMDbID: record.Text(titleText(g.number))}
		markUnknown(record.Of(e.ExternalIDs))
	}
	if series.foreign && !is.known {
		// The series has another source's ID, and that source has IDs for its episodes too. A season's list shows the ID in the
		// episode's own record, so ours would hide theirs.
		e.ID = record.Int{}
	}
	g.dropOfEpisode()
	roles := g.roles(parent, fragment.KindEpisode)
	e.GuestStars = appendRoles(e.GuestStars, roles, cast)
	e.Crew = appendRoles(e.Crew, roles, crew)
	return g.out.record(g.place(), fragment.KindEpisode, record.Of(e))
}

// dropOfEpisode counts values that have no place in an episode.
func (g *titleGroup) dropOfEpisode() {
	g.j.drop(titleAkas+" of tvEpisode", int64(len(g.akas)))
	if g.cell(basicsGenres) != "" {
		g.j.drop(titleBasics+".genres of tvEpisode", 1)
	}
	if o := g.cell(basicsOriginal); o != "" && o != g.cell(basicsPrimary) {
		g.j.drop(titleBasics+".originalTitle of tvEpisode", 1)
	}
	if g.adult().V {
		g.j.drop(titleBasics+".isAdult of tvEpisode", 1)
	}
}

func (g *titleGroup) adult() record.Bool {
	c := g.cell(basicsAdult)
	return record.Bool{V: c == "1", Set: c != ""}
}

func (g *titleGroup) votes() (average record.Float, votes record.Int) {
	cells := &g.rows[rankRatings].cells
	f, err := strconv.ParseFloat(cells[ratingsAverage], 64) // checked before, or empty
	return record.Float{V: f, Set: err == nil}, number(cells[ratingsVotes])
}

// number returns a checked integer, unset if the cell is empty.
func number(c string) record.Int {
	n, ok := parseNumber(c)
	return record.Int{V: n, Set: ok}
}

// text returns the text of a cell, unset if it is empty.
func text(c string) record.String { return record.String{V: c, Set: c != ""} }

// addEpisode adds a row of title.episode by series, season and number. Rows without a number are sorted last.
func addEpisode(j *Joiner, t *table, at place) error {
	title, _ := parseID(j.cells[episodeID], titlePrefix)
	parent, _ := parseID(j.cells[episodeParent], titlePrefix)
	j.payload = j.appendRow(append(j.payload[:0], 0), t, at)
	season, ok := parseNumber(j.cells[episodeSeason])
	number, ok2 := parseNumber(j.cells[episodeNumber])
	lo := uint64(unnumbered)
	if ok && ok2 {
		lo = uint64(season)<<32 | uint64(number)
	}
	// Of several episodes with one number, the IDs decide, not the order of rows.
	return j.sort(j.episodes, rowKey{parent, lo, uint64(title)}, j.payload)
}

// unnumbered is the position of episodes without a season or a number, after all others.
const unnumbered = 1<<64 - 1

// joinEpisodes moves the rows of title.episode to their titles. Each gets a byte that is 1 if another episode has its number.
func (j *Joiner) joinEpisodes(ctx context.Context) error {
	var last uint64   // position of the previous episode
	var holder uint32 // episode that has the number
	var parent uint32
	var buf []byte
	return each(ctx, j.episodes, func(key rowKey, payload []byte) error {
		in := encoding.NewReader(payload[1:])
		r, err := readRow(&in, tableNamed(titleEpisode))
		if err != nil {
			return err
		}
		title, _ := parseID(r.cells[episodeID], titlePrefix)
		if key.id != parent || key.at != last {
			parent, last, holder = key.id, key.at, title
		}
		row := append(buf[:0], 0)
		if key.at != unnumbered && title != holder {
			row[0] = 1
		}
		buf = append(row, payload[1:]...)
		return j.sort(j.titles, titleKey(title, rankEpisode, 0, r.seq()), buf)
	})
}
