package crawl

import (
	"regexp"
	"slices"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// A kind is a kind of resource with details, and the parameters of its requests.
type kind struct {
	name string // movie, tv ...; also the path of the details
	file string // name of the rows' file, without extension
	kind fragment.Kind

	appends []string // sub-requests that are fetched with the details
	// names are the lists in a response that have IDs of other resources.
	names []namedIDs
}

// namedIDs is a list in a response with IDs of a kind.
type namedIDs struct{ kind, list string }

// maxAppends bounds the names in append_to_response.
const maxAppends = 20

// notFetched are sub-requests with data of an account or a day, obsolete forms of others, and lists that the build derives.
var notFetched = []string{"account_states", "changes", "releases", "trailers", "similar_movies", "casts", "movies"}

// appendsOf returns the sub-requests of a kind.
func appendsOf(kind string) (names []string) {
	for _, a := range api.SubRequests(kind) {
		if !a.Own && !slices.Contains(notFetched, a.Name) {
			names = append(names, a.Name)
		}
	}
	slices.Sort(names)
	return names
}

// kinds can be fetched by ID. Seasons come with their series.
var kinds = []kind{
	{
		name: "movie", file: "movies", kind: fragment.KindMovie, appends: appendsOf("movie"),
		names: []namedIDs{
			{"person", "credits.cast"}, {"person", "credits.crew"}, {"collection", "belongs_to_collection"}, {"company", "production_companies"},
		},
	},
	{
		name: "tv", file: "tv", kind: fragment.KindTV, appends: appendsOf("tv"),
		names: []namedIDs{
			{"person", "created_by"},
			{"person", "credits.cast"},
			{"person", "credits.crew"},
			{"person", "aggregate_credits.cast"},
			{"person", "aggregate_credits.crew"},
			{"company", "production_companies"},
			{"network", "networks"},
		},
	},
	{name: "person", file: "people", kind: fragment.KindPerson, appends: appendsOf("person")},
	{name: "collection", file: "collections", kind: fragment.KindCollection, appends: appendsOf("collection")},
	{name: "company", file: "companies", kind: fragment.KindCompany, appends: appendsOf("company")},
	{name: "network", file: "networks", kind: fragment.KindNetwork, appends: appendsOf("network")},
	{name: "keyword", file: "keywords", kind: fragment.KindKeyword, appends: appendsOf("keyword")},
}

// seasons are fetched in groups, appended to their series.
var seasons = kind{
	name: "season", file: "seasons", kind: fragment.KindSeason, appends: appendsOf("season"),
	names: []namedIDs{{"person", "credits.cast"}, {"person", "credits.crew"}, {"person", "episodes.crew"}, {"person", "episodes.guest_stars"}},
}

// episodes are fetched one by one.
var episodes = kind{
	name: "episode", file: "episodes", kind: fragment.KindEpisode, appends: appendsOf("episode"),
	names: []namedIDs{{"person", "credits.cast"}, {"person", "credits.crew"}, {"person", "credits.guest_stars"}},
}

// kindNamed returns an element of kinds, or nil.
func kindNamed(name string) *kind {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return nil
	}
	return &kinds[i]
}

// KindNames returns the kinds that can be fetched by ID.
func KindNames() []string {
	var names []string
	for i := range kinds {
		names = append(names, kinds[i].name)
	}
	return names
}

// hasTexts reports whether a kind has translated texts.
func (k *kind) hasTexts() bool {
	_, ok := catalog.TypeOf(k.kind).Schema.Field("localized")
	return ok
}

// localizes reports whether a field differs between languages: as a text, or a sub-request that is one object; or as a
// sub-request with pages.
func (k *kind) localizes(name string) (text, pages bool) {
	schema := catalog.TypeOf(k.kind).Schema
	if list, ok := schema.Field("localized"); ok && name != "language" {
		_, text = list.Elem.Field(name)
		f, known := schema.Field(name)
		pages = known && f.Shape == record.ShapePages && slices.Contains(k.appends, name)
	}
	return text, pages
}

// localizedAppends returns the sub-requests that differ between languages.
func (k *kind) localizedAppends() (names []string) {
	for _, name := range k.appends {
		if text, pages := k.localizes(name); text || pages {
			names = append(names, name)
		}
	}
	return names
}

// fileOf returns the file of a kind's rows in a language; "" is the base language.
func (k *kind) fileOf(language string) string {
	if language != "" {
		return k.file + "-" + language + ".ndjson"
	}
	return k.file + ".ndjson"
}

// rowFileName matches the names of files of rows.
var rowFileName = regexp.MustCompile(`^([a-z]+)(-[a-z]{2}(-[A-Z]{2})?)?\.ndjson$`)

// fileKind returns the kind of a file of rows, or "".
func fileKind(name string) string {
	m := rowFileName.FindStringSubmatch(name)
	if m == nil {
		return ""
	}
	for _, k := range append([]kind{seasons, episodes}, kinds...) {
		if k.file == m[1] {
			return k.name
		}
	}
	return ""
}
