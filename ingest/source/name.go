package source

import (
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
)

// kindOfWord returns the kind that a word of a file name stands for, "" for none.
func kindOfWord(word string) string {
	switch word {
	case "movie", "movies", "film", "films":
		return "movie"
	case "tv", "tvs", "tvshow", "tvshows", "show", "shows", "series":
		return "tv"
	case "season", "seasons":
		return "season"
	case "episode", "episodes":
		return "episode"
	case "person", "persons", "people":
		return "person"
	case "collection", "collections":
		return "collection"
	case "company", "companies":
		return "company"
	case "network", "networks":
		return "network"
	case "keyword", "keywords":
		return "keyword"
	}
	return ""
}

// kindOfName returns the kind that a file or folder name tells: that of its first
// word that names one, so movie_keywords is about movies, except that tv only
// qualifies what follows it in tv_networks, tv_seasons and tv_episodes. A name that
// starts with an id tells none: in 550-keywords the word is a sub-request.
func kindOfName(name string) string {
	if digits := strings.TrimLeft(name, "0123456789"); len(digits) < len(name) && strings.HasPrefix(digits, "-") {
		return ""
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	for i, w := range words {
		kind := kindOfWord(w)
		if kind == "tv" && i+1 < len(words) {
			switch next := kindOfWord(words[i+1]); next {
			case "network", "season", "episode":
				return next
			}
		}
		if kind != "" {
			return kind
		}
	}
	return ""
}

// kindOfPath returns the kind told by the file's name, else by the nearest folder
// above it that tells one. Folders above root are not asked: they are part of the
// machine, not of the dump.
func kindOfPath(path, root string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	if root, err = filepath.Abs(root); err != nil {
		return kindOfName(baseName(abs))
	}
	if kind := kindOfName(baseName(abs)); kind != "" {
		return kind
	}
	for dir := filepath.Dir(abs); ; dir = filepath.Dir(dir) {
		if kind := kindOfName(filepath.Base(dir)); kind != "" {
			return kind
		}
		if dir == root || dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// baseName returns the last element of path without the extensions that say format
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
	case ".json", ".ndjson", ".jsonl", ".parquet":
		return name[:len(name)-len(e)], e
	}
	return name, ""
}

// idOfName returns what the names <id>.json, <id>-<sub>.json, <kind>-<id>.json and
// <kind>-<id>-<sub>.json tell. Only .json files are named after one resource, and a
// sub-request starts with a letter, so movies-2026-05-01.json has no id.
func idOfName(name string) (id int64, sub string) {
	base, ext := cutExt(name)
	if ext != ".json" {
		return 0, ""
	}
	parts := strings.SplitN(base, "-", 2)
	if kindOfWord(parts[0]) == parts[0] && len(parts) == 2 {
		parts = strings.SplitN(parts[1], "-", 2)
	}
	id, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil || id <= 0 || parts[0][0] == '+' {
		return 0, ""
	}
	if len(parts) == 1 {
		return id, ""
	}
	if sub = subOfName(parts[1]); sub == "" {
		return 0, ""
	}
	return id, sub
}

// subOfName returns the sub-request that a file name spells with dashes or
// underscores: watch-providers is watch/providers, season-1 is season/1.
func subOfName(s string) string {
	s = strings.ReplaceAll(strings.ToLower(s), "-", "_")
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return ""
	}
	if s == "watch_providers" {
		return "watch/providers"
	}
	if n, ok := strings.CutPrefix(s, "season_"); ok {
		if _, err := strconv.ParseUint(n, 10, 32); err == nil {
			return "season/" + n
		}
	}
	return s
}
