package sample

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

var (
	collectionLayout = parseLayout(`
row: id,name,original_language,original_name,overview,poster_path,backdrop_path
row: images,translations
images: backdrops,posters
images.backdrops[]: ` + imageKeys + `
images.posters[]: ` + imageKeys + `
translations: translations
translations.translations[]: ` + langKeys + `
translations.translations[].data: title,overview,homepage
`)
	companyLayout = parseLayout(`
row: description,headquarters,homepage,id,logo_path,name,origin_country,parent_company
row: alternative_names,images
` + namesAndLogos)
	networkLayout = parseLayout(`
row: headquarters,homepage,id,logo_path,name,origin_country
row: alternative_names,images
` + namesAndLogos)
	keywordLayout = parseLayout(`row: id,name`)
)

const namesAndLogos = `
alternative_names: results
alternative_names.results[]: name,type
images: logos
images.logos[]: aspect_ratio,file_path,height,id,file_type,vote_average,vote_count,width
`

// references returns what films and series refer to, by the file that has it.
func references(t *testing.T) map[string]map[int]named {
	t.Helper()
	out := map[string]map[int]named{}
	add := func(file string, list ...named) {
		if out[file] == nil {
			out[file] = map[int]named{}
		}
		for _, n := range list {
			out[file][n.ID] = n
		}
	}
	for _, m := range readRows[struct {
		Collection *named  `json:"belongs_to_collection"`
		Companies  []named `json:"production_companies"`
		Keywords   struct{ Keywords []named }
	}](t, "movies.ndjson") {
		if m.Collection != nil {
			add("collections.ndjson", *m.Collection)
		}
		add("companies.ndjson", m.Companies...)
		add("keywords.ndjson", m.Keywords.Keywords...)
	}
	for _, s := range readSeries(t) {
		add("companies.ndjson", s.Companies...)
		add("keywords.ndjson", s.Keywords.Results...)
		add("networks.ndjson", s.Networks...)
		for _, se := range s.Seasons {
			add("networks.ndjson", se.Networks...)
		}
	}
	return out
}

// TestReferences: what films and series refer to is there under the same name, and
// nothing else is.
func TestReferences(t *testing.T) {
	refs := references(t)
	for _, c := range []struct {
		file   string
		layout layout
		least  int
		well   int // an id that must be there
	}{
		{"collections.ndjson", collectionLayout, 30, 10},
		{"companies.ndjson", companyLayout, 400, 1},
		{"networks.ndjson", networkLayout, 15, 49},
		{"keywords.ndjson", keywordLayout, 1000, 825},
	} {
		checkBytes(t, c.file, c.layout, nil)
		rows := readRows[named](t, c.file)
		last := 0
		for _, row := range rows {
			ref, ok := refs[c.file][row.ID]
			if row.ID <= last || !ok || ref.Name != row.Name {
				t.Errorf("%s: %d %q after %d, a title has %q", c.file, row.ID, row.Name, last, ref.Name)
			}
			if ref.Logo != nil && value(row.Logo) != *ref.Logo {
				t.Errorf("%s: %d: logo_path %s, a title has %s", c.file, row.ID, value(row.Logo), *ref.Logo)
			}
			last = row.ID
		}
		if _, ok := refs[c.file][c.well]; !ok || len(rows) != len(refs[c.file]) || len(rows) < c.least {
			t.Errorf("%s: %d rows, want %d and %d (%v) among them", c.file, len(rows), len(refs[c.file]), c.well, ok)
		}
	}
}

func TestCollections(t *testing.T) {
	parts := map[int]json.RawMessage{}
	for _, m := range readRows[struct {
		Collection json.RawMessage `json:"belongs_to_collection"`
	}](t, "movies.ndjson") {
		var n named
		if err := json.Unmarshal(m.Collection, &n); err != nil {
			t.Fatal(err)
		}
		parts[n.ID] = m.Collection
	}
	translated := 0
	for _, c := range readRows[struct {
		named
		Overview     string
		Poster       string `json:"poster_path"`
		Backdrop     string `json:"backdrop_path"`
		Images       struct{ Backdrops, Posters []image }
		Translations struct{ Translations []struct{} }
	}](t, "collections.ndjson") {
		where := fmt.Sprintf("collection %d", c.ID)
		row := fmt.Sprintf(`{"id":%d,"name":%q,"poster_path":%q,"backdrop_path":%q}`, c.ID, c.Name, c.Poster, c.Backdrop)
		if got := string(parts[c.ID]); got != row || c.Overview == "" {
			t.Errorf("%s: a film has %s, want %s", where, got, row)
		}
		if firstImage(c.Images.Posters, "en") != c.Poster || !slices.ContainsFunc(c.Images.Backdrops, func(im image) bool { return im.FilePath == c.Backdrop }) {
			t.Errorf("%s: poster_path or backdrop_path is not among the images", where)
		}
		checkImageList(t, where, c.Images.Posters, 2, 3, imageRE)
		checkImageList(t, where, c.Images.Backdrops, 1, 2, imageRE)
		if len(c.Translations.Translations) > 3 {
			translated++
		}
	}
	if translated < 5 {
		t.Errorf("%d collections have translations, want at least 5", translated)
	}
}
