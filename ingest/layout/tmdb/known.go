package tmdb

import (
	"fmt"
	"maps"
	"slices"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// renamed maps old field names, and names in list rows, to current names, by kind.
var renamed = map[fragment.Kind][]struct{ old, now string }{
	fragment.KindMovie:   {{"casts", "credits"}, {"similar_movies", "similar"}},
	fragment.KindTV:      {{"title", "name"}, {"original_title", "original_name"}, {"release_date", "first_air_date"}},
	fragment.KindSeason:  {{"show_id", "series_id"}, {"tv_id", "series_id"}},
	fragment.KindEpisode: {{"show_id", "series_id"}, {"tv_id", "series_id"}},
}

// currentName returns the current name of a field.
func currentName(k fragment.Kind, name string) string {
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

// known moves known fields that are not in the record's schema from extra to the fields that replace them. It returns English
// texts, which can be set only after localize has moved the base record's texts, and appended responses for parts of r.
func (t *Reader) known(typ *catalog.Type, r record.Record, extra *record.RawFields) (english []englishText, parts []part, err error) {
	if typ.Kind == fragment.KindTV { // in some tables, type is the row's kind, and not "Scripted" or the like
		if f, _ := typ.Schema.Field("type"); r.String(f).V == typ.Name() {
			record.Unset(r, f)
		}
	}
	if len(*extra) == 0 {
		return nil, nil, nil
	}
	_, hasGenres := typ.Schema.Field("genres")
	var rowFields record.RawFields // fields that only list rows have
	all, kept := map[[2]int64]*part{}, (*extra)[:0]
	for _, m := range *extra {
		part, sub, isPart := partOf(typ, m.Name)
		name := currentName(typ.Kind, m.Name)
		switch {
		// account_states is private to an account. _id is the key in the database from which the dump was exported.
		case m.Name == "account_states" || m.Name == "_id":
			record.Count(t.dropped, m.Name, 1)
			t.Forget(m.Name)
			t.parser.Tally.SetFate(m.Name, record.IsUnused)
		case m.Name == "media_type" || m.Name == "genre_ids" && hasGenres:
			t.Forget(m.Name)
			rowFields = append(rowFields, m)
		case name != m.Name:
			err = t.rename(typ, r, m, name)
		case isPart:
			t.Forget(m.Name)
			err = t.Values.Reject(t.addPart(all, part, m, sub))
		default:
			kept = append(kept, m)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if err := t.setListFields(typ, r, rowFields); err != nil {
		return nil, nil, err
	}
	*extra = slices.DeleteFunc(kept, func(m record.RawField) bool {
		isText := t.setText(typ, r, &english, m)
		if isText {
			t.Forget(m.Name)
		}
		return isText
	})
	byNumber := func(a, b [2]int64) int { return slices.Compare(a[:], b[:]) }
	for _, key := range slices.SortedFunc(maps.Keys(all), byNumber) {
		if p := all[key]; len(p.fields) > 0 {
			parts = append(parts, *p)
		}
	}
	return english, parts, nil
}

// listFields are fields of rows of lists that replace fields of details.
type listFields struct {
	record.Object
	GenreIDs  []int64       `record:"genre_ids"`
	MediaType record.String `record:"media_type"`
}

// setListFields converts the fields that only list rows have.
func (t *Reader) setListFields(typ *catalog.Type, r record.Record, fields record.RawFields) error {
	if fields == nil {
		return nil
	}
	var l listFields
	if err := t.parser.Parse(fields.Object(), record.Of(&l)); err != nil {
		return err
	}
	if m := l.MediaType; m.Set && m.V != typ.Name() && m.V != "tv_"+typ.Name() {
		return &record.FieldError{Field: "media_type", What: fmt.Sprintf("want %q, found %q", typ.Name(), m.V)}
	}
	f, ok := typ.Schema.Field("genres")
	if !ok || l.GenreIDs == nil {
		t.parser.Tally.SetFate("genre_ids", record.IsLeftOut)
		return nil
	}
	if _, set := r.Len(f); set {
		return nil
	}
	media := reference.Movie
	if typ.Kind == fragment.KindTV {
		media = reference.TV
	}
	r.MakeList(f, len(l.GenreIDs))
	for _, id := range l.GenreIDs {
		n := reference.GenreName(media, id, "en", "")
		if n == "" { // unknown genres have no name
			t.parser.Count(t.parser.Counts.Unknown, "genre_ids[]", 1)
		}
		*record.As[catalog.Genre](r.Grow(f)) = catalog.Genre{ID: record.Number(id), Name: record.Text(n)}
	}
	return nil
}

// rename moves a field to its current name, unless r has that field. It is counted under the current name.
func (t *Reader) rename(typ *catalog.Type, r record.Record, m record.RawField, name string) error {
	t.Forget(m.Name)
	src := typ.New()
	if err := t.parser.Parse(record.RawFields{{Name: name, Raw: m.Raw}}.Object(), src); err != nil {
		return err
	}
	f, _ := typ.Schema.Field(name)
	isPlaceholder := t.parser.Columns && m.Raw[0] == '"' && record.IsNothing(record.Unquote(m.Raw))
	if !isPlaceholder && !record.Present(src, f) {
		t.parser.Tally.SetFate(m.Name, record.IsLeftOut)
	}
	t.dropEmpty(src)
	if !record.Present(r, f) && record.Present(src, f) {
		record.Copy(r, src, f)
	}
	return nil
}

// Forget removes a field from the count of unknown fields, because it turned out to be known.
func (t *Reader) Forget(name string) {
	t.parser.Tally.SetFate(name, record.IsUsed)
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
		list, _ := localizedField(typ.Schema)
		local := localized(r, list, tag)
		*local.StringNamed(f.Name) = record.Text(text)
	}
	return true
}
