// Package join makes one record of several that speak of the same resource. A later
// source wins over an earlier one, member by member; what only one of them says is
// kept. Lists that crawls cut by language or by page are united.
package join

import (
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

// Movie merges src into dst. It may keep parts of src. conflict, unless nil, is told
// of every member of the details that had another value before.
func Movie(dst, src *catalog.Movie, conflict func(Conflict)) {
	images, videos := uniteImages(dst.Images, src.Images), uniteVideos(dst.Videos, src.Videos)
	lists := unitePages(dst.Lists, src.Lists, func(p *catalog.ListPage) pageKey { return pageKey{p.Language.V, p.Page.V} })
	media := unitePages(dst.Recommendations, src.Recommendations, func(p *catalog.MediaPage) pageKey { return pageKey{p.Language.V, p.Page.V} })
	reviews := unitePages(dst.Reviews, src.Reviews, func(p *catalog.ReviewPage) pageKey { return pageKey{p.Language.V, p.Page.V} })
	similar := unitePages(dst.Similar, src.Similar, func(p *catalog.SummaryPage) pageKey { return pageKey{p.Language.V, p.Page.V} })
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

type pageKey struct {
	language string
	page     int64
}

// unitePages returns the pages of both, those of src where both have one.
func unitePages[T any](dst, src []T, key func(*T) pageKey) []T {
	if src == nil {
		return dst
	}
	for i := range src {
		k := key(&src[i])
		at := slices.IndexFunc(dst, func(p T) bool { return key(&p) == k })
		if at >= 0 {
			dst[at] = src[i]
		} else {
			dst = append(dst, src[i])
		}
	}
	slices.SortStableFunc(dst, func(a, b T) int {
		ka, kb := key(&a), key(&b)
		if c := strings.Compare(ka.language, kb.language); c != 0 {
			return c
		}
		return int(ka.page - kb.page)
	})
	return dst
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
	}
	slices.SortStableFunc(dst, func(a, b catalog.Localized) int { return strings.Compare(a.Language.V, b.Language.V) })
	return dst
}

func uniteImages(dst, src *catalog.Images) *catalog.Images {
	if dst == nil || src == nil {
		return first(src, dst)
	}
	path := func(i *catalog.Image) string { return i.FilePath.V }
	votes := func(a, b catalog.Image) int { return descending(a.VoteAverage.V, b.VoteAverage.V) }
	out := *src
	out.Extra = uniteExtra(dst.Extra, src.Extra)
	out.Backdrops = unite(dst.Backdrops, src.Backdrops, path, votes)
	out.Logos = unite(dst.Logos, src.Logos, path, votes)
	out.Posters = unite(dst.Posters, src.Posters, path, votes)
	return &out
}

func uniteVideos(dst, src *catalog.Videos) *catalog.Videos {
	if dst == nil || src == nil {
		return first(src, dst)
	}
	key := func(v *catalog.Video) string { return v.Site.V + " " + v.Key.V }
	newest := func(a, b catalog.Video) int { return strings.Compare(b.PublishedAt.V, a.PublishedAt.V) }
	out := *src
	out.Extra = uniteExtra(dst.Extra, src.Extra)
	out.Results = unite(dst.Results, src.Results, key, newest)
	return &out
}

func first[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}

func descending(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

// unite returns src and the rows that only dst has. A crawl in one language lists
// the rows of that language alone, so that what it lacks is not gone. Where both
// lists follow rank, so does the result; otherwise the old rows come last.
func unite[T any](dst, src []T, key func(*T) string, rank func(a, b T) int) []T {
	if src == nil {
		return dst
	}
	ranked := slices.IsSortedFunc(dst, rank) && slices.IsSortedFunc(src, rank)
	have := make(map[string]bool, len(src))
	for i := range src {
		have[key(&src[i])] = true
	}
	n := len(src)
	for i := range dst {
		if !have[key(&dst[i])] {
			src = append(src, dst[i])
		}
	}
	if ranked && len(src) > n {
		slices.SortStableFunc(src, rank)
	}
	return src
}

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
