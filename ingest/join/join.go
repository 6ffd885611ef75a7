// Package join makes one record of several that speak of the same resource. A later
// source wins over an earlier one, member by member; what only one of them says is
// kept. Lists that crawls cut by language or by page are united; what a later crawl
// of the same language no longer lists goes.
package join

import (
	"cmp"
	"slices"
	"strings"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/wire"
)

// A Conflict is a member on which two records disagreed.
type Conflict struct {
	Member   string
	Old, New string // JSON texts, cut
}

// Movie merges src into dst. It may change src and keep parts of it. conflict, unless
// nil, is told of every member of the details that had another value before.
func Movie(dst, src *catalog.Movie, conflict func(Conflict)) {
	images, videos := uniteImages(dst.Images, src.Images), uniteVideos(dst.Videos, src.Videos)
	lists, media := unitePages(dst.Lists, src.Lists), unitePages(dst.Recommendations, src.Recommendations)
	reviews, similar := unitePages(dst.Reviews, src.Reviews), unitePages(dst.Similar, src.Similar)
	local := uniteLocalized(dst.Localized, src.Localized)
	overwrite(wire.RecordOf(dst), wire.RecordOf(src), conflict)
	dst.Images, dst.Videos, dst.Localized = images, videos, local
	dst.Lists, dst.Recommendations, dst.Reviews, dst.Similar = lists, media, reviews, similar
	dst.Extra = uniteExtra(dst.Extra, src.Extra)
}

// overwrite sets every member of dst that src has, null included.
func overwrite(dst, src wire.Record, conflict func(Conflict)) {
	for i := range src.Plan.Fields {
		f := &src.Plan.Fields[i]
		if !wire.Present(src, f) {
			continue
		}
		if conflict != nil && scalar(f) && wire.Present(dst, f) && !wire.Same(dst, src, f) {
			conflict(Conflict{Member: f.Name, Old: wire.MemberText(dst, f), New: wire.MemberText(src, f)})
		}
		wire.Copy(dst, src, f)
	}
}

// scalar reports whether a member is one value. Disagreement on lists is left
// uncounted: sources cut and order them as they please.
func scalar(f *wire.Field) bool {
	switch f.Shape {
	case wire.ShapeString, wire.ShapeInt, wire.ShapeFloat, wire.ShapeBool:
		return true
	}
	return false
}

// A place says which page of a list a page is.
type place struct {
	language string
	page     int64
}

func (p place) compare(q place) int {
	return cmp.Or(strings.Compare(p.language, q.language), cmp.Compare(p.page, q.page))
}

func placeOf[R any](p *catalog.Page[R]) place { return place{p.Language.V, p.Page.V} }

// unitePages returns the pages of both, those of src where both have one. Where src
// says how many pages a language has, older ones beyond are gone.
func unitePages[R any](dst, src []catalog.Page[R]) []catalog.Page[R] {
	if src == nil {
		return dst
	}
	have, totals := map[place]bool{}, map[string]int64{}
	for i := range src {
		p := placeOf(&src[i])
		have[p] = true
		if total := src[i].TotalPages; total.Set {
			totals[p.language] = max(totals[p.language], total.V)
		}
	}
	for i := range dst {
		p := placeOf(&dst[i])
		total, known := totals[p.language]
		if !have[p] && (!known || p.page <= total) {
			src = append(src, dst[i])
		}
	}
	slices.SortStableFunc(src, func(a, b catalog.Page[R]) int { return placeOf(&a).compare(placeOf(&b)) })
	return src
}

func uniteLocalized(dst, src []catalog.Localized) []catalog.Localized {
	for i := range src {
		s := &src[i]
		at := slices.IndexFunc(dst, func(l catalog.Localized) bool { return l.Language == s.Language })
		if at < 0 {
			dst = append(dst, *s)
			continue
		}
		overwrite(wire.RecordOf(&dst[at]), wire.RecordOf(s), nil)
		dst[at].Extra = uniteExtra(dst[at].Extra, s.Extra)
	}
	slices.SortStableFunc(dst, func(a, b catalog.Localized) int { return strings.Compare(a.Language.V, b.Language.V) })
	return dst
}

func uniteImages(dst, src *catalog.Images) *catalog.Images {
	if dst == nil || src == nil {
		return first(src, dst)
	}
	noNulls(src)
	rows := rows[catalog.Image]{
		names: func(i *catalog.Image) names { return names{own: i.FilePath.V} },
		rank:  func(a, b catalog.Image) int { return cmp.Compare(b.VoteAverage.V, a.VoteAverage.V) },
	}
	src.Backdrops = rows.unite(dst.Backdrops, src.Backdrops)
	src.Logos = rows.unite(dst.Logos, src.Logos)
	src.Posters = rows.unite(dst.Posters, src.Posters)
	complete(src, dst)
	return src
}

func uniteVideos(dst, src *catalog.Videos) *catalog.Videos {
	if dst == nil || src == nil {
		return first(src, dst)
	}
	noNulls(src)
	rows := rows[catalog.Video]{
		names: func(v *catalog.Video) names {
			n := names{own: v.ID.V}
			if v.Key.V != "" {
				n.other = v.Site.V + " " + v.Key.V
			}
			return n
		},
		rank: func(a, b catalog.Video) int { return strings.Compare(b.PublishedAt.V, a.PublishedAt.V) },
	}
	src.Results = rows.unite(dst.Results, src.Results)
	complete(src, dst)
	return src
}

// noNulls makes the members of v that are null absent: in place of a list of rows,
// null says nothing of them.
func noNulls[T any](v *T) {
	r := wire.RecordOf(v)
	for i := range r.Plan.Fields {
		wire.MarkAbsent(r, r.Plan.Fields[i].Name)
	}
}

func first[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}

// complete gives v the members that only old has.
func complete[T any](v, old *T) {
	dst, src := wire.RecordOf(v), wire.RecordOf(old)
	for i := range src.Plan.Fields {
		if f := &src.Plan.Fields[i]; wire.Present(src, f) && !wire.Present(dst, f) {
			wire.Copy(dst, src, f)
		}
	}
	dst.Object().Extra = uniteExtra(src.Object().Extra, dst.Object().Extra)
}

// names are what a row is known by: its own name, and one that it may share with
// another row, which counts where one of two rows lacks its own.
type names struct{ own, other string }

// rows says how to unite lists of T.
type rows[T any] struct {
	names func(*T) names
	rank  func(a, b T) int
}

// languageOf returns the language of a row as JSON, null where it has none; "" where
// the row does not say, as those of crawls that dropped it.
func languageOf[T any](row *T) string {
	r := wire.RecordOf(row)
	f, ok := r.Plan.Field("iso_639_1")
	if !ok || !wire.Present(r, f) {
		return ""
	}
	return wire.MemberText(r, f)
}

// unite returns src and the rows that only dst has, unless they are gone. A crawl in
// one language lists the rows of that language alone: a row that src lacks is gone
// where src has rows of its language. Where both lists follow rank, so does the
// result; otherwise the old rows come last.
func (r rows[T]) unite(dst, src []T) []T {
	if src == nil {
		return dst
	}
	ranked := slices.IsSortedFunc(dst, r.rank) && slices.IsSortedFunc(src, r.rank)
	find, listed := r.index(src), map[string]bool{}
	for i := range src {
		listed[languageOf(&src[i])] = true
	}
	listed[""] = false // rows that do not say cannot tell that others are gone
	n := len(src)
	for i := range dst {
		if at, ok := find(&dst[i]); ok {
			complete(&src[at], &dst[i])
		} else if !listed[languageOf(&dst[i])] {
			src = append(src, dst[i])
		}
	}
	if ranked && len(src) > n {
		slices.SortStableFunc(src, r.rank)
	}
	return src
}

// index returns a function that finds a row of list that is the same as another. A
// row without a name is the same as one of equal content.
func (r rows[T]) index(list []T) func(*T) (int, bool) {
	own, other, nameless := map[string]int{}, map[string]int{}, map[string]int{}
	for i := len(list) - 1; i >= 0; i-- { // the first of several stays
		n := r.names(&list[i])
		if n.own != "" {
			own[n.own] = i
		}
		if n.other != "" {
			other[n.other] = i
		}
		if n == (names{}) {
			nameless[textOf(&list[i])] = i
		}
	}
	return func(row *T) (int, bool) {
		n := r.names(row)
		if at, ok := own[n.own]; ok {
			return at, true
		}
		if at, ok := other[n.other]; ok && (n.own == "" || r.names(&list[at]).own == "") {
			return at, true
		}
		if n != (names{}) || len(nameless) == 0 {
			return 0, false
		}
		at, ok := nameless[textOf(row)]
		return at, ok
	}
}

func textOf[T any](row *T) string { return string(wire.Append(nil, wire.RecordOf(row))) }

// uniteExtra keeps the unknown members of both; src's come first and win.
func uniteExtra(dst, src string) string {
	switch {
	case src == "" || src == dst:
		return dst
	case dst == "":
		return src
	}
	return wire.UniteExtra(src, dst)
}
