package merge

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// ways has the lists that crawls cut and how each is united, by the types of their elements.
var ways = map[*record.Schema]*rows{
	record.SchemaOf[catalog.Image](): &images, record.SchemaOf[catalog.Video](): &videos, record.SchemaOf[catalog.SeasonEpisode](): &episodes,
}

// wayOf returns the way to unite a list, nil for one that is replaced.
func wayOf(f *record.Field) *rows {
	if f.Shape == record.ShapePages {
		return &pages
	}
	return ways[f.Elem]
}

// byLanguage reports whether a way is that of lists which crawls cut by language.
func byLanguage(way *rows) bool { return way != nil && way.byLanguage }

// complete gives dst the fields that only src has.
func complete(dst, src record.Record) {
	for i := range src.Schema.Fields {
		if f := &src.Schema.Fields[i]; record.Present(src, f) && !record.Present(dst, f) {
			record.Copy(dst, src, f)
		}
	}
	d := dst.Object()
	d.Extra = uniteExtra(src.Object().Extra, d.Extra)
}

// names identify a row: its own name, and one that it may share with another row, which counts
// where one of two rows lacks its own.
type names struct{ own, other string }

// rows is a way to unite lists of rows of a type.
type rows struct {
	names func(record.Record) names
	rank  func(a, b record.Record) int
	// gone returns whether an older row, which the later list lacks, is gone.
	gone func(later []record.Record) func(record.Record) bool
	// byLanguage: crawls in one language list the rows of that language alone.
	byLanguage bool
	whole      bool // a row replaces the older one of its name, and rank is the order in any case
}

var images = rows{
	names: func(r record.Record) names { return names{own: record.As[catalog.Image](r).FilePath.V} },
	rank: func(a, b record.Record) int {
		return cmp.Compare(record.As[catalog.Image](b).VoteAverage.V, record.As[catalog.Image](a).VoteAverage.V)
	},
	gone: ofLanguages, byLanguage: true,
}

var videos = rows{
	names: func(r record.Record) names {
		v := record.As[catalog.Video](r)
		n := names{own: v.ID.V}
		if v.Key.V != "" {
			n.other = v.Site.V + " " + v.Key.V
		}
		return n
	},
	rank: func(a, b record.Record) int {
		return strings.Compare(record.As[catalog.Video](b).PublishedAt.V, record.As[catalog.Video](a).PublishedAt.V)
	},
	gone: ofLanguages, byLanguage: true,
}

// A crawl lists all episodes of a season. Rows without an id are no crawl's but corrections of single
// episodes, and the others stay.
var episodes = rows{
	names: func(r record.Record) (n names) {
		if number := r.IntNamed("episode_number"); number.Set {
			n.own = strconv.FormatInt(number.V, 10)
		}
		return n
	},
	rank: func(a, b record.Record) int {
		return cmp.Compare(a.IntNamed("episode_number").V, b.IntNamed("episode_number").V)
	},
	gone: func(later []record.Record) func(record.Record) bool {
		crawled := !slices.ContainsFunc(later, func(e record.Record) bool { return !e.IntNamed("id").Set })
		return func(record.Record) bool { return crawled }
	},
}

// Of a list of pages, those beyond the number of a language's pages are gone, where the later list has that.
var pages = rows{
	names: func(r record.Record) names {
		return names{own: r.StringNamed("language").V + " " + strconv.FormatInt(r.IntNamed("page").V, 10)}
	},
	rank: func(a, b record.Record) int {
		return cmp.Or(strings.Compare(a.StringNamed("language").V, b.StringNamed("language").V), cmp.Compare(a.IntNamed("page").V, b.IntNamed("page").V))
	},
	gone: func(later []record.Record) func(record.Record) bool {
		totals := map[string]int64{}
		for _, page := range later {
			if total := page.IntNamed("total_pages"); total.Set {
				language := page.StringNamed("language").V
				totals[language] = max(totals[language], total.V)
			}
		}
		return func(page record.Record) bool {
			total, known := totals[page.StringNamed("language").V]
			return known && page.IntNamed("page").V > total
		}
	},
	whole: true,
}

// ofLanguages is the rule of crawls in one language: an older row is gone where the later list has rows
// of its language.
func ofLanguages(later []record.Record) func(record.Record) bool {
	listed := map[string]bool{}
	for _, row := range later {
		listed[languageOf(row)] = true
	}
	listed[""] = false // rows without a language do not show that others are gone
	return func(row record.Record) bool { return listed[languageOf(row)] }
}

// languageOf returns the language of a row as JSON, null where it has none; "" where
// the row lacks the field, as those of crawls that dropped it.
func languageOf(r record.Record) string {
	f, ok := r.Schema.Field("iso_639_1")
	if !ok || !record.Present(r, f) {
		return ""
	}
	return record.FieldText(r, f)
}

// unite gives src the rows that only dst has, unless they are gone, and completes its rows with the
// fields of the same rows of dst, but for whole ones. Where both lists follow rank, so does the result;
// otherwise the old rows come last.
func (r *rows) unite(dst, src record.Record, f *record.Field) {
	old, list := elements(dst, f), elements(src, f)
	ranked := slices.IsSortedFunc(old, r.rank) && slices.IsSortedFunc(list, r.rank)
	find, gone, n := r.index(list), r.gone(list), len(list)
	for _, row := range old {
		at, ok := find(row)
		switch {
		case ok && !r.whole:
			complete(list[at], row)
		case !ok && !gone(row):
			list = append(list, row)
		}
	}
	if len(list) == n && !r.whole {
		return
	}
	if ranked || r.whole {
		slices.SortStableFunc(list, r.rank)
	}
	setElements(src, f, list)
}

// index returns a function that finds a row of list that is the same as another. A
// row without a name is the same as one of equal content.
func (r *rows) index(list []record.Record) func(record.Record) (int, bool) {
	own, other, nameless := map[string]int{}, map[string]int{}, map[string]int{}
	for i := len(list) - 1; i >= 0; i-- { // the first of several stays
		n := r.names(list[i])
		if n.own != "" {
			own[n.own] = i
		}
		if n.other != "" {
			other[n.other] = i
		}
		if n == (names{}) {
			nameless[jsonOf(list[i])] = i
		}
	}
	return func(row record.Record) (int, bool) {
		n := r.names(row)
		if at, ok := own[n.own]; ok {
			return at, true
		}
		if at, ok := other[n.other]; ok && (n.own == "" || r.names(list[at]).own == "") {
			return at, true
		}
		if n != (names{}) || len(nameless) == 0 {
			return 0, false
		}
		at, ok := nameless[jsonOf(row)]
		return at, ok
	}
}

func jsonOf(r record.Record) string { return string(record.Append(nil, r)) }
