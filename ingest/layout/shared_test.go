package layout

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/ingest/source"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// A dumpRow is a row of a real dump.
type dumpRow struct {
	json string
	err  error
}

// eachRow calls fn for the rows of a real dump until it returns false.
func eachRow(tb testing.TB, path string, fn func(n int, r dumpRow) bool) (base string, table bool, kind string) {
	tb.Helper()
	files, err := source.List([]string{path}, source.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	src, err := source.Open(files[0], source.Options{TempDir: tb.TempDir()})
	if err != nil {
		tb.Fatal(err)
	}
	defer src.Close()
	f := src.File()
	for n := 1; ; n++ {
		row, err := src.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			tb.Fatal(err)
		}
		if !fn(n, dumpRow{string(row.JSON), row.Err}) {
			break
		}
	}
	return f.Base(), f.Format.Table(), f.Kind
}

// A tally is what a layout made of a file.
type tally struct {
	layout  string
	rows    int
	records map[string]int
	bad     map[string]int // by reason
	dropped map[string]int64
	whole   map[string]int64
	unknown map[string]int64
	samples map[string]string // by kind and key
}

func tallyOf(tb testing.TB, path string, o Options, want ...string) tally {
	tb.Helper()
	t := tally{records: map[string]int{}, bad: map[string]int{}, samples: map[string]string{}}
	var l Layout
	base, table, kind := eachRow(tb, path, func(int, dumpRow) bool { return false })
	typ, _ := catalog.TypeNamed(kind)
	eachRow(tb, path, func(n int, r dumpRow) bool {
		if r.err != nil {
			t.bad[r.err.Error()]++
			return true
		}
		if l == nil {
			t.layout = Detect(base, []byte(r.json), o)
			if reason := Skip(t.layout, base, []byte(r.json), o); reason != "" {
				t.layout = "skipped: " + reason
				return false
			}
			var err error
			if l, err = New(t.layout, o); err != nil {
				tb.Fatal(err)
			}
		}
		t.rows++
		recs, err := l.Records(Row{JSON: r.json, File: base, Type: typ, Table: table})
		if err != nil {
			t.bad[err.Error()]++
			return true
		}
		for _, rec := range recs {
			t.records[rec.Type.Name()]++
			if d := rec.Key.Describe(rec.Type.Kind); slices.Contains(want, d) && t.samples[d] == "" {
				t.samples[d] = text(rec.Record)
			}
		}
		return true
	})
	if l != nil {
		t.dropped, t.unknown = l.Counts().Dropped, l.Counts().Unknown
		t.whole = l.Counts().Whole
	}
	return t
}

// TestShared: what every real dump file is found to be, and what becomes of its rows.
func TestShared(t *testing.T) {
	if testing.Short() {
		t.Skip("half a million rows, one after another: what layouts share is tested where several workers have one each")
	}
	damaged := map[string]int{"TMDB_movie_dataset_v11.csv": 14} // rows that are no UTF-8
	f := func(layout string, rows int, records map[string]int, want map[string]string, path ...string) tally {
		t.Helper()
		got := tallyOf(t, sharedtest.Path(t, append([]string{"dumps"}, path...)...), Options{}, slices.Collect(maps.Keys(want))...)
		if got.layout != layout || got.rows != rows || !maps.Equal(got.records, records) || len(got.bad) != damaged[path[len(path)-1]] {
			t.Errorf("%s: layout %s, %d rows, records %v, bad %v, want layout %s, %d rows, records %v", strings.Join(path, "/"),
				got.layout, got.rows, got.records, got.bad, layout, rows, records)
		}
		for key, part := range want {
			for one := range strings.SplitSeq(part, " ... ") {
				if !strings.Contains(got.samples[key], one) {
					t.Errorf("%s: %s = %s, want %s in it", strings.Join(path, "/"), key, got.samples[key], one)
				}
			}
		}
		return got
	}
	counts := func(t *testing.T, name string, got, want map[string]int64) {
		t.Helper()
		if !maps.Equal(got, want) {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	none := map[string]int{}

	f(IDExport, 67483, map[string]int{"keyword": 67483}, map[string]string{"keyword 378": `{"id":378,"name":"prison"}`}, "daily-ids", "keyword_ids.json.gz")
	f(IDExport, 156, map[string]int{"collection": 156}, nil, "daily-ids", "derived", "collection_ids.json.gz")
	f(IDExport, 67483, map[string]int{"keyword": 67483}, nil, "daily-ids", "derived", "keyword_ids.json.gz")
	f(IDExport, 995, map[string]int{"movie": 995}, map[string]string{
		"movie 11": `{"adult":false,"id":11,"original_title":"Star Wars","popularity":13.9947,"video":false}`,
	}, "daily-ids", "derived", "movie_ids.json.gz")
	f(IDExport, 71831, map[string]int{"person": 71831}, map[string]string{
		"person 1": `{"adult":false,"id":1,"name":"George Lucas","popularity":3.4333}`,
	}, "daily-ids", "derived", "person_ids.json.gz")
	f(IDExport, 50000, map[string]int{"company": 50000}, nil, "daily-ids", "derived", "production_company_ids.json.gz")
	f(IDExport, 5385, map[string]int{"network": 5385}, nil, "daily-ids", "derived", "tv_network_ids.json.gz")
	f(IDExport, 730, map[string]int{"tv": 730}, map[string]string{
		"tv 78": `{"id":78,"original_name":"Dateline","popularity":49.8625}`,
	}, "daily-ids", "derived", "tv_series_ids.json.gz")

	got := f(Tables, 50000, map[string]int{"company": 50000}, map[string]string{
		"company 1": `{"headquarters":"San Francisco, California","homepage":"https://www.lucasfilm.com","id":1,"name":"Lucasfilm Ltd.","origin_country":"US"}`,
	}, "daily-ids", "companies.csv.gz")
	counts(t, "companies: dropped", got.dropped, map[string]int64{"companies.titles_count": 50000, "companies.tmdb_url": 50000})
	f(Tables, 5385, map[string]int{"network": 5385}, map[string]string{
		"network 1": `{"headquarters":"Minato, Tokyo","id":1,"name":"Fuji TV","origin_country":"JP"}`,
	}, "daily-ids", "tv-networks.csv.gz")
	f("skipped: lists of genres are no records: the program has TMDB's", 0, none, nil, "daily-ids", "genres.csv")
	f("skipped: counts of titles are no records", 0, none, nil, "daily-ids", "genre-counts.json")

	got = f(Tables, 7380, map[string]int{"movie": 7380}, map[string]string{
		"movie 11": `{"genres":[{"id":12,"name":"Adventure"},{"id":28,"name":"Action"},{"id":878,"name":"Science Fiction"}],"id":11,"title":"Star Wars","vote_average":8.201}`,
	}, "parquet-duckdb", "films.parquet")
	counts(t, "films: dropped", got.dropped, map[string]int64{
		"films.combined_rating": 7380, "films.director_id": 7380, "films.director_name": 7380, "films.imdb_rating": 7344, "films.metacritic_score": 4729,
		"films.prestige_score": 342, "films.release_year": 7380, "films.rotten_tomatoes_score": 5889, "films.vote_count": 7380,
	})
	f(Tables, 184350, map[string]int{"movie": 184350, "person": 184350}, map[string]string{
		"movie 862": `{"id":862,"credits":{"crew":[{"id":7879,"name":"John Lasseter","department":"Directing","job":"Director"}]}}`,
	}, "parquet-duckdb", "credits.parquet")
	f(Tables, 3008, map[string]int{"person": 3008}, map[string]string{
		"person 1": `{"id":1,"name":"George Lucas","profile_path":"/mDLDvsx8PaZoEThkBdyaG1JxPdf.jpg"}`,
	}, "parquet-duckdb", "persons.parquet")

	got = f(Tables, 80, map[string]int{"movie": 80}, map[string]string{
		"movie 425274": `{"adult":false,"backdrop_path":"/ufqytAlziHq5pljKByGJ8IKhtEZ.jpg","homepage" ... "popularity":439.9602,"release_date":"2025-11-12","revenue":214474974,"runtime":112,`,
	}, "parquet-pandas", "movies.parquet")
	counts(t, "movies: dropped", got.dropped, map[string]int64{"movies.budget": 73, "movies.release_year": 79})
	f(Tables, 1407, map[string]int{"movie": 1407, "person": 1407}, map[string]string{
		"movie 425274": `{"id":425274,"credits":{"cast":[{"gender":2,"id":44735,"name":"Jesse Eisenberg","popularity":5.6558,"character":"J. Daniel Atlas","order":0}]}}`,
		"person 44735": `{"gender":2,"id":44735,"name":"Jesse Eisenberg","popularity":5.6558}`,
	}, "parquet-pandas", "movie_cast.parquet")
	f(Tables, 224, map[string]int{"movie": 224}, map[string]string{
		"movie 425274": `{"genres":[{"id":53,"name":"Thriller"}],"id":425274}`,
	}, "parquet-pandas", "movie_genres.parquet")
	f(Tables, 353, map[string]int{"movie": 353}, map[string]string{
		"movie 425274": `{"id":425274,"reviews":{"page":1,"results":[{"author":"CinemaSerf","author_details":{"rating":6.0} ... "id":"691890cfea3b47df3c4c9ff5"`,
	}, "parquet-pandas", "movie_reviews.parquet")
	got = f(Kaggle, 80, map[string]int{"movie": 80}, map[string]string{
		"movie 425274": `"budget":90000000 ... "original_title":"Now You See Me: Now You Don't" ... "cast":[{"gender":2,"id":44735, ... "total_pages":1,"total_results":`,
	}, "parquet-pandas", "movies.csv.gz")
	counts(t, "raw crawl: dropped", got.dropped, map[string]int64{"movies.credits.extraction_date": 80})

	f(Kaggle, 4803, map[string]int{"movie": 4803}, map[string]string{
		"movie 19995": `{"budget":237000000,"genres":[{"id":28,"name":"Action"}, ... "production_companies":[{"id":289,"name":"Ingenious Film Partners"} ... ` +
			`"release_date":"2009-12-10","revenue":2787965087,"runtime":162, ... {"iso_639_1":"es","name":"Español"} ... "keywords":{"keywords":[{"id":1463,"name":"culture clash"}`,
	}, "tmdb5000", "tmdb_5000_movies.csv.gz")

	got = f(Kaggle, 1652, map[string]int{"movie": 1652}, map[string]string{
		"movie 862": `{"adult":false,"belongs_to_collection":{"id":10194,"name":"Toy Story Collection" ... "imdb_id":"tt0114709" ... "release_date":"1995-10-30"`,
	}, "movies-dataset-mangled", "movies_metadata.csv.gz")
	counts(t, "movies_metadata: dropped", got.dropped, nil) // package source passes over rows of commas
	f(Kaggle, 35, map[string]int{"movie": 35}, map[string]string{
		"movie 862": `{"id":862,"credits":{"cast":[{"gender":2,"id":31,"name":"Tom Hanks","profile_path":"/pQFoyx7rp09CJTAb932F2g8Nlho.jpg","cast_id":14,"character":"Woody (voice)"`,
	}, "movies-dataset-mangled", "credits.csv.gz")
	f(Kaggle, 57, map[string]int{"movie": 57}, map[string]string{
		"movie 862": `{"id":862,"keywords":{"keywords":[{"id":931,"name":"jealousy"}`,
	}, "movies-dataset-mangled", "keywords.csv.gz")
	got = f(Kaggle, 45843, map[string]int{"movie": 45624}, map[string]string{"movie 862": `{"id":862,"imdb_id":"tt0114709"}`}, "movies-dataset-mangled", "links.csv.gz")
	counts(t, "links: dropped", got.dropped, map[string]int64{"links.movieId": 45843, "links: rows without tmdbId": 219})
	got = f(Kaggle, 9125, map[string]int{"movie": 9112}, nil, "movies-dataset-mangled", "links_small.csv.gz")
	counts(t, "links_small: dropped", got.dropped, map[string]int64{"links.movieId": 9125, "links: rows without tmdbId": 13})

	got = f(Kaggle, 77, map[string]int{"movie": 77}, map[string]string{
		"movie 27205": `"genres":[{"id":28,"name":"Action"},{"id":878,"name":"Science Fiction"},{"id":12,"name":"Adventure"}] ... ` +
			`"production_countries":[{"iso_3166_1":"GB","name":"United Kingdom"},{"iso_3166_1":"US","name":"United States of America"}] ... ` +
			`{"english_name":"Swahili","iso_639_1":"sw","name":"Kiswahili"} ... "production_companies_text":"Legendary Pictures, Syncopy, Warner Bros. Pictures"`,
	}, "tmdb-v11-sample", "TMDB_movie_dataset_v11.csv")
	counts(t, "tmdb_movie_dataset: whole", got.whole, map[string]int64{"tmdb_movie_dataset.production_companies": 77})

	// With the names of 50,000 companies three in four of the lists can be split.
	known := names{}
	eachRow(t, sharedtest.Path(t, "dumps", "daily-ids", "derived", "production_company_ids.json.gz"), func(_ int, r dumpRow) bool {
		var c struct {
			ID   int64
			Name string
		}
		if err := json.Unmarshal([]byte(r.json), &c); err != nil {
			t.Fatal(err)
		}
		if _, twice := known[c.Name]; twice {
			c.ID = 0
		}
		known[c.Name] = c.ID
		return true
	})
	split := tallyOf(t, sharedtest.Path(t, "dumps", "tmdb-v11-sample", "TMDB_movie_dataset_v11.csv"), Options{Names: known}, "movie 27205")
	counts(t, "tmdb_movie_dataset with names: whole", split.whole, map[string]int64{"tmdb_movie_dataset.production_companies": 19})
	if want := `"production_companies":[{"id":923,"name":"Legendary Pictures"},{"id":9996,"name":"Syncopy"},{"id":174,"name":"Warner Bros. Pictures"}]`; !strings.Contains(split.samples["movie 27205"], want) {
		t.Errorf("movie 27205 = %s, want %s in it", split.samples["movie 27205"], want)
	}

	f(TMDB, 2000, map[string]int{"movie": 2000}, nil, "tmdb-native-ar", "movies-list.json.gz")
	f(TMDB, 17, map[string]int{"movie": 17}, nil, "tmdb-native-ar", "movies.ndjson.gz")
	f(TMDB, 995, map[string]int{"movie": 995}, nil, "tmdb-native", "movie-list-items.ndjson.gz")
	f(Movnix, 1139, map[string]int{"movie": 1139}, nil, "movnix", "movies.ndjson.zst")
}

// TestDetectShared: the layout of every real dump file, by its name and its first good
// row. What is IMDb's is not found here.
func TestDetectShared(t *testing.T) {
	dir := sharedtest.Path(t, "dumps")
	want := map[string]string{
		"daily-ids/companies.csv.gz": Tables, "daily-ids/tv-networks.csv.gz": Tables, "daily-ids/keyword_ids.json.gz": IDExport,
		"daily-ids/genres.csv": "left out", "daily-ids/genre-counts.json": "left out",
		"daily-ids/derived/collection_ids.json.gz": IDExport, "daily-ids/derived/keyword_ids.json.gz": IDExport, "daily-ids/derived/movie_ids.json.gz": IDExport,
		"daily-ids/derived/person_ids.json.gz": IDExport, "daily-ids/derived/production_company_ids.json.gz": IDExport,
		"daily-ids/derived/tv_network_ids.json.gz": IDExport, "daily-ids/derived/tv_series_ids.json.gz": IDExport,
		"movies-dataset-mangled/credits.csv.gz": Kaggle, "movies-dataset-mangled/keywords.csv.gz": Kaggle, "movies-dataset-mangled/links.csv.gz": Kaggle,
		"movies-dataset-mangled/links_small.csv.gz": Kaggle, "movies-dataset-mangled/movies_metadata.csv.gz": Kaggle,
		"movnix/movies.ndjson.zst": Movnix, "movnix/tv.ndjson.zst": Movnix,
		"parquet-duckdb/credits.parquet": Tables, "parquet-duckdb/films.parquet": Tables, "parquet-duckdb/persons.parquet": Tables,
		"parquet-pandas/movie_cast.parquet": Tables, "parquet-pandas/movie_genres.parquet": Tables, "parquet-pandas/movie_reviews.parquet": Tables,
		"parquet-pandas/movies.parquet": Tables, "parquet-pandas/movies.csv.gz": Kaggle,
		"tmdb-native-ar/movies-list.json.gz": TMDB, "tmdb-native-ar/movies.ndjson.gz": TMDB, "tmdb-native-ar/tv-list.json.gz": TMDB, "tmdb-native-ar/tv.ndjson.gz": TMDB,
		"tmdb-native/movie-163-credits.json.gz": TMDB, "tmdb-native/movie-550-credits.json.gz": TMDB, "tmdb-native/movie-list-items.ndjson.gz": TMDB,
		"tmdb-native/person-287-movie-credits.json.gz": TMDB,
		"tmdb-v11-sample/TMDB_movie_dataset_v11.csv":   Kaggle, "tmdb5000/tmdb_5000_movies.csv.gz": Kaggle,
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		if err != nil || d.IsDir() || strings.HasPrefix(name, "imdb") || !strings.Contains(name, "/") {
			return err
		}
		var row string
		base, _, _ := eachRow(t, path, func(_ int, r dumpRow) bool {
			row = r.json
			return r.err != nil
		})
		got := Detect(base, []byte(row), Options{})
		if Skip(got, base, []byte(row), Options{}) != "" {
			got = "left out"
		}
		if got != want[name] {
			t.Errorf("%s: layout %s, want %s", name, got, want[name])
		}
		delete(want, name)
		return nil
	})
	if err != nil || len(want) > 0 {
		t.Errorf("walk: %v, not found %v", err, want)
	}
}
