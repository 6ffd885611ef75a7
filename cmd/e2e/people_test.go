package e2e

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// movieRoles returns what people did, by the credits of movies.
func movieRoles(movies []*value) map[int64][]role {
	out := map[int64][]role{}
	for _, m := range movies {
		for _, c := range m.list("credits", "cast") {
			out[c.int("id")] = append(out[c.int("id")], role{movie: m.int("id"), who: c.text("character")})
		}
		for _, c := range m.list("credits", "crew") {
			out[c.int("id")] = append(out[c.int("id")], role{movie: m.int("id"), department: c.text("department"), job: c.text("job")})
		}
	}
	return out
}

// creditOnly returns people whom only credits of movies name, and their names.
func creditOnly(t *testing.T, movies []*value) map[int64]string {
	t.Helper()
	out := map[int64]string{}
	for _, m := range movies {
		for _, c := range slices.Concat(m.list("credits", "cast"), m.list("credits", "crew")) {
			out[c.int("id")] = c.text("name")
		}
	}
	for _, p := range sampleRows(t, "people.ndjson") {
		delete(out, p.int("id"))
	}
	if len(out) == 0 {
		t.Fatal("the sample has a row for everyone in its credits")
	}
	return out
}

// TestSampleFilmographies: movie credits of people are those of the movies.
func TestSampleFilmographies(t *testing.T) {
	rel := sampleWorld.open(t)
	movies := sampleRows(t, "movies.ndjson")
	if got := filmography(t, rel, 287); !slices.Contains(got, role{movie: 550, who: "Tyler Durden"}) {
		t.Errorf("person 287 = %v, want Tyler Durden in 550 among them", got)
	}
	people := ids(sampleRows(t, "people.ndjson"))
	people = append(people, slices.Sorted(maps.Keys(creditOnly(t, movies)))...)
	roles := movieRoles(movies)
	for _, person := range people {
		got, want := filmography(t, rel, person), roles[person]
		slices.SortFunc(got, compareRoles)
		slices.SortFunc(want, compareRoles)
		if !slices.Equal(got, want) {
			t.Errorf("person %d: %d credits, want %d: got %v, want %v", person, len(got), len(want), first(got), first(want))
		}
	}
	t.Logf("%d people", len(people))
}

// TestCreditOnly: people with nothing but credits in the dump have details
// and filmographies.
func TestCreditOnly(t *testing.T) {
	rel := sampleWorld.open(t)
	for id, name := range creditOnly(t, sampleRows(t, "movies.ndjson")) {
		v := get(t, rel, fmt.Sprintf("/3/person/%d?append_to_response=combined_credits,movie_credits,images", id))
		if v.int("id") != id || v.text("name") == "" {
			t.Errorf("person %d = %v %q, want the name %q", id, v.int("id"), v.text("name"), name)
		}
		combined := len(v.list("combined_credits", "cast")) + len(v.list("combined_credits", "crew"))
		alone := len(v.list("movie_credits", "cast")) + len(v.list("movie_credits", "crew"))
		if alone == 0 || combined < alone {
			t.Errorf("person %d: %d movie credits, %d combined, want some, and as many or more", id, alone, combined)
		}
	}
}

// TestTVCredits: the series of a person are those whose credits, episodes or creators
// name the person.
func TestTVCredits(t *testing.T) {
	rel := sampleWorld.open(t)
	series := sampleRows(t, "tv.ndjson")
	for _, person := range []int64{22970 /* Peter Dinklage */, 9813 /* David Benioff, creator */, 119783 /* Benjen Stark, a guest */} {
		want := slices.DeleteFunc(slices.Clone(series), func(v *value) bool { return !namesPerson(v, person) })
		got := get(t, rel, fmt.Sprintf("/3/person/%d/tv_credits", person))
		all := ids(append(slices.Clone(got.list("cast")), got.list("crew")...))
		if all = slices.Compact(all); len(want) == 0 || !slices.Equal(all, ids(want)) {
			t.Errorf("person %d: series %v, want %v", person, all, ids(want))
		}
	}
}

// namesPerson reports whether a series names a person anywhere.
func namesPerson(v *value, person int64) bool {
	named := func(list []*value) bool {
		return slices.ContainsFunc(list, func(c *value) bool { return c.int("id") == person })
	}
	if named(v.list("credits", "cast")) || named(v.list("credits", "crew")) || named(v.list("created_by")) {
		return true
	}
	for _, k := range v.keys {
		if strings.HasPrefix(k, "season/") {
			for _, e := range v.list(k, "episodes") {
				if named(e.list("guest_stars")) || named(e.list("crew")) {
					return true
				}
			}
		}
	}
	return false
}

// TestCredit: a credit has person, job and title.
func TestCredit(t *testing.T) {
	rel := sampleWorld.open(t)
	fight := rowOf(t, sampleRows(t, "movies.ndjson"), 550)
	thrones := rowOf(t, sampleRows(t, "tv.ndjson"), 1399)
	cast, crew := fight.list("credits", "cast")[1], fight.list("credits", "crew")[0]
	regular, creator := thrones.list("credits", "cast")[0], thrones.list("created_by")[0]
	guest := thrones.list("season/1", "episodes")[0].list("guest_stars")[0]
	for _, tt := range []struct {
		credit                     *value
		kind, department, job, who string
		media                      int64
		mediaType, title           string
	}{
		{cast, "cast", "Acting", "Actor", cast.text("character"), 550, "movie", "Fight Club"},
		{crew, "crew", crew.text("department"), crew.text("job"), "", 550, "movie", "Fight Club"},
		{regular, "cast", "Acting", "Actor", regular.text("character"), 1399, "tv", "Game of Thrones"},
		{creator, "creator", "Creator", "Creator", "", 1399, "tv", "Game of Thrones"},
		{guest, "cast", "Acting", "Actor", guest.text("character"), 1399, "tv", "Game of Thrones"},
	} {
		id := tt.credit.text("credit_id")
		v := get(t, rel, "/3/credit/"+id)
		f := func(what string, got, want any) {
			t.Helper()
			if got != want {
				t.Errorf("credit %s (%s in %s): %s = %v, want %v", id, tt.kind, tt.title, what, got, want)
			}
		}
		f("id", v.text("id"), id)
		f("credit_type", v.text("credit_type"), tt.kind)
		f("media_type", v.text("media_type"), tt.mediaType)
		f("media.id", v.int("media", "id"), tt.media)
		f("media.title", v.text("media", "title")+v.text("media", "name"), tt.title)
		f("media.character", v.text("media", "character"), tt.who)
		f("person.id", v.int("person", "id"), tt.credit.int("id"))
		f("person.name", v.text("person", "name"), tt.credit.text("name"))
		if tt.kind != "creator" { // no recording has their department
			f("department", v.text("department"), tt.department)
			f("job", v.text("job"), tt.job)
		}
	}
	v := get(t, rel, "/3/credit/"+guest.text("credit_id"))
	if !slices.ContainsFunc(v.list("media", "episodes"), func(e *value) bool { return e.int("season_number") == 1 && e.int("episode_number") == 1 }) {
		t.Errorf("credit %s of a guest lists the episodes %v, want 1x01 among them", guest.text("credit_id"), ids(v.list("media", "episodes")))
	}
}

// TestAggregateCredits: the episodes that guests and crew of a series have in its
// aggregate credits are those that name them.
func TestAggregateCredits(t *testing.T) {
	rel := sampleWorld.open(t)
	thrones := rowOf(t, sampleRows(t, "tv.ndjson"), 1399)
	regulars := map[int64]bool{}
	for _, c := range thrones.list("credits", "cast") {
		regulars[c.int("id")] = true
	}
	guests, crew, specials := map[int64]int64{}, map[string]int64{}, map[int64]bool{}
	for _, k := range thrones.keys {
		if !strings.HasPrefix(k, "season/") {
			continue
		}
		for _, e := range thrones.list(k, "episodes") {
			for _, g := range unique(e.list("guest_stars"), func(v *value) string { return fmt.Sprint(v.int("id")) }) {
				guests[g.int("id")]++
				specials[g.int("id")] = specials[g.int("id")] || k == "season/0"
			}
			for _, c := range unique(e.list("crew"), crewJob) {
				crew[crewJob(c)]++
				specials[c.int("id")] = specials[c.int("id")] || k == "season/0"
			}
		}
	}
	got := get(t, rel, "/3/tv/1399/aggregate_credits")
	found := map[int64]int64{}
	for _, c := range got.list("cast") {
		found[c.int("id")] = c.int("total_episode_count")
		if n := sum(c.list("roles")); n < c.int("total_episode_count") {
			t.Errorf("%s: %d episodes in all, %d by role", c.text("name"), c.int("total_episode_count"), n)
		}
	}
	for id, n := range guests {
		if !regulars[id] && !specials[id] && found[id] != n {
			t.Errorf("guest %d: %d episodes, want %d", id, found[id], n)
		}
	}
	for id := range regulars {
		if found[id] == 0 {
			t.Errorf("regular %d: no episodes", id)
		}
	}
	if !slices.IsSortedFunc(got.list("cast"), func(a, b *value) int {
		return cmp.Compare(b.int("total_episode_count"), a.int("total_episode_count"))
	}) {
		t.Error("the cast is not sorted by its episodes")
	}
	jobs := map[string]int64{}
	for _, c := range got.list("crew") {
		for _, j := range c.list("jobs") {
			jobs[fmt.Sprintf("%d %s %s", c.int("id"), c.text("department"), j.text("job"))] += j.int("episode_count")
		}
	}
	for job, n := range crew {
		var id int64
		_, _ = fmt.Sscan(job, &id)
		if !specials[id] && jobs[job] != n {
			t.Errorf("crew %s: %d episodes, want %d", job, jobs[job], n)
		}
	}
	t.Logf("%d regulars, %d guests, %d jobs", len(regulars), len(guests), len(crew))
}

// crewJob names a person's job.
func crewJob(v *value) string {
	return fmt.Sprintf("%d %s %s", v.int("id"), v.text("department"), v.text("job"))
}

// unique returns the first item of each name.
func unique(list []*value, name func(*value) string) []*value {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(list), func(v *value) bool {
		again := seen[name(v)]
		seen[name(v)] = true
		return again
	})
}

// sum returns the episodes of all roles.
func sum(roles []*value) (n int64) {
	for _, r := range roles {
		n += r.int("episode_count")
	}
	return n
}
