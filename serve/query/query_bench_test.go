package query

import (
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/serve/route"
)

func BenchmarkParseFilter(b *testing.B) {
	for _, query := range []string{
		"", "sort_by=vote_average.desc&vote_count.gte=500&with_genres=18,80&page=2",
		"include_adult=false&region=DE&with_release_type=2|3&release_date.gte=2026-07-03&release_date.lte=2026-08-14&with_keywords=1|2|3&without_genres=99",
	} {
		b.Run(query, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ParseFilter(fragment.KindMovie, route.Each([]byte(query)))
			}
		})
	}
}
