package merge

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A conflict is a field on which two records disagree.
type conflict struct {
	field    string // or the path of a list in a sub-request: credits.cast
	old, new string // JSON texts
}

// top returns the field of the record itself that the conflict is about or below.
func (c conflict) top() string {
	name, _, _ := strings.Cut(c.field, ".")
	return name
}

// join merges src into dst, a record of the same kind: src wins, field by field, and fields that
// it lacks stay. Lists that crawls cut by language or by page are united; elements that a later
// crawl of the same language lacks go. join may change src and keep parts of it. Of dst it changes
// the struct itself alone: its lists and objects may be another record's too. disagree, unless
// nil, gets every scalar field of the details that had another value before.
func join(dst, src record.Record, disagree func(conflict)) {
	for i := range src.Schema.Fields {
		f := &src.Schema.Fields[i]
		if !record.Present(src, f) || united(dst, src, f) {
			continue
		}
		if f.Name == catalog.FetchedColumn { // the newest day counts, and another one is no conflict
			catalog.SetFetched(dst, max(catalog.FetchedOf(dst), catalog.FetchedOf(src)))
			continue
		}
		if disagree != nil && scalar(f) && record.Present(dst, f) && !record.Same(dst, src, f) {
			disagree(conflict{f.Name, record.FieldText(dst, f), record.FieldText(src, f)})
		}
		record.Copy(dst, src, f)
	}
	d := dst.Object()
	d.Extra = uniteExtra(d.Extra, src.Object().Extra)
}

// scalar reports whether a field is one value. Disagreement on lists is left
// uncounted: sources cut and order them as they please.
func scalar(f *record.Field) bool {
	switch f.Shape {
	case record.ShapeString, record.ShapeInt, record.ShapeFloat, record.ShapeBool:
		return true
	}
	return false
}

// united unites what both records have in one field, if it is one that crawls cut; it
// reports false for other fields, which the later source replaces.
func united(dst, src record.Record, f *record.Field) bool {
	way := wayOf(f)
	switch {
	case f.Shape == record.ShapeObject:
		return uniteSub(dst, src, f)
	case way == nil && f.Name != "localized":
		return false
	case null(src, f):
		return !null(dst, f) || byLanguage(way)
	case way == nil:
		uniteLocalized(dst, src, f)
	default:
		way.unite(dst, src, f)
		record.Copy(dst, src, f)
	}
	return true
}

// uniteSub unites what both records have of a sub-request, field by field: a table may
// have just the cast, or one external id. Responses of the API have all fields.
func uniteSub(dst, src record.Record, f *record.Field) bool {
	_, ok := dst.Sub(f)
	news, ok2 := src.Sub(f)
	switch {
	case !f.IsSub() || !ok:
		return false
	case !ok2: // null in place of images or videos counts as absent
		return slices.ContainsFunc(f.Elem.Fields, func(list record.Field) bool { return byLanguage(wayOf(&list)) })
	}
	join(dst.OwnSub(f), news, nil)
	return true
}

// keepIDs takes from src the lists of resources without ids, such as a table's cast of names alone, where dst
// has the same list with ids: clients follow them, and what was linked would not be any more. kept gets those
// lists, by paths such as credits.cast.
func keepIDs(dst, src record.Record, path string, kept func(conflict)) {
	for i := range src.Schema.Fields {
		f := &src.Schema.Fields[i]
		switch f.Shape {
		case record.ShapeObject:
			old, ok := dst.Sub(f)
			if _, set := src.Sub(f); ok && set && f.IsSub() {
				keepIDs(old, src.OwnSub(f), path+f.Name+".", kept)
			}
		case record.ShapeObjects:
			if _, ok := f.Elem.Field("id"); ok && wayOf(f) == nil && hasIDs(dst, f) && !hasIDs(src, f) && !isEmpty(src, f) {
				kept(conflict{path + f.Name, record.FieldText(dst, f), record.FieldText(src, f)})
				record.Unset(src, f)
			}
		}
	}
}

// unsetEmpty removes from dst, which shares nothing, the empty values of fields that src has.
func unsetEmpty(dst, src record.Record) {
	for i := range src.Schema.Fields {
		f := &src.Schema.Fields[i]
		switch {
		case isEmpty(src, f):
		case isEmpty(dst, f):
			record.Unset(dst, f)
		case f.Shape == record.ShapeObject && f.IsSub():
			old, _ := dst.Sub(f)
			from, _ := src.Sub(f)
			unsetEmpty(old, from)
		}
	}
}

// isEmpty reports whether a field is absent or has the value of the API for nothing: null, an empty text, zero, a list
// without elements. False is a value.
func isEmpty(r record.Record, f *record.Field) bool {
	switch f.Shape {
	case record.ShapeObject:
		_, set := r.Sub(f)
		return !set
	case record.ShapeObjects, record.ShapeKeyed, record.ShapePages:
		n, _ := r.Len(f)
		return n == 0
	}
	switch record.FieldText(r, f) {
	case "null", `""`, "0", "0.0", "[]":
		return true
	}
	return false
}

// hasIDs reports whether any element of a list has an id.
func hasIDs(r record.Record, f *record.Field) bool {
	return slices.ContainsFunc(elements(r, f), func(el record.Record) bool {
		id, _ := el.Schema.Field("id")
		return record.Present(el, id)
	})
}

// null reports whether a list is unset. Null in place of a list that is united counts as absent.
func null(r record.Record, f *record.Field) bool {
	_, set := r.Len(f)
	return !set
}

// elements returns the elements of a list.
func elements(r record.Record, f *record.Field) []record.Record {
	n, _ := r.Len(f)
	out := make([]record.Record, n)
	for i := range out {
		out[i] = r.At(f, i)
	}
	return out
}

// setElements makes a list of dst that of elements, which may be its own.
func setElements(dst record.Record, f *record.Field, list []record.Record) {
	record.Unset(dst, f)
	dst.MakeList(f, len(list)) // a new one: the elements' old places stay
	for _, from := range list {
		assign(dst.Grow(f), from)
	}
}

// uniteLocalized unites texts by language, each field by field.
func uniteLocalized(dst, src record.Record, f *record.Field) {
	list := elements(dst, f)
	for _, s := range elements(src, f) {
		at := slices.IndexFunc(list, func(l record.Record) bool { return l.StringNamed("language").V == s.StringNamed("language").V })
		if at < 0 {
			list = append(list, s)
			continue
		}
		list[at] = list[at].Clone()
		join(list[at], s, nil)
	}
	slices.SortStableFunc(list, func(a, b record.Record) int {
		return strings.Compare(a.StringNamed("language").V, b.StringNamed("language").V)
	})
	setElements(dst, f, list)
}

// uniteExtra keeps the unknown fields of both; src's come first and win.
func uniteExtra(dst, src string) string {
	switch {
	case src == "" || src == dst:
		return dst
	case dst == "":
		return src
	}
	return record.UniteExtra(src, dst)
}

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
