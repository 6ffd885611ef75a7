package static

import (
	"slices"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/reelsplice/reelsplice/data/reference"
)

// object is a response of one field.
type object map[string]any

// configuration is the response of /3/configuration, in wire order.
type configuration struct {
	ChangeKeys []string `json:"change_keys"`
	Images     images   `json:"images"`
}

type images struct {
	BaseURL       string `json:"base_url"`
	SecureBaseURL string `json:"secure_base_url"`
	reference.ImageSizes
}

type genre struct {
	ID   int64   `json:"id"`
	Name *string `json:"name"` // null in a language without genre names
}

// genresOf returns the response of /3/genre/movie/list and /3/genre/tv/list. Without name all names are null.
func genresOf(m reference.Media, name func(id int64) string) object {
	list := []genre{}
	for _, id := range reference.Genres(m) {
		g := genre{ID: id}
		if name != nil {
			text := name(id)
			g.Name = &text
		}
		list = append(list, g)
	}
	return object{"genres": list}
}

// countriesIn returns the countries with their names in a language.
func countriesIn(tag language.Tag) []reference.Country {
	names := display.Regions(tag)
	list := slices.Clone(reference.Countries())
	for i := range list {
		region, err := language.ParseRegion(list[i].Code)
		if err != nil {
			continue // one that is no more
		}
		if name := names.Name(region); name != "" {
			list[i].NativeName = name
		}
	}
	return list
}

// providersIn returns the providers with offers in a country. Their display_priority
// is the country's; display_priorities keep all countries.
func providersIn(m reference.Media, country string) object {
	rows := []reference.Provider{}
	for _, p := range reference.Providers(m) {
		if rank, ok := p.Priorities.In(country); ok {
			p.Priority = rank
			rows = append(rows, p)
		}
	}
	return object{"results": rows}
}

// legacyTimezones returns the response of /3/timezones/list: an object for each country.
func legacyTimezones() []object {
	var list []object
	for _, c := range reference.Timezones() {
		list = append(list, object{c.Code: c.Zones})
	}
	return list
}
