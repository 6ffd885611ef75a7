package crawl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// readLibrary finds the titles below a folder. A folder is a series if it has a tvshow.nfo or season folders, or if it has
// files named like S01E02 and either an ID or nothing else. Every other video file is a movie. IDs come from NFO files, then
// file names, then folder names.
func readLibrary(ctx context.Context, dir string) ([]candidate, error) {
	l := library{ctx: ctx, fsys: os.DirFS(dir)}
	if _, err := os.ReadDir(dir); err != nil { // the error names dir
		return nil, fmt.Errorf("read library: %w", err)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("read library: %w", err)
	}
	titles := l.folder(".", filepath.Base(abs))
	for i := range titles {
		titles[i].place = filepath.Join(dir, filepath.FromSlash(titles[i].place))
	}
	return titles, ctx.Err()
}

// A library is a tree of folders. Links to folders are not followed.
type library struct {
	ctx  context.Context
	fsys fs.FS
}

// ids are the IDs of one title at several sites; "" and 0 for none.
type ids struct {
	tmdb int64
	imdb string
	tvdb int64
	kind string // one of KindNames, season, episode, or an unknown type; "" if unstated
}

// hasID reports whether there is an ID.
func (i ids) hasID() bool { return i.tmdb > 0 || i.imdb != "" || i.tvdb > 0 }

// or returns i if it has an ID, or else o.
func (i ids) or(o ids) ids {
	if i.hasID() {
		return i
	}
	return o
}

// withPlace returns the title of a folder or a file. kind applies unless the IDs state one.
func (c candidate) withPlace(place, kind string) candidate {
	c.place, c.guessed, c.kind = place, c.kind == "", cmp.Or(c.kind, kind)
	return c
}

var (
	videoExt  = regexp.MustCompile(`(?i)\.(mkv|mp4|m4v|avi|mov|wmv|mpe?g|ts|m2ts|webm|flv|ogm|ogv|divx|vob|iso|strm|rmvb|3gp|asf)$`)
	seasonDir = regexp.MustCompile(`(?i)^(?:(?:season|series|staffel|saison|temporada|stagione)[ ._-]*\d{1,4}|s\d{1,4}|specials)$`)
	// episodeTag matches S01E02 and 1x02. Its group matches in the name of a movie, such as 10x10 (2018).
	episodeTag = regexp.MustCompile(`(?i)(?:^|[^\pL\d])(?:\d{1,2}x\d{2,3}[ ._]*([(\[](?:18|19|20)\d{2}[)\]])|s\d{1,4}[ ._-]?e\d{1,4}|\d{1,2}x\d{2,3}(?:[^\pL\d]|$))`)
	// extraDir matches folders of extras inside a title's folder. Elsewhere such names are ordinary.
	extraDir  = regexp.MustCompile(`(?i)^(?:extras?|trailers?|featurettes|behind the scenes|deleted scenes|interviews|scenes|shorts|samples?|subs|subtitles|other)$`)
	serverDir = regexp.MustCompile(`(?i)^(?:extrafanart|@eadir)$`)
	extraFile = regexp.MustCompile(`(?i)(?:^|[-_. ])(?:trailer|sample|behindthescenes|deleted|featurette|interview|scene|short|theme|other)\d*$`)
)

// episodeAt returns the offset of an episode number in a name, or -1.
func episodeAt(base string) int {
	for _, m := range episodeTag.FindAllStringSubmatchIndex(base, -1) {
		if m[2] < 0 {
			return m[0]
		}
	}
	return -1
}

// folder returns the titles of a folder and its subfolders.
func (l *library) folder(dir, name string) []candidate {
	entries, err := fs.ReadDir(l.fsys, dir)
	if err != nil {
		return []candidate{{place: dir + ": cannot be read"}}
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") || serverDir.MatchString(e.Name()) })
	title := parseName(name)
	if isSeries(entries, dir != ".", title.hasID()) {
		if nfo, ok := l.nfo(path.Join(dir, "tvshow.nfo")); ok {
			title.ids = nfo.or(title.ids)
		}
		return []candidate{title.withPlace(dir, "tv")}
	}
	if dir == "." && !title.hasID() {
		title = candidate{} // a library's name is not a title
	}
	titles := l.videos(dir, entries, title)
	oneTitle := title.hasID() || len(titles) == 1 && dir != "."
	for _, e := range entries {
		if e.IsDir() && (!oneTitle || !extraDir.MatchString(e.Name())) && l.ctx.Err() == nil {
			titles = append(titles, l.folder(path.Join(dir, e.Name()), e.Name())...)
		}
	}
	if len(titles) == 0 && title.hasID() { // a disc, or a folder whose files are still missing
		kind := "movie"
		if title.tmdb == 0 && title.imdb == "" {
			kind = "" // at TVDB, a movie and a series may have the same number
		}
		return []candidate{title.withPlace(dir, kind)}
	}
	return titles
}

// isSeries reports whether a folder is a series. Files of episodes suffice if the folder has an ID. Otherwise they, or a folder
// of specials, count only below the library's root and without other videos and folders.
func isSeries(entries []fs.DirEntry, below, hasIDs bool) bool {
	episodes, specials, alone := false, false, true
	for _, e := range entries {
		name := e.Name()
		switch base := strings.TrimSuffix(name, path.Ext(name)); {
		case strings.EqualFold(name, "tvshow.nfo") && !e.IsDir():
			return true
		case !e.IsDir() && videoExt.MatchString(name) && episodeAt(base) >= 0:
			episodes = true
		case e.IsDir() && strings.EqualFold(name, "specials"):
			specials = true
		case e.IsDir() && seasonDir.MatchString(name):
			return true
		case e.IsDir() && !extraDir.MatchString(name), !e.IsDir() && videoExt.MatchString(name) && !extraFile.MatchString(base):
			alone = false
		}
	}
	return episodes && hasIDs || (episodes || specials) && alone && (below || hasIDs)
}

// videos returns the titles of a folder's files. If the folder's name or movie.nfo has an ID, all files without their own
// ID are one movie. For an episode, it returns the series.
func (l *library) videos(dir string, entries []fs.DirEntry, title candidate) (titles []candidate) {
	if nfo, ok := l.nfo(path.Join(dir, "movie.nfo")); ok {
		title.ids = nfo.or(title.ids)
	}
	seen := map[candidate]bool{}
	for _, e := range entries {
		if e.IsDir() || !videoExt.MatchString(e.Name()) {
			continue
		}
		base := strings.TrimSuffix(e.Name(), path.Ext(e.Name()))
		file, folder, kind := parseName(base), title, "movie"
		if !file.hasID() && extraFile.MatchString(base) {
			continue
		}
		if i := episodeAt(base); i >= 0 {
			series := parseName(base[:i])
			file.title, file.year, kind = series.title, series.year, "tv"
			folder = candidate{} // it may belong to another title
		}
		if nfo, ok := l.nfo(path.Join(dir, base+".nfo")); ok {
			file.ids = nfo.or(file.ids)
		}
		t := candidate{ids: file.or(folder.ids)}
		if t.tmdb == 0 && t.imdb == "" {
			if t.title, t.year = file.title, file.year; t.year == 0 && folder.year > 0 || t.hasID() && !file.hasID() {
				t.title, t.year = folder.title, folder.year
			}
		}
		if t = t.withPlace("", kind); !seen[t] {
			seen[t] = true
			t.place = path.Join(dir, e.Name())
			titles = append(titles, t)
		}
	}
	return titles
}

// nfo reads the IDs of an NFO file, or returns false if it is missing.
func (l *library) nfo(name string) (ids, bool) {
	f, err := l.fsys.Open(name)
	if err != nil {
		return ids{}, false
	}
	found, err := readNFO(io.LimitReader(f, maxNFO))
	if err = errors.Join(err, f.Close()); len(found) == 0 {
		return ids{}, err == nil
	}
	return found[0].ids, true
}

var (
	// idTag matches {tmdb-550}, [tmdbid=550], [imdbid-tt0137523] and the like.
	idTag = regexp.MustCompile(`(?i)[\[{(]\s*(tmdb|imdb|tvdb)(?:id)?\s*[-=:]\s*(tt\d{1,15}|\d{1,18})\s*[\]})]`)
	// bracketed matches other tags in brackets, such as [1080p].
	bracketed = regexp.MustCompile(`[\[{][^\]}]*[\]}]`)
	// yearMark matches a year in brackets, and plainYear one between dots or spaces.
	yearMark  = regexp.MustCompile(`[(\[]((?:18|19|20)\d{2})[)\]]`)
	plainYear = regexp.MustCompile(`[ ._]((?:19|20)\d{2})(?:[ ._]|$)`)
	spaces    = regexp.MustCompile(`[\s._]+`)
)

// parseName parses the name of a folder, or of a file without its extension.
func parseName(name string) (t candidate) {
	for _, m := range idTag.FindAllStringSubmatch(name, -1) {
		t.set(strings.ToLower(m[1]), m[2])
	}
	name = idTag.ReplaceAllString(name, " ")
	match := yearMark.FindStringSubmatchIndex(name)
	if match == nil {
		match = plainYear.FindStringSubmatchIndex(name)
	}
	if match != nil && match[0] > 0 {
		t.year, _ = strconv.Atoi(name[match[2]:match[3]]) // four digits
		name = name[:match[0]]
	}
	name = bracketed.ReplaceAllString(name, " ")
	t.title = strings.Trim(spaces.ReplaceAllString(name, " "), " -")
	return t
}

// set sets the ID at a site unless it is set.
func (i *ids) set(place, text string) {
	n, err := strconv.ParseInt(strings.TrimSuffix(text, ".0"), 10, 64) // tools write 550.0 in columns with empty cells
	number := err == nil && n > 0
	switch {
	case place == "tmdb" && number:
		i.tmdb = cmp.Or(i.tmdb, n)
	case place == "tvdb" && number:
		i.tvdb = cmp.Or(i.tvdb, n)
	case place == "imdb" && imdbID.MatchString(text):
		i.imdb = cmp.Or(i.imdb, text)
	}
}
