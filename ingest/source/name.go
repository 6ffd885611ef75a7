package source

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// kindWords has the words of file names that stand for a kind.
var kindWords = map[string]string{
	"movie": "movie", "movies": "movie", "film": "movie", "films": "movie",
	"tv": "tv", "tvs": "tv", "tvshow": "tv", "tvshows": "tv", "show": "tv", "shows": "tv", "series": "tv",
	"season": "season", "seasons": "season", "episode": "episode", "episodes": "episode",
	"person": "person", "persons": "person", "people": "person",
	"collection": "collection", "collections": "collection",
	"company": "company", "companies": "company", "network": "network", "networks": "network",
	"keyword": "keyword", "keywords": "keyword", "review": "review", "reviews": "review", "credit": "credit", "credits": "credit",
	"episode_group": "episode_group", "episode_groups": "episode_group", "list": "list", "lists": "list",
	"account": "account", "accounts": "account", "guest_session": "account", "guest_sessions": "account",
}

// kindOfName returns the kind that a file name shows: that of its first
// word that names one, so movie_keywords is about movies, except that tv only
// qualifies what follows it in tv_networks, tv_seasons and tv_episodes, and episode may
// be one half of episode_groups, and list means nothing beside another one: list_of_movies.
// A name that starts with an id shows none: in 550-keywords the word is a sub-request.
func kindOfName(name string) string {
	if digits := strings.TrimLeft(name, "0123456789"); len(digits) < len(name) && strings.HasPrefix(digits, "-") {
		return ""
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	list := ""
	for i := range words {
		kind := kindOfWords(words[i:])
		if kind == "list" {
			list = kind
			continue
		}
		if kind == "tv" {
			switch next := kindOfWords(words[i+1:]); next {
			case "network", "season", "episode", "episode_group":
				return next
			}
		}
		if kind != "" {
			return kind
		}
	}
	return list
}

// kindOfWords returns the kind that the first two words, or else the first, stand for.
func kindOfWords(words []string) string {
	if len(words) > 1 {
		if kind := kindWords[words[0]+"_"+words[1]]; kind != "" {
			return kind
		}
	}
	if len(words) > 0 {
		return kindWords[words[0]]
	}
	return ""
}

// KindNamed returns the kind that a folder or file is named after, "" for none. The name must be the
// kind's alone: movie-recommender is an application, not a folder of movies.
func KindNamed(name string) string {
	return kindWords[strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(name))]
}

// kindOfPath returns the kind of the file's name, else that of the nearest folder
// above it that has one, and whether a folder has it. Folders above root do not count: they
// are part of the machine, not of the dump.
func kindOfPath(path, root string) (kind string, ofFolder bool) {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	own := kindOfName(baseName(abs))
	if root, err = filepath.Abs(root); err != nil {
		return own, false
	}
	if own != "" && (own != "list" || strings.HasPrefix(strings.ToLower(baseName(abs)), own)) {
		return own, false
	}
	for dir := filepath.Dir(abs); ; dir = filepath.Dir(dir) {
		if kind := KindNamed(filepath.Base(dir)); kind != "" {
			return kind, true
		}
		if dir == root || dir == filepath.Dir(dir) {
			return own, false // of movie/popular-list.json, the folder has it
		}
	}
}

// Beside returns the path of a file of another kind that has the name of a dump and lies beside it: films.toml for
// films.csv.gz and the extension .toml.
func Beside(dump, ext string) string { return filepath.Join(filepath.Dir(dump), baseName(dump)+ext) }

// baseName returns the last element of path without the extensions of format
// and compression.
func baseName(path string) string {
	name, _ := cutExt(filepath.Base(path))
	return name
}

// cutExt cuts the extensions of compression and format off name, and returns the
// format's one in lower case, "" when the name has none that is known.
func cutExt(name string) (base, ext string) {
	switch e := strings.ToLower(filepath.Ext(name)); e {
	case ".gz", ".gzip", ".zst", ".zstd":
		name = name[:len(name)-len(e)]
	}
	switch e := strings.ToLower(filepath.Ext(name)); e {
	case ".json", ".ndjson", ".jsonl", ".csv", ".tsv", ".parquet":
		return name[:len(name)-len(e)], e
	}
	return name, ""
}

// An Address is the resource, and its sub-request, that a file is named after.
type Address struct {
	ID   int64  // number of the resource; 0 unknown
	Text string // 24 hex digits of a review, a credit or an episode group; "" unknown
	// Series, unless it is 0, is the series whose season Season the file is of or, where
	// the file's kind is episode, that season's episode Episode.
	Series, Season, Episode int64
	Sub                     string // such as credits or watch/providers; "" for the resource itself
}

// textID matches the ids of reviews, credits and episode groups.
var textID = regexp.MustCompile(`^[0-9a-f]{24}$`)

// part matches the end of a path that names a season or an episode: with dashes or
// underscores as in tv-1399-season-1-credits, or as folders as in tv/1399/season/1.
var part = regexp.MustCompile(`(?:^|([a-z]+)[-_]|/)(\d+)[-_]season[-_](\d+)(?:[-_]episode[-_](\d+))?(?:[-_]([a-z][a-z_-]*))?$|` +
	`(?:^|/)([a-z]+)/(\d+)/season/(\d+)(?:/episode/(\d+))?(?:/([a-z][a-z_-]*))?$`)

// address returns the resource that the path of a file names, given the kind that
// it shows, and the kind of what the file is named after: in a folder of series there
// may be seasons. Only .json files are named after one resource.
func address(path, kind string) (Address, string) {
	base, ext := cutExt(filepath.Base(path))
	if ext != ".json" {
		return Address{}, kind
	}
	switch kind {
	case "", "tv", "season", "episode":
		if a, k, ok := partOf(filepath.Join(filepath.Dir(path), base)); ok {
			return a, k
		}
	}
	return idOfName(base), kind
}

// partOf returns the season or episode that a path without extensions names.
func partOf(path string) (a Address, kind string, ok bool) {
	m := part.FindStringSubmatch(strings.ToLower(filepath.ToSlash(path)))
	if m == nil {
		return a, "", false
	}
	if m[2] == "" {
		m = m[5:] // folders
	}
	if m[1] != "" && kindWords[m[1]] != "tv" {
		return a, "", false
	}
	series, err := strconv.ParseInt(m[2], 10, 64)
	season, err2 := strconv.ParseUint(m[3], 10, 32)
	if err != nil || err2 != nil || series < 1 {
		return a, "", false
	}
	a = Address{Series: series, Season: int64(season), Sub: subOfName(m[5])}
	if m[4] == "" {
		return a, "season", true
	}
	episode, err := strconv.ParseUint(m[4], 10, 32)
	a.Episode = int64(episode)
	return a, "episode", err == nil
}

// idOfName returns what the names <id>, <id>-<sub>, <kind>-<id> and <kind>-<id>-<sub>
// mean. A sub-request starts with a letter, so movies-2026-05-01 has no id.
func idOfName(base string) Address {
	parts := strings.SplitN(base, "-", 2)
	if kindWords[parts[0]] == parts[0] && len(parts) == 2 {
		parts = strings.SplitN(parts[1], "-", 2)
	}
	var a Address
	if id, err := strconv.ParseInt(parts[0], 10, 64); err == nil && id > 0 && parts[0][0] != '+' {
		a.ID = id
	} else if textID.MatchString(parts[0]) {
		a.Text = parts[0]
	} else {
		return Address{}
	}
	if len(parts) == 1 {
		return a
	}
	if a.Sub = subOfName(parts[1]); a.Sub == "" {
		return Address{}
	}
	return a
}

// subOfName returns the sub-request that a file name spells with dashes or
// underscores: watch-providers is watch/providers.
func subOfName(s string) string {
	s = strings.ReplaceAll(strings.ToLower(s), "-", "_")
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return ""
	}
	if s == "watch_providers" {
		return "watch/providers"
	}
	return s
}
