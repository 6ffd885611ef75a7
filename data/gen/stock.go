package gen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/reelsplice/reelsplice/data/sample"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A series is a series of the sample with its seasons.
type series struct {
	catalog.TV
	seasons []catalog.Season
}

// A stock is the raw material of records: the sample's rows, the elements of their lists, words of titles and names.
type stock struct {
	movies      []catalog.Movie
	tv          []series
	people      []catalog.Person
	collections []catalog.Collection
	companies   []catalog.Company
	networks    []catalog.Network
	keywords    []catalog.KeywordRecord

	cast                                  []catalog.CastCredit
	tvCast                                []catalog.TVCastCredit
	crew                                  []catalog.CrewCredit
	backdrops, logos, posters, profiles   []catalog.Image
	videos                                []catalog.Video
	alternatives                          []catalog.AlternativeTitle
	words, foreign, givenNames, lastNames []string
}

// newStock reads the sample. Each word and name occurs once, in one list.
var newStock = sync.OnceValue(func() *stock {
	s := &stock{
		movies: rowsOf[catalog.Movie]("movies"), people: rowsOf[catalog.Person]("people"), collections: rowsOf[catalog.Collection]("collections"),
		companies: rowsOf[catalog.Company]("companies"), networks: rowsOf[catalog.Network]("networks"), keywords: rowsOf[catalog.KeywordRecord]("keywords"),
	}
	addImages := func(i *catalog.Images) {
		s.backdrops, s.logos, s.posters = append(s.backdrops, i.Backdrops...), append(s.logos, i.Logos...), append(s.posters, i.Posters...)
	}
	seen := map[string]bool{}
	addWords := func(list *[]string, words ...string) {
		for _, w := range words {
			if w != "" && !seen[w] {
				seen[w] = true
				*list = append(*list, w)
			}
		}
	}
	for i := range s.movies {
		m := &s.movies[i]
		addImages(m.Images)
		s.cast, s.crew = append(s.cast, m.Credits.Cast...), append(s.crew, m.Credits.Crew...)
		s.videos, s.alternatives = append(s.videos, m.Videos.Results...), append(s.alternatives, m.AlternativeTitles.Titles...)
		if m.OriginalTitle != m.Title {
			addWords(&s.foreign, strings.Fields(m.OriginalTitle.V)...)
		}
	}
	for _, t := range rowsOf[catalog.TV]("tv") {
		addImages(t.Images)
		s.tvCast, s.crew = append(s.tvCast, t.Credits.Cast...), append(s.crew, t.Credits.Crew...)
		s.videos, s.alternatives = append(s.videos, t.Videos.Results...), append(s.alternatives, t.AlternativeTitles.Results...)
		var texts map[string]json.RawMessage
		if err := json.Unmarshal([]byte("{"+t.Extra+"}"), &texts); err != nil {
			panic(err) // the data is embedded
		}
		var seasons []catalog.Season
		for n := range len(texts) + 1 { // seasons start at 0 or 1
			if text, ok := texts[fmt.Sprintf("season/%d", n)]; ok {
				seasons = append(seasons, parsed[catalog.Season](string(text)))
			}
		}
		t.Extra = ""
		s.tv = append(s.tv, series{t, seasons})
	}
	for i := range s.people {
		s.profiles = append(s.profiles, s.people[i].Images.Profiles...)
		given, last, _ := strings.Cut(s.people[i].Name.V, " ")
		addWords(&s.givenNames, given)
		addWords(&s.lastNames, strings.Fields(last)...)
	}
	for i := range s.keywords {
		for _, w := range strings.FieldsFunc(s.keywords[i].Name.V, func(c rune) bool { return c < 'a' || c > 'z' }) {
			addWords(&s.words, strings.ToUpper(w[:1])+w[1:])
		}
	}
	return s
})

// rowsOf returns the rows of a file of the sample.
func rowsOf[T any](name string) (rows []T) {
	data, err := fs.ReadFile(sample.FS(), name+".ndjson")
	if err != nil {
		panic(err) // the data is embedded
	}
	for line := range bytes.Lines(data) {
		rows = append(rows, parsed[T](string(line)))
	}
	return rows
}

func parsed[T any](row string) (v T) {
	if err := record.NewParser().Parse(row, record.Of(&v)); err != nil {
		panic(err) // the data is embedded
	}
	return v
}

// title returns one to six random words.
func (s *stock) title(r *random, words []string) string {
	t := words[r.rank(uint64(len(words)))]
	for range r.rank(5) {
		t += " " + words[r.rank(uint64(len(words)))]
	}
	return t
}
