package layout

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

var update = flag.Bool("update", false, "write goldens and the generated parts of docs")

// marks encloses what is generated in a document.
var marks = regexp.MustCompile(`(?s)(<!-- generated: go test \./ingest/layout -update -->\n).*?(<!-- end -->)`)

// TestDocs: the mapping tables of the documents are those of the mappings and of the
// catalogue.
func TestDocs(t *testing.T) {
	documents := map[string]string{
		"tables.md": converterTable() + mappingTables(ready(Tables)) + aliasTables(),
		"tmdb.md":   fieldTables(),
		"movnix.md": movnixTable(t),
	}
	for _, layout := range mappedLayouts[1:] { // beside Tables
		documents[layout+".md"] = mappingTables(ready(layout))
	}
	for name, generated := range documents {
		path := filepath.Join("docs", name)
		old, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(marks.FindAll(old, -1)); n != 1 {
			t.Fatalf("%s: %d generated parts, want one", path, n)
		}
		now := marks.ReplaceAllFunc(old, func(part []byte) []byte {
			m := marks.FindSubmatch(part)
			return slices.Concat(m[1], []byte(generated), m[2])
		})
		if string(now) == string(old) {
			continue
		}
		if !*update {
			t.Errorf("%s is stale: go test ./ingest/layout -update", path)
			continue
		}
		if err := os.WriteFile(path, now, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDocsExample: the examples of mappings in the documents are some.
func TestDocsExample(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("docs", "tables.md"))
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllSubmatch(text, -1)
	if len(examples) == 0 {
		t.Fatal("tables.md has no example")
	}
	for _, m := range examples {
		text := string(m[1])
		if strings.HasPrefix(text, "[[table.record]]") { // the records of some table
			text = "[[table]]\nfiles = ['t']\n" + text
		}
		if _, err := ParseMapping("example.toml", []byte(text)); err != nil {
			t.Error(err)
		}
	}
}

// mappingTables writes mappings as Markdown.
func mappingTables(mappings []*Mapping) string {
	var b strings.Builder
	for _, m := range mappings {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n", m.Name, m.spec.About)
		for i := range m.spec.Tables {
			s := &m.spec.Tables[i]
			fmt.Fprintf(&b, "\n#### Table `%s`\n\n", s.label())
			if s.About != "" {
				fmt.Fprintf(&b, "%s ", s.About)
			}
			fmt.Fprintf(&b, "%s\n", howFound(s))
			for n := range s.Records {
				writeRecord(&b, &s.Records[n])
			}
			writeIgnored(&b, s.Ignore)
		}
		for i := range m.spec.Objects {
			o := &m.spec.Objects[i]
			fmt.Fprintf(&b, "\n#### Object `%s`\n\n| field in the cell | field | converter | remark |\n|---|---|---|---|\n", o.Name)
			writeEntries(&b, o.Map)
			writeIgnored(&b, o.Ignore)
		}
		if len(m.spec.Skips) > 0 {
			b.WriteString("\n#### Left out\n\n| columns | reason |\n|---|---|\n")
		}
		for _, s := range m.spec.Skips {
			fmt.Fprintf(&b, "| %s | %s |\n", codes(s.Requires), s.Reason)
		}
	}
	b.WriteString("\n")
	return b.String()
}

// shapeWords are what documents call the fields that converters lead to.
var shapeWords = map[record.Shape]string{
	record.ShapeString: "text", record.ShapeInt: "integer", record.ShapeFloat: "number", record.ShapeBool: "boolean", record.ShapeRaw: "any",
	record.ShapeObject: "object", record.ShapeObjects: "list of objects", record.ShapeStrings: "list of texts", record.ShapeInts: "list of integers",
	record.ShapeKeyed: "object of objects", record.ShapePages: "pages",
}

// converterTable writes the converters as Markdown.
func converterTable() string {
	var b strings.Builder
	b.WriteString("\n### Converters\n\n| `as` | for fields that are | reads |\n|---|---|---|\n")
	for i := range converters {
		c := &converters[i]
		var to []string
		for _, shape := range c.to {
			word := shapeWords[shape]
			if first, _ := convertersTo(shape); first[0] == c {
				word += " (default)"
			}
			to = append(to, word)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.name, strings.Join(to, ", "), c.doc)
	}
	return b.String()
}

// aliasTables writes the aliases of the program as Markdown.
func aliasTables() string {
	var b strings.Builder
	b.WriteString("### Aliases that come with the program\n\nA name that titles of the kind have themselves stands for itself.\n")
	for _, of := range slices.Sorted(maps.Keys(readyAliases())) {
		fmt.Fprintf(&b, "\n| %s | stands for |\n|---|---|\n", of)
		names := readyAliases()[of]
		for _, name := range slices.Sorted(maps.Keys(names)) {
			to := codes(names[name])
			if to == "" {
				to = "nothing"
			}
			fmt.Fprintf(&b, "| `%s` | %s |\n", name, to)
		}
	}
	b.WriteString("\n")
	return b.String()
}

// howFound says how a table is found.
func howFound(s *tableSpec) string {
	var parts []string
	if len(s.Files) > 0 {
		parts = append(parts, "a name like "+codes(s.Files))
	}
	if len(s.Requires) > 0 {
		parts = append(parts, "the columns "+codes(s.Requires))
	}
	out := "Found by " + strings.Join(parts, " and ")
	if s.Exact {
		out += ", and by having no columns but those below"
	}
	return out + "."
}

func writeRecord(b *strings.Builder, r *recordSpec) {
	if r.Each != nil {
		fmt.Fprintf(b, "\nEach element of `%s` in a row ", r.Each.Column)
	} else {
		fmt.Fprintf(b, "\nEach row ")
	}
	if w := r.Where; w != nil && w.Is != "" {
		fmt.Fprintf(b, "in which `%s` is `%s` ", w.Column, w.Is)
	} else if w != nil {
		fmt.Fprintf(b, "in which `%s` is not `%s` ", w.Column, w.Not)
	}
	switch {
	case r.List != "":
		fmt.Fprintf(b, "is an element of `%s` of a **%s**", r.List, r.Kind)
	case r.Part:
		fmt.Fprintf(b, "is part of a **%s**", r.Kind)
	default:
		fmt.Fprintf(b, "is a **%s**", r.Kind)
	}
	if len(r.Needs) > 0 {
		fmt.Fprintf(b, ", unless %s is empty", codes(r.Needs))
	}
	b.WriteString(":\n\n| column | field | converter | remark |\n|---|---|---|---|\n")
	writeEntries(b, r.Map)
}

func writeEntries(b *strings.Builder, entries []entrySpec) {
	for i := range entries {
		e := &entries[i]
		column := "`" + e.Column + "`"
		switch {
		case e.Column == "":
			column = fmt.Sprintf("(always `%v`)", e.Value)
		case e.Path != "":
			column += ", there `" + e.Path + "`"
		}
		fmt.Fprintf(b, "| %s | `%s` | %s | %s |\n", column, e.Field, howRead(e), e.Note)
	}
}

// howRead describes how a cell is read.
func howRead(e *entrySpec) string {
	out := e.As
	if len(e.Formats) > 0 {
		out += " " + strings.Join(e.Formats, ", ")
	}
	if e.Of != "" {
		out += " of " + e.Of
	}
	if e.Separator != "" {
		out += fmt.Sprintf(" between `%s`", e.Separator)
	}
	if e.Object != "" {
		out += ", object `" + e.Object + "`"
	}
	var values []string
	for text, v := range e.Values {
		values = append(values, fmt.Sprintf("%s is %v", text, v))
	}
	slices.Sort(values)
	if len(e.Nothing) > 0 {
		values = append(values, codes(e.Nothing)+" is nothing")
	}
	if strip, _ := textsOf("strip", e.Strip); len(strip) > 0 {
		values = append(values, "without "+codes(strip))
	}
	if strip, _ := textsOf("strip_end", e.StripEnd); len(strip) > 0 {
		values = append(values, "without "+codes(strip)+" at the end")
	}
	return strings.TrimPrefix(strings.Join(append([]string{out}, values...), ", "), ", ")
}

func writeIgnored(b *strings.Builder, list []ignoreSpec) {
	if len(list) == 0 {
		return
	}
	b.WriteString("\nWithout a place in the API:\n\n| column | remark |\n|---|---|\n")
	for _, c := range list {
		note := c.Note
		if c.Silent {
			note += "; not counted"
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", c.Column, note)
	}
}

func codes(list []string) string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = "`" + list[i] + "`"
	}
	return strings.Join(out, ", ")
}

// fieldTables writes the fields of all kinds as Markdown.
func fieldTables() string {
	var b strings.Builder
	for _, t := range catalog.Types() {
		fmt.Fprintf(&b, "\n### %s\n\n| field | type | remark |\n|---|---|---|\n", t.Name())
		for i := range t.Plan.Fields {
			f := &t.Plan.Fields[i]
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.Name, typeOf(f), remark(f))
		}
	}
	b.WriteString("\n")
	return b.String()
}

func typeOf(f *record.Field) string {
	switch f.Shape {
	case record.ShapeString:
		return "text"
	case record.ShapeInt:
		return "integer"
	case record.ShapeFloat:
		return "number"
	case record.ShapeBool:
		return "boolean"
	case record.ShapeRaw:
		return "any"
	case record.ShapeStrings:
		return "list of texts"
	case record.ShapeInts:
		return "list of integers"
	}
	var names []string
	for i := range f.Elem.Fields {
		names = append(names, f.Elem.Fields[i].Name)
	}
	of := codes(names)
	switch f.Shape {
	case record.ShapeObjects:
		return "list of objects: " + of
	case record.ShapePages:
		return "page, or list of pages: " + of
	case record.ShapeKeyed:
		return "object of objects: " + of
	}
	return "object: " + of
}

func remark(f *record.Field) string {
	var out []string
	if f.Nullable {
		out = append(out, "null where there is none")
	}
	if f.IsSub() {
		out = append(out, "sub-request")
	}
	if f.Own {
		out = append(out, "not in answers")
	}
	if f.Column != f.Name {
		out = append(out, "column `"+f.Column+"` in tables")
	}
	return strings.Join(out, "; ")
}

// movnixFields says, for every field of a row of layout movnix, which field of a
// movie and of a series it is, "" for none, and a remark.
var movnixFields = map[string][3]string{
	"movie.tmdbId":        {"id", "", "must be there"},
	"movie.imdbId":        {"imdb_id", "", ""},
	"movie.title":         {"title", "", ""},
	"movie.originalTitle": {"original_title", "", ""},
	"movie.overview":      {"overview", "", ""},
	"movie.releaseDate":   {"release_date", "", "null is an empty text"},
	"movie.runtime":       {"runtime", "", "null is 0"},
	"movie.budget":        {"budget", "", "may be text; null is 0"},
	"movie.revenue":       {"revenue", "", "may be text; null is 0"},
	"movie.status":        {"status", "", ""},
	"movie.popularity":    {"popularity", "", ""},
	"movie.voteAverage":   {"vote_average", "", ""},
	"movie.voteCount":     {"vote_count", "", ""},
	"movie.homepage":      {"homepage", "", "null is an empty text"},
	"movie.posterPath":    {"poster_path", "", ""},
	"movie.backdropPath":  {"backdrop_path", "", ""},
	"movie.collectionId":  {"", "", "the collection has it"},
	"movie.certification": {"", "", "counted: of which country is not known"},

	"tvShow.tmdbId":        {"", "id", "must be there"},
	"tvShow.imdbId":        {"", "external_ids.imdb_id", "unless externalIds has it"},
	"tvShow.name":          {"", "name", "a series without a name or seasons is a request that failed: only its id is taken"},
	"tvShow.originalName":  {"", "original_name", ""},
	"tvShow.overview":      {"", "overview", "null is an empty text"},
	"tvShow.firstAirDate":  {"", "first_air_date", "null is an empty text"},
	"tvShow.lastAirDate":   {"", "last_air_date", ""},
	"tvShow.status":        {"", "status", ""},
	"tvShow.popularity":    {"", "popularity", ""},
	"tvShow.voteAverage":   {"", "vote_average", ""},
	"tvShow.voteCount":     {"", "vote_count", ""},
	"tvShow.type":          {"", "type", ""},
	"tvShow.posterPath":    {"", "poster_path", ""},
	"tvShow.backdropPath":  {"", "backdrop_path", ""},
	"tvShow.certification": {"", "", "counted: of which country is not known"},

	"seasons[]":               {"", "seasons", "a season record each, as it is; their outlines, number and networks go to the series"},
	"collection.tmdbId":       {"belongs_to_collection.id", "", ""},
	"collection.name":         {"belongs_to_collection.name", "", ""},
	"collection.overview":     {"", "", "counted: a movie names its collection without it"},
	"collection.posterPath":   {"belongs_to_collection.poster_path", "", ""},
	"collection.backdropPath": {"belongs_to_collection.backdrop_path", "", ""},
	"genres[].tmdbId":         {"genres.id", "genres.id", "genres that are not TMDB's are counted and left out"},
	"genres[].name":           {"genres.name", "genres.name", ""},
	"companies[].tmdbId":      {"production_companies.id", "production_companies.id", ""},
	"companies[].name":        {"production_companies.name", "production_companies.name", ""},
	"companies[].logoPath":    {"production_companies.logo_path", "production_companies.logo_path", ""},
	"companies[].originCountry": {
		"production_companies.origin_country", "production_companies.origin_country", "null is an empty text",
	},
	"keywords[].tmdbId":    {"keywords.keywords.id", "keywords.results.id", "an empty list says nothing: the crawler never had any"},
	"keywords[].name":      {"keywords.keywords.name", "keywords.results.name", ""},
	"videos[]":             {"videos.results", "videos.results", "as they are"},
	"images[].filePath":    {"images.posters.file_path", "images.posters.file_path", ""},
	"images[].width":       {"images.posters.width", "images.posters.width", "an image that comes again without its size is counted and left out"},
	"images[].height":      {"images.posters.height", "images.posters.height", ""},
	"images[].aspectRatio": {"images.posters.aspect_ratio", "images.posters.aspect_ratio", ""},
	"images[].type":        {"images", "images", "poster, logo, or a backdrop: to posters, logos or backdrops"},
	"ratings[].source":     {"", "", "counted: of other sites"},
	"ratings[].ratingValue": {
		"", "", "counted: of other sites",
	},
	"ratings[].votesCount":             {"", "", "counted: of other sites"},
	"credits[].tmdbPersonId":           {"credits.cast.id", "credits.cast.id", ""},
	"credits[].name":                   {"credits.cast.name", "credits.cast.name", ""},
	"credits[].profilePath":            {"credits.cast.profile_path", "credits.cast.profile_path", ""},
	"credits[].character":              {"credits.cast.character", "credits.cast.character", "null is an empty text"},
	"credits[].job":                    {"credits.crew.job", "credits.crew.job", "Actor in Acting is the cast, all others the crew"},
	"credits[].department":             {"credits.crew.department", "credits.crew.department", ""},
	"credits[].order":                  {"credits.cast.order", "credits.cast.order", ""},
	"alternativeTitles[]":              {"alternative_titles.titles", "alternative_titles.results", "as they are"},
	"externalIds.imdbId":               {"external_ids.imdb_id", "external_ids.imdb_id", ""},
	"externalIds.wikidataId":           {"external_ids.wikidata_id", "external_ids.wikidata_id", ""},
	"externalIds.facebookId":           {"external_ids.facebook_id", "external_ids.facebook_id", ""},
	"externalIds.instagramId":          {"external_ids.instagram_id", "external_ids.instagram_id", ""},
	"externalIds.twitterId":            {"external_ids.twitter_id", "external_ids.twitter_id", ""},
	"watchProviders.*.flatrate[].name": {"watch/providers.results", "watch/providers.results", "flatrate of the country, whose name is in upper case: provider_name"},
	"watchProviders.*.flatrate[].logo": {"watch/providers.results", "watch/providers.results", "flatrate, logo_path"},
	"watchProviders.*.buy[].name":      {"watch/providers.results", "watch/providers.results", "buy, provider_name"},
	"watchProviders.*.buy[].logo":      {"watch/providers.results", "watch/providers.results", "buy, logo_path"},
	"reviews[].author":                 {"reviews.results.author", "reviews.results.author", "also author_details.username"},
	"reviews[].content":                {"reviews.results.content", "reviews.results.content", ""},
	"reviews[].rating":                 {"reviews.results.author_details.rating", "reviews.results.author_details.rating", ""},
	"reviews[].createdAt":              {"reviews.results.created_at", "reviews.results.created_at", "the list is one page"},
}

// movnixTable writes the fields of a row as Markdown.
func movnixTable(tb testing.TB) string {
	tb.Helper()
	var b strings.Builder
	b.WriteString("\n| field | of a movie | of a series | remark |\n|---|---|---|---|\n")
	text, err := os.ReadFile("movnix/fields.txt")
	if err != nil {
		tb.Fatal(err)
	}
	var paths []string
	for line := range strings.Lines(string(text)) {
		if path, _, _ := strings.Cut(line, " "); path != "#" {
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		m, ok := movnixFields[path]
		if !ok {
			tb.Errorf("movnixFields lacks %s", path)
		}
		for i, kindName := range []string{"movie", "tv"} {
			if m[i] != "" && !hasField(kind(kindName).Plan, m[i]) {
				tb.Errorf("%s: a %s has no field %s", path, kindName, m[i])
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", path, code(m[0]), code(m[1]), m[2])
	}
	if len(paths) != len(movnixFields) {
		tb.Errorf("movnixFields has %d fields, a row %d", len(movnixFields), len(paths))
	}
	b.WriteString("\n")
	return b.String()
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

func hasField(p *record.Schema, path string) bool {
	name, rest, nested := strings.Cut(path, ".")
	f, ok := p.Field(name)
	return ok && (!nested || f.Elem != nil && hasField(f.Elem, rest))
}
