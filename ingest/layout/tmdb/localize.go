package tmdb

import (
	"strings"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// localizedField returns the list with a kind's texts in languages other than en-US, or false if the kind has no translated
// texts.
func localizedField(p *record.Schema) (*record.Field, bool) { return p.Field("localized") }

// localized returns r's element for a language, adding it if needed. The element is valid until the next call.
func localized(r record.Record, f *record.Field, language string) record.Record {
	n, _ := r.Len(f)
	for i := range n {
		if el := r.At(f, i); el.StringNamed("language").V == language {
			return el
		}
	}
	el := r.Grow(f)
	*el.StringNamed("language") = record.Text(language)
	return el
}

// localize moves texts in the crawl's language from the record to its element for that language.
func localize(base record.Record, language string) {
	if list, ok := localizedField(base.Schema); ok {
		local := localized(base, list, language)
		for i := range local.Schema.Fields {
			move(local, base, local.Schema.Fields[i].Name)
		}
	}
	for i := range base.Schema.Fields {
		f := &base.Schema.Fields[i]
		if f.Shape != record.ShapePages {
			continue
		}
		for page := range base.Each(f.Name) {
			*page.StringNamed("language") = record.Text(language)
		}
	}
}

// move moves one field from base to local. An empty title or name means that there is no translation, and is dropped. If the row
// also has the text with a language suffix, the plain text is English and is not moved.
func move(local, base record.Record, name string) {
	f, ok := base.Schema.Field(name)
	if !ok || !record.Present(base, f) {
		return
	}
	if text, _ := local.Schema.Field(name); text.Shape == record.ShapeString && local.String(text).V != "" {
		if base.String(f).V == "" {
			record.Unset(base, f)
		}
		return
	}
	if name != "title" && name != "name" || base.String(f).V != "" {
		record.Copy(local, base, f)
	}
	record.Unset(base, f)
}

// LanguageField returns the field and the language of a name with a language suffix, such as title_ar. It is nil for others.
func LanguageField(t *catalog.Type, name string) (f *record.Field, language string) {
	i := strings.LastIndexByte(name, '_')
	list, ok := localizedField(t.Schema)
	if i < 0 || !ok {
		return nil, ""
	}
	language, name = name[i+1:], currentName(t.Kind, name[:i])
	_, known := reference.LanguageByCode(language)
	if text, ok := list.Elem.Field(name); !known || !ok || name == "language" || text.Shape != record.ShapeString {
		return nil, ""
	}
	f, _ = t.Schema.Field(name)
	return f, language
}
