package layout

import (
	"fmt"
	"maps"
	"strings"

	"reelsplice/data/reference"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/wire"
)

// movnix is the layout of crawls that renamed TMDB's members to camel case and put
// the details under "movie" or "tvShow". Seasons they kept as TMDB gave them.
type movnix struct {
	parser  *wire.Parser
	dropped map[string]int64
}

func newMovnix() *movnix { return &movnix{parser: wire.NewParser(), dropped: map[string]int64{}} }

// Counts has the unknown members of objects that are taken over whole; others are
// dropped.
func (l *movnix) Counts() wire.Counts {
	c := wire.Counts{Unknown: map[string]int64{}, Coerced: l.parser.Counts.Coerced}
	for path, n := range l.parser.Counts.Unknown {
		if kept(path) {
			c.Unknown[path] = n
		}
	}
	return c
}

func (l *movnix) Dropped() map[string]int64 {
	all := maps.Clone(l.dropped)
	for path, n := range l.parser.Counts.Unknown {
		if !kept(path) {
			all[path] += n
		}
	}
	return all
}

func kept(path string) bool {
	return strings.HasPrefix(path, "videos[].") || strings.HasPrefix(path, "alternativeTitles[].") || strings.HasPrefix(path, "seasons[].")
}

// drop counts n values that the API has no place for.
func (l *movnix) drop(path string, n int) {
	if n > 0 {
		l.dropped[path] += int64(n)
	}
}

type movnixRow struct {
	wire.Object
	Movie             *movnixMovie               `wire:"movie,null"`
	TVShow            *movnixShow                `wire:"tvShow,null"`
	Seasons           []catalog.Season           `wire:"seasons"`
	Collection        *movnixCollection          `wire:"collection,null"`
	Genres            []movnixName               `wire:"genres"`
	Companies         []movnixCompany            `wire:"companies"`
	Keywords          []movnixName               `wire:"keywords"`
	Videos            []catalog.Video            `wire:"videos"`
	Images            []movnixImage              `wire:"images"`
	Ratings           []movnixRating             `wire:"ratings"`
	Credits           []movnixCredit             `wire:"credits"`
	AlternativeTitles []catalog.AlternativeTitle `wire:"alternativeTitles"`
	ExternalIDs       *movnixExternalIDs         `wire:"externalIds"`
	WatchProviders    []movnixOffers             `wire:"watchProviders,keyed"`
	Reviews           []movnixReview             `wire:"reviews"`
}

type movnixMovie struct {
	wire.Object
	ID            wire.Int    `wire:"tmdbId"`
	IMDbID        wire.String `wire:"imdbId"`
	Title         wire.String `wire:"title"`
	OriginalTitle wire.String `wire:"originalTitle"`
	Overview      wire.String `wire:"overview"`
	ReleaseDate   wire.String `wire:"releaseDate"`
	Runtime       wire.Int    `wire:"runtime"`
	Budget        wire.Int    `wire:"budget"`
	Revenue       wire.Int    `wire:"revenue"`
	Status        wire.String `wire:"status"`
	Popularity    wire.Float  `wire:"popularity"`
	VoteAverage   wire.Float  `wire:"voteAverage"`
	VoteCount     wire.Int    `wire:"voteCount"`
	Homepage      wire.String `wire:"homepage"`
	PosterPath    wire.String `wire:"posterPath"`
	BackdropPath  wire.String `wire:"backdropPath"`
	CollectionID  wire.Int    `wire:"collectionId"`
	Certification wire.String `wire:"certification"`
}

type movnixCollection struct {
	wire.Object
	ID           wire.Int    `wire:"tmdbId"`
	Name         wire.String `wire:"name"`
	Overview     wire.String `wire:"overview"`
	PosterPath   wire.String `wire:"posterPath"`
	BackdropPath wire.String `wire:"backdropPath"`
}

type movnixName struct {
	wire.Object
	ID   wire.Int    `wire:"tmdbId"`
	Name wire.String `wire:"name"`
}

type movnixCompany struct {
	wire.Object
	ID            wire.Int    `wire:"tmdbId"`
	Name          wire.String `wire:"name"`
	LogoPath      wire.String `wire:"logoPath"`
	OriginCountry wire.String `wire:"originCountry"`
}

type movnixImage struct {
	wire.Object
	FilePath    wire.String `wire:"filePath"`
	Width       wire.Int    `wire:"width"`
	Height      wire.Int    `wire:"height"`
	AspectRatio wire.Float  `wire:"aspectRatio"`
	Type        wire.String `wire:"type"`
}

type movnixRating struct {
	wire.Object
	Source wire.String `wire:"source"`
	Value  wire.Float  `wire:"ratingValue"`
	Votes  wire.Int    `wire:"votesCount"`
}

type movnixCredit struct {
	wire.Object
	ID          wire.Int    `wire:"tmdbPersonId"`
	Name        wire.String `wire:"name"`
	ProfilePath wire.String `wire:"profilePath"`
	Character   wire.String `wire:"character"`
	Job         wire.String `wire:"job"`
	Department  wire.String `wire:"department"`
	Order       wire.Int    `wire:"order"`
}

type movnixExternalIDs struct {
	wire.Object
	IMDbID      wire.String `wire:"imdbId"`
	WikidataID  wire.String `wire:"wikidataId"`
	FacebookID  wire.String `wire:"facebookId"`
	InstagramID wire.String `wire:"instagramId"`
	TwitterID   wire.String `wire:"twitterId"`
}

type movnixOffers struct {
	wire.Object
	Country  wire.String      `wire:"country,key"`
	Flatrate []movnixProvider `wire:"flatrate"`
	Buy      []movnixProvider `wire:"buy"`
}

type movnixProvider struct {
	wire.Object
	Name wire.String `wire:"name"`
	Logo wire.String `wire:"logo"`
}

type movnixReview struct {
	wire.Object
	Author    wire.String `wire:"author"`
	Content   wire.String `wire:"content"`
	Rating    wire.Float  `wire:"rating"`
	CreatedAt wire.String `wire:"createdAt"`
}

// Records maps a row: a movie, or a series and its seasons.
func (l *movnix) Records(r Row) ([]Record, error) {
	var row movnixRow
	if err := l.parser.Parse(r.JSON, wire.RecordOf(&row)); err != nil {
		return nil, err
	}
	kind, name := fragment.KindMovie, "movie"
	if row.TVShow != nil {
		kind, name = fragment.KindTV, "tvShow"
	}
	if r.Type != nil && r.Type.Kind != kind {
		return nil, &wire.FieldError{Field: name, What: fmt.Sprintf("want a %s record, as the file's name or --kind says", r.Type.Name())}
	}
	if kind == fragment.KindTV {
		return l.series(&row)
	}
	return l.movie(&row)
}

// movie maps a row about a movie. Left out and counted, because the API has no member
// for them: ratings of other sites and the certification without its country. Genres
// that are not TMDB's are left out as well: the crawler put a made-up one on every
// movie. Keywords are taken as not crawled when there are none: the crawler never had
// any.
func (l *movnix) movie(row *movnixRow) ([]Record, error) {
	if row.Movie == nil {
		return nil, &wire.FieldError{Field: "movie", What: "want an object, found nothing"}
	}
	if !row.Movie.ID.Set {
		return nil, &wire.FieldError{Field: "movie.tmdbId", What: "want an integer, found nothing"}
	}
	m := row.movie()
	rec, err := checked(catalog.TypeOf(fragment.KindMovie), wire.RecordOf(m))
	if err != nil {
		return nil, err
	}
	l.count(row, row.Movie.Certification, m.Genres, m.Images)
	return []Record{rec}, nil
}

// count counts what the record of a row does not have of it, besides what has no field
// here at all.
func (l *movnix) count(row *movnixRow, certification wire.String, genres []catalog.Genre, images *catalog.Images) {
	one := func(path string, there bool) {
		if there {
			l.drop(path, 1)
		}
	}
	details := "movie"
	if row.TVShow != nil {
		details = "tvShow"
	}
	one(details+".certification", certification.V != "")
	one("collection.overview", row.Collection != nil && row.Collection.Overview.V != "")
	l.drop("genres[]", len(row.Genres)-len(genres))
	if images != nil {
		l.drop("images[]", len(row.Images)-len(images.Backdrops)-len(images.Logos)-len(images.Posters))
	}
	l.drop("ratings[]", len(row.Ratings))
}

// movie makes a record of the row. What the row does not have stays absent, so that
// it takes nothing from a better source that it is joined to.
func (r *movnixRow) movie() *catalog.Movie {
	d := r.Movie
	m := &catalog.Movie{
		ID: d.ID, IMDbID: d.IMDbID, Title: d.Title, OriginalTitle: d.OriginalTitle, Overview: d.Overview,
		ReleaseDate: textOf(d, "releaseDate"), Runtime: numberOf(d, "runtime"), Budget: numberOf(d, "budget"),
		Revenue: numberOf(d, "revenue"), Status: d.Status, Popularity: d.Popularity, VoteAverage: d.VoteAverage,
		VoteCount: d.VoteCount, Homepage: textOf(d, "homepage"), PosterPath: d.PosterPath, BackdropPath: d.BackdropPath,
		Genres: r.genres(reference.Movie), ProductionCompanies: r.companies(), BelongsToCollection: r.collection(),
		Images: r.images(), Credits: r.credits(), Keywords: r.keywords(),
		ExternalIDs: r.externalIDs(), WatchProviders: r.providers(), Reviews: r.reviews(),
	}
	if r.Videos != nil {
		m.Videos = &catalog.Videos{Results: r.Videos}
	}
	if r.AlternativeTitles != nil {
		m.AlternativeTitles = &catalog.AlternativeTitles{Titles: r.AlternativeTitles}
	}
	absent(m, d, "imdb_id", "imdbId", "poster_path", "posterPath", "backdrop_path", "backdropPath")
	absent(m, r, "belongs_to_collection", "collection")
	return m
}

// absent makes members of dst absent whose counterparts src does not have; the API
// keeps them as null, and only null says that there is none. names are pairs.
func absent[D, S any](dst *D, src *S, names ...string) {
	from := wire.RecordOf(src)
	for i := 0; i < len(names); i += 2 {
		if f, ok := from.Plan.Field(names[i+1]); !ok || !wire.Present(from, f) {
			wire.MarkAbsent(wire.RecordOf(dst), names[i])
		}
	}
}

// textOf returns a text of d, which the API has empty where d has null.
func textOf[T any](d *T, name string) wire.String {
	r := wire.RecordOf(d)
	f, ok := r.Plan.Field(name)
	if !ok || !wire.Present(r, f) {
		return wire.String{}
	}
	return orEmpty(*r.String(f))
}

// numberOf returns a number of d, which is 0 in the API where d has null.
func numberOf[T any](d *T, name string) wire.Int {
	r := wire.RecordOf(d)
	f, ok := r.Plan.Field(name)
	if !ok || !wire.Present(r, f) {
		return wire.Int{}
	}
	return wire.Number(r.Int(f).V)
}

func orEmpty(s wire.String) wire.String { return wire.Text(s.V) }

func (r *movnixRow) genres(of reference.Media) []catalog.Genre {
	if r.Genres == nil {
		return nil
	}
	out := []catalog.Genre{}
	for _, g := range r.Genres {
		if reference.GenreName(of, g.ID.V, "en", "") != "" {
			out = append(out, catalog.Genre{ID: g.ID, Name: g.Name})
		}
	}
	return out
}

func (r *movnixRow) companies() []catalog.CompanyRef {
	if r.Companies == nil {
		return nil
	}
	out := []catalog.CompanyRef{}
	for i := range r.Companies {
		c := &r.Companies[i]
		ref := catalog.CompanyRef{ID: c.ID, LogoPath: c.LogoPath, Name: c.Name, OriginCountry: orEmpty(c.OriginCountry)}
		absent(&ref, c, "logo_path", "logoPath")
		out = append(out, ref)
	}
	return out
}

func (r *movnixRow) collection() *catalog.CollectionRef {
	c := r.Collection
	if c == nil {
		return nil
	}
	ref := &catalog.CollectionRef{ID: c.ID, Name: c.Name, PosterPath: c.PosterPath, BackdropPath: c.BackdropPath}
	absent(ref, c, "poster_path", "posterPath", "backdrop_path", "backdropPath")
	return ref
}

// keywords returns nil for an empty list too, so that it takes none away.
func (r *movnixRow) keywords() *catalog.Keywords {
	if len(r.Keywords) == 0 {
		return nil
	}
	out := &catalog.Keywords{}
	for _, k := range r.Keywords {
		out.Keywords = append(out.Keywords, catalog.Keyword{ID: k.ID, Name: k.Name})
	}
	return out
}

// images sorts the images by type. The crawler put the main poster and backdrop in
// front without their sizes, and again among the others: the whole row takes the
// place in front.
func (r *movnixRow) images() *catalog.Images {
	if r.Images == nil {
		return nil
	}
	out := &catalog.Images{Backdrops: []catalog.Image{}, Logos: []catalog.Image{}, Posters: []catalog.Image{}}
	sized, moved := map[string]*movnixImage{}, map[*movnixImage]bool{}
	for k := range r.Images {
		if i := &r.Images[k]; i.Width.Set && sized[i.FilePath.V] == nil {
			sized[i.FilePath.V] = i
		}
	}
	for k := range r.Images {
		i := &r.Images[k]
		if whole := sized[i.FilePath.V]; !i.Width.Set && whole != nil && !moved[whole] {
			moved[whole] = true
			i = whole
		} else if !i.Width.Set && whole != nil || moved[i] {
			continue // there already
		}
		img := catalog.Image{
			// The crawler dropped country and language, so absent rather than null.
			Object: wire.Object{Unusual: "iso_3166_1,iso_639_1"}, AspectRatio: i.AspectRatio, Height: i.Height, FilePath: i.FilePath, Width: i.Width,
		}
		switch i.Type.V {
		case "poster":
			out.Posters = append(out.Posters, img)
		case "logo":
			out.Logos = append(out.Logos, img)
		default:
			out.Backdrops = append(out.Backdrops, img)
		}
	}
	return out
}

func (r *movnixRow) credits() *catalog.Credits {
	if r.Credits == nil {
		return nil
	}
	out := &catalog.Credits{Cast: []catalog.CastCredit{}, Crew: []catalog.CrewCredit{}}
	for i := range r.Credits {
		c := &r.Credits[i]
		if c.Department.V == "Acting" && c.Job.V == "Actor" {
			out.Cast = append(out.Cast, catalog.CastCredit{
				ID: c.ID, Name: c.Name, ProfilePath: c.ProfilePath, Character: orEmpty(c.Character), Order: c.Order,
			})
			absent(&out.Cast[len(out.Cast)-1], c, "profile_path", "profilePath")
			continue
		}
		out.Crew = append(out.Crew, catalog.CrewCredit{
			ID: c.ID, Name: c.Name, ProfilePath: c.ProfilePath, Department: c.Department, Job: c.Job,
		})
		absent(&out.Crew[len(out.Crew)-1], c, "profile_path", "profilePath")
	}
	return out
}

func (r *movnixRow) externalIDs() *catalog.MovieExternalIDs {
	x := r.ExternalIDs
	if x == nil {
		return nil
	}
	ids := &catalog.MovieExternalIDs{
		IMDbID: x.IMDbID, WikidataID: x.WikidataID, FacebookID: x.FacebookID,
		InstagramID: x.InstagramID, TwitterID: x.TwitterID,
	}
	absent(ids, x, "imdb_id", "imdbId", "wikidata_id", "wikidataId", "facebook_id", "facebookId",
		"instagram_id", "instagramId", "twitter_id", "twitterId")
	return ids
}

func (r *movnixRow) providers() *catalog.WatchProviders {
	if r.WatchProviders == nil {
		return nil
	}
	out := &catalog.WatchProviders{Results: []catalog.CountryOffers{}}
	for _, c := range r.WatchProviders {
		o := catalog.CountryOffers{ISO3166: wire.Text(strings.ToUpper(c.Country.V)), Offers: []catalog.Offers{}}
		for _, list := range []struct {
			name string
			rows []movnixProvider
		}{{"flatrate", c.Flatrate}, {"buy", c.Buy}} {
			if len(list.rows) > 0 {
				o.Offers = append(o.Offers, catalog.Offers{Type: wire.Text(list.name), Providers: providersOf(list.rows)})
			}
		}
		if len(o.Offers) > 0 {
			out.Results = append(out.Results, o)
		}
	}
	return out
}

func providersOf(rows []movnixProvider) []catalog.Provider {
	out := make([]catalog.Provider, 0, len(rows))
	for _, p := range rows {
		out = append(out, catalog.Provider{LogoPath: p.Logo, ProviderName: p.Name})
	}
	return out
}

func (r *movnixRow) reviews() []catalog.ReviewPage {
	if len(r.Reviews) == 0 {
		return nil
	}
	p := catalog.ReviewPage{
		Page: wire.Number(1), Results: []catalog.Review{},
		TotalPages: wire.Number(1), TotalResults: wire.Number(int64(len(r.Reviews))),
	}
	for i := range r.Reviews {
		v := &r.Reviews[i]
		author := &catalog.ReviewAuthor{Name: wire.Text(""), Username: v.Author, Rating: v.Rating}
		absent(author, v, "avatar_path", "avatarPath", "rating", "rating")
		p.Results = append(p.Results, catalog.Review{
			Author: v.Author, AuthorDetails: author, Content: v.Content, CreatedAt: v.CreatedAt,
		})
	}
	return []catalog.ReviewPage{p}
}
