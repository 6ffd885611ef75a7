package tmdb

import (
	"fmt"
	"slices"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// renamed maps old names of fields, and their names in lists, to current names, by kind.
var renamed = map[fragment.Kind][]struct{ old, now string }{
	fragment.KindMovie:   {{"casts", "credits"}, {"similar_movies", "similar"}},
	fragment.KindTV:      {{"title", "name"}, {"original_title", "original_name"}, {"release_date", "first_air_date"}},
	fragment.KindSeason:  {{"show_id", "series_id"}, {"tv_id", "series_id"}},
	fragment.KindEpisode: {{"show_id", "series_id"}, {"tv_id", "series_id"}},
}

// nameNow returns the current name of a field.
func nameNow(k fragment.Kind, name string) string {
	for _, r := range renamed[k] {
		if r.old == name {
			return r.now
		}
	}
	return name
}

// An englishText is the value of a field such as title_en.
type englishText struct {
	field *record.Field
	text  string
}

// known moves known fields that are not in the record's schema from extra to their place. It returns English texts, which must wait
// until localize has freed the base record, and appended responses about parts of r.
func (t *Reader) known(typ *catalog.Type, r record.Record, extra *record.RawFields) (english []englishText, parts []part, err error) {
	if typ.Kind == fragment.KindTV { // some tables have the kind of the row where the API has "Scripted"
		if f, _ := typ.Plan.Field("type"); r.String(f).V == typ.Name() {
			record.Unset(r, f)
		}
	}
	if len(*extra) == 0 {
		return nil, nil, nil
	}
	// account_states is private to one account. _id is the key of the database that the dump was exported from.
	for _, name := range []string{"account_states", "_id"} {
		if _, ok := extra.Take(name); ok {
			record.Count(t.dropped, name, 1)
			t.Forget(name)
			t.parser.Tally.Settle(name, record.IsUnused)
		}
	}
	if err := t.legacy(typ, r, extra); err != nil {
		return nil, nil, err
	}
	for _, name := range renamed[typ.Kind] {
		raw, ok := extra.Take(name.old)
		if !ok {
			continue
		}
		if err := t.rename(typ, r, raw, name.old, name.now); err != nil {
			return nil, nil, err
		}
	}
	if parts, err = t.parts(typ, extra); err != nil {
		return nil, nil, err
	}
	*extra = slices.DeleteFunc(*extra, func(m record.RawField) bool {
		is := t.setText(typ, r, &english, m)
		if is {
			t.Forget(m.Name)
		}
		return is
	})
	return english, parts, nil
}

// rowFields are fields of list rows that replace fields of details.
type rowFields struct {
	record.Object
	GenreIDs  []int64       `record:"genre_ids"`
	MediaType record.String `record:"media_type"`
}

// legacy converts the fields that only rows of lists have.
func (t *Reader) legacy(typ *catalog.Type, r record.Record, extra *record.RawFields) error {
	var found record.RawFields
	for _, name := range []string{"genre_ids", "media_type"} {
		if _, ok := typ.Plan.Field("genres"); !ok && name == "genre_ids" {
			continue
		}
		if raw, ok := extra.Take(name); ok {
			found = append(found, record.RawField{Name: name, Raw: raw})
			t.Forget(name)
		}
	}
	if found == nil {
		return nil
	}
	var l rowFields
	if err := t.parser.Parse(found.Object(), record.Of(&l)); err != nil {
		return err
	}
	if m := l.MediaType; m.Set && m.V != typ.Name() && m.V != "tv_"+typ.Name() {
		return &record.FieldError{Field: "media_type", What: fmt.Sprintf("want %q, found %q", typ.Name(), m.V)}
	}
	f, ok := typ.Plan.Field("genres")
	if !ok || l.GenreIDs == nil {
		t.parser.Tally.Settle("genre_ids", record.IsLeftOut)
		return nil
	}
	if _, set := r.Len(f); !set {
		t.genres(typ, r, f, l.GenreIDs)
	}
	return nil
}

// genres sets the genres of a title. Unknown genres have no name.
func (t *Reader) genres(typ *catalog.Type, r record.Record, f *record.Field, ids []int64) {
	of := reference.Movie
	if typ.Kind == fragment.KindTV {
		of = reference.TV
	}
	r.MakeList(f, len(ids))
	for _, id := range ids {
		n := reference.GenreName(of, id, "en", "")
		if n == "" {
			t.parser.Count(t.parser.Counts.Unknown, "genre_ids[]", 1)
		}
		*record.As[catalog.Genre](r.Grow(f)) = catalog.Genre{ID: record.Number(id), Name: record.Text(n)}
	}
}

// rename moves a field to its current name, unless r has that field. It is counted under the current name.
func (t *Reader) rename(typ *catalog.Type, r record.Record, raw string, old, now string) error {
	t.Forget(old)
	from := typ.New()
	if err := t.parser.Parse(record.RawFields{{Name: now, Raw: raw}}.Object(), from); err != nil {
		return err
	}
	t.dropEmpty(from)
	if f, _ := typ.Plan.Field(now); !record.Present(r, f) && record.Present(from, f) {
		record.Copy(r, from, f)
	}
	return nil
}

// Forget removes a field from the count of unknown fields, because it turned out to be known.
func (t *Reader) Forget(name string) {
	t.parser.Tally.Settle(name, record.IsUsed)
	counts := t.parser.Counts.Unknown
	if _, ok := counts[name]; !ok {
		name = record.OtherPaths
	}
	if _, ok := counts[name]; !ok {
		return
	}
	if counts[name]--; counts[name] == 0 {
		delete(counts, name)
	}
}

// setText sets the text of a field with a language suffix, such as title_ar. It returns false for other fields.
func (t *Reader) setText(typ *catalog.Type, r record.Record, english *[]englishText, m record.RawField) bool {
	f, lang := LanguageField(typ, m.Name)
	if f == nil {
		return false
	}
	text := textOf(m.Raw)
	switch {
	case m.Raw == "null" || m.Raw == `""`: // no text, rather than an empty one
		return true
	case text == "":
		return false
	}
	tag, err := ParseLanguage(lang)
	base := *r.String(f)
	switch {
	case err != nil:
		return false
	case tag == "" && t.language == "" && base.Set:
		return base.V == text // two English texts: the crawl's own is served
	case tag == "":
		*english = append(*english, englishText{f, text})
	default:
		list, _ := localizedField(typ.Plan)
		local := localized(r, list, tag)
		*local.StringNamed(f.Name) = record.Text(text)
	}
	return true
}
