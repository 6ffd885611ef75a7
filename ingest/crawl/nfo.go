package crawl

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
)

// maxNFO bounds the bytes of an NFO file that are read.
const maxNFO = 1 << 20

// nfoFields are the fields of NFO files that hold an id, the title or its year, by their names in small letters.
var nfoFields = map[string]string{
	"tmdbid": "tmdb", "tmdb_id": "tmdb", "imdbid": "imdb", "imdb_id": "imdb", "tvdbid": "tvdb", "tvdb_id": "tvdb",
	"id":    "imdb", // of old files
	"title": "title", "year": "year", "premiered": "year",
}

// Addresses of pages about a title, as NFO files have them instead of XML or behind it.
var (
	tmdbPage = regexp.MustCompile(`themoviedb\.org/(movie|tv)/(\d{1,18})`)
	imdbPage = regexp.MustCompile(`imdb\.com/(?:[a-z]{2}/)?title/(tt\d{1,15})`)
)

// nfoKinds are the kinds of what NFO files are about, by their root elements.
var nfoKinds = map[string]string{"movie": "movie", "tvshow": "tv", "episodedetails": "episode"}

// allNFOs is the root element of a file with the NFO of each title of a library.
const allNFOs = "videodb"

// readNFO returns the titles that an NFO file has an id of; of a file of many also those with a title alone. Ids of actors
// do not count, and TMDB's id of an episode leads nowhere by itself. A damaged file gives the titles before the damage, and
// a file of many also the error.
func readNFO(r io.Reader) (out []candidate, err error) {
	data, err := io.ReadAll(r)
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // ids are ASCII
	var one candidate
	use := func(titled bool) {
		if one.kind == "episode" {
			one.tmdb = 0
		}
		if one.any() || titled && one.title != "" {
			out = append(out, one)
		}
		one = candidate{}
	}
	root, field := "", ""
	top := 1 // depth of the element that is a title
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
					top = 2
				}
				fallthrough
			case top:
				one.kind = nfoKinds[name]
			case top + 1:
				field = fieldOf(t)
			}
		case xml.EndElement:
			if depth == top {
				use(top > 1)
			}
			depth--
			field = ""
		case xml.CharData:
			if depth == top+1 && field != "" {
				one.setField(field, strings.TrimSpace(string(t)))
			}
		}
	}
	use(false)
	if top > 1 {
		return out, err
	}
	if len(out) == 0 && (root == "" || nfoKinds[root] != "") {
		if m := tmdbPage.FindSubmatch(data); m != nil {
			one.kind = string(m[1])
			one.set("tmdb", string(m[2]))
		}
		if m := imdbPage.FindSubmatch(data); m != nil {
			one.set("imdb", string(m[1]))
		}
		use(false)
	}
	return out, nil
}

// setField sets a field of nfoFields.
func (c *candidate) setField(field, text string) {
	switch field {
	case "title":
		c.title = text
	case "year":
		c.year = cmp.Or(c.year, yearOf(text))
	default:
		c.set(field, text)
	}
}

// fieldOf returns the field of nfoFields that an element is, "" for others.
func fieldOf(e xml.StartElement) string {
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
