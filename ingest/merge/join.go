package merge

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A conflict is a field that has different values in two records.
type conflict struct {
	field    string // or the path of a list in a sub-request: credits.cast
	old, new string // JSON texts
}

// top returns the first name of the path.
func (c conflict) top() string {
	name, _, _ := strings.Cut(c.field, ".")
	return name
}

// join merges src into dst, a record of the same kind: src wins field by field, and dst keeps fields that src lacks. Lists
// that crawls fetch by language or by page are united. join may change src and keep parts of it. It replaces fields of dst,
// but does not change the lists and objects in them, which other records may share. It calls disagree, unless nil, for every
// scalar field of the details whose value changes.
func join(dst, src record.Record, disagree func(conflict)) {
	for i := range src.Schema.Fields {
		f := &src.Schema.Fields[i]
		if !record.Present(src, f) || uniteField(dst, src, f) {
			continue
		}
		if f.Name == catalog.FetchedColumn { // the newest day, without a conflict
			catalog.SetFetched(dst, max(catalog.FetchedOf(dst), catalog.FetchedOf(src)))
			continue
		}
		if disagree != nil && isScalar(f) && record.Present(dst, f) && !record.Same(dst, src, f) {
			disagree(conflict{f.Name, record.FieldText(dst, f), record.FieldText(src, f)})
		}
		record.Copy(dst, src, f)
	}
	d := dst.Object()
	d.Extra = uniteExtra(d.Extra, src.Object().Extra)
}

// isScalar reports whether a field is one value. Lists are not compared: their length and order differ between sources.
func isScalar(f *record.Field) bool {
	switch f.Shape {
	case record.ShapeString, record.ShapeInt, record.ShapeFloat, record.ShapeBool:
		return true
	}
	return false
}

// uniteField unites a field of both records. It returns false if src's field replaces dst's.
func uniteField(dst, src record.Record, f *record.Field) bool {
	rule := ruleOf(f)
	switch {
	case f.Shape == record.ShapeObject: // a sub-request is merged field by field: a table may have only the cast, or one external id
		if _, set := dst.Sub(f); !set || !f.IsSub() {
			return false
		}
		sub, set := src.Sub(f)
		if !set { // null images and videos count as absent
			return slices.ContainsFunc(f.Elem.Fields, func(list record.Field) bool { return isByLanguage(ruleOf(&list)) })
		}
		join(dst.CloneSub(f), sub, nil)
	case rule == nil && f.Name != "localized":
		return false
	case isUnset(src, f):
		return !isUnset(dst, f) || isByLanguage(rule)
	case rule == nil:
		uniteLocalized(dst, src, f)
	default:
		rule.unite(dst, src, f)
		record.Copy(dst, src, f)
	}
	return true
}

// keepIDs drops a list from src if its elements have no ids but dst's do: replacing it would break links that clients
// follow. It calls onDrop for each dropped list, with a path such as credits.cast.
func keepIDs(dst, src record.Record, path string, onDrop func(conflict)) {
	for i := range src.Schema.Fields {
		f := &src.Schema.Fields[i]
		switch f.Shape {
		case record.ShapeObject:
			old, ok := dst.Sub(f)
			if _, set := src.Sub(f); ok && set && f.IsSub() {
				keepIDs(old, src.CloneSub(f), path+f.Name+".", onDrop)
			}
		case record.ShapeObjects:
			if _, ok := f.Elem.Field("id"); ok && ruleOf(f) == nil && hasIDs(dst, f) && !hasIDs(src, f) && !isEmpty(src, f) {
				onDrop(conflict{path + f.Name, record.FieldText(dst, f), record.FieldText(src, f)})
				record.Unset(src, f)
			}
		}
	}
}

// unsetEmpty removes empty values from dst if src has a value. dst must not share memory with other records.
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

// isEmpty reports whether a field is absent or empty: null, an empty text, zero, an empty list. False is a value.
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

// complete copies to dst the fields that only src has.
func complete(dst, src record.Record) {
	for i := range src.Schema.Fields {
		if f := &src.Schema.Fields[i]; record.Present(src, f) && !record.Present(dst, f) {
			record.Copy(dst, src, f)
		}
	}
	d := dst.Object()
	d.Extra = uniteExtra(src.Object().Extra, d.Extra)
}

// uniteExtra unites unknown fields. src's come first and take precedence.
func uniteExtra(dst, src string) string {
	switch {
	case src == "" || src == dst:
		return dst
	case dst == "":
		return src
	}
	return record.UniteExtra(src, dst)
}

// isUnset reports whether a list is absent or null.
func isUnset(r record.Record, f *record.Field) bool {
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

// setElements replaces a list of dst. Its new elements may be elements of the old list.
func setElements(dst record.Record, f *record.Field, list []record.Record) {
	record.Unset(dst, f)
	dst.MakeList(f, len(list)) // new memory: list may point into the old one
	for _, from := range list {
		assign(dst.Grow(f), from)
	}
}

// uniteLocalized unites texts language by language, and each language field by field.
func uniteLocalized(dst, src record.Record, f *record.Field) {
	list := elements(dst, f)
	for _, s := range elements(src, f) {
		i := slices.IndexFunc(list, func(l record.Record) bool { return l.StringNamed("language").V == s.StringNamed("language").V })
		if i < 0 {
			list = append(list, s)
			continue
		}
		list[i] = list[i].Clone()
		join(list[i], s, nil)
	}
	slices.SortStableFunc(list, func(a, b record.Record) int {
		return strings.Compare(a.StringNamed("language").V, b.StringNamed("language").V)
	})
	setElements(dst, f, list)
}

// listRules has rules for lists that crawls fetch in pieces, by the schemas of their elements. Other lists are replaced.
var listRules = map[*record.Schema]*listRule{
	record.SchemaOf[catalog.Image](): &images, record.SchemaOf[catalog.Video](): &videos, record.SchemaOf[catalog.SeasonEpisode](): &episodes,
}

// ruleOf returns the rule of a list, or nil if later lists replace it.
func ruleOf(f *record.Field) *listRule {
	if f.Shape == record.ShapePages {
		return &pages
	}
	return listRules[f.Elem]
}

// isByLanguage reports whether crawls fetch a list language by language.
func isByLanguage(rule *listRule) bool { return rule != nil && rule.byLanguage }

// An identity identifies an element. The secondary name is compared if one of two elements has no primary name.
type identity struct{ primary, secondary string }

// A listRule describes how an old and a new list are united.
type listRule struct {
	identity func(record.Record) identity
	order    func(a, b record.Record) int
	// isGone returns a function that reports whether an old element that is missing from the new list no longer exists.
	isGone           func(list []record.Record) func(record.Record) bool
	byLanguage       bool // a crawl in one language returns only elements of that language
	replacesElements bool // an element replaces the old one, and the list is always sorted by order
}

var images = listRule{
	identity: func(r record.Record) identity { return identity{primary: record.As[catalog.Image](r).FilePath.V} },
	order: func(a, b record.Record) int {
		return cmp.Compare(record.As[catalog.Image](b).VoteAverage.V, record.As[catalog.Image](a).VoteAverage.V)
	},
	isGone: goneByLanguage, byLanguage: true,
}

var videos = listRule{
	identity: func(r record.Record) identity {
		v := record.As[catalog.Video](r)
		n := identity{primary: v.ID.V}
		if v.Key.V != "" {
			n.secondary = v.Site.V + " " + v.Key.V
		}
		return n
	},
	order: func(a, b record.Record) int {
		return strings.Compare(record.As[catalog.Video](b).PublishedAt.V, record.As[catalog.Video](a).PublishedAt.V)
	},
	isGone: goneByLanguage, byLanguage: true,
}

// A crawl returns all episodes of a season. Elements without an id are corrections of single episodes, and keep the others.
var episodes = listRule{
	identity: func(r record.Record) (n identity) {
		if number := r.IntNamed("episode_number"); number.Set {
			n.primary = strconv.FormatInt(number.V, 10)
		}
		return n
	},
	order: func(a, b record.Record) int {
		return cmp.Compare(a.IntNamed("episode_number").V, b.IntNamed("episode_number").V)
	},
	isGone: func(list []record.Record) func(record.Record) bool {
		crawled := !slices.ContainsFunc(list, func(e record.Record) bool { return !e.IntNamed("id").Set })
		return func(record.Record) bool { return crawled }
	},
}

// A page is gone if its number exceeds the number of pages that the new list states for its language.
var pages = listRule{
	identity: func(r record.Record) identity {
		return identity{primary: r.StringNamed("language").V + " " + strconv.FormatInt(r.IntNamed("page").V, 10)}
	},
	order: func(a, b record.Record) int {
		return cmp.Or(strings.Compare(a.StringNamed("language").V, b.StringNamed("language").V), cmp.Compare(a.IntNamed("page").V, b.IntNamed("page").V))
	},
	isGone: func(list []record.Record) func(record.Record) bool {
		totals := map[string]int64{}
		for _, page := range list {
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
	replacesElements: true,
}

// goneByLanguage: an old element is gone if the new list has elements of its language.
func goneByLanguage(list []record.Record) func(record.Record) bool {
	listed := map[string]bool{}
	for _, el := range list {
		listed[languageOf(el)] = true
	}
	listed[""] = false // an element without a language does not show that others are gone
	return func(el record.Record) bool { return listed[languageOf(el)] }
}

// languageOf returns the language of an element as JSON: null for no language, and "" if the element lacks the field.
func languageOf(r record.Record) string {
	f, ok := r.Schema.Field("iso_639_1")
	if !ok || !record.Present(r, f) {
		return ""
	}
	return record.FieldText(r, f)
}

// unite adds to src the elements that only dst has, unless they are gone, and completes src's elements with fields of
// dst's. If both lists are sorted, so is the result; otherwise the old elements come last.
func (l *listRule) unite(dst, src record.Record, f *record.Field) {
	old, list := elements(dst, f), elements(src, f)
	sorted := slices.IsSortedFunc(old, l.order) && slices.IsSortedFunc(list, l.order)
	isGone, n := l.isGone(list), len(list)
	byPrimary, bySecondary := map[string]int{}, map[string]int{}
	for i := n - 1; i >= 0; i-- { // backwards: the first of equal elements is kept
		id := l.identify(list[i])
		byPrimary[id.primary], bySecondary[id.secondary] = i, i
	}
	for _, el := range old {
		id := l.identify(el)
		i, found := byPrimary[id.primary]
		if !found || id.primary == "" {
			i, found = bySecondary[id.secondary]
			found = found && id.secondary != "" && (id.primary == "" || l.identify(list[i]).primary == "")
		}
		switch {
		case found && !l.replacesElements:
			complete(list[i], el)
		case !found && !isGone(el):
			list = append(list, el)
		}
	}
	if len(list) == n && !l.replacesElements {
		return
	}
	if sorted || l.replacesElements {
		slices.SortStableFunc(list, l.order)
	}
	setElements(src, f, list)
}

// identify returns the identity of an element. Without one, its content identifies it.
func (l *listRule) identify(el record.Record) identity {
	n := l.identity(el)
	if n == (identity{}) {
		n.primary = jsonOf(el)
	}
	return n
}

func jsonOf(r record.Record) string { return string(record.Append(nil, r)) }

// assign sets dst, an empty record, to src.
func assign(dst, src record.Record) {
	for i := range src.Schema.Fields {
		record.Copy(dst, src, &src.Schema.Fields[i])
	}
	*dst.Object() = *src.Object()
}

// sortLists sorts the lists of a record, and of its objects and pages. places has the index of each element in its row, by
// the path of the list.
func sortLists(r record.Record, path string, places map[string][]int) {
	for i := range r.Schema.Fields {
		f := &r.Schema.Fields[i]
		name := path + "." + f.Name
		switch f.Shape {
		case record.ShapeObject:
			if sub, ok := r.Sub(f); ok {
				sortLists(sub, name, places)
			}
		case record.ShapeObjects:
			if n, _ := r.Len(f); n > 1 {
				sortList(r, f, places[name])
			}
		case record.ShapePages:
			for _, page := range elements(r, f) {
				sortLists(page, name, nil)
			}
			catalog.CountRows(r, f)
		}
	}
}

// sortList sorts a list by the elements' own order, department and job, index in their rows, and time of creation. It keeps
// only the first of several elements with the same facts about one resource, which needs an id.
func sortList(r record.Record, f *record.Field, places []int) {
	list := elements(r, f)
	ranks := make(map[record.Record]rank, len(list))
	for i, el := range list {
		order := *el.IntNamed("order")
		if !order.Set {
			order.V = 1 << 62 // after elements with an order
		}
		r := rank{
			order.V, el.StringNamed("department").V, el.StringNamed("job").V, el.StringNamed("character").V,
			el.IntNamed("id").V, el.StringNamed("created_at").V, jsonOf(el), 0,
		}
		if len(places) == len(list) {
			r.place = places[i]
		}
		ranks[el] = r
	}
	slices.SortFunc(list, func(x, y record.Record) int {
		a, b := ranks[x], ranks[y]
		return cmp.Or(a.compareFacts(b), strings.Compare(a.text, b.text), cmp.Compare(a.place, b.place))
	})
	list = slices.CompactFunc(list, func(x, y record.Record) bool {
		a, b := ranks[x], ranks[y]
		return a.text == b.text || a.id != 0 && a.compareFacts(b) == 0
	})
	slices.SortStableFunc(list, func(x, y record.Record) int {
		a, b := ranks[x], ranks[y]
		return cmp.Or(a.compareJobs(b), cmp.Compare(a.place, b.place))
	})
	setElements(r, f, list)
}

// A rank orders an element of a list.
type rank struct {
	order                      int64
	department, job, character string
	id                         int64
	created, text              string
	place                      int // index in its row
}

// compareJobs compares order, department and job.
func (a rank) compareJobs(b rank) int {
	return cmp.Or(cmp.Compare(a.order, b.order), strings.Compare(a.department, b.department), strings.Compare(a.job, b.job))
}

// compareFacts compares everything except places and texts.
func (a rank) compareFacts(b rank) int {
	return cmp.Or(a.compareJobs(b), cmp.Compare(a.id, b.id), strings.Compare(a.character, b.character), strings.Compare(a.created, b.created))
}

// parts builds one record from several rows of a table. The result does not depend on the order of the rows, but list
// elements of one row keep their order. The zero value has no parts.
type parts struct {
	record   record.Record    // built so far
	reported map[string]bool  // fields that were reported as conflicts
	places   map[string][]int // index of each element in the list of its row, by the path of the list
	row      int64            // row of the last part
	inRow    map[string]int   // elements of that row so far, by list
}

// put adds a part from a row. It appends lists, and keeps the greater text of two different values. It calls disagree, unless
// nil, once for each such field.
func (p *parts) put(part record.Record, row int64, disagree func(conflict)) {
	if p.record.Schema == nil {
		p.record, p.reported, p.places = part, map[string]bool{}, map[string][]int{}
	} else {
		p.combine(p.record, part, disagree)
	}
	if row != p.row || p.inRow == nil {
		p.row, p.inRow = row, map[string]int{}
	}
	p.notePlaces(part, "")
}

// notePlaces records the places of a part's elements.
func (p *parts) notePlaces(part record.Record, path string) {
	for i := range part.Schema.Fields {
		f := &part.Schema.Fields[i]
		name := path + "." + f.Name
		switch f.Shape {
		case record.ShapeObject:
			if sub, ok := part.Sub(f); ok {
				p.notePlaces(sub, name)
			}
		case record.ShapeObjects:
			n, _ := part.Len(f)
			for range n {
				p.places[name] = append(p.places[name], p.inRow[name])
				p.inRow[name]++
			}
		}
	}
}

// combine adds src to dst, field by field.
func (p *parts) combine(dst, src record.Record, disagree func(conflict)) {
	for i := range src.Schema.Fields {
		f := &src.Schema.Fields[i]
		switch {
		case !record.Present(src, f):
		case !record.Present(dst, f):
			record.Copy(dst, src, f)
		case f.Shape == record.ShapeObjects:
			n, _ := src.Len(f)
			if _, set := dst.Len(f); !set {
				dst.MakeList(f, n)
			}
			for i := range n {
				assign(dst.Grow(f), src.At(f, i))
			}
		case f.Shape == record.ShapeObject:
			subDst, ok := dst.Sub(f)
			subSrc, ok2 := src.Sub(f)
			if ok && ok2 {
				p.combine(subDst, subSrc, disagree)
			} else if ok2 {
				record.Copy(dst, src, f)
			}
		case f.Shape == record.ShapePages:
			for _, page := range elements(src, f) {
				old := elements(dst, f)
				same := func(other record.Record) bool { return pages.identity(other) == pages.identity(page) }
				if i := slices.IndexFunc(old, same); i >= 0 {
					p.combine(old[i], page, disagree)
				} else {
					assign(dst.Grow(f), page)
				}
			}
		case !record.Same(dst, src, f): // keep the greater text, because the order of the rows must not matter
			lost, kept := record.FieldText(dst, f), record.FieldText(src, f)
			if lost > kept {
				lost, kept = kept, lost
			} else {
				record.Copy(dst, src, f)
			}
			if disagree != nil && !p.reported[f.Name] && f.Name != catalog.FetchedColumn {
				p.reported[f.Name] = true
				disagree(conflict{f.Name, lost, kept})
			}
		}
	}
	d := dst.Object()
	if x := src.Object().Extra; x > d.Extra {
		d.Extra = record.UniteExtra(x, d.Extra)
	} else {
		d.Extra = uniteExtra(x, d.Extra)
	}
}

// finish sorts the lists, removes repeated elements, and returns the record.
func (p *parts) finish() record.Record {
	sortLists(p.record, "", p.places)
	return p.record
}
