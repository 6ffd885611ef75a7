package imdb

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/reelsplice/reelsplice/ingest/layout"
)

// generated returns tables of n titles in the proportions of the published ones: for each title 8 principals, 1.25 people, 5
// other titles and one row of title.crew. Two of three titles are episodes.
func generated(n int) []tsv {
	rng := rand.New(rand.NewPCG(1, 2))
	people := n*5/4 + 1
	list := []string{"actor", "actress", "self", "director", "writer", "producer", "composer", "editor"}
	var basics, akas, principals, crew, episodes, ratings, names [][]byte
	row := func(rows *[][]byte, format string, args ...any) {
		*rows = append(*rows, fmt.Appendf(nil, format, args...))
	}
	for i := range n {
		id, typ := i+1, "tvEpisode"
		if i%3 == 0 {
			typ = []string{"movie", "tvSeries"}[i/3%2]
		} else {
			row(&episodes, `{"tconst":"tt%07d","parentTconst":"tt%07d","seasonNumber":"%d","episodeNumber":"%d"}`, id, i/300*300+4, i/20%15+1, i%20+1)
		}
		row(&basics, `{"tconst":"tt%07d","titleType":"%s","primaryTitle":"Title %d","originalTitle":"Title %d","isAdult":"0","startYear":"2001","endYear":null,"runtimeMinutes":"%d","genres":"Drama,Thriller"}`, id, typ, i, i, i%200)
		row(&crew, `{"tconst":"tt%07d","directors":"nm%07d","writers":"nm%07d"}`, id, rng.IntN(people)+1, rng.IntN(people)+1)
		for k := range 5 {
			row(&akas, `{"titleId":"tt%07d","ordering":"%d","title":"Titel %d","region":"DE","language":null,"types":"imdbDisplay","attributes":null,"isOriginalTitle":"0"}`, id, k+1, i+k)
		}
		for k, category := range list {
			characters := "null"
			if k < 3 {
				characters = fmt.Sprintf(`"[\"Character %d\"]"`, rng.IntN(1000))
			}
			row(&principals, `{"tconst":"tt%07d","ordering":"%d","nconst":"nm%07d","category":"%s","job":null,"characters":%s}`, id, k+1, rng.IntN(people)+1, category, characters)
		}
		if i%8 == 0 {
			row(&ratings, `{"tconst":"tt%07d","averageRating":"%d.%d","numVotes":"%d"}`, id, i%10, i%9, i)
		}
	}
	for i := range people {
		row(&names, `{"nconst":"nm%07d","primaryName":"Person Number %d","birthYear":null,"deathYear":null,"primaryProfession":"actor,producer","knownForTitles":"tt0000001,tt0000002"}`, i+1, i)
	}
	return []tsv{
		{titleBasics, basics},
		{titleAkas, akas},
		{titlePrincipals, principals},
		{titleCrew, crew},
		{titleEpisode, episodes},
		{titleRatings, ratings},
		{nameBasics, names},
	}
}

// BenchmarkJoin joins all tables and spills as often, relative to its size, as the complete datasets in 256 MiB. 1,000,000
// principals come with 12,900 rows per 1,000 titles; "rows/s" counts the rows of all tables.
func BenchmarkJoin(b *testing.B) {
	const titles = 50_000
	files := generated(titles)
	rows := 0
	for _, f := range files {
		rows += len(f.rows)
	}
	b.ReportAllocs()
	for b.Loop() {
		j := newJoiner(b, Config{Memory: 8 << 20})
		n := addAll(b, j, files)
		if err := j.Records(b.Context(), func(int, int64, int64, layout.Record) error { n--; return nil }); err != nil {
			b.Fatal(err)
		}
		if n >= rows || n <= 0 {
			b.Fatalf("%d rows gave %d records", rows, rows-n)
		}
		if err := j.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func addAll(tb testing.TB, j *Joiner, files []tsv) (rows int) {
	tb.Helper()
	for n, f := range files {
		for i, row := range f.rows {
			if err := j.Add(f.table, n, int64(i+1), int64(i+2), string(row)); err != nil {
				tb.Fatal(err)
			}
		}
		rows += len(f.rows)
	}
	return rows
}
