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
	rankEpisode    = 3 // after a byte: 1 if another episode has the same number
	rankCrew       = 4
	rankAkas       = 5
	rankPrincipals = 6 // after the person
	rankCrewPeople = 7 // the person, and the place of the row of title.crew

	rankShift = 32
)

// tableOfRank maps ranks to tables.
var tableOfRank = [...]string{
	rankBasics: titleBasics, rankRatings: titleRatings, rankEpisode: titleEpisode, rankCrew: titleCrew,
	rankAkas: titleAkas, rankPrincipals: titlePrincipals, rankCrewPeople: "",
}

func titleKey(title uint32, rank, nth, seq uint64) rowKey {
	return rowKey{title, rank<<rankShift | nth, seq}
}

// addToTitle returns a function that adds a row to its title.
func addToTitle(rank uint64) func(j *Joiner, t *table, from place) error {
	return func(j *Joiner, t *table, from place) error {
		title, _ := parseID(j.cells[0], titlePrefix)
		var nth int64
		if rank == rankAkas {
			nth, _ = parseNumber(j.cells[akasOrdering])
		}
		j.payload = j.appendRow(j.payload[:0], t, from)
		return j.sort(j.titles, titleKey(title, rank, uint64(nth), from.seq()), j.payload)
	}
}

// A title holds the rows of all tables about one title.
type title struct {
	number      uint32
	rows        [rankAkas]row // by rank, for ranks below rankAkas
	numberTaken bool          // another episode has the number
	akas        []row
	credits     []credit
}

// A credit is a row of title.principals, or an ID in title.crew.
type credit struct {
	person     person
	place      place
	category   string
	job        string
	characters string
}

// hasRow reports whether the title has a row of a rank below rankAkas.
func (t *title) hasRow(rank int) bool { return t.rows[rank].table != nil }

// cell returns a cell of title.basics.
func (t *title) cell(column int) string { return t.rows[rankBasics].cells[column] }

// place returns the place of the title's main row.
func (t *title) place() place {
	for _, rank := range []int{rankBasics, rankEpisode, rankRatings, rankCrew} {
		if t.hasRow(rank) {
			return t.rows[rank].place
		}
	}
	if len(t.akas) > 0 {
		return t.akas[0].place
	}
	if len(t.credits) > 0 {
		return t.credits[0].place
	}
	return place{}
}

// joinTitles makes the records of titles.
func (j *Joiner) joinTitles(ctx context.Context, out output) error {
	g := &titleGroup{j: j, out: out}
	err := eachRow(ctx, j.titles, func(key rowKey, payload []byte) error {
		if key.id != g.number {
			if err := g.finish(); err != nil {
				return err
			}
			g.title = title{number: key.id, akas: g.akas[:0], credits: g.credits[:0]}
			g.size, g.crewRefused = 0, false
			g.listed = map[credited]bool{}
		}
		return g.add(key.position, payload)
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
	firstAt     uint64            // position of first
	first       row               // first row at firstAt; its table is nil before it was read
	listed      map[credited]bool // persons and categories so far, regardless of jobs
	size        int               // bytes of the title's rows
	crewRefused bool              // the row of title.crew was rejected because its people take too much memory
}

// A credited identifies a credit of a title: a person, a category and a detail.
type credited struct {
	person           uint32
	category, detail string
}

// add adds a row from the sorter. position is in its key.
func (g *titleGroup) add(position uint64, payload []byte) error {
	in := encoding.NewReader(payload)
	g.size += len(payload)
	rank := position >> rankShift
	var p person
	numberTaken := false
	switch rank {
	case rankCrewPeople:
		p = readPerson(&in)
		return cmp.Or(g.crewPerson(p, readPlace(&in), position&writerBit != 0), in.Err())
	case rankPrincipals:
		p = readPerson(&in)
	case rankEpisode:
		numberTaken = in.Byte() == 1
	}
	r, err := readRow(&in, tableNamed(tableOfRank[rank]))
	switch {
	case err != nil:
		return err
	case g.first.table != nil && g.firstAt == position:
		return g.j.duplicate(&g.first, &r)
	case g.size > maxTitleBytes:
		return g.j.refuse(&r, tooLong(g.number))
	}
	g.firstAt, g.first, g.numberTaken = position, r, g.numberTaken || numberTaken
	switch rank {
	case rankAkas:
		g.akas = append(g.akas, r)
	case rankPrincipals:
		g.listed[credited{person: p.number, category: r.cells[principalsCategory]}] = true
		g.credits = append(g.credits, credit{
			person: p, place: r.place, category: r.cells[principalsCategory], job: r.cells[principalsJob], characters: r.cells[principalsCharacters],
		})
	default:
		g.rows[rank] = r
	}
	return nil
}

// tooLong returns the reason for rejecting a row of a title.
func tooLong(title uint32) string {
	return fmt.Sprintf("the rows of %s take more than %d bytes together", titleText(title), maxTitleBytes)
}

// crewPerson adds a director or a writer of title.crew that title.principals lacks. It ignores people of a rejected second row.
func (g *titleGroup) crewPerson(p person, from place, writer bool) error {
	category := categoryDirector
	if writer {
		category = categoryWriter
	}
	key := credited{person: p.number, category: category}
	switch {
	case !g.hasRow(rankCrew) || g.rows[rankCrew].place != from || g.listed[key] || g.crewRefused:
		return nil
	case g.size > maxTitleBytes:
		g.crewRefused = true
		return g.j.refuse(&g.rows[rankCrew], tooLong(g.number))
	}
	g.listed[key] = true
	g.credits = append(g.credits, credit{person: p, place: from, category: category})
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

// finish makes the record of the title. Without a row of title.basics, only episodes and titles in the catalogue get one.
func (g *titleGroup) finish() error {
	if g.number == 0 {
		return nil
	}
	g.first.table = nil
	basics, episode := g.hasRow(rankBasics), g.hasRow(rankEpisode)
	typ := g.cell(basicsType)
	kind, ok := kindsOfTypes[typ]
	switch {
	case episode && (!basics || kind == fragment.KindEpisode):
		return g.makeEpisode()
	case !basics:
		if ident := g.j.identify(g.number, fragment.KindMovie); ident.known {
			return g.make(ident)
		}
		g.j.drop("titles in neither "+titleBasics+" nor the catalogue", 1)
	case !ok:
		g.j.dropName("titleType ", typ)
	case kind == fragment.KindEpisode:
		g.j.drop(titleEpisode+": no series", 1)
	default:
		if episode {
			g.j.drop(titleEpisode+": no episode", 1)
		}
		return g.make(g.j.identify(g.number, kind))
	}
	return nil
}

// make makes the record of a movie or a series.
func (g *titleGroup) make(ident identity) error {
	id, imdbID := record.Number(ident.id), record.Text(titleText(g.number))
	name, originalName := text(g.cell(basicsPrimary)), text(g.cell(basicsOriginal))
	runtime, alternatives, roles := number(g.cell(basicsRuntime)), g.alternatives(), g.roles(g.number, ident.kind)
	average, votes := g.votes()
	if ident.kind != fragment.KindTV {
		m := &catalog.Movie{
			ID: id, IMDbID: imdbID, Title: name, OriginalTitle: originalName, Adult: g.adult(), Runtime: runtime,
			Genres: g.genres(movieGenres), VoteAverage: average, VoteCount: votes,
		}
		if alternatives != nil {
			m.AlternativeTitles = &catalog.AlternativeTitles{Titles: alternatives}
		}
		if len(roles) > 0 {
			m.Credits = &catalog.Credits{}
			m.Credits.Cast = appendRoles(m.Credits.Cast, roles, cast)
			m.Credits.Crew = appendRoles(m.Credits.Crew, roles, crew)
		}
		return g.out.record(g.place(), ident.kind, record.Of(m))
	}
	s := &catalog.TV{
		ID: id, Name: name, OriginalName: originalName, Adult: g.adult(), Genres: g.genres(seriesGenres), VoteAverage: average, VoteCount: votes,
	}
	if g.cell(basicsType) == typeMiniSeries {
		s.Type = record.Text("Miniseries")
	}
	if runtime.Set {
		s.EpisodeRunTime = []int64{runtime.V}
	}
	if !ident.foreign { // the other source has more external IDs
		s.ExternalIDs = &catalog.TVExternalIDs{IMDbID: imdbID}
		markUnknown(record.Of(s.ExternalIDs))
	}
	if alternatives != nil {
		s.AlternativeTitles = &catalog.TVAlternativeTitles{Results: alternatives}
	}
	if s.CreatedBy = appendRoles(s.CreatedBy, roles, creators); len(s.CreatedBy) < len(roles) {
		s.Credits = &catalog.TVCredits{}
		s.Credits.Cast = appendRoles(s.Credits.Cast, roles, cast)
		s.Credits.Crew = appendRoles(s.Credits.Crew, roles, crew)
	}
	return g.out.record(g.place(), ident.kind, record.Of(s))
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
	case g.numberTaken:
		g.j.drop(titleEpisode+": the number is taken", 1)
		return nil
	case series.kind != fragment.KindTV:
		g.j.drop(titleEpisode+": of a movie", 1)
		return nil
	}
	ident := g.j.identify(g.number, fragment.KindEpisode)
	average, votes := g.votes()
	e := &catalog.Episode{
		SeriesID: record.Number(series.id), SeasonNumber: season, EpisodeNumber: episode, ID: record.Number(ident.id),
		Name: text(g.cell(basicsPrimary)), Runtime: number(g.cell(basicsRuntime)), VoteAverage: average, VoteCount: votes,
	}
	if !ident.foreign {
		e.ExternalIDs = &catalog.EpisodeExternalIDs{IMDbID: record.Text(titleText(g.number))}
		markUnknown(record.Of(e.ExternalIDs))
	}
	if series.foreign && !ident.known {
		// The series' ID comes from another source, which also has IDs for its episodes. A season's list shows the ID of the
		// episode's own record, so our ID would hide the other source's.
		e.ID = record.Int{}
	}
	// An episode has no fields for these values.
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
	roles := g.roles(parent, fragment.KindEpisode)
	e.GuestStars = appendRoles(e.GuestStars, roles, cast)
	e.Crew = appendRoles(e.Crew, roles, crew)
	return g.out.record(g.place(), fragment.KindEpisode, record.Of(e))
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
func addEpisode(j *Joiner, t *table, from place) error {
	title, _ := parseID(j.cells[episodeID], titlePrefix)
	parent, _ := parseID(j.cells[episodeParent], titlePrefix)
	j.payload = j.appendRow(append(j.payload[:0], 0), t, from)
	season, ok := parseNumber(j.cells[episodeSeason])
	number, ok2 := parseNumber(j.cells[episodeNumber])
	position := uint64(unnumbered)
	if ok && ok2 {
		position = uint64(season)<<32 | uint64(number)
	}
	// If several episodes have one number, the lowest ID wins, whatever the order of rows.
	return j.sort(j.episodes, rowKey{parent, position, uint64(title)}, j.payload)
}

// unnumbered is the position of episodes without a season or a number, after all others.
const unnumbered = 1<<64 - 1

// joinEpisodes moves the rows of title.episode to their titles, after a byte: 1 if another episode has the same number.
func (j *Joiner) joinEpisodes(ctx context.Context) error {
	var position uint64 // position of the previous episode
	var holder uint32   // episode that has the number
	var parent uint32
	var buf []byte
	return eachRow(ctx, j.episodes, func(key rowKey, payload []byte) error {
		in := encoding.NewReader(payload[1:])
		r, err := readRow(&in, tableNamed(titleEpisode))
		if err != nil {
			return err
		}
		title, _ := parseID(r.cells[episodeID], titlePrefix)
		if key.id != parent || key.position != position {
			parent, position, holder = key.id, key.position, title
		}
		row := append(buf[:0], 0)
		if key.position != unnumbered && title != holder {
			row[0] = 1
		}
		buf = append(row, payload[1:]...)
		return j.sort(j.titles, titleKey(title, rankEpisode, 0, r.seq()), buf)
	})
}
