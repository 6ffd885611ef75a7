package e2e

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// duckCredit is a row of credits.parquet.
type duckCredit struct {
	Movie      int64  `parquet:"movie_id,optional"`
	Person     int64  `parquet:"person_id,optional"`
	Job        string `parquet:"job,optional"`
	Department string `parquet:"department,optional"`
	Character  string `parquet:"character,optional"`
}

// A role is one credit in a filmography: cast by character, crew by job.
type role struct {
	movie                int64
	department, job, who string
}

func (r duckCredit) role() role {
	if r.Department == "Acting" {
		return role{movie: r.Movie, who: r.Character}
	}
	return role{movie: r.Movie, department: r.Department, job: r.Job}
}

// TestFilmographies: what people did, derived from a table of credits by films, equals
// the table, queried by people.
func TestFilmographies(t *testing.T) {
	skipLarge(t)
	sharedtest.Long(t) // 184,350 credits
	dir, r := ingestDump(t, ingest.Config{}, "parquet-duckdb")
	t.Logf("records %v", r.Records)
	rows, err := parquet.ReadFile[duckCredit](sharedtest.Path(t, "dumps", "parquet-duckdb", "credits.parquet"))
	if err != nil || len(rows) != 184350 {
		t.Fatalf("%d credits, %v, want 184350", len(rows), err)
	}
	byPerson := map[int64][]role{}
	movies := map[int64]bool{}
	for _, c := range rows {
		byPerson[c.Person] = append(byPerson[c.Person], c.role())
		movies[c.Movie] = true
	}
	if got := r.Records["movie"]; got < int64(len(movies)) || r.Quarantined != 0 {
		t.Errorf("%d movies, %d rows in quarantine, want at least %d and 0", got, r.Quarantined, len(movies))
	}
	rel := buildCatalog(t, dir)
	for _, person := range spread(byPerson, 20) {
		want := byPerson[person]
		got := filmography(t, rel, person)
		slices.SortFunc(want, compareRoles)
		slices.SortFunc(got, compareRoles)
		if !slices.Equal(got, want) {
			t.Errorf("person %d: %d credits, want %d: got %v, want %v", person, len(got), len(want), first(got), first(want))
		}
	}
}

func first(r []role) []role { return r[:min(len(r), 5)] }

// spread chooses n people over the range of how many credits they have, from one
// to the most.
func spread(byPerson map[int64][]role, n int) []int64 {
	people := slices.SortedFunc(maps.Keys(byPerson), func(a, b int64) int {
		return cmp.Or(cmp.Compare(len(byPerson[a]), len(byPerson[b])), cmp.Compare(a, b))
	})
	counts := len(byPerson[people[len(people)-1]])
	var out []int64
	for i := range n {
		least := 1 + i*(counts-1)/(n-1)
		at, _ := slices.BinarySearchFunc(people, least, func(p int64, c int) int { return cmp.Compare(len(byPerson[p]), c) })
		out = append(out, people[at])
	}
	return slices.Compact(out)
}

func compareRoles(a, b role) int {
	return cmp.Or(cmp.Compare(a.movie, b.movie), cmp.Compare(a.department, b.department), cmp.Compare(a.job, b.job), cmp.Compare(a.who, b.who))
}

// filmography returns a person's movie credits.
func filmography(t *testing.T, rel *release.Reader, person int64) []role {
	t.Helper()
	v := get(t, rel, fmt.Sprintf("/3/person/%d/movie_credits", person))
	var out []role
	for _, c := range v.list("cast") {
		out = append(out, role{movie: c.int("id"), who: c.text("character")})
	}
	for _, c := range v.list("crew") {
		out = append(out, role{movie: c.int("id"), department: c.text("department"), job: c.text("job")})
	}
	return out
}
