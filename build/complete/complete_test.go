package complete_test

import (
	"testing"

	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/build/complete"
	"github.com/reelsplice/reelsplice/build/derive"
	"github.com/reelsplice/reelsplice/build/index"
	"github.com/reelsplice/reelsplice/build/neighbours"
	"github.com/reelsplice/reelsplice/build/render"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/extsort"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// stays calls fn with records of a file of the sample, as details responses and as other records, and requires that
// they stay unchanged.
func stays[T any](t *testing.T, file string, fn func(*T) error) {
	t.Helper()
	rows := []string{`{"id":"5acf93e60e0a26346d0000ce","name":"A","groups":[{"name":"B","episodes":[{"id":1,"order":0}]}]}`}
	if file != "episode_groups" { // episode groups have text ids
		rows = buildtest.Sample(t, file)
	}
	for _, row := range rows[:min(len(rows), 50)] {
		for _, mark := range []bool{true, false} {
			v := new(T)
			rec := record.Of(v)
			sharedtest.NoError(t, record.NewParser().Parse(row, rec))
			for _, typ := range catalog.Types() {
				if mark && typ.Schema == rec.Schema {
					typ.MarkDetails(rec)
				}
			}
			was := record.AppendBinary(nil, rec)
			sharedtest.NoError(t, fn(v))
			if string(record.AppendBinary(nil, rec)) != string(was) {
				t.Errorf("%s: it was %.300s, it is %.300s", file, row, record.Append(nil, rec))
			}
		}
	}
}

// TestRecordsStay: neither completing, rendering, table rows nor deriving changes a record. Package render tests this
// with random records.
func TestRecordsStay(t *testing.T) {
	s := extsort.New(extsort.Options{Dir: t.TempDir(), Sections: index.Tables})
	defer s.Close()
	w, r := index.NewWriter(s, func(table int, _ []byte) int { return table }), render.New()
	var credits []derive.Credit
	var near neighbours.Title
	stays(t, "movies", func(m *catalog.Movie) error {
		based := complete.Base(m)
		c := complete.Of(based)
		credits = append(credits, derive.MovieCredits(c.V())...)
		near.SetMovie(based)
		r.Movie(c, render.TitleDerived{Similar: []int64{1}})
		return w.Movie(c)
	})
	stays(t, "tv", func(tv *catalog.TV) error {
		based := complete.Base(tv)
		near.SetSeries(based)
		all := derive.NewSeries(based.V()).Credits()
		c := complete.Series(based, complete.SeriesDerived{})
		r.Series(c, render.SeriesDerived{Aggregate: derive.Aggregate(all)})
		return w.Series(index.Series{TV: c})
	})
	stays(t, "seasons", func(s *catalog.Season) error {
		season := complete.Base(s)
		based := season.V()
		shown := derive.Broadcasts(based, nil)
		derive.NewSeries(nil).Season(1, based, shown)
		r.Season(complete.Season(season, complete.SeasonDerived{}), render.SeasonDerived{
			Credits: derive.Regulars(based, nil, shown), Aggregate: derive.SeasonAggregate(based, nil, shown),
		})
		for i := range s.Episodes {
			r.Episode(complete.Of(complete.Base(complete.Listed(s, i))), render.EpisodeDerived{})
		}
		return nil
	})
	stays(t, "episodes", func(e *catalog.Episode) error {
		c := complete.Episode(complete.Base(e), &catalog.Episode{Name: record.Text("Listed")})
		derive.Broadcasts(&catalog.Season{}, []*catalog.Episode{c.V()})
		r.Episode(c, render.EpisodeDerived{})
		return nil
	})
	stays(t, "people", func(p *catalog.Person) error {
		c := complete.Person(complete.Base(p), complete.PersonDerived{Credited: true, OriginalName: "O"})
		r.Person(c, render.PersonDerived{Credits: credits[:50], KnownFor: derive.KnownFor("", credits[:50])})
		return index.Add(w, fragment.KindPerson, 1, c, 1, false)
	})
	stays(t, "collections", func(v *catalog.Collection) error {
		c := complete.Of(complete.Base(v))
		r.Collection(c, render.CollectionDerived{Parts: []int64{1}})
		return index.Add(w, fragment.KindCollection, 1, c, 1, false)
	})
	stays(t, "companies", func(v *catalog.Company) error {
		r.Company(complete.Of(complete.Base(v)), []int64{1})
		return index.Add(w, fragment.KindCompany, 1, complete.Of(complete.Base(v)), 1, false)
	})
	stays(t, "keywords", func(k *catalog.KeywordRecord) error {
		r.Keyword(complete.Of(complete.Base(k)), []int64{1}, []int64{1, 2})
		return index.Add(w, fragment.KindKeyword, 1, complete.Of(complete.Base(k)), 1, false)
	})
	stays(t, "networks", func(n *catalog.Network) error {
		render.Plain(r, fragment.KindNetwork, complete.Of(complete.Base(n)))
		return nil
	})
	stays(t, "episode_groups", func(g *catalog.EpisodeGroupRecord) error {
		render.Plain(r, fragment.KindEpisodeGroup, complete.Of(complete.Base(g)))
		return nil
	})
	stays(t, "lists", func(l *catalog.List) error {
		r.List(l)
		render.ListTexts(l, render.ListSums{Runtime: 1, Revenue: 1, Average: 1})
		return nil
	})
	stays(t, "accounts", func(a *catalog.Account) error { render.AccountDetails(a); return nil })
	if s.Len() == 0 {
		t.Error("there are no rows of tables")
	}
}
