package reference

import (
	"regexp"
	"slices"
	"testing"
)

func TestConfiguration(t *testing.T) {
	keys := ChangeKeys()
	if len(keys) != 54 || !slices.IsSorted(keys) || !slices.Contains(keys, "softcore") {
		t.Errorf("ChangeKeys() = %v, want 54 sorted with softcore", keys)
	}
	size := regexp.MustCompile(`^([wh][1-9][0-9]*|original)$`)
	im := Images()
	for _, list := range [][]string{im.Backdrop, im.Logo, im.Poster, im.Profile, im.Still} {
		if len(list) < 4 || list[len(list)-1] != "original" {
			t.Errorf("Images() has the sizes %v, want some with original as the last", list)
		}
		for _, s := range list {
			if !size.MatchString(s) {
				t.Errorf("Images() has the size %q, want %s", s, size)
			}
		}
	}
}

func TestDepartments(t *testing.T) {
	checkCodes(t, "Departments()", `^[A-Z][A-Za-z&-]*( [A-Za-z&-]+)*$`, Departments(), func(d Department) string { return d.Name })
	total := 0
	for _, d := range Departments() {
		total += len(d.Jobs)
	}
	if len(Departments()) != 12 || total != 941 {
		t.Errorf("Departments() = %d with %d jobs, want 12 with 941", len(Departments()), total)
	}
}

func TestTimezones(t *testing.T) {
	checkCodes(t, "Timezones()", `^[A-Z]{2}$`, Timezones(), func(c CountryZones) string { return c.Code })
	zone := regexp.MustCompile(`^[A-Z][A-Za-z]+(/[A-Z][A-Za-z_-]*){1,2}$`)
	for _, c := range Timezones() {
		if len(c.Zones) == 0 && c.Code != "BV" && c.Code != "HM" { // islands without people
			t.Errorf("Timezones() has no zones for %s, want some", c.Code)
		}
		for _, z := range c.Zones {
			if !zone.MatchString(z) {
				t.Errorf("Timezones() has %q for %s, want %s", z, c.Code, zone)
			}
		}
	}
}

func TestCertifications(t *testing.T) {
	country := regexp.MustCompile(`^[A-Z]{2}(-[A-Z]{2})?$`)
	for m, want := range map[Media]int{Movie: 52, TV: 49} {
		all := Certifications(m)
		if len(all) != want {
			t.Errorf("len(Certifications(%v)) = %d, want %d", m, len(all), want)
		}
		for code, list := range all {
			if !country.MatchString(code) || len(list) == 0 {
				t.Errorf("Certifications(%v) has %d for %q, want some for a country", m, len(list), code)
			}
			if !slices.IsSortedFunc(list, func(a, b Certification) int { return a.Order - b.Order }) {
				t.Errorf("Certifications(%v)[%q] = %v, want them sorted", m, code, list)
			}
		}
	}
	if got := Certifications(""); got != nil {
		t.Errorf("Certifications(none) = %v, want nil", got)
	}
}
