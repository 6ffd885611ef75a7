// Package movnix reads crawls that renamed the fields of TMDB to camel case and put the
// details under "movie" or "tvShow". It gives the fields their names back, and package
// tmdb reads the rows.
package movnix

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/ingest/layout/tmdb"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A Reader is the layout of such crawls.
type Reader struct {
	titles  *tmdb.Reader
	seasons *tmdb.Reader // counts apart, under seasons[]
}

// New returns a Reader. values takes what fits no field; with nil its row is refused.
func New(values *record.Values) *Reader {
	r := &Reader{titles: tmdb.New(""), seasons: tmdb.New("")}
	r.titles.Values, r.seasons.Values = values, values
	return r
}

// Counts has the unknown fields of objects that the crawl kept as TMDB gave them, and the
// fields that were converted.
func (l *Reader) Counts() tmdb.Counts {
	titles, seasons := l.titles.Counts(), l.seasons.Counts()
	all := titles
	all.Unknown, all.Coerced = maps.Clone(titles.Unknown), maps.Clone(titles.Coerced)
	for path, n := range seasons.Unknown {
		all.Unknown["seasons[]."+path] += n
	}
	for path, n := range seasons.Coerced {
		all.Coerced["seasons[]."+path] += n
	}
	return all
}

// Records reads a row: a movie, or a series and its seasons.
func (l *Reader) Records(in tmdb.Row) ([]tmdb.Record, error) {
	all, err := record.Fields(in.JSON)
	if err != nil {
		return nil, err
	}
	r := row{typ: catalog.TypeOf(fragment.KindMovie), block: "movie", media: reference.Movie, in: all, dropped: map[string]int64{}}
	if show := all.Value("tvShow"); show != "" && show != "null" {
		r.typ, r.block, r.media = catalog.TypeOf(fragment.KindTV), "tvShow", reference.TV
	}
	if in.Type != nil && in.Type != r.typ {
		return nil, &record.FieldError{Field: r.block, What: fmt.Sprintf("want a %s record, by the file's name or --kind", in.Type.Name())}
	}
	if r.read(); r.err != nil {
		return nil, r.err
	}
	out, err := l.titles.Records(tmdb.Row{Type: r.typ, JSON: r.out.Object()})
	if err != nil {
		return nil, r.inDetails(err)
	}
	for i, season := range r.seasons {
		recs, err := l.seasons.Records(tmdb.Row{Type: catalog.TypeOf(fragment.KindSeason), JSON: season.Object()})
		if err != nil {
			return nil, tmdb.Within(err, fmt.Sprintf("seasons[%d]", i))
		}
		out = append(out, recs...)
	}
	for path, n := range r.dropped {
		record.Count(l.titles.Counts().Dropped, path, n)
	}
	return out, nil
}

// A row is one of the crawl while its fields get their names back. What it does not have
// stays absent, so that it takes nothing from a better source that it is joined to.
type row struct {
	typ     *catalog.Type
	block   string // of the details
	media   reference.Media
	in      record.RawFields   // fields that are still to be read
	out     record.RawFields   // the record of the title
	seasons []record.RawFields // the records of its seasons
	dropped map[string]int64
	err     error // the first
}

// read makes the records. A show without a name is what the crawler kept of a request
// that failed: only its id is known.
func (r *row) read() {
	details := r.in.TakeValue(r.block)
	if details == "" {
		r.err = &record.FieldError{Field: r.block, What: "want an object, found nothing"}
		return
	}
	r.out = r.object(r.block, details)
	id := r.out.Value("id")
	if id == "" && r.err == nil {
		r.err = &record.FieldError{Field: r.block + ".tmdbId", What: "want an integer, found nothing"}
	}
	if r.tv() {
		r.readSeasons(id)
		if len(r.seasons) == 0 && isEmpty(r.out.Value("name")) && isEmpty(r.out.Value("original_name")) {
			r.out, r.dropped = record.RawFields{{Name: "id", Raw: id}}, nil
			return
		}
	} else if raw, ok := r.in.Take("collection"); ok {
		if raw != "null" {
			raw = r.object("collection", raw).Object()
		}
		r.add("belongs_to_collection", raw)
	}
	r.lists()
	r.images()
	r.credits()
	r.externalIDs()
	r.providers()
	r.reviews()
	for _, left := range r.in {
		r.drop(left.Name, 1)
	}
}

func (r *row) tv() bool { return r.media == reference.TV }

// inDetails names in an error the field of the details that the row has.
func (r *row) inDetails(err error) error {
	return tmdb.Renamed(err, func(name string) string {
		i := slices.IndexFunc(fields[r.block], func(f field) bool { return f.ours == name })
		if i < 0 || name == "id" {
			return name
		}
		return r.block + "." + fields[r.block][i].theirs
	})
}

// isEmpty reports whether a text is empty or missing.
func isEmpty(raw string) bool { return raw == "" || raw == "null" || raw == `""` }

// drop counts n values that the API has no place for.
func (r *row) drop(path string, n int) {
	if n > 0 {
		r.dropped[path] += int64(n)
	}
}

// fail notes an error in a field, unless there is one already.
func (r *row) fail(err error, field string) {
	if r.err == nil {
		r.err = tmdb.InField(err, field)
	}
}

// add adds a field to the title.
func (r *row) add(name, raw string) { r.out = append(r.out, record.RawField{Name: name, Raw: raw}) }

// object returns the fields of an object of a block under TMDB's names.
func (r *row) object(block, raw string) (out record.RawFields) {
	err := record.EachField(raw, func(name, raw string) error {
		i := slices.IndexFunc(fields[block], func(f field) bool { return f.theirs == name })
		if i < 0 {
			r.drop(block+"."+name, 1)
			return nil
		}
		f := fields[block][i]
		if f.count && !isEmpty(raw) {
			r.drop(block+"."+name, 1)
		}
		if raw == "null" {
			raw = f.null
		}
		if f.ours != "" && raw != "" {
			out = append(out, record.RawField{Name: f.ours, Raw: raw})
		}
		return nil
	})
	r.fail(err, block)
	return out
}

// elements takes a list of objects off the row; false where it has none.
func (r *row) elements(name string) ([]record.RawFields, bool) {
	raw := r.in.TakeValue(name)
	return r.objects(name+"[]", raw), raw != ""
}

// objects returns the objects of a list. They have all texts that the API never leaves out.
func (r *row) objects(block, raw string) (out []record.RawFields) {
	if raw == "" {
		return nil
	}
	err := record.EachElement(raw, func(_ int, raw string) error {
		one := r.object(block, raw)
		for _, f := range fields[block] {
			if f.null == `""` && !one.Has(f.ours) {
				one = append(one, record.RawField{Name: f.ours, Raw: f.null})
			}
		}
		out = append(out, one)
		return nil
	})
	r.fail(err, block)
	return out
}

// listOf writes objects as a list.
func listOf(objects []record.RawFields) string {
	var texts []string
	for _, o := range objects {
		texts = append(texts, o.Object())
	}
	return record.List(texts)
}

// object writes an object of names and their values.
func object(pairs ...string) string {
	var out record.RawFields
	for pair := range slices.Chunk(pairs, 2) {
		out = append(out, record.RawField{Name: pair[0], Raw: pair[1]})
	}
	return out.Object()
}

// readSeasons takes the seasons as they are, and gives the series what its details have
// of them, which the crawler left out.
func (r *row) readSeasons(id string) {
	raw := r.in.TakeValue("seasons")
	if raw == "" {
		return
	}
	var outlines, networks []record.RawFields
	seasons, episodes := 0, 0
	r.fail(record.EachElement(raw, func(_ int, raw string) error {
		season, err := record.Fields(raw)
		if err != nil {
			return err
		}
		n := 0
		_ = record.EachElement(season.Value("episodes"), func(int, string) error { n++; return nil }) // the season's own record reports what is wrong
		_ = record.EachElement(season.Value("networks"), func(_ int, raw string) error {
			one, err := record.Fields(raw)
			if !slices.ContainsFunc(networks, func(have record.RawFields) bool { return have.Value("id") == one.Value("id") }) {
				networks = append(networks, one)
			}
			return err
		})
		outline := record.RawFields{{Name: "episode_count", Raw: strconv.Itoa(n)}}
		for _, name := range []string{"air_date", "id", "name", "overview", "poster_path", "season_number", "vote_average"} {
			outline = append(outline, record.RawField{Name: name, Raw: season.Value(name)})
		}
		outlines = append(outlines, outline)
		if number, _ := strconv.Atoi(season.Value("season_number")); number > 0 { // the API does not count specials
			seasons, episodes = seasons+1, episodes+n
		}
		season.Take("series_id")
		r.seasons = append(r.seasons, append(season, record.RawField{Name: "series_id", Raw: id}))
		return nil
	}), "seasons")
	r.add("seasons", listOf(outlines))
	r.add("networks", listOf(networks))
	r.add("number_of_seasons", strconv.Itoa(seasons))
	r.add("number_of_episodes", strconv.Itoa(episodes))
}

// lists takes over what are lists in both. Genres that are not TMDB's are left out: the
// crawler put a made-up one on every movie. No keywords are taken as not crawled: the
// crawler never had any. The API has no field for ratings of other sites.
func (r *row) lists() {
	if genres, ok := r.elements("genres"); ok {
		known := slices.DeleteFunc(slices.Clone(genres), func(g record.RawFields) bool {
			id, _ := strconv.ParseInt(strings.Trim(g.Value("id"), `"`), 10, 64) // 0 is no genre
			return reference.GenreName(r.media, id, "en", "") == ""
		})
		r.drop("genres[]", len(genres)-len(known))
		r.add("genres", listOf(known))
	}
	if companies, ok := r.elements("companies"); ok {
		r.add("production_companies", listOf(companies))
	}
	keywords, titles := "keywords", "titles"
	if r.tv() {
		keywords, titles = "results", "results"
	}
	if list, _ := r.elements("keywords"); len(list) > 0 {
		r.add("keywords", object(keywords, listOf(list)))
	}
	if raw := r.in.TakeValue("videos"); raw != "" {
		r.add("videos", object("results", raw))
	}
	if raw := r.in.TakeValue("alternativeTitles"); raw != "" {
		r.add("alternative_titles", object(titles, raw))
	}
	ratings, _ := r.elements("ratings")
	r.drop("ratings[]", len(ratings))
}

// images sorts the images by type. The crawler put the main poster and backdrop in
// front without their sizes, and again among the others: the whole one takes the place in
// front.
func (r *row) images() {
	images, ok := r.elements("images")
	if !ok {
		return
	}
	whole := map[string]record.RawFields{}
	for _, image := range images {
		if path := image.Value("file_path"); image.Has("width") && whole[path] == nil {
			whole[path] = image
		}
	}
	lists := map[string][]record.RawFields{}
	seen := map[string]bool{}
	for _, image := range images {
		path := image.Value("file_path")
		if seen[path] {
			r.drop("images[]", 1)
			continue
		}
		seen[path] = true
		if whole[path] != nil {
			image = whole[path]
		}
		list := image.TakeValue("type")
		if list != `"poster"` && list != `"logo"` {
			list = ""
		}
		lists[list] = append(lists[list], image)
	}
	r.add("images", object("backdrops", listOf(lists[""]), "logos", listOf(lists[`"logo"`]), "posters", listOf(lists[`"poster"`])))
}

// credits takes as the cast who has the job Actor in department Acting, and others as
// the crew.
func (r *row) credits() {
	credits, ok := r.elements("credits")
	if !ok {
		return
	}
	var cast, crew []record.RawFields
	for _, c := range credits {
		if c.Value("department") == `"Acting"` && c.Value("job") == `"Actor"` {
			c.Take("department")
			c.Take("job")
			cast = append(cast, c)
			continue
		}
		c.Take("character")
		c.Take("order")
		crew = append(crew, c)
	}
	r.add("credits", object("cast", listOf(cast), "crew", listOf(crew)))
}

// externalIDs takes over the ids of other sites. The details of a series have the one of
// IMDb too.
func (r *row) externalIDs() {
	raw := r.in.TakeValue("externalIds")
	var ids record.RawFields
	if raw != "" {
		ids = r.object("externalIds", raw)
	}
	if r.tv() {
		if imdb := r.out.TakeValue("imdb_id"); !isEmpty(imdb) && isEmpty(ids.Value("imdb_id")) {
			ids.Take("imdb_id")
			ids = append(ids, record.RawField{Name: "imdb_id", Raw: imdb})
		}
	}
	if ids != nil {
		r.add("external_ids", ids.Object())
	}
}

// providers takes over where titles can be watched, by country and offer. A country
// without offers is left out.
func (r *row) providers() {
	raw := r.in.TakeValue("watchProviders")
	if raw == "" {
		return
	}
	var countries record.RawFields
	r.fail(record.EachField(raw, func(country, raw string) error {
		var offers record.RawFields
		err := record.EachField(raw, func(offer, raw string) error {
			block := "watchProviders.*." + offer
			if fields[block+"[]"] == nil {
				r.drop(block, 1)
			} else if providers := r.objects(block+"[]", raw); len(providers) > 0 {
				offers = append(offers, record.RawField{Name: offer, Raw: listOf(providers)})
			}
			return nil
		})
		if len(offers) > 0 {
			countries = append(countries, record.RawField{Name: strings.ToUpper(country), Raw: offers.Object()})
		}
		return err
	}), "watchProviders")
	r.add("watch/providers", object("results", countries.Object()))
}

// reviews takes over all reviews as one page.
func (r *row) reviews() {
	reviews, _ := r.elements("reviews")
	if len(reviews) == 0 {
		return
	}
	for i := range reviews {
		rating, _ := reviews[i].Take("rating")
		author := object("name", `""`, "username", reviews[i].Value("author"), "rating", rating)
		reviews[i] = append(reviews[i], record.RawField{Name: "author_details", Raw: author})
	}
	r.add("reviews", object("page", "1", "results", listOf(reviews), "total_pages", "1", "total_results", strconv.Itoa(len(reviews))))
}
