package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// A Provider is a service that offers titles to watch: one row of
// watch/providers/movie and watch/providers/tv. It encodes as such a row.
type Provider struct {
	// Priorities has the countries with offers.
	Priorities Priorities `json:"display_priorities"`
	// Priority is the rank for no country in particular, 0 first.
	Priority int    `json:"display_priority"`
	LogoPath string `json:"logo_path"`
	Name     string `json:"provider_name"`
	ID       int64  `json:"provider_id"`
}

// Priorities are the ranks of a provider by country in TMDB's order. They encode as
// an object, which is why they are no map.
type Priorities []Priority

// A Priority is the rank of a provider among those of a country, 0 first.
type Priority struct {
	Country string // ISO 3166-1
	Rank    int
}

// In returns the rank in a country, and false where there are no offers.
func (p Priorities) In(country string) (rank int, ok bool) {
	for _, c := range p {
		if c.Country == country {
			return c.Rank, true
		}
	}
	return 0, false
}

// MarshalJSON returns the object of ranks by country.
func (p Priorities) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, c := range p {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "%q:%d", c.Country, c.Rank) // a code needs no escapes
	}
	return append(b, '}'), nil
}

// UnmarshalJSON reads an object of ranks by country and keeps its order. It wants
// codes of two letters or more that need no escapes.
func (p *Priorities) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("reference: display priorities %.40q: want an object", data)
	}
	list := Priorities{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return fmt.Errorf("reference: display priorities %.40q: %w", data, err)
		}
		c := Priority{Country: t.(string)} // names of members are strings, or Token fails
		if err := dec.Decode(&c.Rank); err != nil {
			return fmt.Errorf("reference: display priority of %q: %w", c.Country, err)
		}
		list = append(list, c)
	}
	*p = list
	return nil
}

// providerFile is the shape of providers.json. A provider is the same in both lists.
type providerFile struct {
	Regions   []string `json:"regions"`
	Providers []struct {
		Provider
		Lists []Media `json:"lists"`
	} `json:"providers"`
}

// providerTable is providers.json by list.
type providerTable struct {
	lists     map[Media][]Provider
	regions   []Country
	countries []string // that some provider serves, sorted
}

var providers = sync.OnceValue(func() *providerTable {
	file := mustParse[providerFile]("providers.json")
	t := &providerTable{lists: map[Media][]Provider{}}
	for i := range file.Providers {
		p := &file.Providers[i]
		for _, m := range p.Lists {
			t.lists[m] = append(t.lists[m], p.Provider)
		}
		for _, c := range p.Priorities {
			t.countries = append(t.countries, c.Country)
		}
	}
	slices.Sort(t.countries)
	t.countries = slices.Compact(t.countries)
	for _, code := range file.Regions {
		c, ok := CountryByCode(code)
		if !ok {
			panic(fmt.Errorf("reference: providers.json: region %q is no country", code))
		}
		t.regions = append(t.regions, c)
	}
	return t
})

// Providers returns the rows of watch/providers/movie or watch/providers/tv in
// TMDB's order, which is that of their ids; nil for no Media.
func Providers(m Media) []Provider { return providers().lists[m] }

// ProviderRegions returns the entries of watch/providers/regions sorted by code.
func ProviderRegions() []Country { return providers().regions }

// ProviderCountries returns the codes of the countries that some provider has
// offers in, sorted: those of ProviderRegions and a few that TMDB lists nowhere.
func ProviderCountries() []string { return providers().countries }
