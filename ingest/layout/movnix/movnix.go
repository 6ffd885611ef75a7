// Package movnix reads crawls that renamed the fields of TMDB to camel case and put the
// details under "movie" or "tvShow".
package movnix

import (
	"fmt"
	"maps"
	"strings"

	"reelsplice/data/reference"
	"reelsplice/ingest/layout/tmdb"
	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// A Reader is the layout of crawls that renamed TMDB's fields to camel case and put
// the details under "movie" or "tvShow". Seasons they kept as TMDB gave them.
type Reader struct {
	parser  *record.Parser
	dropped map[string]int64
}

// New returns a Reader.
func New() *Reader { return &Reader{parser: record.NewParser(), dropped: map[string]int64{}} }

// Counts has the unknown fields of objects that are taken over whole; others are
// dropped.
func (l *Reader) Counts() record.Counts {
	c := record.Counts{Unknown: map[string]int64{}, Coerced: l.parser.Counts.Coerced}
	for path, n := range l.parser.Counts.Unknown {
		if kept(path) {
			c.Unknown[path] = n
		}
	}
	return c
}

func (l *Reader) Dropped() map[string]int64 {
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
func (l *Reader) drop(path string, n int) {
	if n > 0 {
		l.dropped[path] += int64(n)
	}
}

// A Row is a row of such a crawl; documents are made of its fields.
type Row struct {
	record.Object
	Movie             *theirMovie                `record:"movie,null"`
	TVShow            *theirShow                 `record:"tvShow,null"`
	Seasons           []catalog.Season           `record:"seasons"`
	Collection        *theirCollection           `record:"collection,null"`
	Genres            []theirName                `record:"genres"`
	Companies         []theirCompany             `record:"companies"`
	Keywords          []theirName                `record:"keywords"`
	Videos            []catalog.Video            `record:"videos"`
	Images            []theirImage               `record:"images"`
	Ratings           []theirRating              `record:"ratings"`
	Credits           []theirCredit              `record:"credits"`
	AlternativeTitles []catalog.AlternativeTitle `record:"alternativeTitles"`
	ExternalIDs       *theirExternalIDs          `record:"externalIds"`
	WatchProviders    []theirOffers              `record:"watchProviders,keyed"`
	Reviews           []theirReview              `record:"reviews"`
}

type theirMovie struct {
	record.Object
	ID            record.Int    `record:"tmdbId"`
	IMDbID        record.String `record:"imdbId"`
	Title         record.String `record:"title"`
	OriginalTitle record.String `record:"originalTitle"`
	Overview      record.String `record:"overview"`
	ReleaseDate   record.String `record:"releaseDate"`
	Runtime       record.Int    `record:"runtime"`
	Budget        record.Int    `record:"budget"`
	Revenue       record.Int    `record:"revenue"`
	Status        record.String `record:"status"`
	Popularity    record.Float  `record:"popularity"`
	VoteAverage   record.Float  `record:"voteAverage"`
	VoteCount     record.Int    `record:"voteCount"`
	Homepage      record.String `record:"homepage"`
	PosterPath    record.String `record:"posterPath"`
	BackdropPath  record.String `record:"backdropPath"`
	CollectionID  record.Int    `record:"collectionId"`
	Certification record.String `record:"certification"`
}

type theirCollection struct {
	record.Object
	ID           record.Int    `record:"tmdbId"`
	Name         record.String `record:"name"`
	Overview     record.String `record:"overview"`
	PosterPath   record.String `record:"posterPath"`
	BackdropPath record.String `record:"backdropPath"`
}

type theirName struct {
	record.Object
	ID   record.Int    `record:"tmdbId"`
	Name record.String `record:"name"`
}

type theirCompany struct {
	record.Object
	ID            record.Int    `record:"tmdbId"`
	Name          record.String `record:"name"`
	LogoPath      record.String `record:"logoPath"`
	OriginCountry record.String `record:"originCountry"`
}

type theirImage struct {
	record.Object
	FilePath    record.String `record:"filePath"`
	Width       record.Int    `record:"width"`
	Height      record.Int    `record:"height"`
	AspectRatio record.Float  `record:"aspectRatio"`
	Type        record.String `record:"type"`
}

type theirRating struct {
	record.Object
	Source record.String `record:"source"`
	Value  record.Float  `record:"ratingValue"`
	Votes  record.Int    `record:"votesCount"`
}

type theirCredit struct {
	record.Object
	ID          record.Int    `record:"tmdbPersonId"`
	Name        record.String `record:"name"`
	ProfilePath record.String `record:"profilePath"`
	Character   record.String `record:"character"`
	Job         record.String `record:"job"`
	Department  record.String `record:"department"`
	Order       record.Int    `record:"order"`
}

type theirExternalIDs struct {
	record.Object
	IMDbID      record.String `record:"imdbId"`
	WikidataID  record.String `record:"wikidataId"`
	FacebookID  record.String `record:"facebookId"`
	InstagramID record.String `record:"instagramId"`
	TwitterID   record.String `record:"twitterId"`
}

type theirOffers struct {
	record.Object
	Country  record.String   `record:"country,key"`
	Flatrate []theirProvider `record:"flatrate"`
	Buy      []theirProvider `record:"buy"`
}

type theirProvider struct {
	record.Object
	Name record.String `record:"name"`
	Logo record.String `record:"logo"`
}

type theirReview struct {
	record.Object
	Author    record.String `record:"author"`
	Content   record.String `record:"content"`
	Rating    record.Float  `record:"rating"`
	CreatedAt record.String `record:"createdAt"`
}

// Records maps a row: a movie, or a series and its seasons.
func (l *Reader) Records(r tmdb.Row) ([]tmdb.Record, error) {
	var row Row
	if err := l.parser.Parse(r.JSON, record.Of(&row)); err != nil {
		return nil, err
	}
	kind, name := fragment.KindMovie, "movie"
	if row.TVShow != nil {
		kind, name = fragment.KindTV, "tvShow"
	}
	if r.Type != nil && r.Type.Kind != kind {
		return nil, &record.FieldError{Field: name, What: fmt.Sprintf("want a %s record, as the file's name or --kind says", r.Type.Name())}
	}
	if kind == fragment.KindTV {
		return l.series(&row)
	}
	return l.movie(&row)
}

// movie maps a row about a movie. Left out and counted, because the API has no field
// for them: ratings of other sites and the certification without its country. Genres
// that are not TMDB's are left out as well: the crawler put a made-up one on every
// movie. Keywords are taken as not crawled when there are none: the crawler never had
// any.
func (l *Reader) movie(row *Row) ([]tmdb.Record, error) {
	if row.Movie == nil {
		return nil, &record.FieldError{Field: "movie", What: "want an object, found nothing"}
	}
	if !row.Movie.ID.Set {
		return nil, &record.FieldError{Field: "movie.tmdbId", What: "want an integer, found nothing"}
	}
	m := row.movie()
	rec, err := tmdb.Checked(catalog.TypeOf(fragment.KindMovie), record.Of(m))
	if err != nil {
		return nil, err
	}
	l.count(row, row.Movie.Certification, m.Genres, m.Images)
	return []tmdb.Record{rec}, nil
}

// count counts what the record of a row does not have of it, besides what has no field
// here at all.
func (l *Reader) count(row *Row, certification record.String, genres []catalog.Genre, images *catalog.Images) {
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
func (r *Row) movie() *catalog.Movie {
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

// absent makes fields of dst absent whose counterparts src does not have; the API
// keeps them as null, and only null says that there is none. names are pairs.
func absent[D, S any](dst *D, src *S, names ...string) {
	from := record.Of(src)
	for i := 0; i < len(names); i += 2 {
		if f, ok := from.Schema.Field(names[i+1]); !ok || !record.Present(from, f) {
			record.MarkAbsent(record.Of(dst), names[i])
		}
	}
}

// textOf returns a text of d, which the API has empty where d has null.
func textOf[T any](d *T, name string) record.String {
	r := record.Of(d)
	f, ok := r.Schema.Field(name)
	if !ok || !record.Present(r, f) {
		return record.String{}
	}
	return orEmpty(*r.String(f))
}

// numberOf returns a number of d, which is 0 in the API where d has null.
func numberOf[T any](d *T, name string) record.Int {
	r := record.Of(d)
	f, ok := r.Schema.Field(name)
	if !ok || !record.Present(r, f) {
		return record.Int{}
	}
	return record.Number(r.Int(f).V)
}

func orEmpty(s record.String) record.String { return record.Text(s.V) }

func (r *Row) genres(of reference.Media) []catalog.Genre {
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

func (r *Row) companies() []catalog.CompanyRef {
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

func (r *Row) collection() *catalog.CollectionRef {
	c := r.Collection
	if c == nil {
		return nil
	}
	ref := &catalog.CollectionRef{ID: c.ID, Name: c.Name, PosterPath: c.PosterPath, BackdropPath: c.BackdropPath}
	absent(ref, c, "poster_path", "posterPath", "backdrop_path", "backdropPath")
	return ref
}

// keywords returns nil for an empty list too, so that it takes none away.
func (r *Row) keywords() *catalog.Keywords {
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
func (r *Row) images() *catalog.Images {
	if r.Images == nil {
		return nil
	}
	out := &catalog.Images{Backdrops: []catalog.Image{}, Logos: []catalog.Image{}, Posters: []catalog.Image{}}
	sized, moved := map[string]*theirImage{}, map[*theirImage]bool{}
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
			Object: record.Object{Unusual: "iso_3166_1,iso_639_1"}, AspectRatio: i.AspectRatio, Height: i.Height, FilePath: i.FilePath, Width: i.Width,
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

func (r *Row) credits() *catalog.Credits {
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

func (r *Row) externalIDs() *catalog.MovieExternalIDs {
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

func (r *Row) providers() *catalog.WatchProviders {
	if r.WatchProviders == nil {
		return nil
	}
	out := &catalog.WatchProviders{Results: []catalog.CountryOffers{}}
	for _, c := range r.WatchProviders {
		o := catalog.CountryOffers{ISO3166: record.Text(strings.ToUpper(c.Country.V)), Offers: []catalog.Offers{}}
		for _, list := range []struct {
			name string
			rows []theirProvider
		}{{"flatrate", c.Flatrate}, {"buy", c.Buy}} {
			if len(list.rows) > 0 {
				o.Offers = append(o.Offers, catalog.Offers{Type: record.Text(list.name), Providers: providersOf(list.rows)})
			}
		}
		if len(o.Offers) > 0 {
			out.Results = append(out.Results, o)
		}
	}
	return out
}

func providersOf(rows []theirProvider) []catalog.Provider {
	out := make([]catalog.Provider, 0, len(rows))
	for _, p := range rows {
		out = append(out, catalog.Provider{LogoPath: p.Logo, ProviderName: p.Name})
	}
	return out
}

func (r *Row) reviews() []catalog.ReviewPage {
	if len(r.Reviews) == 0 {
		return nil
	}
	p := catalog.ReviewPage{
		Page: record.Number(1), Results: []catalog.Review{},
		TotalPages: record.Number(1), TotalResults: record.Number(int64(len(r.Reviews))),
	}
	for i := range r.Reviews {
		v := &r.Reviews[i]
		author := &catalog.ReviewAuthor{Name: record.Text(""), Username: v.Author, Rating: v.Rating}
		absent(author, v, "avatar_path", "avatarPath", "rating", "rating")
		p.Results = append(p.Results, catalog.Review{
			Author: v.Author, AuthorDetails: author, Content: v.Content, CreatedAt: v.CreatedAt,
		})
	}
	return []catalog.ReviewPage{p}
}
