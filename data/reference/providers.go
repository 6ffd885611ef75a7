package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// A Provider is a service that offers titles to watch: one row of watch/providers/movie and watch/providers/tv. It
// encodes as such a row.
type Provider struct {
	// Priorities contains the countries with offers.
	Priorities Priorities `json:"display_priorities"`
	// Priority is the rank without a country, from 0.
	Priority int    `json:"display_priority"`
	LogoPath string `json:"logo_path"`
	Name     string `json:"provider_name"`
	ID       int64  `json:"provider_id"`
}

// Priorities are the ranks of a provider by country (ISO 3166-1 code), from 0. They encode as the object they were
// parsed from, in TMDB's order.
type Priorities struct {
	object json.RawMessage
	ranks  map[string]int
}

// In returns the rank in a country; false if there are no offers.
func (p Priorities) In(country string) (rank int, ok bool) {
	rank, ok = p.ranks[country]
	return rank, ok
}

// MarshalJSON returns the object.
func (p Priorities) MarshalJSON() ([]byte, error) { return p.object, nil }

// UnmarshalJSON reads the object.
func (p *Priorities) UnmarshalJSON(data []byte) error {
	*p = Priorities{object: bytes.Clone(data)}
	return json.Unmarshal(data, &p.ranks)
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
	countries []string // countries of all providers, sorted
}

var providers = sync.OnceValue(func() *providerTable {
	file := parsed[providerFile]("providers.json")()
	t := &providerTable{lists: map[Media][]Provider{}}
	for i := range file.Providers {
		p := &file.Providers[i]
		for _, m := range p.Lists {
			t.lists[m] = append(t.lists[m], p.Provider)
		}
		t.countries = slices.AppendSeq(t.countries, maps.Keys(p.Priorities.ranks))
	}
	slices.Sort(t.countries)
	t.countries = slices.Compact(t.countries)
	for _, code := range file.Regions {
		c, ok := CountryByCode(code)
		if !ok {
			panic(fmt.Errorf("reference: providers.json: region %q is not a country", code))
		}
		t.regions = append(t.regions, c)
	}
	return t
})

// Providers returns the rows of watch/providers/movie or watch/providers/tv in TMDB's order, by ID; nil for an
// unknown Media.
func Providers(m Media) []Provider { return providers().lists[m] }

// ProviderRegions returns the entries of watch/providers/regions sorted by code.
func ProviderRegions() []Country { return providers().regions }

// ProviderCountries returns the codes of the countries in which some provider has offers, sorted: all ProviderRegions
// and a few that TMDB lists nowhere.
func ProviderCountries() []string { return providers().countries }
