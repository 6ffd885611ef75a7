package refs

import (
	"context"

	"reelsplice/schemas/fragment"
	"reelsplice/schemas/wire"
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
	wire.Object
	ID wire.Int `wire:"id"`
}

// mediaRow is a title in lists that mix media types.
type mediaRow struct {
	wire.Object
	ID        wire.Int    `wire:"id"`
	MediaType wire.String `wire:"media_type,dict"`
}

// credits has the people of movies, series, seasons and, with guests, of episodes.
type credits struct {
	wire.Object
	Cast []idRow `wire:"cast"`
	Crew []idRow `wire:"crew"`
}

func (r *credits) refs(c *collector, path string) {
	if r != nil {
		c.ids(path+".cast.id", fragment.KindPerson, r.Cast)
		c.ids(path+".crew.id", fragment.KindPerson, r.Crew)
	}
}

// titles has what a person did.
type titles struct {
	wire.Object
	Cast []mediaRow `wire:"cast"`
	Crew []mediaRow `wire:"crew"`
}

func (r *titles) refs(c *collector, path string, kind fragment.Kind) {
	if r != nil {
		c.media(path+".cast.id", kind, r.Cast)
		c.media(path+".crew.id", kind, r.Crew)
	}
}

// mediaPage is a page of titles of several media, idPage one of a single medium.
type mediaPage struct {
	wire.Object
	Results []mediaRow `wire:"results"`
}

type idPage struct {
	wire.Object
	Results []idRow `wire:"results"`
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
	wire.Object
	BelongsToCollection *idRow           `wire:"belongs_to_collection,null"`
	Genres              []idRow          `wire:"genres"`
	ID                  wire.Int         `wire:"id"`
	ProductionCompanies []idRow          `wire:"production_companies"`
	Credits             *credits         `wire:"credits"`
	Keywords            *movieKeywords   `wire:"keywords"`
	Recommendations     []mediaPage      `wire:"recommendations,pages"`
	Similar             []idPage         `wire:"similar,pages"`
	Localized           []localizedMovie `wire:"localized,own"`
}

type movieKeywords struct {
	wire.Object
	Keywords []idRow `wire:"keywords"`
}

type localizedMovie struct {
	wire.Object
	BelongsToCollection *idRow   `wire:"belongs_to_collection"`
	Genres              []idRow  `wire:"genres"`
	Credits             *credits `wire:"credits"`
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
	wire.Object
	CreatedBy           []idRow       `wire:"created_by"`
	Genres              []idRow       `wire:"genres"`
	ID                  wire.Int      `wire:"id"`
	Networks            []idRow       `wire:"networks"`
	ProductionCompanies []idRow       `wire:"production_companies"`
	AggregateCredits    *credits      `wire:"aggregate_credits"`
	Credits             *credits      `wire:"credits"`
	Keywords            *tvKeywords   `wire:"keywords"`
	Recommendations     []mediaPage   `wire:"recommendations,pages"`
	Similar             []idPage      `wire:"similar,pages"`
	Localized           []localizedTV `wire:"localized,own"`
}

type tvKeywords struct {
	wire.Object
	Results []idRow `wire:"results"`
}

type localizedTV struct {
	wire.Object
	CreatedBy        []idRow  `wire:"created_by"`
	Genres           []idRow  `wire:"genres"`
	AggregateCredits *credits `wire:"aggregate_credits"`
	Credits          *credits `wire:"credits"`
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
	wire.Object
	Episodes         []seasonEpisode   `wire:"episodes"`
	Networks         []idRow           `wire:"networks"`
	SeasonNumber     wire.Int          `wire:"season_number"`
	AggregateCredits *credits          `wire:"aggregate_credits"`
	Credits          *credits          `wire:"credits"`
	SeriesID         wire.Int          `wire:"series_id,own"`
	Localized        []localizedSeason `wire:"localized,own"`
}

type seasonEpisode struct {
	wire.Object
	Crew       []idRow `wire:"crew"`
	GuestStars []idRow `wire:"guest_stars"`
}

type localizedSeason struct {
	wire.Object
	Episodes         []seasonEpisode `wire:"episodes"`
	AggregateCredits *credits        `wire:"aggregate_credits"`
	Credits          *credits        `wire:"credits"`
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
	wire.Object
	Crew          []idRow            `wire:"crew"`
	EpisodeNumber wire.Int           `wire:"episode_number"`
	GuestStars    []idRow            `wire:"guest_stars"`
	SeasonNumber  wire.Int           `wire:"season_number"`
	Credits       *episodeCredits    `wire:"credits"`
	SeriesID      wire.Int           `wire:"series_id,own"`
	Localized     []localizedEpisode `wire:"localized,own"`
}

type episodeCredits struct {
	wire.Object
	Cast       []idRow `wire:"cast"`
	Crew       []idRow `wire:"crew"`
	GuestStars []idRow `wire:"guest_stars"`
}

type localizedEpisode struct {
	wire.Object
	Crew       []idRow         `wire:"crew"`
	GuestStars []idRow         `wire:"guest_stars"`
	Credits    *episodeCredits `wire:"credits"`
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
	wire.Object
	ID              wire.Int          `wire:"id"`
	CombinedCredits *titles           `wire:"combined_credits"`
	MovieCredits    *titles           `wire:"movie_credits"`
	TVCredits       *titles           `wire:"tv_credits"`
	KnownFor        []mediaRow        `wire:"known_for,own"`
	Localized       []localizedPerson `wire:"localized,own"`
}

type localizedPerson struct {
	wire.Object
	KnownFor        []mediaRow `wire:"known_for"`
	CombinedCredits *titles    `wire:"combined_credits"`
	MovieCredits    *titles    `wire:"movie_credits"`
	TVCredits       *titles    `wire:"tv_credits"`
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
	wire.Object
	ID        wire.Int              `wire:"id"`
	Parts     []mediaRow            `wire:"parts"`
	Localized []localizedCollection `wire:"localized,own"`
}

type localizedCollection struct {
	wire.Object
	Parts []mediaRow `wire:"parts"`
}

func (r *collectionRow) refs(c *collector) {
	c.number(r.ID)
	c.media("parts.id", fragment.KindMovie, r.Parts)
	for i := range r.Localized {
		c.media("parts.id", fragment.KindMovie, r.Localized[i].Parts)
	}
}

type companyRow struct {
	wire.Object
	ID            wire.Int `wire:"id"`
	ParentCompany *idRow   `wire:"parent_company,null"`
	Movies        []idPage `wire:"movies,pages,id"`
}

func (r *companyRow) refs(c *collector) {
	c.number(r.ID)
	c.sub("parent_company.id", fragment.KindCompany, r.ParentCompany)
	idPages(c, "movies.results.id", fragment.KindMovie, r.Movies)
}

type keywordRow struct {
	wire.Object
	ID     wire.Int `wire:"id"`
	Movies []idPage `wire:"movies,pages,id"`
}

func (r *keywordRow) refs(c *collector) {
	c.number(r.ID)
	idPages(c, "movies.results.id", fragment.KindMovie, r.Movies)
}

type reviewRow struct {
	wire.Object
	ID        wire.String `wire:"id"`
	MediaID   wire.Int    `wire:"media_id"`
	MediaType wire.String `wire:"media_type,dict"`
}

func (r *reviewRow) refs(c *collector) {
	c.text(r.ID)
	if r.MediaID.Set {
		c.media("media_id", fragment.KindMovie, []mediaRow{{ID: r.MediaID, MediaType: r.MediaType}})
	}
}

type creditRow struct {
	wire.Object
	Media     *idRow      `wire:"media"`
	MediaType wire.String `wire:"media_type,dict"`
	ID        wire.String `wire:"id"`
	Person    *idRow      `wire:"person"`
}

func (r *creditRow) refs(c *collector) {
	c.text(r.ID)
	if r.Media != nil {
		c.media("media.id", fragment.KindMovie, []mediaRow{{ID: r.Media.ID, MediaType: r.MediaType}})
	}
	c.sub("person.id", fragment.KindPerson, r.Person)
}

type groupRow struct {
	wire.Object
	Groups  []episodeGroup `wire:"groups"`
	ID      wire.String    `wire:"id"`
	Network *idRow         `wire:"network,null"`
}

type episodeGroup struct {
	wire.Object
	Episodes []groupEpisode `wire:"episodes"`
}

type groupEpisode struct {
	wire.Object
	ShowID wire.Int `wire:"show_id"`
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
	wire.Object
	ID    wire.Int    `wire:"id"`
	Items []mediaPage `wire:"items,pages"`
}

func (r *listRow) refs(c *collector) {
	mediaPages(c, "items.results.id", fragment.KindMovie, r.Items)
}
