package static

import (
	"slices"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"reelsplice/data/reference"
)

// The fields of these types stand in wire order.

// configuration is the response of /3/configuration.
type configuration struct {
	ChangeKeys []string `json:"change_keys"`
	Images     images   `json:"images"`
}

type images struct {
	BaseURL       string `json:"base_url"`
	SecureBaseURL string `json:"secure_base_url"`
	reference.ImageSizes
}

// genreList is the response of /3/genre/movie/list and /3/genre/tv/list.
type genreList struct {
	Genres []genre `json:"genres"`
}

type genre struct {
	ID   int64   `json:"id"`
	Name *string `json:"name"` // null in a language without genre names
}

func genresIn(m reference.Media, lang, region string) genreList {
	list := unnamedGenres(m)
	for i := range list.Genres {
		name := reference.GenreName(m, list.Genres[i].ID, lang, region)
		list.Genres[i].Name = &name
	}
	return list
}

func unnamedGenres(m reference.Media) genreList {
	var list genreList
	for _, id := range reference.Genres(m) {
		list.Genres = append(list.Genres, genre{ID: id})
	}
	return list
}

// certifications is the response of /3/certification/movie/list and
// /3/certification/tv/list. Encoded, its countries are sorted.
type certifications struct {
	Certifications map[string][]reference.Certification `json:"certifications"`
}

func certificationsOf(m reference.Media) certifications {
	return certifications{reference.Certifications(m)}
}

// regions is the response of /3/watch/providers/regions.
type regions struct {
	Results []reference.Country `json:"results"`
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

// providerRows is the response of /3/watch/providers/movie and /3/watch/providers/tv.
type providerRows struct {
	Results []reference.Provider `json:"results"`
}

// providersIn returns the providers with offers in a country. Their display_priority
// is the one of the country; display_priorities stay those of all countries.
func providersIn(m reference.Media, country string) providerRows {
	rows := providerRows{[]reference.Provider{}}
	for _, p := range reference.Providers(m) {
		if rank, ok := p.Priorities.In(country); ok {
			p.Priority = rank
			rows.Results = append(rows.Results, p)
		}
	}
	return rows
}

// jobList is the response of /3/job/list.
type jobList struct {
	Jobs []reference.Department `json:"jobs"`
}

func legacyJobs() jobList { return jobList{reference.Departments()} }

// legacyTimezones returns the response of /3/timezones/list: an object for each country.
func legacyTimezones() []map[string][]string {
	list := make([]map[string][]string, 0, len(reference.Timezones()))
	for _, c := range reference.Timezones() {
		list = append(list, map[string][]string{c.Code: c.Zones})
	}
	return list
}
