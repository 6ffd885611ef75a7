package crawl

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A libraryTitle is a movie or a series of a media library.
type libraryTitle struct {
	path string // of its folder or file, for the report
	kind string // movie or tv
	id   id     // zero for none
	name string // "" for none
	year int    // 0 for none
}

// readLibrary finds the titles below a folder. A folder is a series if it has a tvshow.nfo, folders of seasons, or
// files with names like S01E02; every other file of video is a movie. Ids come from NFO files, names of files
// and names of folders, in this order.
func readLibrary(ctx context.Context, dir string) ([]libraryTitle, error) {
	l := library{ctx: ctx, fsys: os.DirFS(dir)}
	if _, err := fs.ReadDir(l.fsys, "."); err != nil {
		return nil, fmt.Errorf("read library: %w", err)
	}
	titles := l.folder(".")
	for i := range titles {
		titles[i].path = filepath.Join(dir, filepath.FromSlash(titles[i].path))
	}
	return titles, ctx.Err()
}

// A library is a tree of folders. Links to folders are not followed.
type library struct {
	ctx  context.Context
	fsys fs.FS
}

// tagged is what a name says.
type tagged struct {
	ids  ids
	name string
	year int
}

// ids are the ids of one title at several places, "" and 0 for none.
type ids struct {
	tmdb int64
	imdb string
	tvdb int64
}

// of returns the best of them.
func (i ids) of(kind string) id {
	switch {
	case i.tmdb > 0:
		return id{title: Title{kind, i.tmdb}}
	case i.imdb != "":
		return id{source: "imdb_id", text: i.imdb}
	case i.tvdb > 0:
		return id{source: "tvdb_id", text: strconv.FormatInt(i.tvdb, 10)}
	}
	return id{}
}

// or completes ids by those of a place that counts less.
func (i ids) or(o ids) ids {
	if i != (ids{}) {
		return i
	}
	return o
}

var (
	videoExt   = regexp.MustCompile(`(?i)\.(mkv|mp4|m4v|avi|mov|wmv|mpe?g|ts|m2ts|webm|flv|ogm|ogv|divx|vob|iso|strm|rmvb|3gp|asf)$`)
	seasonDir  = regexp.MustCompile(`(?i)^(?:(?:season|series|staffel|saison|temporada|stagione)[ ._-]*\d{1,4}|s\d{1,4}|specials)$`)
	episodeTag = regexp.MustCompile(`(?i)(?:^|[^\pL\d])s\d{1,4}[ ._-]?e\d{1,4}`)
	extraDir   = regexp.MustCompile(`(?i)^(?:extras?|trailers?|featurettes|behind the scenes|deleted scenes|interviews|scenes|shorts|samples?|subs|subtitles|other|extrafanart|\.actors|@eadir)$`)
	extraFile  = regexp.MustCompile(`(?i)(?:^|[-_. ])(?:trailer|sample|behindthescenes|deleted|featurette|interview|scene|short|theme|other)\d*$`)
)

// folder returns the titles of a folder and of those below it.
func (l *library) folder(dir string) []libraryTitle {
	entries, err := fs.ReadDir(l.fsys, dir)
	if err != nil {
		return []libraryTitle{{path: dir + ": cannot be read"}}
	}
	own := tagged{}
	if dir != "." {
		own = parseName(path.Base(dir))
	}
	if dir != "." && isSeries(entries) {
		if nfo, ok := l.nfo(path.Join(dir, "tvshow.nfo")); ok {
			own.ids = nfo.or(own.ids)
		}
		return []libraryTitle{{path: dir, kind: "tv", id: own.ids.of("tv"), name: own.name, year: own.year}}
	}
	titles := l.movies(dir, entries, own)
	for _, e := range entries {
		if e.IsDir() && !extraDir.MatchString(e.Name()) && !strings.HasPrefix(e.Name(), ".") && l.ctx.Err() == nil {
			titles = append(titles, l.folder(path.Join(dir, e.Name()))...)
		}
	}
	if len(titles) == 0 && own.ids != (ids{}) { // a disc, or a folder that waits for its files
		kind := "movie"
		if own.ids.tmdb == 0 && own.ids.imdb == "" {
			kind = "tv"
		}
		return []libraryTitle{{path: dir, kind: kind, id: own.ids.of(kind), name: own.name, year: own.year}}
	}
	return titles
}

// isSeries reports whether a folder with these entries is a series.
func isSeries(entries []fs.DirEntry) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		if e.IsDir() {
			return seasonDir.MatchString(e.Name())
		}
		return strings.EqualFold(e.Name(), "tvshow.nfo") || videoExt.MatchString(e.Name()) && episodeTag.MatchString(e.Name())
	})
}

// movies returns the movies of a folder's files. Files of a folder whose name, or whose movie.nfo, has an id are one
// movie, unless they have ids of their own.
func (l *library) movies(dir string, entries []fs.DirEntry, own tagged) (titles []libraryTitle) {
	if nfo, ok := l.nfo(path.Join(dir, "movie.nfo")); ok {
		own.ids = nfo.or(own.ids)
	}
	seen := map[libraryTitle]bool{}
	for _, e := range entries {
		if e.IsDir() || !videoExt.MatchString(e.Name()) {
			continue
		}
		base := strings.TrimSuffix(e.Name(), path.Ext(e.Name()))
		file := parseName(base)
		if file.ids == (ids{}) && extraFile.MatchString(base) {
			continue
		}
		if nfo, ok := l.nfo(path.Join(dir, base+".nfo")); ok {
			file.ids = nfo.or(file.ids)
		}
		t := libraryTitle{kind: "movie", id: file.ids.or(own.ids).of("movie")}
		if t.id == (id{}) {
			if t.name, t.year = file.name, file.year; t.year == 0 && own.year > 0 {
				t.name, t.year = own.name, own.year
			}
		}
		if !seen[t] {
			seen[t] = true
			t.path = path.Join(dir, e.Name())
			titles = append(titles, t)
		}
	}
	return titles
}

// nfo reads the ids of an NFO file; false for one that is not there.
func (l *library) nfo(name string) (ids, bool) {
	f, err := l.fsys.Open(name)
	if err != nil {
		return ids{}, false
	}
	out := readNFO(f)
	return out, f.Close() == nil
}

var (
	// idTag matches {tmdb-550}, [tmdbid=550], [imdbid-tt0137523] and the like.
	idTag = regexp.MustCompile(`(?i)[\[{(]\s*(tmdb|imdb|tvdb)(?:id)?\s*[-=:]\s*(tt\d{1,15}|\d{1,18})\s*[\]})]`)
	// bracketed matches other remarks in brackets, such as [1080p].
	bracketed = regexp.MustCompile(`[\[{][^\]}]*[\]}]`)
	// yearMark matches a year in brackets, or else one between dots or blanks.
	yearMark  = regexp.MustCompile(`[(\[]((?:18|19|20)\d{2})[)\]]`)
	plainYear = regexp.MustCompile(`[ ._]((?:19|20)\d{2})(?:[ ._]|$)`)
	spaces    = regexp.MustCompile(`[\s._]+`)
)

// parseName reads the name of a file, without its extension, or of a folder.
func parseName(name string) (t tagged) {
	for _, m := range idTag.FindAllStringSubmatch(name, -1) {
		t.ids.set(strings.ToLower(m[1]), m[2])
	}
	name = idTag.ReplaceAllString(name, " ")
	at := yearMark.FindStringSubmatchIndex(name)
	if at == nil {
		at = plainYear.FindStringSubmatchIndex(name)
	}
	if at != nil && at[0] > 0 {
		t.year, _ = strconv.Atoi(name[at[2]:at[3]]) // four digits
		name = name[:at[0]]
	}
	name = bracketed.ReplaceAllString(name, " ")
	t.name = strings.Trim(spaces.ReplaceAllString(name, " "), " -")
	return t
}

// set sets the first id of a place that is one.
func (i *ids) set(place, text string) {
	n, err := strconv.ParseInt(text, 10, 64)
	number := err == nil && n > 0
	switch {
	case place == "tmdb" && number:
		i.tmdb = cmp.Or(i.tmdb, n)
	case place == "tvdb" && number:
		i.tvdb = cmp.Or(i.tvdb, n)
	case place == "imdb" && imdbID.MatchString(text) && strings.HasPrefix(text, "tt"):
		i.imdb = cmp.Or(i.imdb, text)
	}
}
