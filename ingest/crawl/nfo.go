package crawl

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
)

// maxNFO is how many bytes of an NFO file are read.
const maxNFO = 1 << 20

// nfoFields maps elements of NFO files, in lower case, to an ID's site, title or year.
var nfoFields = map[string]string{
	"tmdbid": "tmdb", "tmdb_id": "tmdb", "imdbid": "imdb", "imdb_id": "imdb", "tvdbid": "tvdb", "tvdb_id": "tvdb",
	"id":    "imdb", // in old files
	"title": "title", "year": "year", "premiered": "year",
}

// Addresses of a title's pages, which NFO files may have instead of XML or after it.
var (
	tmdbPage = regexp.MustCompile(`themoviedb\.org/(movie|tv)/(\d{1,18})`)
	imdbPage = regexp.MustCompile(`imdb\.com/(?:[a-z]{2}/)?title/(tt\d{1,15})`)
)

// nfoKinds maps root elements of NFO files to kinds.
var nfoKinds = map[string]string{"movie": "movie", "tvshow": "tv", "episodedetails": "episode"}

// allNFOs is the root element of a file with the NFOs of a whole library.
const allNFOs = "videodb"

// readNFO returns the titles of an NFO file that have an ID. In a library's file, titles without an ID are included. IDs of
// actors are ignored, and so is TMDB's ID of an episode, for which there is no lookup. In a damaged file, it reads the titles
// before the damage, and returns an error only for a library's file.
func readNFO(r io.Reader) (out []candidate, err error) {
	data, err := io.ReadAll(r)
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // IDs are ASCII
	var c candidate
	emit := func(keepTitled bool) {
		if c.kind == "episode" {
			c.tmdb = 0
		}
		if c.hasID() || keepTitled && c.title != "" {
			out = append(out, c)
		}
		c = candidate{}
	}
	root, field := "", ""
	titleDepth := 1 // depth of a title's element
	for depth := 0; ; {
		token, tokenErr := d.Token()
		if tokenErr != nil {
			if err == nil && !errors.Is(tokenErr, io.EOF) {
				err = tokenErr
			}
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			name := strings.ToLower(t.Name.Local)
			switch depth++; depth {
			case 1:
				if root = name; root == allNFOs {
					titleDepth = 2
				}
				fallthrough
			case titleDepth:
				c.kind = nfoKinds[name]
			case titleDepth + 1:
				field = nfoFields[name]
				if name == "uniqueid" {
					if i := slices.IndexFunc(t.Attr, func(a xml.Attr) bool { return strings.EqualFold(a.Name.Local, "type") }); i >= 0 {
						field = strings.ToLower(t.Attr[i].Value)
					}
				}
			}
		case xml.EndElement:
			if depth == titleDepth {
				emit(titleDepth > 1)
			}
			depth--
			field = ""
		case xml.CharData:
			if depth != titleDepth+1 {
				continue
			}
			switch text := strings.TrimSpace(string(t)); field {
			case "title":
				c.title = text
			case "year":
				c.year = cmp.Or(c.year, yearOf(text))
			default:
				c.set(field, text)
			}
		}
	}
	emit(false)
	if titleDepth > 1 {
		return out, err
	}
	if len(out) == 0 && (root == "" || nfoKinds[root] != "") {
		if m := tmdbPage.FindSubmatch(data); m != nil {
			c.kind = string(m[1])
			c.set("tmdb", string(m[2]))
		}
		if m := imdbPage.FindSubmatch(data); m != nil {
			c.set("imdb", string(m[1]))
		}
		emit(false)
	}
	return out, nil
}
