package imdb

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/catalog"
)

// TestMappingsAreReal: the results of categories, professions and genres exist in the API.
func TestMappingsAreReal(t *testing.T) {
	departmentNames := map[string]bool{"Acting": true} // acting has no jobs
	for _, d := range reference.Departments() {
		departmentNames[d.Name] = true
	}
	numbers := map[uint8]string{}
	for name, c := range categories {
		if numbers[c.number] != "" || c.number < 1 || c.number > 31 {
			t.Errorf("category %s has number %d, as has %q: want one of its own from 1 to 31", name, c.number, numbers[c.number])
		}
		numbers[c.number] = name
		if job, ok := jobs()[c.department][normalizeJob(c.job)]; !c.cast && (!ok || job != c.job) {
			t.Errorf("category %s: the API has no job %s in %s", name, c.job, c.department)
		}
	}
	for word, job := range jobWords {
		if !slices.ContainsFunc(reference.Departments(), func(d reference.Department) bool {
			_, ok := jobs()[d.Name][job]
			return ok
		}) {
			t.Errorf("job word %s: the API has no job %s", word, job)
		}
	}
	for _, list := range []map[string]string{departments, secondaryDepartments} {
		for profession, d := range list {
			if !departmentNames[d] {
				t.Errorf("profession %s: the API has no department %s", profession, d)
			}
		}
	}
	for _, m := range []*genres{movieGenres, seriesGenres} {
		for name, want := range m.names {
			if g, ok := m.find(name); !ok || g.Name.V != want {
				t.Errorf("%v genre %s = %v, %v, want %s", m.media, name, g, ok, want)
			}
		}
	}
	for from, to := range regions {
		if _, ok := reference.CountryByCode(to); !ok {
			t.Errorf("region %s: the API has no country %s", from, to)
		}
	}
}

// TestCategoryNumbers: numbers are part of credit IDs and must not change.
func TestCategoryNumbers(t *testing.T) {
	for number, name := range []string{
		1: "actor", 2: "actress", 3: "self", 4: "director", 5: "writer", 6: "producer", 7: "composer", 8: "cinematographer",
		9: "editor", 10: "production_designer", 11: "casting_director", 12: "archive_footage", 13: "archive_sound",
	} {
		if c := categories[name]; number > 0 && (c == nil || int(c.number) != number) {
			t.Errorf("category %s is not number %d", name, number)
		}
	}
}

func TestJobs(t *testing.T) {
	f := func(category, job, want string) {
		t.Helper()
		g := &titleGroup{j: &Joiner{dropped: map[string]int64{}}}
		r := role{category: categories[category]}
		g.crewRole(&r, &credit{category: category, job: job}, false)
		dropped := ""
		if n := g.j.dropped["title.principals.job"]; n > 0 {
			dropped = " (dropped)"
		}
		if got := r.job + dropped; got != want {
			t.Errorf("job %q of %s = %q, want %q", job, category, got, want)
		}
	}
	f("director", "", "Director")
	f("director", "co-director", "Co-Director")
	f("director", "second director", "Director (dropped)")
	f("director", "directed by", "Director")
	f("writer", "written by", "Writer")
	f("writer", "Screenplay By", "Screenplay")
	f("writer", " story by ", "Story")
	f("writer", "novel", "Novel")
	f("writer", "creator", "Writer (dropped)") // only a series has creators
	f("producer", "producer", "Producer")
	f("producer", "executive producer", "Executive Producer")
	f("producer", "screenplay", "Producer (dropped)") // another department
	f("cinematographer", "director of photography", "Director of Photography")
	f("composer", "composer", "Original Music Composer")
	f("production_designer", "production designer", "Production Design")
}

func TestProfessions(t *testing.T) {
	f := func(list string, gender int64, department string) {
		t.Helper()
		if g, d := genderAndDepartment(list); g != gender || d != department {
			t.Errorf("genderAndDepartment(%q) = %d, %q, want %d, %q", list, g, d, gender, department)
		}
	}
	f("", 0, "")
	f("actress,soundtrack,producer", female, "Acting")
	f("soundtrack,actor", male, "Acting") // many actors sing
	f("soundtrack", 0, "Sound")
	f("miscellaneous,editorial_department", 0, "Editing")
	f("legal,director", 0, "Directing")
	f("actor,actress", 0, "Acting")
	f("actress,actor,actress", 0, "Acting")
	f("talent_agent", 0, "")
}

func TestCharacters(t *testing.T) {
	f := func(list, want string, ok bool) {
		t.Helper()
		if got, is := parseCharacters(list); got != want || is != ok {
			t.Errorf("parseCharacters(%s) = %q, %v, want %q, %v", list, got, is, want, ok)
		}
	}
	f("", "", true)
	f(`["Self"]`, "Self", true)
	f(`["A","B"]`, "A / B", true)
	f(`[" A ",""," "]`, "A", true)
	f(`["The \"Kid\""]`, `The "Kid"`, true)
	f(`["\u00e9"]`, "é", true)
	f(`[]`, "", true)
	f(`["A"`, "", false)
	f(`["A]"`, "", false)
	f(`[1]`, "", false)
	f(`Self`, "", false)
}

func TestTypeOf(t *testing.T) {
	f := func(types, attributes, want string) {
		t.Helper()
		if got := typeOf(types, attributes); got != want {
			t.Errorf("typeOf(%q, %q) = %q, want %q", types, attributes, got, want)
		}
	}
	f("", "", "")
	f("imdbDisplay", "", "")
	f("working", "", "working")
	f("dvd\x02festival", "literal title\x02dvd", "dvd, festival, literal title")
}

// TestCreditIDs: an ID contains all parts completely, so that two credits never share one.
func TestCreditIDs(t *testing.T) {
	f := func(c creditID, want string) {
		t.Helper()
		got := c.String()
		if got != want {
			t.Errorf("%+v = %s, want %s", c, got, want)
		}
		if _, ok := catalog.TextKey(got); !ok {
			t.Errorf("%+v = %s, which is no key of a credit", c, got)
		}
	}
	f(creditID{}, "ff0000000000000000000000")
	f(creditID{hash: 1<<hashBits - 1}, "ff00000000000000001fffff")
	f(creditID{person: math.MaxInt32}, "ff000000000fffffffe00000")
	f(creditID{title: math.MaxInt32}, "ff07fffffff0000000000000")
	f(creditID{category: 31}, "fff800000000000000000000")
	seen := map[string]creditID{}
	for _, title := range []uint32{1, 2, 1 << 20, maxID} {
		for _, person := range []uint32{1, 2, 1 << 20, maxID} {
			for category := range uint8(32) {
				for _, what := range []uint32{0, 1, 1<<hashBits - 1} {
					c := creditID{title, person, category, what}
					if other, ok := seen[c.String()]; ok {
						t.Fatalf("%+v and %+v are both %s", c, other, c)
					}
					seen[c.String()] = c
				}
			}
		}
	}
	if n := (creditID{hash: 1<<hashBits - 1}).next().hash; n != 0 {
		t.Errorf("next of the last = %d, want 0", n)
	}
}

func TestIDs(t *testing.T) {
	f := func(text string, want uint32) {
		t.Helper()
		if got, ok := parseID(text, titlePrefix); ok != (want > 0) || ok && got != want {
			t.Errorf("parseID(%q) = %d, %v, want %d", text, got, ok, want)
		}
	}
	f("tt0000001", 1)
	f("tt10070612", 10_070_612)
	f(titleText(maxID), maxID)
	f(titleText(maxID+1), 0) // the catalogue's ID would not fit
	f("tt0000000", 0)
	f("tt123456", 0)
	f("tt00000001", 0)
	f("tt000000x", 0)
	f("nm0000001", 0)
	f("", 0)
	for _, n := range []uint32{9_999_999, 10_000_000} {
		f(titleText(n), n)
		if got, ok := parseID(nameText(n), namePrefix); !ok || got != n {
			t.Errorf("parseID(%s) = %d, %v", nameText(n), got, ok)
		}
	}
}

// TestHashCollision: two characters of one person in one title with equal hashes have two IDs.
func TestHashCollision(t *testing.T) {
	seen := map[uint32]string{}
	var a, b string
	for i := 0; b == ""; i++ {
		s := fmt.Sprint("Character ", i)
		if other, ok := seen[detailHash(s)]; ok {
			a, b = other, s
		}
		seen[detailHash(s)] = s
	}
	row := func(ordering int, character string) []byte {
		return fmt.Appendf(nil, `{"tconst":"tt0000001","ordering":"%d","nconst":"nm0000001","category":"actor","characters":"[\"%s\"]"}`, ordering, character)
	}
	g := join(t, Config{}, tsv{titleBasics, [][]byte{[]byte(`{"tconst":"tt0000001","titleType":"movie"}`)}}, tsv{titlePrincipals, [][]byte{row(1, a), row(2, b)}})
	cast := g.get(t, "movie 1000000001")["credits"].(map[string]any)["cast"].([]any)
	if len(cast) != 2 || cast[0].(map[string]any)["credit_id"] == cast[1].(map[string]any)["credit_id"] {
		t.Errorf("cast = %v, want two credits with ids of their own", cast)
	}
}
