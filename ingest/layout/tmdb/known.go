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
	_, hasGenres := typ.Plan.Field("genres")
	var ofList record.RawFields // fields that only rows of lists have
	all, kept := map[[2]int64]*part{}, (*extra)[:0]
	for _, m := range *extra {
		part, sub, isPart := partOf(typ, m.Name)
		now := nameNow(typ.Kind, m.Name)
		switch {
		// account_states is private to one account. _id is the key of the database that the dump was exported from.
		case m.Name == "account_states" || m.Name == "_id":
			record.Count(t.dropped, m.Name, 1)
			t.Forget(m.Name)
			t.parser.Tally.SetFate(m.Name, record.IsUnused)
		case m.Name == "media_type" || m.Name == "genre_ids" && hasGenres:
			t.Forget(m.Name)
			ofList = append(ofList, m)
		case now != m.Name:
			err = t.rename(typ, r, m, now)
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
	if err := t.rowOfList(typ, r, ofList); err != nil {
		return nil, nil, err
	}
	*extra = slices.DeleteFunc(kept, func(m record.RawField) bool {
		is := t.setText(typ, r, &english, m)
		if is {
			t.Forget(m.Name)
		}
		return is
	})
	return english, sorted(all), nil
}

// listFields are fields of rows of lists that replace fields of details.
type listFields struct {
	record.Object
	GenreIDs  []int64       `record:"genre_ids"`
	MediaType record.String `record:"media_type"`
}

// rowOfList converts the fields that only rows of lists have.
func (t *Reader) rowOfList(typ *catalog.Type, r record.Record, found record.RawFields) error {
	if found == nil {
		return nil
	}
	var l listFields
	if err := t.parser.Parse(found.Object(), record.Of(&l)); err != nil {
		return err
	}
	if m := l.MediaType; m.Set && m.V != typ.Name() && m.V != "tv_"+typ.Name() {
		return &record.FieldError{Field: "media_type", What: fmt.Sprintf("want %q, found %q", typ.Name(), m.V)}
	}
	f, ok := typ.Plan.Field("genres")
	if !ok || l.GenreIDs == nil {
		t.parser.Tally.SetFate("genre_ids", record.IsLeftOut)
		return nil
	}
	if _, set := r.Len(f); set {
		return nil
	}
	of := reference.Movie
	if typ.Kind == fragment.KindTV {
		of = reference.TV
	}
	r.MakeList(f, len(l.GenreIDs))
	for _, id := range l.GenreIDs {
		n := reference.GenreName(of, id, "en", "")
		if n == "" { // unknown genres have no name
			t.parser.Count(t.parser.Counts.Unknown, "genre_ids[]", 1)
		}
		*record.As[catalog.Genre](r.Grow(f)) = catalog.Genre{ID: record.Number(id), Name: record.Text(n)}
	}
	return nil
}

// rename moves a field to its current name, unless r has that field. It is counted under the current name.
func (t *Reader) rename(typ *catalog.Type, r record.Record, m record.RawField, now string) error {
	t.Forget(m.Name)
	from := typ.New()
	if err := t.parser.Parse(record.RawFields{{Name: now, Raw: m.Raw}}.Object(), from); err != nil {
		return err
	}
	f, _ := typ.Plan.Field(now)
	isPlaceholder := t.parser.Columns && m.Raw[0] == '"' && record.IsNothing(record.Unquote(m.Raw))
	if !isPlaceholder && !record.Present(from, f) {
		t.parser.Tally.SetFate(m.Name, record.IsLeftOut)
	}
	t.dropEmpty(from)
	if !record.Present(r, f) && record.Present(from, f) {
		record.Copy(r, from, f)
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
		list, _ := localizedField(typ.Plan)
		local := localized(r, list, tag)
		*local.StringNamed(f.Name) = record.Text(text)
	}
	return true
}
