package variant

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/reelsplice/reelsplice/data/reference"
	"github.com/reelsplice/reelsplice/schemas/fragment"
)

// A Text is JSON in one language: fields of an object, with or without its braces, or any value.
type Text struct {
	Language fragment.Variant
	JSON     []byte
}

// Translated reports whether the translations of a movie, a series or a collection name it in a language.
type Translated func(k fragment.Kind, id uint64, language fragment.Variant) (bool, error)

// JoinLanguages appends the texts of one response in several languages, joined field by field in their
// order. plain is the same in a language without text. The JSON is that of a release; the error names the
// first byte that is damaged, or is translated's.
//
// A field whose values differ is that of the first language that has it. A language has a field if the
// value is not empty and is one of its own: it differs from the value in a language without any text.
// Some rules go beyond that:
//
//   - English has all that is not empty, since responses without a translation are English.
//   - A title or name that equals the original one is a language's own if the title's original language
//     is that one, or if its translations give it.
//   - The name of a genre is a language's own if the reference data names genres in it.
//   - A generic name, such as "Episode 5", is nobody's own. If nobody has another one, it is that of the
//     first language.
//   - Objects, and lists of the same items, are joined item by item; other lists are values.
//
// If nobody has a field, it is that of the last language that names it.
func JoinLanguages(dst []byte, texts []Text, plain []byte, translated Translated) ([]byte, error) {
	j := joiner{translated: translated}
	var values [][]byte
	for _, t := range texts {
		j.languages = append(j.languages, t.Language)
		values = append(values, t.JSON)
	}
	values = append(values, plain)
	objects, err := j.parse(values)
	if err != nil {
		return dst, err
	}
	first := objects[0]
	if first.opened {
		dst = append(dst, '{')
	}
	if dst, err = j.fields(dst, objects); err != nil {
		return dst, err
	}
	if first.closed {
		dst = append(dst, '}')
	}
	return dst, nil
}

// A joiner joins one value for each language, in order, and one without text.
type joiner struct {
	languages  []fragment.Variant
	translated Translated
	isGenres   bool // the values are in a list of genres
}

// An object is the fields of an object, in order.
type object struct {
	fields         []member
	opened, closed bool // with braces
}

type member struct {
	name  []byte // in quotes
	value []byte
}

// parse reads values that are objects, or the fields of some.
func (j *joiner) parse(values [][]byte) ([]object, error) {
	out := make([]object, len(values))
	for i, v := range values {
		if err := out[i].parse(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (o *object) parse(b []byte) error {
	i := 0
	if o.opened = len(b) > 0 && b[0] == '{'; o.opened {
		i++
	}
	for i < len(b) {
		switch {
		case b[i] == ',':
			i++
			continue
		case b[i] == '}' && i == len(b)-1:
			o.closed = true
			return nil
		}
		colon, end := fragment.FieldEnd(b, i)
		if colon < 0 || end < 0 {
			return fmt.Errorf("byte %d: want a field", i)
		}
		o.fields = append(o.fields, member{b[i:colon], b[colon+1 : end]})
		i = end
	}
	return nil
}

// find returns the value of a field, which is looked for at a place first; nil for none. The name is in
// quotes.
func (o *object) find(name []byte, at int) []byte {
	if at < len(o.fields) && bytes.Equal(o.fields[at].name, name) {
		return o.fields[at].value
	}
	for i := range o.fields {
		if bytes.Equal(o.fields[i].name, name) {
			return o.fields[i].value
		}
	}
	return nil
}

// field is find for a name without quotes and a place.
func (o *object) field(name string) []byte { return o.find([]byte(`"`+name+`"`), len(o.fields)) }

// number returns the value of a field that is a number; ok is false for others.
func (o *object) number(name string) (n uint64, ok bool) {
	n, err := strconv.ParseUint(string(o.field(name)), 10, 64)
	return n, err == nil
}

// fields appends the fields of objects: those of the first, then what only others have.
func (j *joiner) fields(dst []byte, objects []object) ([]byte, error) {
	n := len(dst)
	for i := range j.languages {
		for at, f := range objects[i].fields {
			if isKnown(objects[:i], f.name, at) {
				continue
			}
			values := make([][]byte, len(objects))
			for k := range objects {
				values[k] = objects[k].find(f.name, at)
			}
			if len(dst) > n {
				dst = append(dst, ',')
			}
			dst = append(append(dst, f.name...), ':')
			var err error
			if dst, err = j.field(dst, f.name, values, objects); err != nil {
				return dst, err
			}
		}
	}
	return dst, nil
}

func isKnown(earlier []object, name []byte, at int) bool {
	for i := range earlier {
		if earlier[i].find(name, at) != nil {
			return true
		}
	}
	return false
}

// field appends the value of a field of objects.
func (j *joiner) field(dst, name []byte, values [][]byte, objects []object) ([]byte, error) {
	if isOne(values[:len(j.languages)]) {
		return append(dst, values[0]...), nil
	}
	if string(name) == `"genres"` {
		j.isGenres = true
		defer func() { j.isGenres = false }()
	}
	if out, ok, err := j.nested(dst, values); ok || err != nil {
		return out, err
	}
	own, err := j.own(name, values, objects)
	return append(dst, own...), err
}

// isOne reports whether all values are equal.
func isOne(values [][]byte) bool {
	for _, v := range values[1:] {
		if !bytes.Equal(v, values[0]) {
			return false
		}
	}
	return true
}

// nested appends objects, or lists of the same items; ok is false for other values.
func (j *joiner) nested(dst []byte, values [][]byte) (out []byte, ok bool, err error) {
	var first byte
	for i, v := range values {
		if len(v) == 0 || i > 0 && v[0] != first {
			return dst, false, nil
		}
		first = v[0]
	}
	switch first {
	case '{':
		objects, err := j.parse(values)
		if err != nil || !areSame(objects) {
			return dst, false, err
		}
		if dst, err = j.fields(append(dst, '{'), objects); err != nil {
			return dst, false, err
		}
		return append(dst, '}'), true, nil
	case '[':
		return j.list(dst, values)
	}
	return dst, false, nil
}

// identities are the fields that say which item an object is.
var identities = []string{"id", "credit_id", "season_number", "episode_number"}

// areSame reports whether objects are about the same thing.
func areSame(objects []object) bool {
	for _, name := range identities {
		want := objects[0].field(name)
		for i := range objects {
			if !bytes.Equal(objects[i].field(name), want) {
				return false
			}
		}
	}
	return true
}

// list is nested for lists.
func (j *joiner) list(dst []byte, values [][]byte) (out []byte, ok bool, err error) {
	lists := make([][][]byte, len(values))
	for i, v := range values {
		if lists[i], err = items(v); err != nil {
			return dst, false, err
		}
		if len(lists[i]) != len(lists[0]) {
			return dst, false, nil
		}
	}
	n := len(dst)
	dst = append(dst, '[')
	item := make([][]byte, len(values))
	for at := range lists[0] {
		for i := range lists {
			item[i] = lists[i][at]
		}
		if at > 0 {
			dst = append(dst, ',')
		}
		if isOne(item[:len(j.languages)]) {
			dst = append(dst, item[0]...)
			continue
		}
		if dst, ok, err = j.nested(dst, item); !ok || err != nil {
			return dst[:n], false, err
		}
	}
	return append(dst, ']'), true, nil
}

// items returns the items of a list.
func items(list []byte) (out [][]byte, err error) {
	for i := 1; i < len(list)-1; i++ {
		end := fragment.ValueEnd(list, i)
		if end < 0 {
			return nil, fmt.Errorf("byte %d of a list: want a value", i)
		}
		out = append(out, list[i:end])
		i = end // at the comma
	}
	return out, nil
}

// own returns the value of the first language that has one of its own.
func (j *joiner) own(name []byte, values [][]byte, objects []object) ([]byte, error) {
	plain := values[len(j.languages)]
	isName := string(name) == `"name"` || string(name) == `"title"`
	var generic []byte // the first one
	for i, language := range j.languages {
		v := values[i]
		if isEmpty(v) {
			continue
		}
		if isName && isGeneric(v, language, &objects[i]) {
			if generic == nil {
				generic = v
			}
			continue
		}
		if !bytes.Equal(v, plain) {
			return v, nil
		}
		has, err := j.hasPlain(isName, language, &objects[i])
		if has || err != nil {
			return v, err
		}
	}
	if generic != nil {
		return generic, nil
	}
	for _, v := range slices.Backward(values[:len(j.languages)]) {
		if v != nil {
			return v, nil
		}
	}
	return nil, fmt.Errorf("field %s: no language has it", name) // it is of a language: see fields
}

// hasPlain reports whether a value that equals the one without text is a language's own.
func (j *joiner) hasPlain(isName bool, language fragment.Variant, o *object) (bool, error) {
	if original := o.field("original_language"); len(original) == 4 && fragment.Language(original[1:3], nil) == language.Bare() {
		return true, nil
	}
	if j.isGenres {
		lang, region := codes(language)
		named := reference.GenreLanguages()
		return slices.Contains(named, lang) || slices.Contains(named, lang+"-"+region), nil
	}
	k, id, ok := titled(o)
	if !isName || !ok {
		return language.Bare() == fragment.Language("en", ""), nil
	}
	if j.translated == nil {
		return false, nil
	}
	return j.translated(k, id, language)
}

// titled returns the title that an object is about; ok is false for objects without an original title.
func titled(o *object) (k fragment.Kind, id uint64, ok bool) {
	if id, ok = o.number("id"); !ok {
		return 0, 0, false
	}
	switch {
	case o.field("original_title") != nil:
		return fragment.KindMovie, id, true
	case o.field("original_name") == nil || o.field("known_for_department") != nil:
		return 0, 0, false
	case o.field("first_air_date") != nil:
		return fragment.KindTV, id, true
	}
	return fragment.KindCollection, id, true
}

// isEmpty reports whether a value stands for none.
func isEmpty(v []byte) bool {
	switch string(v) {
	case "", `""`, "null", "0", "[]", "{}":
		return true
	}
	return false
}

// isGeneric reports whether a name is the generic one of a season or an episode in a language.
func isGeneric(name []byte, language fragment.Variant, o *object) bool {
	word := reference.AppendEpisodeName[string]
	number, ok := o.number("episode_number")
	if !ok {
		word = reference.AppendSeasonName[string]
		number, ok = o.number("season_number")
	}
	if !ok {
		return false
	}
	lang, region := codes(language)
	var buf [128]byte
	return bytes.Equal(name, append(word(append(buf[:0], '"'), lang, region, int(number)), '"'))
}

// codes returns the codes of a language and its region, "" without one.
func codes(language fragment.Variant) (lang, region string) {
	code := language.String()
	return code[:2], code[2:]
}
