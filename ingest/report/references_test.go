package report

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// writeCatalog writes rows of JSON, by kind and in order, to a catalogue and returns its folder.
func writeCatalog(t *testing.T, rows map[fragment.Kind][]string) string {
	t.Helper()
	dir := t.TempDir()
	for kind, list := range rows {
		typ := catalog.TypeOf(kind)
		w, err := catalog.Create(filepath.Join(dir, typ.File()), typ)
		if err != nil {
			t.Fatal(err)
		}
		p := record.NewParser()
		for _, row := range list {
			r := typ.New()
			if err := p.Parse(row, r); err != nil {
				t.Fatalf("Parse(%.80s): %v", row, err)
			}
			if err := w.Write(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// find returns the relation with a name, or an empty one.
func find(list []Relation, kind, path, target string) Relation {
	for _, rel := range list {
		if rel.Kind == kind && rel.Path == path && rel.Target == target {
			return rel
		}
	}
	return Relation{}
}

func TestCheckReferences(t *testing.T) {
	dir := writeCatalog(t, map[fragment.Kind][]string{
		fragment.KindMovie: {
			`{"id":1,"belongs_to_collection":{"id":9},"genres":[{"id":18},{"id":1}],` +
				`"credits":{"cast":[{"id":5},{"id":7},{"name":"nobody"}],"crew":[{"id":5}]},` +
				`"recommendations":{"page":1,"results":[{"id":2},{"id":2,"media_type":"tv"},{"id":4,"media_type":"movie"},{"id":77,"media_type":"person"}]}}`,
			`{"id":2,"belongs_to_collection":null,"credits":{"cast":[{"id":7},{"id":-3}],"crew":[]},` +
				`"similar":{"page":1,"results":[{"id":1},{"id":9000000000}]},"localized":[{"language":"de-DE","credits":{"cast":[{"id":8},{"id":6}]}}]}`,
		},
		fragment.KindTV: {
			`{"id":1399,"genres":[{"id":10765}],"created_by":[{"id":6}],"networks":[{"id":49}],"seasons":[{"season_number":0},{"season_number":1},{"season_number":1},{}]}`,
			`{"id":1400,"seasons":[{"season_number":2}],"keywords":{"results":[{"id":3}]}}`,
		},
		fragment.KindSeason: {
			`{"series_id":1398,"season_number":1,"episodes":[]}`,
			`{"series_id":1399,"season_number":1,"episodes":[{"episode_number":1,"guest_stars":[{"id":5},{"id":99}],"crew":[{"id":98}]}]}`,
		},
		fragment.KindEpisode: {
			`{"series_id":1399,"season_number":1,"episode_number":1,"crew":[{"id":5}]}`,
			`{"series_id":1399,"season_number":3,"episode_number":1}`,
			`{"series_id":1399,"season_number":3,"episode_number":2,"credits":{"cast":[],"crew":[],"guest_stars":[{"id":5}]}}`,
		},
		fragment.KindPerson: {
			`{"id":5,"combined_credits":{"cast":[{"id":1,"media_type":"movie"},{"id":1,"media_type":"tv"}],"crew":[{"id":1399,"media_type":"tv"}]},"movie_credits":{"cast":[{"id":3}],"crew":[]}}`,
			`{"id":6}`,
		},
		fragment.KindCollection:   {`{"id":9,"parts":[{"id":1,"media_type":"movie"},{"id":2}]}`},
		fragment.KindCompany:      {`{"id":1,"parent_company":{"id":2}}`},
		fragment.KindReview:       {`{"id":"5b2d1ba70e0a26431d004b10","media_id":1400,"media_type":"tv"}`},
		fragment.KindCredit:       {`{"id":"52542282760ee313280017f9","media":{"id":2},"media_type":"movie","person":{"id":4}}`},
		fragment.KindEpisodeGroup: {`{"id":"5acf93e60e0a26346d0000ce","groups":[{"episodes":[{"show_id":1399},{"show_id":1401}]}],"network":null}`},
	})
	r, err := CheckReferences(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, rel := range r {
		line := fmt.Sprintf("%s.%s -> %s/%d: %d, %d-%d", rel.Kind, rel.Path, rel.Target, rel.TargetRecords, rel.References, rel.Distinct, rel.Missing)
		for _, s := range rel.Samples {
			line += ", " + s.ID
		}
		got = append(got, line)
	}
	want := strings.Split(strings.TrimSpace(`
movie.belongs_to_collection.id -> collection/1: 1, 1-0
movie.credits.cast.id -> person/2: 4, 3-2, person 7, person -3
movie.credits.crew.id -> person/2: 1, 1-0
movie.recommendations.results.id -> movie/2: 2, 2-1, movie 4
movie.recommendations.results.id -> tv/2: 1, 1-1, tv 2
movie.similar.results.id -> movie/2: 2, 2-1, movie 9000000000
tv.created_by.id -> person/2: 1, 1-0
tv.keywords.results.id -> keyword/0: 1, 1-1, keyword 3
tv.networks.id -> network/0: 1, 1-1, network 49
tv.seasons.season_number -> season/2: 4, 3-2, season 1399 0, season 1400 2
season.episodes.crew.id -> person/2: 1, 1-1, person 98
season.episodes.guest_stars.id -> person/2: 2, 2-1, person 99
season.series_id -> tv/2: 2, 2-1, tv 1398
episode.credits.guest_stars.id -> person/2: 1, 1-0
episode.crew.id -> person/2: 1, 1-0
episode.season_number -> season/2: 3, 2-1, season 1399 3
episode.series_id -> tv/2: 3, 1-0
person.combined_credits.cast.id -> movie/2: 1, 1-0
person.combined_credits.cast.id -> tv/2: 1, 1-1, tv 1
person.combined_credits.crew.id -> tv/2: 1, 1-0
person.movie_credits.cast.id -> movie/2: 1, 1-1, movie 3
collection.parts.id -> movie/2: 2, 2-0
company.parent_company.id -> company/1: 1, 1-1, company 2
review.media_id -> tv/2: 1, 1-0
credit.person.id -> person/2: 1, 1-1, person 4
episode_group.groups.episodes.show_id -> tv/2: 2, 2-1, tv 1401
`), "\n")
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("relations (-want +got):\n%s", d)
	}
}

func TestRemovedReferences(t *testing.T) {
	dir := writeCatalog(t, map[fragment.Kind][]string{
		fragment.KindMovie:  {`{"id":1,"credits":{"cast":[{"id":5},{"id":7},{"id":8}]},"production_companies":[{"id":7}]}`},
		fragment.KindTV:     {`{"id":4,"seasons":[{"season_number":2},{"season_number":3}]}`},
		fragment.KindPerson: {`{"id":5}`},
	})
	r, err := CheckReferences(t.Context(), dir, []catalog.Removed{{Kind: fragment.KindPerson, Key: catalog.NumberKey(7)}, {Kind: fragment.KindPerson, Key: catalog.NumberKey(9)}, {Kind: fragment.KindSeason, Key: catalog.SeasonKey(4, 2)}})
	if err != nil {
		t.Fatal(err)
	}
	cast := find(r, "movie", "credits.cast.id", "person")
	want := []Dangling{{ID: "person 7", Removed: true}, {ID: "person 8"}}
	if cast.Missing != 2 || cast.Removed != 1 || !slices.Equal(cast.Samples, want) {
		t.Errorf("cast: %+v, want 2 missing, 1 of them removed, samples %+v", cast, want)
	}
	if seasons := find(r, "tv", "seasons.season_number", "season"); seasons.Missing != 2 || seasons.Removed != 1 {
		t.Errorf("seasons: %+v, want 2 missing, 1 of them removed", seasons)
	}
	if companies := find(r, "movie", "production_companies.id", "company"); companies.Missing != 1 || companies.Removed != 0 {
		t.Errorf("companies: %+v, want 1 missing and none removed", companies)
	}
}

// TestSamples: of many IDs, the lowest without a record are listed.
func TestSamples(t *testing.T) {
	var rows []string
	for i := range 40 {
		// Higher IDs come first, and every second movie refers to the same one.
		rows = append(rows, fmt.Sprintf(`{"id":%d,"credits":{"cast":[{"id":%d},{"id":%d}]}}`, i+1, 1000-i, 500+i%2))
	}
	r, err := CheckReferences(t.Context(), writeCatalog(t, map[fragment.Kind][]string{fragment.KindMovie: rows, fragment.KindPerson: {`{"id":500}`}}), nil)
	if err != nil {
		t.Fatal(err)
	}
	cast := find(r, "movie", "credits.cast.id", "person")
	if cast.References != 80 || cast.Distinct != 42 || cast.Missing != 41 {
		t.Errorf("%+v, want 80 references to 42 people, 41 of them missing", cast)
	}
	if len(cast.Samples) != maxDangling || cast.Samples[0] != (Dangling{ID: "person 501"}) || cast.Samples[9] != (Dangling{ID: "person 969"}) {
		t.Errorf("samples %+v, want %d, from person 501 to person 969", cast.Samples, maxDangling)
	}
}

func TestCheckReferencesEmpty(t *testing.T) {
	r, err := CheckReferences(t.Context(), t.TempDir(), nil)
	if err != nil || r == nil || len(r) != 0 {
		t.Errorf("CheckReferences(empty folder) = %+v, %v, want no relations", r, err)
	}
}

func TestCheckReferencesErrors(t *testing.T) {
	dir := writeCatalog(t, map[fragment.Kind][]string{fragment.KindMovie: {`{"id":1,"genres":[{"id":18}]}`}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := CheckReferences(ctx, dir, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, want %v", err, context.Canceled)
	}
	path := filepath.Join(dir, "person.parquet")
	if err := os.WriteFile(path, []byte("PAR1 no more PAR1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := CheckReferences(t.Context(), dir, nil); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("damaged file: %v, want an error that names %s", err, path)
	}
}
