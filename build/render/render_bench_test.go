package render

import (
	"os"
	"testing"

	"github.com/reelsplice/reelsplice/build/derive"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// recorded returns a recorded answer.
func recorded(tb testing.TB, elem ...string) string {
	tb.Helper()
	data, err := os.ReadFile(sharedtest.Path(tb, append([]string{"recorded"}, elem...)...))
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

func BenchmarkMovie(b *testing.B) {
	benchmark(b, fragment.KindMovie, recorded(b, "movie", "details-append--krelinga-550-append5.json"))
}

func BenchmarkTV(b *testing.B) {
	benchmark(b, fragment.KindTV, recorded(b, "tv", "details-append--krelinga-1399-append5.json"))
}

func BenchmarkSeason(b *testing.B) {
	benchmark(b, fragment.KindSeason, recorded(b, "tv-season", "details-append--krelinga-1399-1-append3.json"))
}

// BenchmarkFilmography renders a person of 300 derived credits.
func BenchmarkFilmography(b *testing.B) {
	credits := make([]derive.Credit, 300)
	for i := range credits {
		credits[i] = derive.Credit{
			ID: "52fe4250c3a36847f80149f3", Role: derive.Cast, Character: "The Narrator",
			Title: derive.Title{Kind: fragment.KindMovie, ID: int64(i + 1)},
		}
	}
	r := New()
	b.ReportAllocs()
	for b.Loop() {
		p := catalog.Person{ID: record.Number(1), Name: record.Text("N")}
		if list := personOf(r, &p, PersonDerived{Credits: credits}); len(list) == 0 {
			b.Fatal("no fragments")
		}
	}
}

func benchmark(b *testing.B, k fragment.Kind, row string) {
	b.Helper()
	rec := catalog.TypeOf(k).New()
	if err := record.NewParser().Parse(row, rec); err != nil {
		b.Fatal(err)
	}
	r := New()
	var raw, n int
	b.ReportAllocs()
	for b.Loop() {
		raw, n = 0, 0
		for _, f := range fragmentsBy(r, rec, k) {
			n++
			for _, p := range f.Pieces {
				raw += len(p.Literal)
			}
		}
	}
	b.SetBytes(int64(raw))
	b.ReportMetric(float64(n), "fragments")
}
