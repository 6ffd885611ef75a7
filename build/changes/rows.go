package changes

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// A shape identifies the rows of a list and shows them.
type shape struct {
	key string
	by  []string // fields that identify a row
	// show are the fields of a value in their order; "name=from" renames one. With
	// plain the value is that of the only one.
	show     []string
	plain    bool
	language bool // the codes of an item are those of its row
}

// Shapes of lists, as recorded changes have them. Those of alternative titles and of
// creators are like the others: none was recorded.
var (
	shapeNamed     = shape{by: []string{"id"}, show: []string{"name", "id"}}
	shapeGenre     = shapeNamed.as("genres")
	shapeCompany   = shapeNamed.as("production_companies")
	shapeNetwork   = shapeNamed.as("network")
	shapeKeyword   = shapeNamed.as("plot_keywords")
	shapeSet       = shapeNamed.as("belongs_to_collection")
	shapeCountry   = shape{key: "production_countries", by: []string{"iso_3166_1"}, show: []string{"iso_3166_1"}, plain: true}
	shapeCreator   = shape{key: "created_by", by: []string{"credit_id", "id"}, show: []string{"person_id=id", "name", "credit_id"}}
	shapeCast      = shape{key: "cast", by: []string{"credit_id", "id"}, show: []string{"person_id=id", "character", "order", "cast_id", "credit_id"}}
	shapeGuest     = shapeCast.as("guest_stars")
	shapeCharacter = shape{key: "character_names", by: shapeCast.by, show: []string{"person_id=id", "character", "cast_id", "credit_id"}}
	shapeCrew      = shape{key: "crew", by: []string{"credit_id", "id"}, show: []string{"person_id=id", "department", "job", "credit_id"}}
	shapeTitle     = shape{key: "alternative_titles", by: []string{"iso_3166_1", "type"}, show: []string{"title", "iso_3166_1", "type"}}
	shapeRelease   = shape{
		key: "release_dates", by: []string{"iso_3166_1", "type"},
		show: []string{"iso_3166_1", "iso_639_1", "release_date", "certification", "type", "note"},
	}
	shapeRating = shape{key: "certifications", by: []string{"iso_3166_1"}, show: []string{"iso_3166_1", "certification=rating"}}
	shapeVideo  = shape{key: "videos", by: []string{"id", "site", "key"}, show: []string{"id", "name", "key", "size", "site", "type"}, language: true}
)

// as returns s under another key.
func (s shape) as(key string) shape {
	s.key = key
	return s
}

// value returns what is shown of a row; nil for no row.
func (s *shape) value(row object) json.RawMessage {
	if row == nil {
		return nil
	}
	if s.plain {
		return row[s.show[0]]
	}
	out := []byte{'{'}
	for _, name := range s.show {
		name, from, renamed := strings.Cut(name, "=")
		if !renamed {
			from = name
		}
		v, ok := row[from]
		if !ok {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(strconv.AppendQuote(out, name), ':'), v...)
	}
	return append(out, '}')
}

// identity returns the values that identify a row.
func (s *shape) identity(row object) string {
	var out []byte
	for _, name := range s.by {
		out = append(append(out, row[name]...), 0)
	}
	return string(out)
}

// A pair is a row before and after; one of them may be nil.
type pair struct{ old, now object }

// row returns the row as it is, or as it was if it is gone.
func (p pair) row() object {
	if p.now == nil {
		return p.old
	}
	return p.now
}

// pairs finds which rows are the same, and returns those that are not shown alike: in the
// order of the new ones, then those that are gone. Of several rows that cannot be told
// apart, equal ones belong together, and then each to the next one.
func (s *shape) pairs(old, now []object) []pair {
	type was struct {
		row  object
		text string
	}
	before := map[string][]was{}
	for _, row := range old {
		id := s.identity(row)
		before[id] = append(before[id], was{row, string(s.value(row))})
	}
	var out []pair
	for _, row := range now {
		id, text := s.identity(row), string(s.value(row))
		if i := slices.IndexFunc(before[id], func(w was) bool { return w.text == text }); i >= 0 {
			before[id] = slices.Delete(before[id], i, i+1)
			continue
		}
		out = append(out, pair{now: row})
	}
	for i := range out {
		id := s.identity(out[i].now)
		if left := before[id]; len(left) > 0 {
			out[i].old, before[id] = left[0].row, left[1:]
		}
	}
	for _, row := range old {
		id := s.identity(row)
		if left := before[id]; len(left) > 0 {
			out = append(out, pair{old: left[0].row})
			before[id] = left[1:]
		}
	}
	return out
}

// rows notes how a list changed.
func (r *recorder) rows(s *shape, old, now []object) {
	for _, p := range s.pairs(old, now) {
		var language, country json.RawMessage
		if row := p.row(); s.language {
			language, country = code(row["iso_639_1"]), code(row["iso_3166_1"])
		}
		r.note(s.key, language, country, s.value(p.old), s.value(p.now))
	}
}

// code returns the code of a language or a country, none for null.
func code(v json.RawMessage) json.RawMessage {
	if isEmpty(v) {
		return none
	}
	return v
}

// cast notes how a cast changed. Another name of a character has a key of its own.
func (r *recorder) cast(s *shape, old, now []object) {
	for _, p := range s.pairs(old, now) {
		if p.old != nil && p.now != nil && string(p.old["character"]) != string(p.now["character"]) {
			r.note(shapeCharacter.key, nil, nil, shapeCharacter.value(p.old), shapeCharacter.value(p.now))
			if string(p.old["order"]) == string(p.now["order"]) {
				continue
			}
		}
		r.note(s.key, nil, nil, s.value(p.old), s.value(p.now))
	}
}

// list returns the objects of a field; none when it is no list.
func (o object) list(name string) []object {
	var rows []object
	if json.Unmarshal(o[name], &rows) != nil {
		return nil // a field of another type, of a dump's own
	}
	return rows
}

// object returns a field that is an object; nil when it is none.
func (o object) object(name string) object {
	var v object
	if json.Unmarshal(o[name], &v) != nil {
		return nil // as in list
	}
	return v
}
