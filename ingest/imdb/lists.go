package imdb

import (
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// genres maps IMDb's genres to the genres of one kind of titles. Names that are not listed are the same in both.
type genres struct {
	media reference.Media
	names map[string]string
}

var movieGenres = &genres{reference.Movie, map[string]string{
	"Sci-Fi":  "Science Fiction",
	"Musical": "Music",
}}

var seriesGenres = &genres{reference.TV, map[string]string{
	"Action":     "Action & Adventure",
	"Adventure":  "Action & Adventure",
	"Fantasy":    "Sci-Fi & Fantasy",
	"Sci-Fi":     "Sci-Fi & Fantasy",
	"War":        "War & Politics",
	"Reality-TV": "Reality",
	"Talk-Show":  "Talk",
}}

// find returns the genre for a name of IMDb's.
func (m *genres) find(name string) (catalog.Genre, bool) {
	if other, ok := m.names[name]; ok {
		name = other
	}
	for _, id := range reference.Genres(m.media) {
		if reference.GenreName(m.media, id, "en", "") == name {
			return catalog.Genre{ID: record.Number(id), Name: record.Text(name)}, true
		}
	}
	return catalog.Genre{}, false
}

// genres returns the title's genres that the API has, without duplicates.
func (g *titleGroup) genres(m *genres) []catalog.Genre {
	var out []catalog.Genre
	add := func(name string) bool {
		genre, ok := m.find(name)
		if ok && !slices.Contains(out, genre) {
			out = append(out, genre)
		}
		return ok
	}
	for name := range items(g.cell(basicsGenres)) {
		if !add(name) {
			g.j.dropName(titleBasics+".genres.", name)
		}
	}
	if m.media == reference.Movie && g.cell(basicsType) == typeTVMovie {
		add("TV Movie")
	}
	return out
}

// regions maps IMDb's codes of former countries to the API's.
var regions = map[string]string{
	"SUHH": "SU", // Soviet Union
	"CSHH": "XC", // Czechoslovakia
	"DDDE": "XG", // East Germany
	"YUCS": "YU", // Yugoslavia
	"CSXX": "CS", // Serbia and Montenegro
	"BUMM": "BU", // Burma
	"ZRCD": "ZR", // Zaire
	"XKV":  "XK", // Kosovo
}

// separator separates the types, or the attributes, of one title.
const separator = "\x02"

// sameTitle counts rows of title.akas that repeat the title itself.
const sameTitle = titleAkas + ": the title itself"

// plainTypes are ignored: they only describe the source of a title.
var plainTypes = []string{"imdbDisplay", "alternative", "original"}

// alternatives returns the alternative titles, or nil. The original title and duplicates are left out.
func (g *titleGroup) alternatives() []catalog.AlternativeTitle {
	var out []catalog.AlternativeTitle
	for i := range g.akas {
		c := &g.akas[i].cells
		region := c[akasRegion]
		if r, ok := regions[region]; ok {
			region = r
		}
		_, known := reference.CountryByCode(region)
		switch {
		case c[akasTitle] == "":
		case c[akasOriginal] == "1", c[akasTitle] == g.cell(basicsPrimary), c[akasTitle] == g.cell(basicsOriginal):
			g.j.drop(sameTitle, 1)
		case region == "":
			g.j.drop(titleAkas+".title without region", 1)
		case !known:
			g.j.dropName(titleAkas+".region.", region)
		default:
			a := catalog.AlternativeTitle{
				ISO3166: record.Text(region), Title: record.Text(c[akasTitle]), Type: record.Text(typeOf(c[akasTypes], c[akasAttributes])),
			}
			if slices.Contains(out, a) {
				g.j.drop(sameTitle, 1)
				continue
			}
			out = append(out, a)
		}
	}
	return out
}

// typeOf joins the types and attributes of a title.
func typeOf(types, attributes string) string {
	var out []string
	for _, list := range []string{types, attributes} {
		for s := range strings.SplitSeq(list, separator) {
			if s != "" && !slices.Contains(plainTypes, s) && !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return strings.Join(out, ", ")
}
