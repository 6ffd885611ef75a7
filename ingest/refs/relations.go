package refs

import (
	"slices"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A relation is a field of one kind's records that has ids of resources.
type relation struct {
	path string // with dots, through objects, lists and pages
	to   fragment.Kind
	how  how
}

// A how is the way to the kind of resource that an id is of.
type how int

const (
	plain      how = iota // relation.to
	genre                 // a genre of titles of relation.to
	media                 // the media type beside the id; relation.to without one
	mediaAbove            // the media type beside the object that has the id, likewise
	season                // a season of the series that the record is of, by its number
)

// people are the paths of credits.
func people(paths ...string) (out []relation) {
	for _, p := range paths {
		out = append(out, relation{path: p + ".id", to: fragment.KindPerson})
	}
	return out
}

// titles are the paths of lists of titles, by the kind of those without a media type.
func titles(to fragment.Kind, paths ...string) (out []relation) {
	for _, p := range paths {
		out = append(out, relation{p + ".id", to, media})
	}
	return out
}

// relations are those of all kinds.
// The marks of accounts are not checked: they are theirs. What a record has in another language
// (localized) counts with the rest.
var relations = map[fragment.Kind][]relation{
	fragment.KindMovie: slices.Concat([]relation{
		{path: "belongs_to_collection.id", to: fragment.KindCollection},
		{"genres.id", fragment.KindMovie, genre},
		{path: "production_companies.id", to: fragment.KindCompany},
		{path: "keywords.keywords.id", to: fragment.KindKeyword},
		{path: "similar.results.id", to: fragment.KindMovie},
	}, titles(fragment.KindMovie, "recommendations.results"), people("credits.cast", "credits.crew")),
	fragment.KindTV: slices.Concat([]relation{
		{"genres.id", fragment.KindTV, genre},
		{path: "networks.id", to: fragment.KindNetwork},
		{"seasons.season_number", fragment.KindSeason, season},
		{path: "production_companies.id", to: fragment.KindCompany},
		{path: "keywords.results.id", to: fragment.KindKeyword},
		{path: "similar.results.id", to: fragment.KindTV},
	}, titles(fragment.KindTV, "recommendations.results"),
		people("created_by", "aggregate_credits.cast", "aggregate_credits.crew", "credits.cast", "credits.crew")),
	fragment.KindSeason: slices.Concat([]relation{
		{path: "series_id", to: fragment.KindTV},
		{path: "networks.id", to: fragment.KindNetwork},
	}, people("episodes.crew", "episodes.guest_stars", "aggregate_credits.cast", "aggregate_credits.crew", "credits.cast", "credits.crew")),
	fragment.KindEpisode: slices.Concat([]relation{
		{path: "series_id", to: fragment.KindTV},
		{"season_number", fragment.KindSeason, season},
	}, people("crew", "guest_stars", "credits.cast", "credits.crew", "credits.guest_stars")),
	fragment.KindPerson: slices.Concat(
		titles(fragment.KindMovie, "known_for", "combined_credits.cast", "combined_credits.crew", "movie_credits.cast", "movie_credits.crew"),
		titles(fragment.KindTV, "tv_credits.cast", "tv_credits.crew")),
	fragment.KindCollection: titles(fragment.KindMovie, "parts"),
	fragment.KindCompany: {
		{path: "parent_company.id", to: fragment.KindCompany},
		{path: "movies.results.id", to: fragment.KindMovie},
	},
	fragment.KindKeyword:      {{path: "movies.results.id", to: fragment.KindMovie}},
	fragment.KindReview:       {{"media_id", fragment.KindMovie, media}},
	fragment.KindCredit:       {{"media.id", fragment.KindMovie, mediaAbove}, {path: "person.id", to: fragment.KindPerson}},
	fragment.KindEpisodeGroup: {{path: "network.id", to: fragment.KindNetwork}, {path: "groups.episodes.show_id", to: fragment.KindTV}},
	fragment.KindList:         titles(fragment.KindMovie, "items.results"),
}

// A walker finds the ids of one relation in records.
type walker struct {
	relation
	fields []*record.Field // along the path, the last with the id
	types  *record.Field   // the media type; nil for none
}

// walkers returns the walkers of a kind, and the paths of all fields that they read: of each
// relation, and of the same in other languages.
func walkers(t *catalog.Type) (list []walker, paths []string) {
	for _, r := range relations[t.Kind] {
		for _, prefix := range []string{"", "localized."} {
			w, ok := newWalker(t.Plan, r, prefix)
			if !ok {
				continue
			}
			list, paths = append(list, w), append(paths, prefix+r.path)
			if w.types != nil {
				elems := strings.Split(prefix+r.path, ".")
				up := 1
				if r.how == mediaAbove {
					up = 2
				}
				paths = append(paths, strings.Join(append(elems[:len(elems)-up], w.types.Name), "."))
			}
		}
	}
	return list, paths
}

// newWalker returns false for a path that does not exist in other languages.
func newWalker(s *record.Schema, r relation, prefix string) (w walker, ok bool) {
	w.relation = r
	schemas := []*record.Schema{s}
	for name := range strings.SplitSeq(prefix+r.path, ".") {
		f, ok := s.Field(name)
		if !ok {
			return w, false
		}
		w.fields = append(w.fields, f)
		s = f.Elem
		schemas = append(schemas, s)
	}
	switch r.how {
	case media:
		w.types, _ = schemas[len(schemas)-2].Field("media_type")
	case mediaAbove:
		w.types, _ = schemas[len(schemas)-3].Field("media_type")
	}
	return w, true
}

// each calls fn with each id of a record, and the media type beside it. An element of a list, or
// an object, without an id has an unset one.
func (w *walker) each(r record.Record, fn func(id record.Int, media string)) { w.walk(r, 0, "", fn) }

func (w *walker) walk(r record.Record, at int, above string, fn func(id record.Int, media string)) {
	f := w.fields[at]
	typ := above
	if w.types != nil && (w.how == media && at == len(w.fields)-1 || w.how == mediaAbove && at == len(w.fields)-2) {
		typ = r.String(w.types).V
	}
	if at == len(w.fields)-1 {
		if id := *r.Int(f); id.Set || at > 0 {
			fn(id, typ)
		}
		return
	}
	if f.Shape == record.ShapeObject {
		if sub, ok := r.Sub(f); ok {
			w.walk(sub, at+1, typ, fn)
		}
		return
	}
	n, _ := r.Len(f)
	for i := range n {
		w.walk(r.At(f, i), at+1, typ, fn)
	}
}
