package crawl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// listFields maps folded column and field names of exported lists to their meaning, see foldName.
var listFields = map[string]string{
	"const": "imdb", "tconst": "imdb", "nconst": "imdb", "imdb": "imdb", "imdbid": "imdb", "imdbnumber": "imdb", "imdburl": "imdb",
	"tmdb": "tmdb", "tmdbid": "tmdb", "themoviedb": "tmdb", "themoviedbid": "tmdb", "tmdburl": "tmdb",
	"tvdb": "tvdb", "tvdbid": "tvdb", "thetvdb": "tvdb", "thetvdbid": "tvdb",
	"guid": "guid", "guids": "guid", "url": "url", "id": "id",
	"title": "title", "name": "title", "year": "year", "productionyear": "year", "releaseyear": "year",
	"releasedate": "date", "firstairdate": "date", "premieredate": "date",
	"type": "type", "titletype": "type", "mediatype": "type", "itemtype": "type", "kind": "type", "animetype": "animetype",
	"tmdbtype": "type", "contenttype": "type", "objecttype": "type", "entitytype": "type", "videotype": "type",
	"category": "category", "format": "category",
	"season": "season", "seasonnumber": "season", "episode": "episode", "episodenumber": "episode",
	// IDs of other sites. In a row with one of them, a plain id is not TMDB's.
	"trakt": "other", "traktid": "other", "simkl": "other", "simklid": "other", "ratingkey": "other", "anidb": "other", "anidbid": "other",
	"mal": "other", "malid": "other", "idmal": "other", "anilist": "other", "anilistid": "other", "kitsu": "other", "kitsuid": "other",
	// Fields of one kind only, from Sonarr, Radarr and TV Time. TV Time's IDs of series are TVDB's.
	"seriestype": "tv", "tvmaze": "tv", "tvmazeid": "tv", "minimumavailability": "movie", "tvshowid": "tvtime",
}

// partName matches the folded name of a field of the series or the episode. partFields are the allowed fields.
var (
	partName   = regexp.MustCompile(`^(?:(tvshow|series|show|grandparent)|(episode|season))(.+)$`)
	partFields = []string{"imdb", "tmdb", "tvdb", "other", "title", "year"}
)

// idObjects are the folded names of objects with the IDs of one title.
var idObjects = []string{"ids", "id", "providerids", "uniqueid", "externalids", "externals"}

// listKinds maps folded types, object names and list names to kinds. For any other type, only an IMDb ID is used: numbers are
// unique only within a kind.
var listKinds = map[string]string{
	"movie": "movie", "movies": "movie", "film": "movie", "films": "movie", "featurefilm": "movie", "tvmovie": "movie",
	"tv": "tv", "show": "tv", "shows": "tv", "tvshow": "tv", "tvshows": "tv", "series": "tv", "serie": "tv", "tvseries": "tv",
	"miniseries": "tv", "tvminiseries": "tv", "limitedseries": "tv",
	"season": "season", "seasons": "season", "tvseason": "season", "episode": "episode", "episodes": "episode", "tvepisode": "episode",
	"person": "person", "people": "person", "boxset": "collection", "collection": "collection",
}

// nestedObjects are the folded names of objects with a title: the row's own, its series or its episode.
var nestedObjects = []string{"movie", "film", "tv", "show", "tvshow", "series", "season", "episode", "person", "media"}

// foldName returns a name in lower case, without spaces, dashes and underscores.
func foldName(name string) string { return strings.ToLower(folds.Replace(name)) }

var folds = strings.NewReplacer(" ", "", "_", "", "-", "")

// listExt matches file names of tables and JSON.
var listExt = regexp.MustCompile(`(?i)\.(csv|tsv|json|jsonl|ndjson|parquet)(\.(gz|gzip|zst|zstd))?$`)

// isExported reports whether a file that starts with head is an exported list, rather than one ID per line. It must be
// a regular file, because it is opened twice.
func isExported(path string, head []byte) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	firstLine, _, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(string(head), "\ufeff")), "\n")
	line, _, _ := strings.Cut(firstLine, "#")
	if i, err := parseID(strings.TrimSpace(line)); err == nil && i.hasID() || strings.HasPrefix(firstLine, "# ") {
		return false
	}
	return listExt.MatchString(path) || strings.HasPrefix(firstLine, "[") || strings.HasPrefix(firstLine, "{")
}

// eachRow calls use with all rows of a file, bad ones included. Each error message starts with label. Errors of use also name the
// row.
func eachRow(ctx context.Context, label, path string, use func(row source.Row) error) error {
	in, err := source.Open(source.File{Path: path}, source.Options{Context: ctx})
	if err != nil {
		return fmt.Errorf("%s: %w", label, err)
	}
	defer func() { _ = in.Close() }() // opened for reading
	for {
		row, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", label, err)
		}
		if err := use(row); err != nil {
			return fmt.Errorf("%s %s: %w", label, row.Place, err)
		}
	}
}

// readExported reads an exported list. kind is the default kind of rows. Rows without a usable title are reported.
func (s *selection) readExported(ctx context.Context, path, kind string) error {
	count := len(s.unresolved)
	var columns []string // columns of the last row without a known one
	isList := false
	err := eachRow(ctx, "ids", path, func(row source.Row) error {
		if row.Err != nil {
			s.unresolved = append(s.unresolved, row.Err.Error())
			return nil //nolint:nilerr // reported
		}
		v, err := decoded(row.JSON)
		if err != nil {
			return err
		}
		fields, _ := v.(map[string]any)
		eachTitle(fields, "", "", func(fields map[string]any, list, fieldPath string) {
			r := newListRow(fields, list)
			isList = isList || r.recognized
			if !r.recognized {
				columns = slices.Sorted(maps.Keys(fields))
			}
			c := r.candidate(kind)
			c.place = row.Place.String()
			for _, part := range []string{fieldPath, c.name()} {
				if part != "" {
					c.place += ": " + record.Shown(part)
				}
			}
			s.add(&c, true)
		})
		return nil
	})
	if err == nil && !isList && columns != nil {
		s.unresolved = s.unresolved[:count]
		return fmt.Errorf("ids %s: want a column or field such as Const, imdb_id or tmdb_id, or a title with its year; found %s",
			path, record.Shown(strings.Join(columns, ", ")))
	}
	return err
}

// eachTitle calls use with each object that describes a title: fields itself, or objects in nested lists such as
// {"movies":[...]}. list is the folded name of the containing field, and path leads to it.
func eachTitle(fields map[string]any, list, path string, use func(fields map[string]any, list, path string)) {
	names := listsIn(fields, list)
	if names == nil {
		use(fields, list, path)
		return
	}
	for _, name := range names {
		fieldPath := strings.TrimPrefix(path+"."+name, ".")
		switch v := fields[name].(type) {
		case map[string]any:
			if inner := newListRow(v, ""); inner.recognized || listsIn(v, foldName(name)) != nil {
				eachTitle(v, foldName(name), fieldPath, use)
			}
		case []any:
			for i, element := range v {
				if object, ok := element.(map[string]any); ok {
					eachTitle(object, foldName(name), fmt.Sprintf("%s[%d]", fieldPath, i), use)
				}
			}
		}
	}
}

// namedLists are folded names of lists of titles, besides movies and series. Their parent object may have a title, which is
// the list's.
var namedLists = []string{"items", "entries", "results", "metadata"}

// listsIn returns the fields of an object that hold titles, unless the object is a title itself.
func listsIn(fields map[string]any, list string) (names []string) {
	r := newListRow(fields, list)
	if r.item.hasID() || r.series.hasID() || r.episode.hasID() || r.item.year > 0 || r.nested != "" || len(r.types) > 0 || imdbID.MatchString(r.id) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		folded := foldName(name)
		named := listKinds[folded] == "movie" || listKinds[folded] == "tv" || slices.Contains(namedLists, folded)
		switch v := fields[name].(type) {
		case map[string]any:
			if r.item.title == "" {
				names = append(names, name)
			}
		case []any:
			objects := false
			if len(v) > 0 {
				_, objects = v[0].(map[string]any)
			}
			if objects && r.item.title == "" || named && (objects || len(v) == 0) {
				names = append(names, name)
			}
		}
	}
	return names
}

// titleFacts holds the facts of a row about one title.
type titleFacts struct {
	ids
	title  string
	year   int
	nested bool // the IDs are in an object of IDs, so they are certainly the title's own
}

// A listRow holds the facts of a row about its title (item), its series and its episode.
type listRow struct {
	item, series, episode titleFacts

	recognized bool     // it has a field for an ID, a type or a year, which may be empty
	types      []string // folded
	nested     string   // kind of the nested object
	anime      string   // folded type, preferred to others: series and films are nested alike
	list       string   // folded name of the list
	hint       string   // kind suggested by fields
	level      string   // season or episode, if the row has its number
	id         string   // ID without a site
	tvtime     string   // TV Time's ID of a series
	hasSite    bool     // it has a field for an ID of a named site
	ownIDs     bool     // IDs of the episode have their own names, so the others are the series'
	fromTMDB   bool     // it has fields with names that only TMDB uses
}

func newListRow(fields map[string]any, list string) listRow {
	r := listRow{list: list}
	r.read(fields, &r.item, false)
	if r.list == "anime" && r.anime == "" {
		r.anime = r.list
	}
	return r
}

// read reads the fields of a title, or of an object of IDs.
func (r *listRow) read(fields map[string]any, facts *titleFacts, idsOnly bool) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		folded := foldName(name)
		switch v := fields[name].(type) {
		case map[string]any:
			part, inIDs := facts, slices.Contains(idObjects, folded)
			if !inIDs {
				if idsOnly || !slices.Contains(nestedObjects, folded) {
					continue
				}
				switch kind := listKinds[folded]; kind {
				case "season", "episode":
					r.nested, part = kind, &r.episode
				case "tv":
					r.nested, part = cmp.Or(r.nested, kind), &r.series
				default:
					r.nested = cmp.Or(r.nested, kind)
				}
			}
			r.recognized, r.hasSite = true, r.hasSite || inIDs
			r.read(v, part, inIDs)
		case []any:
			if folded == "seasons" {
				r.hint = cmp.Or(r.hint, "tv")
			}
			for _, element := range v {
				if object, ok := element.(map[string]any); ok && listFields[folded] == "guid" {
					element = object["id"]
				}
				if text, ok := element.(string); ok {
					r.set(facts, folded, text, idsOnly)
				}
			}
		case nil:
			r.set(facts, folded, "", idsOnly)
		case string, json.Number:
			r.set(facts, folded, strings.TrimSpace(fmt.Sprint(v)), idsOnly)
			r.fromTMDB = r.fromTMDB || name == "poster_path" || name == "vote_average"
		}
	}
}

// set stores a value.
func (r *listRow) set(facts *titleFacts, folded, text string, idsOnly bool) {
	field := listFields[folded]
	if m := partName.FindStringSubmatch(folded); m != nil && field == "" {
		switch field = listFields[m[3]]; {
		case !slices.Contains(partFields, field):
			return
		case m[1] != "":
			facts = &r.series
		default:
			facts = &r.episode
			r.ownIDs = r.ownIDs || field != "title" && field != "year"
		}
	}
	r.recognized = r.recognized || field != "" && field != "title"
	switch field {
	case "title":
		facts.title = cmp.Or(facts.title, text)
	case "year":
		facts.year = cmp.Or(yearOf(text), facts.year)
	case "date":
		facts.year = cmp.Or(facts.year, yearOf(text))
	case "imdb", "tmdb", "tvdb", "guid", "url":
		r.hasSite = r.hasSite || field != "url"
		facts.nested = facts.nested || idsOnly || field == "guid"
		facts.set(field, text)
		for _, i := range addressesIn(text) { // an address may state its kind, and may identify the series of an episode
			if i.kind == "tv" {
				facts = &r.series
			}
			r.hint = cmp.Or(r.hint, i.kind)
			facts.imdb, facts.tmdb, facts.tvdb = cmp.Or(facts.imdb, i.imdb), cmp.Or(facts.tmdb, i.tmdb), cmp.Or(facts.tvdb, i.tvdb)
		}
	case "other":
		r.hasSite = true
	case "id":
		r.id = cmp.Or(r.id, text)
	case "tvtime":
		r.tvtime = text
	case "animetype":
		r.anime = foldName(text)
	case "season", "episode":
		if n, err := strconv.Atoi(text); err == nil && n > 0 && r.level != "episode" {
			r.level = field
		}
	case "type", "category": // a category may be a genre, and a format may be a disc
		if text != "" && (field == "type" || listKinds[foldName(text)] != "") {
			r.types = append(r.types, foldName(text))
		}
	case "tv", "movie":
		if text != "" {
			r.hint = field
		}
	}
}

// yearOf returns the year at the start of a text such as 2008–2013, or 0.
func yearOf(text string) int {
	year, err := strconv.Atoi(text[:min(len(text), len("2006"))])
	if err != nil || year < 1 {
		return 0
	}
	return year
}

// kind returns the kind that a row states, or "". It may be season, episode or an unknown type.
func (r *listRow) kind() string {
	if r.anime != "" {
		return cmp.Or(listKinds[r.anime], r.anime)
	}
	var kinds []string
	for _, t := range append([]string{r.nested}, r.types...) {
		switch kind := listKinds[t]; {
		case kind == "season", kind == "episode":
			return kind
		case kind != "" && !slices.Contains(kinds, kind):
			kinds = append(kinds, kind)
		}
	}
	switch {
	case len(kinds) > 0:
		return strings.Join(kinds, " and ") // an ambiguous kind matches nothing
	case len(r.types) > 0:
		return r.types[0]
	case listKinds[r.list] == "" && r.hint == "" && r.series.hasID():
		return "tv"
	}
	return cmp.Or(listKinds[r.list], r.hint)
}

// candidate returns the title of a row. fallback is the kind for rows that do not state one. An ID without a site is TMDB's if
// the user states the kind, if other fields have TMDB's names, or if there is no title.
func (r *listRow) candidate(fallback string) candidate {
	kind := r.kind()
	if kind == "" && r.level != "" { // the number may count the episodes of a series
		kind, r.item.nested = r.level, false
	}
	kind = cmp.Or(kind, fallback)
	facts := &r.item
	if r.series.hasID() && (kind == "tv" || !facts.hasID()) || !facts.hasID() && facts.title == "" { // also the film of an anime
		facts = &r.series
	}
	c := candidate{ids: facts.ids, title: cmp.Or(facts.title, r.item.title), year: cmp.Or(facts.year, r.item.year)}
	if c.kind = kind; kind == "season" || kind == "episode" {
		c = r.ofEpisode(kind)
	}
	switch {
	case c.hasID():
	case imdbID.MatchString(r.id):
		c.imdb = r.id
	case !r.hasSite && r.nested == "" && (r.fromTMDB || fallback != "" || c.title == ""): // next to a nested object, the ID is the list entry's
		c.set("tmdb", r.id)
	case r.tvtime != "" && r.series.title != "": // without a kind, the series with that TVDB ID must have the title
		c = candidate{title: r.series.title}
		c.set("tvdb", r.tvtime)
	}
	if m := titleWithYear.FindStringSubmatch(c.title); m != nil {
		c.title, c.year = m[1], cmp.Or(c.year, yearOf(m[2]))
	}
	return c
}

// titleWithYear matches a title followed by its year in parentheses.
var titleWithYear = regexp.MustCompile(`^(.*\S)\s*\(((?:18|19|20)\d{2})\)$`)

// ofEpisode returns the candidate of an episode or a season: its series, by ID or by title and year, or its own IDs if TMDB
// can look up the series by them. TMDB has no lookup for its own IDs of episodes. A TVDB ID in a column may be the series'.
func (r *listRow) ofEpisode(kind string) candidate {
	item, series, episode := r.item, r.series, r.episode
	if r.ownIDs && !series.hasID() {
		item, series = titleFacts{}, item
	}
	c := candidate{title: cmp.Or(series.title, item.title, episode.title)}
	switch c.kind = kind; {
	case series.hasID():
		c.ids, c.kind = series.ids, "tv"
	case item.imdb != "" || episode.imdb != "":
		c.imdb = cmp.Or(item.imdb, episode.imdb)
	case item.nested && item.tvdb > 0:
		c.tvdb = item.tvdb
	case (episode.nested || r.ownIDs) && episode.tvdb > 0:
		c.tvdb = episode.tvdb
	case series.title != "" && series.year > 0:
		c.year, c.kind = series.year, "tv"
	}
	return c
}
