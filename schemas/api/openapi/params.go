package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/accounts"
)

// A param is what the table of operations does not have of a parameter.
type param struct {
	description string
	schema      object // in place of that of the type
	limits      object // beside the type
	example     any
	own         string // what the edge takes beyond the API, in a sentence
}

// The schemas that several parameters share.
var (
	day    = object{{"type", "string"}, {"format", "date"}}
	year   = object{{"minimum", 1000}, {"maximum", 9999}}
	ids    = object{{"type", "string"}, {"pattern", `^[0-9]+([,|][0-9]+)*$`}}
	codes  = object{{"type", "string"}}
	window = object{{"type", "string"}, {"enum", list{"day", "week"}}}
	rating = object{{"minimum", 0}, {"maximum", 10}}
	many   = object{{"minimum", 0}}
)

// params describes parameters by name. A row "operation/name" wins for one operation.
var params = map[string]param{
	// in paths
	"movie_id":              {description: "ID of the movie. An IMDb ID such as `tt0137523` works as well.", example: 550},
	"series_id":             {description: "ID of the series.", example: 1399},
	"season_number":         {description: "Number of the season. 0 is the specials.", limits: many, example: 1},
	"episode_number":        {description: "Number of the episode.", limits: many, example: 1},
	"season_id":             {description: "The season's own ID, as changes of the series name it."},
	"episode_id":            {description: "The episode's own ID, as changes of the series name it."},
	"tv_episode_group_id":   {description: "ID of the episode group, 24 hexadecimal digits."},
	"person_id":             {description: "ID of the person.", example: 287},
	"collection_id":         {description: "ID of the collection.", example: 10},
	"company_id":            {description: "ID of the company.", example: 1},
	"network_id":            {description: "ID of the network.", example: 49},
	"keyword_id":            {description: "ID of the keyword.", example: 825},
	"genre_id":              {description: "ID of the genre.", example: 18},
	"credit_id":             {description: "ID of the credit, 24 hexadecimal digits."},
	"review_id":             {description: "ID of the review, 24 hexadecimal digits."},
	"list_id":               {description: "ID of the list."},
	"external_id":           {description: "The ID elsewhere, as `external_source` writes it.", example: "tt0137523"},
	"time_window":           {description: "The time that trends are taken over.", schema: window, example: "day"},
	"account_id":            {description: "ID of the account. The session decides, whatever stands here."},
	"account_object_id":     {description: "ID of the user in version 4, 24 hexadecimal digits."},
	"path/guest_session_id": {description: "ID of the guest session."},

	// in many operations
	"language":               {description: "Language of the texts, such as `de` or `de-DE`.", own: "A list such as `fr-CA,fr-FR,en` falls back field by field, along 8 languages at most."},
	"page":                   {description: "Number of the page, 500 at most.", limits: object{{"minimum", 1}, {"maximum", mostPages}}, own: fmt.Sprintf("An edge may be set to serve up to %d pages.", mostPages)},
	"region":                 {description: "Country, ISO 3166-1, whose release dates are shown."},
	"include_adult":          {description: "Include titles for adults."},
	"session_id":             {description: "The session whose account is asked about."},
	"guest_session_id":       {description: "The guest session that is asked about."},
	"include_image_language": {description: "Languages of the images, with commas between; `null` for images without a language.", example: "en,null"},
	"include_video_language": {description: "Languages of the videos, with commas between; `null` for videos without a language.", example: "en,null"},
	"country":                {description: "Country, ISO 3166-1, of the titles."},
	"start_date":             {description: "First day of the changes.", schema: day},
	"end_date":               {description: "Last day of the changes, at most 14 days after the first.", schema: day},
	"timezone":               {description: "Time zone in which the day is taken, such as `Europe/Berlin`."},
	"watch_region":           {description: "Country, ISO 3166-1, of the providers."},
	"sort_by":                {description: "Order of the rows.", schema: object{{"type", "string"}, {"enum", list{"created_at.asc", "created_at.desc"}}}},
	"v4ListDetails/sort_by":  {description: "Order of the rows. Without it, the list's own order."},
	"movie_id?":              {description: "ID of the movie that is looked for."},
	"media_id":               {description: "ID of the title that is looked for."},
	"media_type":             {description: "Kind of the title that is looked for.", schema: object{{"type", "string"}, {"enum", list{"movie", "tv"}}}},
	"external_source":        {description: "Where the ID is from."},
	"ids":                    {description: "IDs of the resources, with commas between. Movies have IMDb IDs too."},

	// of search
	"query":                {description: "The words to find, in any title or name that a resource has.", limits: object{{"minLength", 1}}, example: "matrix"},
	"fuzzy":                {description: "Find names with typing errors if nothing else is found. Without it, the edge's setting decides."},
	"year":                 {description: "Year of any release.", limits: year},
	"searchTv/year":        {description: "Year of the first airing or of any episode.", limits: year},
	"searchMovie/year":     {description: "Year of any release.", limits: object{{"pattern", "^[1-9][0-9]{3}$"}}},
	"primary_release_year": {description: "Year of the primary release.", limits: year},
	"searchMovie/primary_release_year": {
		description: "Year of the primary release.", limits: object{{"pattern", "^[1-9][0-9]{3}$"}},
	},
	"first_air_date_year": {description: "Year of the first airing.", limits: year},

	// of discover
	"certification":                 {description: "Exact certification, in `certification_country`."},
	"certification.gte":             {description: "Lowest certification, in the order of `certification_country`."},
	"certification.lte":             {description: "Highest certification, in the order of `certification_country`."},
	"certification_country":         {description: "Country, ISO 3166-1, of the certifications. Without it, they do not filter."},
	"include_video":                 {description: "Include movies that are marked as video."},
	"include_null_first_air_dates":  {description: "Keep series without a first air date when filtering by it."},
	"screened_theatrically":         {description: "Only series with episodes that were screened in theatres."},
	"primary_release_date.gte":      {description: "First day of the primary release."},
	"primary_release_date.lte":      {description: "Last day of the primary release."},
	"release_date.gte":              {description: "First day of a release, of `with_release_type` in `region`."},
	"release_date.lte":              {description: "Last day of a release, of `with_release_type` in `region`."},
	"air_date.gte":                  {description: "First day of any episode."},
	"air_date.lte":                  {description: "Last day of any episode."},
	"first_air_date.gte":            {description: "First day of the first airing."},
	"first_air_date.lte":            {description: "Last day of the first airing."},
	"vote_average.gte":              {description: "Lowest rating.", limits: rating},
	"vote_average.lte":              {description: "Highest rating.", limits: rating},
	"vote_count.gte":                {description: "Fewest votes.", limits: many},
	"vote_count.lte":                {description: "Most votes.", limits: many},
	"with_runtime.gte":              {description: "Shortest runtime in minutes.", limits: many},
	"with_runtime.lte":              {description: "Longest runtime in minutes.", limits: many},
	"number_of_seasons.gte":         {description: "Fewest seasons.", limits: many},
	"number_of_seasons.lte":         {description: "Most seasons.", limits: many},
	"number_of_episodes.gte":        {description: "Fewest episodes.", limits: many},
	"number_of_episodes.lte":        {description: "Most episodes.", limits: many},
	"with_cast":                     {description: "IDs of people in the cast.", schema: ids},
	"with_crew":                     {description: "IDs of people in the crew.", schema: ids},
	"with_people":                   {description: "IDs of people in cast or crew.", schema: ids},
	"with_companies":                {description: "IDs of companies.", schema: ids},
	"with_genres":                   {description: "IDs of genres.", schema: ids},
	"with_keywords":                 {description: "IDs of keywords.", schema: ids},
	"with_networks":                 {description: "IDs of networks.", schema: ids},
	"with_watch_providers":          {description: "IDs of providers, in `watch_region`.", schema: ids},
	"with_origin_country":           {description: "Countries of origin, ISO 3166-1.", schema: codes},
	"with_original_language":        {description: "Original languages, ISO 639-1.", schema: codes},
	"with_watch_monetization_types": {description: "Ways to watch, in `watch_region`.", schema: object{{"type", "string"}, {"pattern", wordsOf("flatrate", "free", "ads", "rent", "buy")}}},
	"with_release_type":             {description: "Types of release, in `region`: 1 premiere, 2 limited, 3 theatres, 4 digital, 5 physical, 6 television.", schema: object{{"type", "string"}, {"pattern", "^[1-6]([,|][1-6])*$"}}},
	"with_status":                   {description: "States of the series: 0 returning, 1 planned, 2 in production, 3 ended, 4 cancelled, 5 pilot.", schema: object{{"type", "string"}, {"pattern", "^[0-5]([,|][0-5])*$"}}},
	"with_type":                     {description: "Types of series: 0 documentary, 1 news, 2 miniseries, 3 reality, 4 scripted, 5 talk show, 6 video.", schema: object{{"type", "string"}, {"pattern", "^[0-6]([,|][0-6])*$"}}},
	"without_companies":             {description: "IDs of companies to leave out.", schema: ids},
	"without_genres":                {description: "IDs of genres to leave out.", schema: ids},
	"without_keywords":              {description: "IDs of keywords to leave out.", schema: ids},
	"without_watch_providers":       {description: "IDs of providers to leave out, in `watch_region`.", schema: ids},
	"without_origin_country":        {description: "Countries of origin to leave out, ISO 3166-1.", schema: codes},
	"without_original_language":     {description: "Original languages to leave out, ISO 639-1.", schema: codes},
}

// wordsOf returns the pattern of lists of words.
func wordsOf(words ...string) string {
	one := "(" + strings.Join(words, "|") + ")"
	return "^" + one + "([,|]" + one + ")*$"
}

// mark is the field of what the API does not have, with the value true. A parameter that takes more than the API's
// has it with a sentence.
const mark = "x-reelsplice-extension"

// parameter returns one parameter of an operation. in is path or query.
func parameter(op *api.Operation, p *api.Param, in string) (object, error) {
	about, ok := params[op.Name+"/"+p.Name]
	for _, key := range []string{in + "/" + p.Name, p.Name} {
		if !ok {
			about, ok = params[key]
		}
	}
	if p.Name == "movie_id" && in == "query" {
		about = params["movie_id?"]
	}
	if !ok {
		return nil, fmt.Errorf("parameter %s of %s has no description: add it to gen/params.go", p.Name, op.Name)
	}
	schema, err := paramSchema(op, p, &about)
	if err != nil {
		return nil, fmt.Errorf("parameter %s of %s: %w", p.Name, op.Name, err)
	}
	o := object{{"name", p.Name}, {"in", in}}
	if in == "path" || p.Required {
		o.set("required", true)
	}
	o.set("description", about.description)
	if p.Name == "ids" {
		o = append(o, commas...)
	}
	o.set("schema", schema)
	if about.example != nil {
		o.set("example", about.example)
	}
	if about.own != "" {
		o.set(mark, about.own)
	}
	if p.Own {
		o.set(mark, true)
	}
	return o, nil
}

// commas is the style of lists with commas between.
var commas = object{{"style", "form"}, {"explode", false}}

// maxIDs and maxAppends are limits of the edge, mostAppends and mostPages the highest that it can be set to.
const (
	maxIDs      = 100
	maxAppends  = 20
	mostAppends = 100
	mostPages   = 1<<16 - 1
)

// paramSchema returns the schema of a parameter's value.
func paramSchema(op *api.Operation, p *api.Param, about *param) (object, error) {
	var schema object
	switch {
	case p.Name == "ids":
		return object{{"type", "array"}, {"items", object{{"type", "string"}}}, {"minItems", 1}, {"maxItems", maxIDs}}, nil
	case p.Name == "external_source":
		schema = object{{"type", "string"}, {"enum", sources()}}
	case p.Name == "sort_by" && op.Answerer == api.AnswerDiscover:
		schema = object{{"type", "string"}, {"enum", orders(op.Rows)}}
	case p.Name == "sort_by" && op.Answerer == api.AnswerList:
		schema = object{{"type", "string"}, {"enum", listOrders()}}
	case about.schema != nil:
		schema = slices.Clone(about.schema)
	case p.Type == api.TypeDate:
		schema = slices.Clone(day)
	case p.Type == api.TypeNumber:
		schema = object{{"type", "number"}, {"format", "double"}}
	default:
		schema = object{{"type", string(p.Type)}}
	}
	schema = append(schema, about.limits...)
	if p.Default == "" {
		return schema, nil
	}
	var value any = p.Default
	var err error
	switch p.Type {
	case api.TypeInteger:
		value, err = strconv.Atoi(p.Default)
	case api.TypeBoolean:
		value, err = strconv.ParseBool(p.Default)
	}
	schema.set("default", value)
	return schema, err
}

// sources returns the values of external_source.
func sources() (names list) {
	for s := fragment.SourceIMDb; s.Name() != ""; s++ {
		names = append(names, s.Name())
	}
	return names
}

// orders returns the values of sort_by that discover takes for a kind.
func orders(kind fragment.Kind) (names list) {
	for _, c := range tables.Columns(kind) {
		for _, s := range c.SortBy {
			if slices.Contains(s.Kinds, kind) {
				names = append(names, s.Name+".asc", s.Name+".desc")
			}
		}
	}
	return names
}

// listOrders returns the values of sort_by that lists of version 4 take.
func listOrders() (names list) {
	for _, name := range accounts.SortNames() {
		names = append(names, name+".asc", name+".desc")
	}
	return names
}

// patternNotes explain the names with numbers, by namespace.
var patternNotes = map[string]string{
	"tv":     "Seasons and episodes are `season/N`, `season/N/credits`, `season/N/episode/M` and so on.",
	"season": "Episodes are `episode/M`, `episode/M/images` and so on.",
}

// appendParameter returns append_to_response of an operation.
func appendParameter(op *api.Operation) object {
	names, own := appendedNames(op.Appends), true
	var plain list
	var patterns []string
	for _, n := range names {
		own = own && n.own
		if n.pattern == "" {
			plain = append(plain, n.name)
			patterns = append(patterns, n.name)
		} else {
			patterns = append(patterns, n.pattern)
		}
	}
	item := object{{"type", "string"}}
	text := fmt.Sprintf("Names of sub-requests to append, with commas between, %d at most. Unknown names are left out.", maxAppends)
	if len(plain) == len(names) {
		item.set("enum", plain)
	} else {
		item.set("pattern", "^("+strings.Join(patterns, "|")+")$")
		text += " " + patternNotes[op.Appends]
	}
	o := object{{"name", "append_to_response"}, {"in", "query"}, {"description", text}}
	o = append(o, commas...)
	o.set("schema", object{{"type", "array"}, {"items", item}, {"maxItems", mostAppends}})
	o.set(mark, fmt.Sprintf("An edge may be set to take up to %d names.", mostAppends))
	if own {
		o.set(mark, true)
	}
	return o
}
