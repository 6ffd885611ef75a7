package source

import (
	"cmp"
	"errors"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// kindWords maps words in file names to kinds.
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

// kindOfName returns the kind of a file by the first word of its name that is a kind:
// movie_keywords has movies. There are exceptions: tv only qualifies the next word in
// tv_networks, tv_seasons and tv_episodes, episode may be half of episode_groups, and
// list is used only without another kind, unlike in list_of_movies.
// A name that starts with an id has no kind: the word in 550-keywords is a sub-request.
func kindOfName(name string) string {
	if digits := strings.TrimLeft(name, "0123456789"); len(digits) < len(name) && strings.HasPrefix(digits, "-") {
		return ""
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	kindAt := func(i int) string { // kind of the next two words, or else of the next one
		if i >= len(words) {
			return ""
		}
		return cmp.Or(kindWords[strings.Join(words[i:min(i+2, len(words))], "_")], kindWords[words[i]])
	}
	list := ""
	for i := range words {
		switch kind, next := kindAt(i), kindAt(i+1); {
		case kind == "list":
			list = kind
		case kind == "tv" && (next == "network" || next == "season" || next == "episode" || next == "episode_group"):
			return next
		case kind != "":
			return kind
		}
	}
	return list
}

// KindNamed returns the kind whose name a folder or file has, or "". Other words are not
// allowed: movie-recommender is an application, not a folder of movies.
func KindNamed(name string) string {
	return kindWords[strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(name))]
}

// kindOfPath returns the kind of the file's name, or else of the nearest folder above it with a kind. fromFolder means that
// it is a folder's. Both paths are absolute. Folders above root are ignored, because they do not belong to the dump.
func kindOfPath(path, root string) (kind string, fromFolder bool) {
	base := baseName(path)
	nameKind := kindOfName(base)
	if nameKind != "" && (nameKind != "list" || strings.HasPrefix(strings.ToLower(base), nameKind)) {
		return nameKind, false
	}
	root = filepath.Clean(root)
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if kind := KindNamed(filepath.Base(dir)); kind != "" {
			return kind, true
		}
		if dir == root || dir == filepath.Dir(dir) {
			return nameKind, false // "list" is used only after all folders: movie/popular-list.json has movies
		}
	}
}

// Beside returns the path of a file next to a dump with its name and another extension: films.toml for films.csv.gz and
// .toml.
func Beside(dump, ext string) string { return filepath.Join(filepath.Dir(dump), baseName(dump)+ext) }

// baseName returns the last element of path without the extensions of format
// and compression.
func baseName(path string) string {
	name, _ := cutExt(filepath.Base(path))
	return name
}

// cutExt removes the extensions of compression and format from name. It returns the extension of the
// format in lower case, or "" if it is unknown.
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

// meaning returns the resource that a file below root is named after, and the kind of its rows. fixedKind takes precedence
// unless it is "", but a file named after a series may contain its seasons and episodes.
//
// A folder may name the sub-request of its files: movie/credits/550.json and movie_credits/550.json have the meaning of
// movie/550-credits.json. fromFolder means that only a folder shows the kind, which is weak evidence for a file that is not
// named after one resource.
func meaning(path, root, fixedKind string) (a Address, kind string, fromFolder bool) {
	ext := extOf(path)
	if ext == ".json" { // others are not named after one resource
		for _, alias := range aliases(path, root, fixedKind) {
			a, kind, _ := addressOf(alias.path, alias.root, alias.kind)
			if (a.ID != 0 || a.Series != 0) && a.Sub == alias.sub && subRequests()[subRequest{kind, alias.sub}] {
				return a, kind, false
			}
		}
	}
	a, kind, fromFolder = addressOf(path, root, fixedKind)
	switch {
	case fixedKind != "":
	case a.ID != 0 && hasTextIDs(kind):
		kind = "" // credits/550.json is about a resource of another kind
	case kind == "credit" && (ext == ".csv" || ext == ".tsv"):
		kind = "" // a table of credits has people and titles, never the credits of the API
	}
	return a, kind, fromFolder && a == (Address{})
}

// An Address is the resource, and its sub-request, that a file is named after.
type Address struct {
	ID   int64  // number of the resource; 0 unknown
	Text string // 24 hex digits of a review, a credit or an episode group; "" unknown
	// Numbers of the season or the episode that the file is named after; Series is 0 for other files.
	Series, Season, Episode int64
	Sub                     string // such as credits or watch/providers; "" for the resource itself
}

// textID matches the ids of reviews, credits and episode groups.
var textID = regexp.MustCompile(`^[0-9a-f]{24}$`)

// part matches the end of a path that names a season or an episode: with dashes or
// underscores as in tv-1399-season-1-credits, or as folders as in tv/1399/season/1.
var part = regexp.MustCompile(`(?:^|([a-z]+)[-_]|/)(\d+)[-_]season[-_](\d+)(?:[-_]episode[-_](\d+))?(?:[-_]([a-z][a-z_-]*))?$|` +
	`(?:^|/)([a-z]+)/(\d+)/season/(\d+)(?:/episode/(\d+))?(?:/([a-z][a-z_-]*))?$`)

// addressOf returns the meaning of the path of a file whose name has the sub-request, if there is one: see meaning.
func addressOf(path, root, fixedKind string) (a Address, kind string, fromFolder bool) {
	kind = fixedKind
	if kind == "" {
		kind, fromFolder = kindOfPath(path, root)
	}
	base, ext := cutExt(filepath.Base(path))
	if ext != ".json" { // others are not named after one resource
		return a, kind, fromFolder
	}
	m := part.FindStringSubmatch(strings.ToLower(filepath.ToSlash(filepath.Join(filepath.Dir(path), base))))
	if m != nil && (kind == "" || kind == "tv" || kind == "season" || kind == "episode") {
		if m[2] == "" {
			m = m[5:] // folders
		}
		partKind := "season"
		if m[4] != "" {
			partKind = "episode"
		}
		series, err := strconv.ParseInt(m[2], 10, 64)
		season, err2 := strconv.ParseUint(m[3], 10, 32)
		episode, err3 := strconv.ParseUint(cmp.Or(m[4], "0"), 10, 32)
		switch ok := errors.Join(err, err2, err3) == nil && series > 0 && (m[1] == "" || kindWords[m[1]] == "tv"); {
		case ok && (fixedKind == "" || fixedKind == "tv" || fixedKind == partKind):
			return Address{Series: series, Season: int64(season), Episode: int64(episode), Sub: subOfName(m[5])}, partKind, fromFolder
		case ok:
			return a, kind, fromFolder
		}
	}
	// <id>, <id>-<sub>, <kind>-<id> and <kind>-<id>-<sub>. A sub-request starts with a letter, so movies-2026-05-01 has no id.
	if word, rest, ok := strings.Cut(base, "-"); ok && kindWords[word] == word {
		base = rest
	}
	text, sub, hasSub := strings.Cut(base, "-")
	if id, err := strconv.ParseInt(text, 10, 64); err == nil && id > 0 && text[0] != '+' {
		a.ID = id
	} else if textID.MatchString(text) {
		a.Text = text
	}
	if a.Sub = subOfName(sub); a == (Address{Sub: a.Sub}) || hasSub && a.Sub == "" {
		return Address{}, kind, fromFolder
	}
	return a, kind, fromFolder
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

// hasTextIDs reports whether the ids of a kind are 24 hex digits.
func hasTextIDs(kind string) bool {
	return kind == "review" || kind == "credit" || kind == "episode_group"
}

// An alias is another path for a file, with the sub-request in the file's name.
type alias struct {
	path, root string
	kind       string // kind of the file, "" if unknown
	sub        string
}

// aliases returns the possible aliases of a file in a folder named after a sub-request.
func aliases(path, root, fixedKind string) []alias {
	dir := filepath.Dir(path)
	folder, parent := strings.ToLower(filepath.Base(dir)), filepath.Dir(dir)
	if folder == "providers" && strings.EqualFold(filepath.Base(parent), "watch") {
		folder, parent = "watch_providers", filepath.Dir(parent)
	}
	base, _ := cutExt(filepath.Base(path))
	ext := filepath.Base(path)[len(base):]
	newAlias := func(sub, kind string) alias {
		a := alias{kind: kind, sub: subOfName(sub), root: root}
		a.path = filepath.Join(parent, base+"-"+strings.ReplaceAll(a.sub, "/", "-")+ext)
		if rel, err := filepath.Rel(root, parent); err != nil || strings.HasPrefix(rel, "..") {
			a.root = parent // the folder itself is the source
		}
		return a
	}
	var out []alias
	folderKind := KindNamed(folder)
	parentKind := kindWords[strings.ToLower(filepath.Base(parent))]
	// A folder named keywords may contain keywords, so the sub-request needs more evidence.
	if folderKind == "" || hasTextIDs(folderKind) || fixedKind != "" || kindOfName(base) != "" || parentKind != "" {
		out = append(out, newAlias(folder, fixedKind))
	}
	word, sub, found := strings.Cut(strings.ReplaceAll(folder, "-", "_"), "_")
	if kind := kindWords[word]; found && kind != "" && (fixedKind == "" || fixedKind == kind) {
		out = append(out, newAlias(sub, kind))
	}
	return out
}

// A subRequest is one that the API has for a kind.
type subRequest struct{ kind, name string }

var subRequests = sync.OnceValue(func() map[subRequest]bool {
	subs := map[subRequest]bool{}
	for _, op := range api.Operations() {
		if op.Sub != 0 && op.Sub != fragment.SubDetails {
			_, name, _ := strings.Cut(op.Path[strings.LastIndexByte(op.Path, '}'):], "/") // that may be an old one
			subs[subRequest{op.Kind.String(), name}] = true
		}
	}
	return subs
})
