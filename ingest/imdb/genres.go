package imdb

import (
	"slices"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// genres maps IMDb's genres to the genres of one kind of titles. Names that are missing here are equal in both.
type genres struct {
	of    reference.Media
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
	for _, id := range reference.Genres(m.of) {
		if reference.GenreName(m.of, id, "en", "") == name {
			return catalog.Genre{ID: record.Number(id), Name: record.Text(name)}, true
		}
	}
	return catalog.Genre{}, false
}

// genres returns the title's genres without duplicates, or nil if the API has none of them.
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
	if m.of == reference.Movie && g.cell(basicsType) == typeTVMovie {
		add("TV Movie")
	}
	return out
}
