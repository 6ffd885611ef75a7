package crawl

import (
	"bytes"
	"encoding/xml"
	"io"
	"regexp"
	"strings"
)

// maxNFO bounds the bytes of an NFO file that are read.
const maxNFO = 1 << 20

// nfoFields are the fields of NFO files that hold an id, by their names in small letters.
var nfoFields = map[string]string{
	"tmdbid": "tmdb", "tmdb_id": "tmdb", "imdbid": "imdb", "imdb_id": "imdb", "tvdbid": "tvdb", "tvdb_id": "tvdb",
	"id": "imdb", // of old files
}

// Addresses of pages about a title, as NFO files have them instead of XML or behind it.
var (
	tmdbPage = regexp.MustCompile(`themoviedb\.org/(movie|tv)/(\d{1,18})`)
	imdbPage = regexp.MustCompile(`imdb\.com/title/(tt\d{1,15})`)
)

// nfoKinds are the kinds of titles that NFO files are about, by their root elements.
var nfoKinds = map[string]string{"movie": "movie", "tvshow": "tv"}

// readNFO returns the ids in an NFO file: those of the title itself, not of its actors. A damaged file gives the
// ids before the damage. TMDB's id of an episode leads nowhere by itself, and is left out.
func readNFO(r io.Reader) (out ids) {
	data, err := io.ReadAll(io.LimitReader(r, maxNFO))
	if err != nil && len(data) == 0 {
		return out
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // ids are ASCII
	var root, place string
	for depth := 0; ; {
		token, err := d.Token()
		if err != nil {
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch depth++; depth {
			case 1:
				root = strings.ToLower(t.Name.Local)
			case 2:
				place = placeOf(t)
			}
		case xml.EndElement:
			depth--
			place = ""
		case xml.CharData:
			if depth == 2 && place != "" {
				out.set(place, strings.TrimSpace(string(t)))
			}
		}
	}
	if root == "episodedetails" {
		out.tmdb = 0
	}
	if out.tmdb > 0 {
		out.kind = nfoKinds[root]
	}
	if out == (ids{}) {
		if m := tmdbPage.FindSubmatch(data); m != nil {
			if out.set("tmdb", string(m[2])); out.tmdb > 0 {
				out.kind = string(m[1])
			}
		}
		if m := imdbPage.FindSubmatch(data); m != nil {
			out.set("imdb", string(m[1]))
		}
	}
	return out
}

// placeOf returns where the id in an element is from, "" for other elements.
func placeOf(e xml.StartElement) string {
	name := strings.ToLower(e.Name.Local)
	if name != "uniqueid" {
		return nfoFields[name]
	}
	for _, a := range e.Attr {
		if strings.EqualFold(a.Name.Local, "type") {
			return strings.ToLower(a.Value)
		}
	}
	return ""
}
