package crawl

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// what is the kind of a task.
type what uint8

// Tasks.
const (
	fetchDetails what = iota + 1
	fetchLanguage
	fetchSeasons
	fetchEpisode
	findID
	searchTitle
	listChanges
)

// A task is one request, and what is to be done with its response.
type task struct {
	what what
	kind string // of the resource, or of the list; of findID also season, episode or ""
	id   int64  // of findID: TMDB's, where it is known
	// language is of fetchLanguage and of fetchSeasons; "" is the first one.
	language string
	mode     SeasonMode
	seasons  []int64  // of fetchSeasons: their numbers
	videos   []string // languages of videos that the dump has, besides those of the Config
	number   int64    // of fetchEpisode: its season's and its own, see episodeNumber
	text     string   // of findID: the id; of searchTitle: the title
	title    string   // of findID
	source   string   // of findID: fromIMDb or fromTVDB
	place    string   // where text comes from, for the report
	year     int      // of searchTitle
	day, end Day      // of listChanges: changes of the day; some of the end may come with them
	page     int
	// since is the day from which on an earlier response is good enough.
	since Day
}

// key names the response in the journal. Seasons have a key each, see seasonKey.
func (t *task) key() string {
	switch t.what {
	case fetchDetails, fetchLanguage:
		return fmt.Sprintf("%s/%d%s", t.kind, t.id, t.suffix())
	case fetchEpisode:
		return t.episodePath()
	case findID: // what is taken of the response depends on the kind, or on id and title
		key := fmt.Sprintf("find/%s/%s", t.source, t.text)
		if t.kind == "" && t.source == fromTVDB {
			return fmt.Sprintf("%s/%d/%s", key, t.id, t.title)
		}
		return strings.TrimSuffix(key+"/"+t.kind, "/")
	case searchTitle:
		return fmt.Sprintf("search/%s/%d/%s", t.kind, t.year, t.text)
	default:
		return fmt.Sprintf("%s%s/%s/%d", changesPrefix, t.kind, t.day, t.page)
	}
}

// suffix is the end of the key of what is in a language.
func (t *task) suffix() string {
	if t.language == "" {
		return ""
	}
	return " " + t.language
}

// seasonKey names a season in the journal.
func (t *task) seasonKey(number int64) string {
	return fmt.Sprintf("tv/%d/season/%d%s", t.id, number, t.suffix())
}

// lackPrefix begins the keys of seasons that a series lists and the server lacks.
const lackPrefix = "lacks/"

// lackKey names in the journal that a season did not come. An entry of its own leaves that of the season as it is.
func (t *task) lackKey(number int64) string { return lackPrefix + t.seasonKey(number) }

const changesPrefix = "changes/"

// isPassing reports whether a key is of a page of changes or of a season that did not come: such entries are of no use later.
func isPassing(key string) bool {
	return strings.HasPrefix(key, changesPrefix) || strings.HasPrefix(key, lackPrefix)
}

// languageOf returns the language of the key of a resource, "" for the first one and for other keys.
func languageOf(key string) string {
	_, language, ok := strings.Cut(key, " ")
	if !ok {
		return ""
	}
	if _, ok := titleKey(key); !ok {
		return "" // the title of a search
	}
	return language
}

// ownersOf returns the keys of what a resource is a part of: its details without a language, its season, its series.
func ownersOf(key string) (out []string) {
	title, ok := titleKey(key)
	if !ok {
		return nil
	}
	out = []string{title.key()}
	path, _, _ := strings.Cut(key, " ")
	if parts := strings.Split(path, "/"); len(parts) >= 4 {
		out = append(out, strings.Join(parts[:4], "/"))
	}
	return out
}

// isList reports whether the response names what is to be fetched, and is no row.
func (t *task) isList() bool {
	return t.what == findID || t.what == searchTitle || t.what == listChanges
}

// A Title is a resource that can be fetched by its id.
type Title struct {
	Kind string // one of KindNames
	ID   int64
}

// key names the details in the journal.
func (t Title) key() string { return fmt.Sprintf("%s/%d", t.Kind, t.ID) }

// titleKey reads the resource off a key: that of its details, of its languages, or of seasons of a series.
func titleKey(key string) (t Title, ok bool) {
	kind, rest, _ := strings.Cut(key, "/")
	if kindNamed(kind) == nil {
		return t, false
	}
	text := rest
	if i := strings.IndexAny(rest, " /"); i >= 0 {
		text = rest[:i]
	}
	id, err := strconv.ParseInt(text, 10, 64)
	return Title{Kind: kind, ID: id}, err == nil && id > 0
}

// request returns the path below the version, and the query.
func (t *task) request(cfg *Config) (path string, q url.Values) {
	q = url.Values{}
	path = fmt.Sprintf("/%s/%d", t.kind, t.id)
	var names []string // to append
	switch t.what {
	case fetchDetails:
		names = kindNamed(t.kind).appends
	case fetchLanguage:
		names = kindNamed(t.kind).localizedAppends()
	case fetchSeasons:
		for _, n := range t.seasons {
			season := fmt.Sprintf("season/%d", n)
			names = append(names, season)
			for _, sub := range t.mode.appends(t.language) {
				names = append(names, season+"/"+sub)
			}
		}
	case fetchEpisode:
		path, names = "/"+t.episodePath(), episodes.appends
	case findID:
		path = "/find/" + url.PathEscape(t.text)
		q.Set("external_source", t.source)
	case searchTitle:
		path = "/search/" + t.kind
		year := "primary_release_year" // the parameter that matches the first year of a title
		if t.kind == "tv" {
			year = "first_air_date_year"
		}
		q.Set("query", t.text)
		q.Set(year, strconv.Itoa(t.year))
	case listChanges:
		path = "/" + t.kind + "/changes"
		q.Set("start_date", t.day.String())
		q.Set("end_date", t.end.String())
		q.Set("page", strconv.Itoa(t.page))
	}
	if len(names) > 0 {
		q.Set("append_to_response", strings.Join(names, ","))
	}
	if t.language != "" {
		q.Set("language", t.language)
	}
	if t.hasVideos() { // in English and in none
		q.Set("include_video_language", strings.Join(append([]string{"en", "null"}, t.furtherVideos(cfg)...), ","))
	}
	return path, q
}

// furtherVideos returns the languages of videos besides English and none.
func (t *task) furtherVideos(cfg *Config) []string {
	list := slices.Clone(t.videos)
	for _, l := range cfg.Languages {
		if l, _, _ = strings.Cut(l, "-"); l != "en" {
			list = append(list, l)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// hasVideos reports whether the request is for videos too.
func (t *task) hasVideos() bool {
	switch t.what {
	case fetchDetails:
		return slices.Contains(kindNamed(t.kind).appends, "videos")
	case fetchSeasons:
		return t.mode == SeasonsAll && t.language == ""
	}
	return t.what == fetchEpisode
}

// SeasonMode is how much of seasons is fetched.
type SeasonMode string

// Modes.
const (
	SeasonsNone    SeasonMode = "none"
	SeasonsDetails SeasonMode = "details" // with their episodes: up to 20 seasons a request
	SeasonsAll     SeasonMode = "all"     // with all sub-requests: two seasons a request
)

// appends returns what is appended to each season.
func (m SeasonMode) appends(language string) []string {
	if m != SeasonsAll {
		return nil
	}
	if language == "" {
		return seasons.appends
	}
	return seasons.localizedAppends()
}

// seasonTasks divides seasons of a series into requests.
func (t *task) seasonTasks() (out []task) {
	for group := range slices.Chunk(t.seasons, maxAppends/(1+len(t.mode.appends(t.language)))) {
		one := *t
		one.seasons = group
		out = append(out, one)
	}
	return out
}

// An episode's number is that of its season and its own in one, so that a response can name it.
const seasonBits = 32

func episodeNumber(season, episode int64) int64 { return season<<seasonBits | episode }

// at returns the numbers of an episode.
func (t *task) at() (season, episode int64) {
	return t.number >> seasonBits, t.number & (1<<seasonBits - 1)
}

func (t *task) episodePath() string {
	season, episode := t.at()
	return fmt.Sprintf("tv/%d/season/%d/episode/%d", t.id, season, episode)
}
