package crawl

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/day"
)

// An action selects the request and the use of its response.
type action uint8

// The actions.
const (
	fetchDetails action = iota + 1
	fetchLanguage
	fetchSeasons
	fetchEpisode
	findID
	searchTitle
	listChanges
)

// A task is one request and the context of its response.
type task struct {
	action
	kind string // kind of the resource or the list; for findID also season, episode or ""
	id   int64  // for findID: TMDB's ID, if known
	// language of fetchLanguage and fetchSeasons; "" is the base language.
	language string
	mode     seasonMode
	seasons  []int64  // season numbers of fetchSeasons
	videos   []string // video languages that the dump has, besides the Config's
	number   int64    // fetchEpisode: season and episode, see episodeNumber
	text     string   // the ID of findID, or the title of searchTitle
	title    string   // for findID
	source   string   // for findID: fromIMDb or fromTVDB
	place    string   // origin of text, for the report
	year     int      // for searchTitle
	day, end day.Day  // listChanges: changes of day; some changes of end may be included
	page     int
	// since is the earliest day of an acceptable earlier response.
	since day.Day
}

// key names the response in the journal. Each season has its own key, see seasonKey.
func (t *task) key() string {
	switch t.action {
	case fetchDetails, fetchLanguage:
		return fmt.Sprintf("%s/%d%s", t.kind, t.id, t.suffix())
	case fetchEpisode:
		return t.episodePath()
	case findID: // the part of the response that is used depends on the kind, or on ID and title
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

// suffix is the end of a key with a language.
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

// changesPrefix starts the keys of pages of changes.
const changesPrefix = "changes/"

// languageOf returns the language in the key of a resource, or "" for the base language and other keys.
func languageOf(key string) string {
	_, language, ok := strings.Cut(key, " ")
	if !ok {
		return ""
	}
	if _, ok := resourceOf(key); !ok {
		return "" // text after the space belongs to the title of a search
	}
	return language
}

// ownersOf returns the keys of the resources that contain a resource: its details without a language, its season, its series.
func ownersOf(key string) (out []string) {
	res, ok := resourceOf(key)
	if !ok {
		return nil
	}
	out = []string{res.key()}
	path, _, _ := strings.Cut(key, " ")
	if parts := strings.Split(path, "/"); len(parts) >= 4 {
		out = append(out, strings.Join(parts[:4], "/"))
	}
	return out
}

// isList reports whether the response names resources to fetch, rather than becoming a row.
func (t *task) isList() bool {
	return t.action == findID || t.action == searchTitle || t.action == listChanges
}

// A resource is one that can be fetched by ID.
type resource struct {
	kind string // one of KindNames
	id   int64
}

// key is the journal's key for the details.
func (r resource) key() string { return fmt.Sprintf("%s/%d", r.kind, r.id) }

// resourceOf parses the resource from the key of its details, of one of its languages, or of a season.
func resourceOf(key string) (r resource, ok bool) {
	kind, rest, _ := strings.Cut(key, "/")
	if kindNamed(kind) == nil {
		return r, false
	}
	text := rest
	if i := strings.IndexAny(rest, " /"); i >= 0 {
		text = rest[:i]
	}
	id, err := strconv.ParseInt(text, 10, 64)
	return resource{kind, id}, err == nil && id > 0
}

// request returns the path below the API's version, and the query.
func (t *task) request(cfg *Config) (path string, q url.Values) {
	q = url.Values{}
	path = fmt.Sprintf("/%s/%d", t.kind, t.id)
	var names []string // names for append_to_response
	switch t.action {
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
		year := "primary_release_year" // the parameter for the first release of a title
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
	if t.hasVideos() { // always with English videos and videos without a language
		q.Set("include_video_language", strings.Join(append([]string{"en", "null"}, t.furtherVideos(cfg)...), ","))
	}
	return path, q
}

// furtherVideos returns the video languages to request, besides English and none.
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

// hasVideos reports whether the response includes videos.
func (t *task) hasVideos() bool {
	switch t.action {
	case fetchDetails:
		return slices.Contains(kindNamed(t.kind).appends, "videos")
	case fetchSeasons:
		return t.mode == seasonsAll && t.language == ""
	}
	return t.action == fetchEpisode
}

// A seasonMode selects how much of each season is fetched.
type seasonMode string

// Modes.
const (
	seasonsNone    seasonMode = "none"
	seasonsDetails seasonMode = "details" // with episodes: up to 20 seasons per request
	seasonsAll     seasonMode = "all"     // with all sub-requests: two seasons per request
)

// appends returns the sub-requests to append for each season.
func (m seasonMode) appends(language string) []string {
	if m != seasonsAll {
		return nil
	}
	if language == "" {
		return seasons.appends
	}
	return seasons.localizedAppends()
}

// seasonTasks splits the seasons of a series into requests.
func (t *task) seasonTasks() (out []task) {
	for group := range slices.Chunk(t.seasons, maxAppends/(1+len(t.mode.appends(t.language)))) {
		part := *t
		part.seasons = group
		out = append(out, part)
	}
	return out
}

// An episode's number holds its season's number in the upper bits.
const seasonBits = 32

func episodeNumber(season, episode int64) int64 { return season<<seasonBits | episode }

// splitNumber returns the season and episode numbers.
func (t *task) splitNumber() (season, episode int64) {
	return t.number >> seasonBits, t.number & (1<<seasonBits - 1)
}

func (t *task) episodePath() string {
	season, episode := t.splitNumber()
	return fmt.Sprintf("tv/%d/season/%d/episode/%d", t.id, season, episode)
}
