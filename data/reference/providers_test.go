package reference

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestProviders(t *testing.T) {
	for m, want := range map[Media]int{Movie: 800, TV: 726} {
		list := Providers(m)
		if len(list) != want {
			t.Errorf("len(Providers(%v)) = %d, want %d", m, len(list), want)
		}
		for i, p := range list {
			if i > 0 && list[i-1].ID >= p.ID {
				t.Errorf("Providers(%v) has %d before %d, want them sorted and unique", m, list[i-1].ID, p.ID)
			}
			if p.ID <= 0 || p.Name == "" || !strings.HasPrefix(p.LogoPath, "/") || len(p.Priorities.ranks) == 0 {
				t.Errorf("Providers(%v) has %+v, want an id, a name, a logo and a country", m, p)
			}
		}
	}
	if got := Providers(""); got != nil {
		t.Errorf("Providers(none) = %v, want nil", got)
	}
}

func TestProviderRegions(t *testing.T) {
	regions := ProviderRegions()
	checkCodes(t, "ProviderRegions()", `^[A-Z]{2}$`, regions, func(c Country) string { return c.Code })
	countries := ProviderCountries()
	checkCodes(t, "ProviderCountries()", `^[A-Z]{2}$`, countries, func(s string) string { return s })
	for _, c := range regions {
		if !slices.Contains(countries, c.Code) {
			t.Errorf("ProviderRegions() has %+v, want a country with a provider", c)
		}
	}
	for _, c := range countries {
		// TMDB gives Guernsey offers, but knows it neither as a region nor as a country.
		if !slices.ContainsFunc(regions, func(r Country) bool { return r.Code == c }) && c != "GG" {
			t.Errorf("ProviderCountries() has %q, want one of ProviderRegions()", c)
		}
	}
}

func TestPriorities(t *testing.T) {
	const object = `{"US":9,"AE":0,"DE":5}` // in no order that sorting would keep
	var p Priorities
	if err := json.Unmarshal([]byte(object), &p); err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(p); err != nil || string(got) != object {
		t.Errorf("Marshal(%v) = %s, %v, want %s", p, got, err, object)
	}
	for country, want := range map[string]int{"US": 9, "AE": 0} {
		if got, ok := p.In(country); !ok || got != want {
			t.Errorf("In(%q) = %d, %v, want %d, true", country, got, ok, want)
		}
	}
	if got, ok := p.In("FR"); ok {
		t.Errorf("In(%q) = %d, true, want false", "FR", got)
	}
	for _, bad := range []string{`[1]`, `"US"`, `{"US":"9"}`, `{"US":null,"DE":{}}`, `{"US":1.5}`} {
		if err := json.Unmarshal([]byte(bad), &p); err == nil {
			t.Errorf("Unmarshal(%s) = %v, want an error", bad, p)
		}
	}
}
