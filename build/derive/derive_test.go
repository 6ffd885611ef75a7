package derive

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

func parse[T any](tb testing.TB, row string) *T {
	tb.Helper()
	v := new(T)
	if err := record.NewParser().Parse(row, record.Of(v)); err != nil {
		tb.Fatalf("Parse(%s): %v", row, err)
	}
	return v
}

func drawTitle(t *rapid.T) Title {
	return Title{
		Kind:       rapid.SampledFrom([]fragment.Kind{fragment.KindMovie, fragment.KindTV}).Draw(t, "kind"),
		ID:         rapid.Int64Range(1, 1<<62).Draw(t, "id"),
		Popularity: rapid.Float64Range(0, 1e6).Draw(t, "popularity"),
		Votes:      rapid.Int64().Draw(t, "votes"),
		Date:       rapid.String().Draw(t, "date"),
		Adult:      rapid.Bool().Draw(t, "adult"),
	}
}

func drawCredit(t *rapid.T) Credit {
	text := rapid.String()
	c := Credit{
		ID: text.Draw(t, "id"), Role: role(rapid.IntRange(1, 3).Draw(t, "role")), Title: drawTitle(t),
		Character: text.Draw(t, "character"), Order: rapid.Int64().Draw(t, "order"), Department: text.Draw(t, "department"),
		Job: text.Draw(t, "job"), EpisodeCount: rapid.Int64().Draw(t, "count"), FirstAirDate: text.Draw(t, "first"),
		Person: Person{
			ID: rapid.Int64().Draw(t, "person"), Name: text.Draw(t, "name"), OriginalName: text.Draw(t, "original"),
			Adult: rapid.Bool().Draw(t, "adult"), Gender: rapid.Int64Range(0, 3).Draw(t, "gender"),
			KnownForDepartment: text.Draw(t, "known"), Popularity: rapid.Float64().Draw(t, "fame"), ProfilePath: text.Draw(t, "path"),
		},
	}
	for range rapid.IntRange(0, 3).Draw(t, "seasons") {
		c.Seasons = append(c.Seasons, rapid.Int64().Draw(t, "season"))
		c.Episodes = append(c.Episodes, [2]int64{rapid.Int64().Draw(t, "s"), rapid.Int64().Draw(t, "e")})
	}
	return c
}

func TestCodec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawCredit(t)
		b := want.Append(nil)
		got, err := ParseCredit(b)
		sharedtest.NoError(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("ParseCredit(Append) differs (-want +got):\n%s", diff)
		}
		if _, err := ParseCredit(b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")]); err == nil {
			t.Fatal("ParseCredit takes a cut record")
		}
	})
}

// TestOrder checks that encoded titles compare in the order of lists.
func TestOrder(t *testing.T) {
	in := []Title{
		{Kind: fragment.KindMovie, ID: 9, Popularity: 80.5},
		{Kind: fragment.KindMovie, ID: 3, Popularity: 80.25},
		{Kind: fragment.KindMovie, ID: 4, Popularity: 80.25},
		{Kind: fragment.KindMovie, ID: 1},
		{Kind: fragment.KindTV, ID: 1, Popularity: 500},
		{Kind: fragment.KindTV, ID: 2, Popularity: 1},
	}
	for i := 1; i < len(in); i++ {
		if bytes.Compare(in[i-1].Append(nil), in[i].Append(nil)) >= 0 {
			t.Errorf("%+v does not come before %+v", in[i-1], in[i])
		}
	}
	first := Credit{Title: in[0], Role: Cast, Order: -1}
	for _, c := range []Credit{{Title: in[0], Role: Cast, Order: 7}, {Title: in[0], Role: Crew}, {Title: in[1], Role: Cast}} {
		if bytes.Compare(first.Append(nil), c.Append(nil)) >= 0 {
			t.Errorf("%+v does not come before %+v", first, c)
		}
		first = c
	}
}

func FuzzParse(f *testing.F) {
	c := Credit{ID: "52fe4250c3a36847f80149f7", Role: Cast, Title: Title{Kind: fragment.KindMovie, ID: 550}}
	f.Add(c.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := ParseCredit(b)
		if err != nil {
			return
		}
		again, err := ParseCredit(c.Append(nil))
		if err != nil {
			t.Fatalf("ParseCredit of its own bytes: %v", err)
		}
		if a, b := again.Append(nil), c.Append(nil); !bytes.Equal(a, b) {
			t.Fatalf("%x, then %x", b, a)
		}
	})
}

func TestMovieCredits(t *testing.T) {
	m := parse[catalog.Movie](t, `{"id":550,"popularity":61.5,"vote_count":13,"release_date":"1999-10-15","credits":{
		"cast":[{"id":287,"name":"Brad Pitt","gender":2,"credit_id":"c1","character":"Tyler","order":1},{"name":"Nobody","credit_id":"c0"}],
		"crew":[{"id":7467,"name":"David Fincher","credit_id":"c2","department":"Directing","job":"Director","profile_path":"/p.jpg"}]}}`)
	title := Title{Kind: fragment.KindMovie, ID: 550, Popularity: 61.5, Votes: 13, Date: "1999-10-15"}
	want := []Credit{
		{ID: "c1", Role: Cast, Title: title, Character: "Tyler", Order: 1, Department: "Acting", Job: "Actor", Person: Person{ID: 287, Name: "Brad Pitt", Gender: 2}},
		{ID: "c2", Role: Crew, Title: title, Department: "Directing", Job: "Director", Person: Person{ID: 7467, Name: "David Fincher", ProfilePath: "/p.jpg"}},
	}
	if diff := cmp.Diff(want, MovieCredits(m)); diff != "" {
		t.Errorf("MovieCredits differs (-want +got):\n%s", diff)
	}
}

// A small series: a regular of one season, a guest of three episodes, a director.
const (
	seriesRow = `{"id":1,"name":"S","first_air_date":"2001-01-01","number_of_episodes":4,
		"created_by":[{"id":30,"credit_id":"k","name":"Creator","gender":1}],
		"credits":{"cast":[{"id":10,"name":"Star","credit_id":"a","character":"Hero","order":0},{"id":11,"name":"Other","credit_id":"b","character":"Friend","order":1}],"crew":[]}}`
	seasonRow = `{"id":101,"season_number":1,"series_id":1,
		"credits":{"cast":[{"id":10,"name":"Star","credit_id":"a","character":"Hero","order":0}],"crew":[]},
		"episodes":[
		{"episode_number":1,"air_date":"2001-01-02","crew":[{"id":20,"name":"D","credit_id":"d","department":"Directing","job":"Director"}],"guest_stars":[{"id":12,"name":"Guest","credit_id":"g","character":"Foe","order":5}]},
		{"episode_number":3,"air_date":"2001-01-09","crew":[],"guest_stars":[{"id":12,"name":"Guest","credit_id":"g","character":"Foe","order":5}]}]}`
	specialRow = `{"id":100,"season_number":0,"series_id":1,"episodes":[{"episode_number":1,"air_date":"2000-12-24","crew":[],"guest_stars":[{"id":12,"name":"Guest","credit_id":"g","character":"Foe","order":5}]}]}`
)

func collect(t *testing.T) (*Series, *catalog.Season) {
	t.Helper()
	c := NewSeries(parse[catalog.TV](t, seriesRow))
	special, season := parse[catalog.Season](t, specialRow), parse[catalog.Season](t, seasonRow)
	c.Season(0, special, Broadcasts(special, nil))
	c.Season(1, season, Broadcasts(season, nil))
	return c, season
}

func TestSeries(t *testing.T) {
	c, _ := collect(t)
	byID := map[string]Credit{}
	for _, x := range c.Credits() {
		byID[x.ID] = x
	}
	f := func(id string, role role, count int64, first string, seasons []int64, episodes [][2]int64) {
		t.Helper()
		got := byID[id]
		if got.Role != role || got.EpisodeCount != count || got.FirstAirDate != first || !cmp.Equal(got.Seasons, seasons) || !cmp.Equal(got.Episodes, episodes) {
			t.Errorf("credit %s = %+v, want %d, %d episodes since %s, seasons %v, episodes %v", id, got, role, count, first, seasons, episodes)
		}
		if got.Title.ID != 1 || got.Title.Kind != fragment.KindTV || got.Title.Date != "2001-01-01" {
			t.Errorf("credit %s is of %+v, want series 1", id, got.Title)
		}
	}
	f("a", Cast, 2, "2001-01-02", []int64{1}, nil)
	f("b", Cast, 4, "2001-01-01", []int64{1}, nil)
	f("g", Cast, 3, "2000-12-24", []int64{0, 1}, [][2]int64{{0, 1}, {1, 1}, {1, 3}})
	f("d", Crew, 1, "2001-01-02", []int64{1}, [][2]int64{{1, 1}})
	f("k", Creator, 0, "", nil, nil)
}

func TestAggregate(t *testing.T) {
	c, season := collect(t)
	got := string(record.Append(nil, record.Of(Aggregate(c.Credits()))))
	want := `{"cast":[` +
		`{"adult":false,"gender":0,"id":11,"known_for_department":null,"name":"Other","original_name":"","popularity":0.0,"profile_path":null,"roles":[{"credit_id":"b","character":"Friend","episode_count":4}],"total_episode_count":4,"order":1},` +
		`{"adult":false,"gender":0,"id":12,"known_for_department":null,"name":"Guest","original_name":"","popularity":0.0,"profile_path":null,"roles":[{"credit_id":"g","character":"Foe","episode_count":3}],"total_episode_count":3,"order":5},` +
		`{"adult":false,"gender":0,"id":10,"known_for_department":null,"name":"Star","original_name":"","popularity":0.0,"profile_path":null,"roles":[{"credit_id":"a","character":"Hero","episode_count":2}],"total_episode_count":2,"order":0}],` +
		`"crew":[{"adult":false,"gender":0,"id":20,"known_for_department":null,"name":"D","original_name":"","popularity":0.0,"profile_path":null,"jobs":[{"credit_id":"d","job":"Director","episode_count":1}],"department":"Directing","total_episode_count":1}]}`
	if got != want {
		t.Errorf("Aggregate =\n%s\nwant\n%s", got, want)
	}
	a := SeasonAggregate(season, nil, Broadcasts(season, nil))
	if len(a.Cast) != 2 || a.Cast[0].ID.V != 10 || a.Cast[0].TotalEpisodeCount.V != 2 || a.Cast[1].TotalEpisodeCount.V != 2 || len(a.Crew) != 1 {
		t.Errorf("SeasonAggregate = %s", record.Append(nil, record.Of(a)))
	}
	if a := Aggregate(nil); a != nil {
		t.Errorf("Aggregate of nothing = %v, want nil", a)
	}
}

// TestCountedOnce: a regular who is also a guest, and a guest who is listed twice, are in each episode once; specials
// do not count for regulars.
func TestCountedOnce(t *testing.T) {
	guest := `{"id":10,"name":"Star","credit_id":"a","character":"Hero","order":0}`
	season := parse[catalog.Season](t, `{"season_number":1,"credits":{"cast":[`+guest+`],"crew":[]},"episodes":[
		{"episode_number":1,"guest_stars":[`+guest+`,`+guest+`]},{"episode_number":2,"guest_stars":[]}]}`)
	special := parse[catalog.Season](t, `{"season_number":0,"episodes":[{"episode_number":1,"guest_stars":[]}]}`)
	tv := parse[catalog.TV](t, `{"id":1,"number_of_episodes":2,"credits":{"cast":[`+guest+`,{"id":11,"name":"Other","credit_id":"b","order":1}],"crew":[]}}`)
	c := NewSeries(tv)
	c.Season(0, special, Broadcasts(special, nil))
	c.Season(1, season, Broadcasts(season, nil))
	for _, x := range c.Credits() {
		if x.EpisodeCount != 2 {
			t.Errorf("credit %s has %d episodes, want 2", x.ID, x.EpisodeCount)
		}
	}
	f := func(name string, s *catalog.Season, want int64) {
		t.Helper()
		a := SeasonAggregate(s, tv, Broadcasts(s, nil))
		if a == nil {
			if want != 0 {
				t.Errorf("%s: no credits, want %d episodes", name, want)
			}
			return
		}
		for i := range a.Cast {
			if got := a.Cast[i].TotalEpisodeCount.V; got != want {
				t.Errorf("%s: %s is in %d episodes, want %d", name, a.Cast[i].Name.V, got, want)
			}
		}
	}
	f("regulars of the season", season, 2)
	f("specials", special, 0)
	season.Credits = nil
	season.Episodes[1].GuestStars = season.Episodes[0].GuestStars[:1]
	f("regulars of the series", season, 2)
}

// TestRegulars: the missing credits of a season come from its aggregate credits, else from its series, without
// credits of single episodes.
func TestRegulars(t *testing.T) {
	tv := parse[catalog.TV](t, `{"id":1,"credits":{"cast":[{"id":10,"name":"Star","credit_id":"a","order":0},{"id":11,"name":"Later","credit_id":"b","order":1}],
		"crew":[{"id":20,"name":"P","credit_id":"p","department":"Production","job":"Producer"},{"id":21,"name":"W","credit_id":"w","department":"Writing","job":"Writer"}]}}`)
	const episodes = `"episodes":[{"episode_number":1,"guest_stars":[{"id":11,"name":"Later","credit_id":"g","order":4}],
		"crew":[{"id":21,"name":"W","credit_id":"w","department":"Writing","job":"Writer"},{"id":20,"name":"P","credit_id":"d","department":"Directing","job":"Director"}]},{"episode_number":2}]`
	f := func(name, row string, tv *catalog.TV, want ...string) {
		t.Helper()
		s := parse[catalog.Season](t, row)
		var got []string
		if c := Regulars(s, tv, Broadcasts(s, nil)); c != nil {
			got = append(castIDs(c), crewIDs(c)...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: Regulars = %q, want %q", name, got, want)
		}
	}
	f("given", `{"season_number":1,"credits":{"cast":[{"id":12,"credit_id":"x"}],"crew":[]},`+episodes+`}`, tv, "x")
	f("given and empty", `{"season_number":1,"credits":{"cast":[],"crew":[]},`+episodes+`}`, tv)
	f("of the series", `{"season_number":1,`+episodes+`}`, tv, "a", "p")
	f("without episodes", `{"season_number":1}`, tv, "a", "b", "p", "w")
	f("specials", `{"season_number":0,`+episodes+`}`, tv)
	f("of nobody", `{"season_number":1,`+episodes+`}`, nil)
	const aggregate = `"aggregate_credits":{"cast":[
		{"id":13,"name":"Second","order":1,"roles":[{"credit_id":"n","character":"N","episode_count":2}]},
		{"id":12,"name":"First","order":0,"roles":[{"credit_id":"m","character":"M","episode_count":2}]},
		{"id":11,"name":"Later","order":4,"roles":[{"credit_id":"g","character":"G","episode_count":2}]},
		{"id":14,"name":"Once","order":9,"roles":[{"credit_id":"o","character":"O","episode_count":1}]}],
		"crew":[{"id":20,"name":"P","department":"Production","jobs":[{"credit_id":"q","job":"Producer","episode_count":2},{"credit_id":"r","job":"Thanks","episode_count":1}]},
		{"id":21,"name":"W","department":"Writing","jobs":[{"credit_id":"w","job":"Writer","episode_count":2}]}]}`
	f("of the aggregate credits", `{"season_number":1,`+aggregate+`,`+episodes+`}`, tv, "m", "n", "q")
	f("of the aggregate credits of specials", `{"season_number":0,`+aggregate+`,`+episodes+`}`, tv, "m", "n", "q")
	f("of no aggregate credits", `{"season_number":1,"aggregate_credits":{"cast":[],"crew":[]},`+episodes+`}`, tv)
}

// TestRegularsRecorded: in recordings with both, Regulars computes a season's credits from its aggregate credits.
func TestRegularsRecorded(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(sharedtest.Path(t, "recorded/tv-season"), "details-append--*.json"))
	sharedtest.NoError(t, err)
	checked := 0
	for _, file := range files {
		row, err := os.ReadFile(file)
		sharedtest.NoError(t, err)
		var all map[string]json.RawMessage
		sharedtest.NoError(t, json.Unmarshal(row, &all))
		maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool {
			return !slices.Contains([]string{"episodes", "season_number", "credits", "aggregate_credits"}, name)
		})
		if row, err = json.Marshal(all); err != nil {
			t.Fatal(err)
		}
		s := parse[catalog.Season](t, string(row))
		if s.Credits == nil || s.AggregateCredits == nil || len(s.Credits.Cast) < 3 { // one recording is cut by hand
			continue
		}
		given := s.Credits
		s.Credits = nil
		got := Regulars(s, nil, Broadcasts(s, nil))
		if got == nil {
			t.Errorf("%s: no regulars", file)
			continue
		}
		if diff := cmp.Diff(castIDs(given), castIDs(got)); diff != "" {
			t.Errorf("%s: cast differs (-want +got):\n%s", file, diff)
		}
		if diff := cmp.Diff(crewIDs(given), crewIDs(got)); diff != "" {
			t.Errorf("%s: crew differs (-want +got):\n%s", file, diff)
		}
		checked++
	}
	if checked < 2 {
		t.Errorf("%d recordings have both, want 2 or more", checked)
	}
}

// castIDs returns the ids of the credits in their order.
func castIDs(c *catalog.TVCredits) (ids []string) {
	for i := range c.Cast {
		ids = append(ids, c.Cast[i].CreditID.V)
	}
	return ids
}

// crewIDs returns the ids of the credits, sorted: recordings have no order of the crew.
func crewIDs(c *catalog.TVCredits) (ids []string) {
	for i := range c.Crew {
		ids = append(ids, c.Crew[i].CreditID.V)
	}
	slices.Sort(ids)
	return ids
}

// TestSeasonsOnce: a regular of a season without known episodes is in that season once, even after the seasons with
// episodes are added.
func TestSeasonsOnce(t *testing.T) {
	const star = `{"id":10,"name":"Star","credit_id":"a","order":0}`
	announced := parse[catalog.Season](t, `{"season_number":1,"credits":{"cast":[`+star+`],"crew":[]}}`)
	aired := parse[catalog.Season](t, `{"season_number":2,"episodes":[{"episode_number":1,"guest_stars":[]}]}`)
	c := NewSeries(parse[catalog.TV](t, `{"id":1,"credits":{"cast":[`+star+`,`+star+`],"crew":[]}}`))
	c.Season(1, announced, Broadcasts(announced, nil))
	c.Season(2, aired, Broadcasts(aired, nil))
	for _, x := range c.Credits() {
		if !slices.IsSorted(x.Seasons) || len(slices.Compact(slices.Clone(x.Seasons))) != len(x.Seasons) {
			t.Errorf("credit %s is in seasons %v, want each once and in order", x.ID, x.Seasons)
		}
	}
}

// TestGivenCredits: separately given credits of an episode or a season count.
func TestGivenCredits(t *testing.T) {
	season := parse[catalog.Season](t, `{"season_number":1,"aggregate_credits":{"cast":[{"id":10,"name":"Star",
		"roles":[{"credit_id":"a","character":"Hero","episode_count":7}],"order":0}],"crew":[]}}`)
	records := []*catalog.Episode{parse[catalog.Episode](t, `{"episode_number":1,"credits":{"cast":[],"crew":[],"guest_stars":[{"id":12,"name":"Guest","credit_id":"g"}]}}`)}
	c := NewSeries(parse[catalog.TV](t, `{"id":1}`))
	c.Season(1, season, Broadcasts(season, records))
	got := map[string]int64{}
	for _, x := range c.Credits() {
		got[x.ID] = x.EpisodeCount
	}
	if want := (map[string]int64{"a": 7, "g": 1}); !cmp.Equal(got, want) {
		t.Errorf("Credits = %v, want %v", got, want)
	}
}

// TestBroadcasts checks that an episode's own record takes precedence, unless it has no data for credits.
func TestBroadcasts(t *testing.T) {
	season := parse[catalog.Season](t, seasonRow)
	records := []*catalog.Episode{
		parse[catalog.Episode](t, `{"episode_number":1,"images":{"stills":[]}}`),
		parse[catalog.Episode](t, `{"episode_number":3,"air_date":"2001-02-01","crew":[],"guest_stars":[]}`),
		parse[catalog.Episode](t, `{"episode_number":2}`),
	}
	got := Broadcasts(season, records)
	if len(got) != 3 || got[0].Number != 1 || len(got[0].GuestStars) != 1 || got[1].Number != 2 || got[2].AirDate != "2001-02-01" || len(got[2].GuestStars) != 0 {
		t.Errorf("Broadcasts = %+v", got)
	}
}

func TestKnownFor(t *testing.T) {
	credit := func(id, votes int64, department string) Credit {
		return Credit{Title: Title{Kind: fragment.KindMovie, ID: id, Votes: votes}, Department: department}
	}
	credits := []Credit{
		credit(1, 10, "Acting"), credit(2, 50, "Acting"), credit(2, 50, "Acting"), credit(3, 99, "Directing"),
		credit(4, 30, "Acting"), credit(5, 30, "Acting"),
	}
	f := func(department string, want ...int64) {
		t.Helper()
		var got []int64
		for _, title := range KnownFor(department, credits) {
			got = append(got, title.ID)
		}
		if !cmp.Equal(got, want) {
			t.Errorf("KnownFor(%s) = %v, want %v", department, got, want)
		}
	}
	f("Acting", 2, 4, 5)
	f("Directing", 3)
	f("Writing", 3, 2, 4)
	credits[5].Title.Popularity = 1 // equal votes
	f("Acting", 2, 5, 4)
	if got := Department(credits); got != "Acting" {
		t.Errorf("Department = %q, want Acting", got)
	}
}
