package refs

import (
	"context"

	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// The structs of this file have the columns of the catalogue's records that hold ids,
// and no others.

// scans has one scan for each kind that refers to others. The pairs of series and
// season number come last; see pairs.go.
var scans = []func(context.Context, *checker) error{
	scan(fragment.KindMovie, (*movieRow).refs),
	scan(fragment.KindTV, (*tvRow).refs),
	scan(fragment.KindSeason, (*seasonRow).refs),
	scan(fragment.KindEpisode, (*episodeRow).refs),
	scan(fragment.KindPerson, (*personRow).refs),
	scan(fragment.KindCollection, (*collectionRow).refs),
	scan(fragment.KindCompany, (*companyRow).refs),
	scan(fragment.KindKeyword, (*keywordRow).refs),
	scan(fragment.KindReview, (*reviewRow).refs),
	scan(fragment.KindCredit, (*creditRow).refs),
	scan(fragment.KindEpisodeGroup, (*groupRow).refs),
	scan(fragment.KindList, (*listRow).refs),
	scanSeasonLists,
	scanEpisodeSeasons,
}

// idRow is anything that is known by a number.
type idRow struct {
	record.Object
	ID record.Int `record:"id"`
}

// mediaRow is a title in lists that mix media types.
type mediaRow struct {
	record.Object
	ID        record.Int    `record:"id"`
	MediaType record.String `record:"media_type,dict"`
}

// credits has the people of movies, series, seasons and, with guests, of episodes.
type credits struct {
	record.Object
	Cast []idRow `record:"cast"`
	Crew []idRow `record:"crew"`
}

func (r *credits) refs(c *collector, path string) {
	if r != nil {
		c.ids(path+".cast.id", fragment.KindPerson, r.Cast)
		c.ids(path+".crew.id", fragment.KindPerson, r.Crew)
	}
}

// titles has what a person did.
type titles struct {
	record.Object
	Cast []mediaRow `record:"cast"`
	Crew []mediaRow `record:"crew"`
}

func (r *titles) refs(c *collector, path string, kind fragment.Kind) {
	if r != nil {
		c.media(path+".cast.id", kind, r.Cast)
		c.media(path+".crew.id", kind, r.Crew)
	}
}

// mediaPage is a page of titles of several media, idPage one of a single medium.
type mediaPage struct {
	record.Object
	Results []mediaRow `record:"results"`
}

type idPage struct {
	record.Object
	Results []idRow `record:"results"`
}

func mediaPages(c *collector, path string, kind fragment.Kind, pages []mediaPage) {
	for i := range pages {
		c.media(path, kind, pages[i].Results)
	}
}

func idPages(c *collector, path string, kind fragment.Kind, pages []idPage) {
	for i := range pages {
		c.ids(path, kind, pages[i].Results)
	}
}

type movieRow struct {
	record.Object
	BelongsToCollection *idRow           `record:"belongs_to_collection,null"`
	Genres              []idRow          `record:"genres"`
	ID                  record.Int       `record:"id"`
	ProductionCompanies []idRow          `record:"production_companies"`
	Credits             *credits         `record:"credits"`
	Keywords            *movieKeywords   `record:"keywords"`
	Recommendations     []mediaPage      `record:"recommendations,pages"`
	Similar             []idPage         `record:"similar,pages"`
	Localized           []localizedMovie `record:"localized,own"`
}

type movieKeywords struct {
	record.Object
	Keywords []idRow `record:"keywords"`
}

type localizedMovie struct {
	record.Object
	BelongsToCollection *idRow   `record:"belongs_to_collection"`
	Genres              []idRow  `record:"genres"`
	Credits             *credits `record:"credits"`
}

func (r *movieRow) refs(c *collector) {
	c.number(r.ID)
	c.sub("belongs_to_collection.id", fragment.KindCollection, r.BelongsToCollection)
	c.genres(r.Genres)
	c.ids("production_companies.id", fragment.KindCompany, r.ProductionCompanies)
	r.Credits.refs(c, "credits")
	if r.Keywords != nil {
		c.ids("keywords.keywords.id", fragment.KindKeyword, r.Keywords.Keywords)
	}
	mediaPages(c, "recommendations.results.id", fragment.KindMovie, r.Recommendations)
	idPages(c, "similar.results.id", fragment.KindMovie, r.Similar)
	for i := range r.Localized {
		l := &r.Localized[i]
		c.sub("belongs_to_collection.id", fragment.KindCollection, l.BelongsToCollection)
		c.genres(l.Genres)
		l.Credits.refs(c, "credits")
	}
}

type tvRow struct {
	record.Object
	CreatedBy           []idRow       `record:"created_by"`
	Genres              []idRow       `record:"genres"`
	ID                  record.Int    `record:"id"`
	Networks            []idRow       `record:"networks"`
	ProductionCompanies []idRow       `record:"production_companies"`
	AggregateCredits    *credits      `record:"aggregate_credits"`
	Credits             *credits      `record:"credits"`
	Keywords            *tvKeywords   `record:"keywords"`
	Recommendations     []mediaPage   `record:"recommendations,pages"`
	Similar             []idPage      `record:"similar,pages"`
	Localized           []localizedTV `record:"localized,own"`
}

type tvKeywords struct {
	record.Object
	Results []idRow `record:"results"`
}

type localizedTV struct {
	record.Object
	CreatedBy        []idRow  `record:"created_by"`
	Genres           []idRow  `record:"genres"`
	AggregateCredits *credits `record:"aggregate_credits"`
	Credits          *credits `record:"credits"`
}

func (r *tvRow) refs(c *collector) {
	c.number(r.ID)
	c.ids("created_by.id", fragment.KindPerson, r.CreatedBy)
	c.genres(r.Genres)
	c.ids("networks.id", fragment.KindNetwork, r.Networks)
	c.ids("production_companies.id", fragment.KindCompany, r.ProductionCompanies)
	r.AggregateCredits.refs(c, "aggregate_credits")
	r.Credits.refs(c, "credits")
	if r.Keywords != nil {
		c.ids("keywords.results.id", fragment.KindKeyword, r.Keywords.Results)
	}
	mediaPages(c, "recommendations.results.id", fragment.KindTV, r.Recommendations)
	idPages(c, "similar.results.id", fragment.KindTV, r.Similar)
	for i := range r.Localized {
		l := &r.Localized[i]
		c.ids("created_by.id", fragment.KindPerson, l.CreatedBy)
		c.genres(l.Genres)
		l.AggregateCredits.refs(c, "aggregate_credits")
		l.Credits.refs(c, "credits")
	}
}

type seasonRow struct {
	record.Object
	Episodes         []seasonEpisode   `record:"episodes"`
	Networks         []idRow           `record:"networks"`
	SeasonNumber     record.Int        `record:"season_number"`
	AggregateCredits *credits          `record:"aggregate_credits"`
	Credits          *credits          `record:"credits"`
	SeriesID         record.Int        `record:"series_id,own"`
	Localized        []localizedSeason `record:"localized,own"`
}

type seasonEpisode struct {
	record.Object
	Crew       []idRow `record:"crew"`
	GuestStars []idRow `record:"guest_stars"`
}

type localizedSeason struct {
	record.Object
	Episodes         []seasonEpisode `record:"episodes"`
	AggregateCredits *credits        `record:"aggregate_credits"`
	Credits          *credits        `record:"credits"`
}

func (r *seasonRow) refs(c *collector) {
	c.season(r.SeriesID, r.SeasonNumber)
	c.id("series_id", fragment.KindTV, r.SeriesID)
	c.ids("networks.id", fragment.KindNetwork, r.Networks)
	seasonPeople(c, r.Episodes, r.AggregateCredits, r.Credits)
	for i := range r.Localized {
		l := &r.Localized[i]
		seasonPeople(c, l.Episodes, l.AggregateCredits, l.Credits)
	}
}

func seasonPeople(c *collector, episodes []seasonEpisode, aggregate, whole *credits) {
	for i := range episodes {
		c.ids("episodes.crew.id", fragment.KindPerson, episodes[i].Crew)
		c.ids("episodes.guest_stars.id", fragment.KindPerson, episodes[i].GuestStars)
	}
	aggregate.refs(c, "aggregate_credits")
	whole.refs(c, "credits")
}

type episodeRow struct {
	record.Object
	Crew          []idRow            `record:"crew"`
	EpisodeNumber record.Int         `record:"episode_number"`
	GuestStars    []idRow            `record:"guest_stars"`
	SeasonNumber  record.Int         `record:"season_number"`
	Credits       *episodeCredits    `record:"credits"`
	SeriesID      record.Int         `record:"series_id,own"`
	Localized     []localizedEpisode `record:"localized,own"`
}

type episodeCredits struct {
	record.Object
	Cast       []idRow `record:"cast"`
	Crew       []idRow `record:"crew"`
	GuestStars []idRow `record:"guest_stars"`
}

type localizedEpisode struct {
	record.Object
	Crew       []idRow         `record:"crew"`
	GuestStars []idRow         `record:"guest_stars"`
	Credits    *episodeCredits `record:"credits"`
}

func (r *episodeRow) refs(c *collector) {
	c.episode(r.SeriesID, r.SeasonNumber, r.EpisodeNumber)
	c.id("series_id", fragment.KindTV, r.SeriesID)
	episodePeople(c, r.Crew, r.GuestStars, r.Credits)
	for i := range r.Localized {
		l := &r.Localized[i]
		episodePeople(c, l.Crew, l.GuestStars, l.Credits)
	}
}

func episodePeople(c *collector, crew, guests []idRow, whole *episodeCredits) {
	c.ids("crew.id", fragment.KindPerson, crew)
	c.ids("guest_stars.id", fragment.KindPerson, guests)
	if whole != nil {
		c.ids("credits.cast.id", fragment.KindPerson, whole.Cast)
		c.ids("credits.crew.id", fragment.KindPerson, whole.Crew)
		c.ids("credits.guest_stars.id", fragment.KindPerson, whole.GuestStars)
	}
}

type personRow struct {
	record.Object
	ID              record.Int        `record:"id"`
	CombinedCredits *titles           `record:"combined_credits"`
	MovieCredits    *titles           `record:"movie_credits"`
	TVCredits       *titles           `record:"tv_credits"`
	KnownFor        []mediaRow        `record:"known_for,own"`
	Localized       []localizedPerson `record:"localized,own"`
}

type localizedPerson struct {
	record.Object
	KnownFor        []mediaRow `record:"known_for"`
	CombinedCredits *titles    `record:"combined_credits"`
	MovieCredits    *titles    `record:"movie_credits"`
	TVCredits       *titles    `record:"tv_credits"`
}

func (r *personRow) refs(c *collector) {
	c.number(r.ID)
	personTitles(c, r.KnownFor, r.CombinedCredits, r.MovieCredits, r.TVCredits)
	for i := range r.Localized {
		l := &r.Localized[i]
		personTitles(c, l.KnownFor, l.CombinedCredits, l.MovieCredits, l.TVCredits)
	}
}

func personTitles(c *collector, known []mediaRow, combined, movies, series *titles) {
	c.media("known_for.id", fragment.KindMovie, known)
	combined.refs(c, "combined_credits", fragment.KindMovie)
	movies.refs(c, "movie_credits", fragment.KindMovie)
	series.refs(c, "tv_credits", fragment.KindTV)
}

type collectionRow struct {
	record.Object
	ID        record.Int            `record:"id"`
	Parts     []mediaRow            `record:"parts"`
	Localized []localizedCollection `record:"localized,own"`
}

type localizedCollection struct {
	record.Object
	Parts []mediaRow `record:"parts"`
}

func (r *collectionRow) refs(c *collector) {
	c.number(r.ID)
	c.media("parts.id", fragment.KindMovie, r.Parts)
	for i := range r.Localized {
		c.media("parts.id", fragment.KindMovie, r.Localized[i].Parts)
	}
}

type companyRow struct {
	record.Object
	ID            record.Int `record:"id"`
	ParentCompany *idRow     `record:"parent_company,null"`
	Movies        []idPage   `record:"movies,pages,id"`
}

func (r *companyRow) refs(c *collector) {
	c.number(r.ID)
	c.sub("parent_company.id", fragment.KindCompany, r.ParentCompany)
	idPages(c, "movies.results.id", fragment.KindMovie, r.Movies)
}

type keywordRow struct {
	record.Object
	ID     record.Int `record:"id"`
	Movies []idPage   `record:"movies,pages,id"`
}

func (r *keywordRow) refs(c *collector) {
	c.number(r.ID)
	idPages(c, "movies.results.id", fragment.KindMovie, r.Movies)
}

type reviewRow struct {
	record.Object
	ID        record.String `record:"id"`
	MediaID   record.Int    `record:"media_id"`
	MediaType record.String `record:"media_type,dict"`
}

func (r *reviewRow) refs(c *collector) {
	c.text(r.ID)
	if r.MediaID.Set {
		c.media("media_id", fragment.KindMovie, []mediaRow{{ID: r.MediaID, MediaType: r.MediaType}})
	}
}

type creditRow struct {
	record.Object
	Media     *idRow        `record:"media"`
	MediaType record.String `record:"media_type,dict"`
	ID        record.String `record:"id"`
	Person    *idRow        `record:"person"`
}

func (r *creditRow) refs(c *collector) {
	c.text(r.ID)
	if r.Media != nil {
		c.media("media.id", fragment.KindMovie, []mediaRow{{ID: r.Media.ID, MediaType: r.MediaType}})
	}
	c.sub("person.id", fragment.KindPerson, r.Person)
}

type groupRow struct {
	record.Object
	Groups  []episodeGroup `record:"groups"`
	ID      record.String  `record:"id"`
	Network *idRow         `record:"network,null"`
}

type episodeGroup struct {
	record.Object
	Episodes []groupEpisode `record:"episodes"`
}

type groupEpisode struct {
	record.Object
	ShowID record.Int `record:"show_id"`
}

func (r *groupRow) refs(c *collector) {
	c.text(r.ID)
	c.sub("network.id", fragment.KindNetwork, r.Network)
	for i := range r.Groups {
		for j := range r.Groups[i].Episodes {
			c.id("groups.episodes.show_id", fragment.KindTV, r.Groups[i].Episodes[j].ShowID)
		}
	}
}

// listRow is a list of a user. What accounts mark is not looked at: it is theirs.
type listRow struct {
	record.Object
	ID    record.Int  `record:"id"`
	Items []mediaPage `record:"items,pages"`
}

func (r *listRow) refs(c *collector) {
	mediaPages(c, "items.results.id", fragment.KindMovie, r.Items)
}
