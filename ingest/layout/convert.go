package layout

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// An entry is one column, or a value of its own, and the field that it is.
type entry struct {
	*entrySpec
	*converter
	column string
	path   string // of the field below the record
	field  *record.Field
	kind   fragment.Kind // of the record
	inside []string      // Path, cut
	// siblings are the fields of the column's objects that paths lead into, of the
	// first entry of a column that has a path; nil for others.
	siblings []string
	affixes  [2][]string       // of Strip, and of StripEnd
	days     *dayReader        // of "date"
	ofNames  *nameReader       // of "name" and "names"; nil for others
	constant string            // JSON text of Value
	values   map[string]string // JSON texts
	form     *form             // of the objects in the value
}

// defaultSeparators are what most joined lists are joined with. Where all names are
// known, a list is split by the first that leaves no unknown one; others by the first
// alone, because a name may have any.
var defaultSeparators = []string{", ", ",", "|", ";", "/"}

// choose checks the keys of an entry against one another and its field.
func (e *entry) choose() (err error) {
	for i, key := range []struct {
		name string
		v    any
	}{{"strip", e.Strip}, {"strip_end", e.StripEnd}} {
		if e.affixes[i], err = textsOf(key.name, key.v); err != nil {
			return err
		}
	}
	can, names := convertersTo(e.field.Shape)
	if e.field.Shape == record.ShapeInt && e.path != "id" && !strings.HasSuffix(e.path, ".id") {
		can, names = can[:1], names[:1] // names stand for ids alone
	}
	as := cmp.Or(e.As, names[0])
	if e.Path == placeInList {
		e.inside = []string{placeInList}
		if e.As != "" || e.field.Shape != record.ShapeInt || e.changesTexts() {
			return fmt.Errorf("path %q: want a field that is an integer, without as, nothing, strip and strip_end", e.Path)
		}
	} else if e.Path != "" {
		e.inside = strings.Split(e.Path, ".")
		can, names = convertersTo(record.ShapeRaw)
		if as != asPython {
			as = asJSON
		}
		if e.As != "" && as != e.As {
			return fmt.Errorf("as %q: a path leads into values that are json or python", e.As)
		}
	}
	i := slices.Index(names, as)
	if i < 0 {
		return fmt.Errorf("as %q: want one of %s for field %s", as, strings.Join(names, ", "), e.Field)
	}
	e.converter = can[i]
	if one := e.field.Shape <= record.ShapeBool || e.name == asNames || e.name == asList || e.name == asName; e.changesTexts() && !one {
		return fmt.Errorf("nothing, strip and strip_end: want a field of one value or a joined list, and %s is neither", e.Field)
	}
	for _, check := range []func() error{e.constantOnly, e.lists, e.dates, e.valueMap} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// changesTexts reports whether texts are changed before they are read.
func (e *entry) changesTexts() bool { return e.Nothing != nil || e.Strip != nil || e.StripEnd != nil }

// constantOnly checks that the entry is either of a column or a value of its own.
func (e *entry) constantOnly() error {
	if (e.column == "") == (e.Value == nil) {
		return errors.New("want either a column or a value")
	}
	if e.Value == nil {
		return nil
	}
	if e.As != "" || e.Path != "" || e.Values != nil || e.Object != "" || e.changesTexts() {
		return errors.New("a value of its own is not converted: want none of as, path, values, object, nothing, strip and strip_end")
	}
	var err error
	e.constant, err = e.scalar(e.Value)
	return err
}

// scalar returns the JSON text of a value of the mapping file for the field.
func (e *entry) scalar(v any) (string, error) {
	ok := false
	switch v.(type) {
	case string:
		ok = e.field.Shape == record.ShapeString
	case int64:
		ok = e.field.Shape == record.ShapeInt || e.field.Shape == record.ShapeFloat
	case float64:
		ok = e.field.Shape == record.ShapeFloat
	case bool:
		ok = e.field.Shape == record.ShapeBool
	}
	if !ok {
		return "", fmt.Errorf("value %v is nothing that field %s can be", v, e.Field)
	}
	b, err := json.Marshal(v)
	return string(b), err
}

// lists checks the keys of lists and of names.
func (e *entry) lists() error {
	ofNames := e.name == asNames || e.name == asName
	switch {
	case !ofNames && e.name != asList && e.Of != "":
		return fmt.Errorf("of %q: want as to be names, name or list", e.Of)
	case e.name != asNames && e.name != asList && e.Separator != "":
		return fmt.Errorf("separator %q: want as to be names or list", e.Separator)
	case e.Mint && !ofNames:
		return errors.New("mint: want as to be names or name")
	case e.name == asList && e.Of != "":
		return errors.New("of: a list of texts or numbers has none")
	case !ofNames:
		return nil
	}
	of := objectsOf
	if e.field.Shape == record.ShapeStrings || e.field.Shape == record.ShapeString {
		of = codesOf
	}
	switch {
	case !slices.Contains(of, e.Of):
		return fmt.Errorf("of %q: want one of %s", e.Of, strings.Join(of, ", "))
	case e.field.Shape == record.ShapeInt && (e.Of == ofCountry || e.Of == ofLanguage):
		return fmt.Errorf("of %q: %s have codes and no ids", e.Of, e.Of)
	case e.Mint && (nameKinds[e.Of] == 0 || e.Of == ofPerson):
		return errors.New("mint: want of to be company, network or keyword; unknown people get ids anyway")
	case e.Of == ofGenre && e.kind != fragment.KindMovie && e.kind != fragment.KindTV:
		return errors.New("of genre: movies and series have genres")
	case e.name == asNames && (strings.Contains(e.path, "[0]") || e.kind == 0):
		return errors.New("as names: want a list of the record itself, in which it is kept where it cannot be split")
	}
	e.ofNames = &nameReader{of: e.Of, field: e.field, mint: e.Mint, separator: e.Separator, separators: defaultSeparators[:1]}
	switch {
	case e.Separator != "":
		e.ofNames.separators = []string{e.Separator}
	case nameKinds[e.Of] == 0 && e.name == asNames:
		e.ofNames.separators = defaultSeparators
	}
	return nil
}

// dates checks the keys of days and of titles with years.
func (e *entry) dates() (err error) {
	switch {
	case e.name != asDate && e.Formats != nil:
		return errors.New("formats: want as to be date")
	case e.name != asDate && e.LastYear != 0:
		return errors.New("last_year: want as to be date")
	case e.name != asTitle && e.Articles != nil:
		return errors.New("articles: want as to be title")
	case e.name == asDate && len(e.Formats) == 0:
		return errors.New("formats: want at least one, for instance YYYY-MM-DD")
	case e.name == asDate:
		e.days, err = newDayReader(e.Formats, e.LastYear)
	}
	return err
}

func (e *entry) valueMap() error {
	if e.Values == nil {
		return nil
	}
	if e.field.Shape > record.ShapeBool || e.field.Shape == record.ShapeString && e.name != asText || e.Path != "" {
		return errors.New("values: want a field that is one text, number or boolean, and no other converter")
	}
	e.values = map[string]string{}
	for text, v := range e.Values {
		s, err := e.scalar(v)
		if err != nil {
			return fmt.Errorf("values: %s: %w", text, err)
		}
		e.values[text] = s
	}
	return nil
}

// A leftError is the rest of a cell of names besides those that were written.
type leftError struct {
	raw     string   // JSON text that the record keeps; "" for nothing
	nothing []string // names without a place in the API
}

func (*leftError) Error() string { return "names are left" }

// errWhole is the error of a list of names that cannot be split: its cell is left whole.
var errWhole = &leftError{}

// convert appends the JSON text of the field that raw, the JSON text of a cell, stands
// for; nothing for an empty one. It returns a *leftError for names that have no
// meaning, and other errors for what the field cannot be. For json and python
// that is left to the parser of records but for the syntax.
func (e *entry) convert(dst []byte, raw string, names *identifier) ([]byte, error) {
	given := raw
	if e.inside == nil { // else for the value at the path
		if raw = e.changed(raw); raw == "" {
			return dst, nil
		}
	}
	s, isText := raw, raw[0] == '"'
	if isText {
		s = record.Unquote(raw)
	}
	switch {
	case raw[0] == '{' || raw[0] == '[':
		return e.typed(dst, raw, names)
	case e.values != nil:
		v, ok := e.values[s]
		if !ok {
			return dst, fmt.Errorf("want one of %s, found %s", e.texts(), record.Shown(given))
		}
		return append(dst, v...), nil
	case e.name == asText:
		return append(dst, raw...), nil
	case isText && strings.TrimSpace(s) == "":
		return dst, nil
	}
	out, err := e.read(e, dst, s, isText, names)
	var left *leftError
	if err == nil || errors.As(err, &left) {
		return out, err
	}
	return dst, fmt.Errorf("%w, found %s", err, record.Shown(given))
}

// typed appends an object or a list of a table that has such columns.
func (e *entry) typed(dst []byte, raw string, names *identifier) ([]byte, error) {
	if e.name == asNames {
		if list, ok := listedNames(raw); ok {
			return e.ofNames.listed(dst, list, names)
		}
		return dst, fmt.Errorf("want a list of names, found %s", record.Shown(raw))
	}
	if e.field.Shape <= record.ShapeBool && e.inside == nil || e.name == asName {
		return dst, fmt.Errorf("want one value, found %s", record.Shown(raw))
	}
	return append(dst, raw...), nil
}

// texts lists the texts of the map of values, for messages.
func (e *entry) texts() string {
	var out []string
	for text := range e.values {
		out = append(out, strconv.Quote(text))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// changed takes off the first of the prefixes and of the suffixes that a JSON text has. It returns "" for a
// text that stands for no value, and other values as they are.
func (e *entry) changed(raw string) string {
	if raw[0] != '"' || !e.changesTexts() {
		return raw
	}
	s := record.Unquote(raw)
	if slices.Contains(e.Nothing, s) {
		return ""
	}
	for i, cut := range []func(s, affix string) (string, bool){strings.CutPrefix, strings.CutSuffix} {
		for _, affix := range e.affixes[i] {
			if rest, ok := cut(s, affix); ok {
				s = rest
				break
			}
		}
	}
	return string(record.AppendString(nil, s))
}

// What the names of "names" and "name" are of.
const (
	ofGenre    = "genre"
	ofCountry  = "country"
	ofLanguage = "language"
	ofCompany  = "company"
	ofNetwork  = "network"
	ofKeyword  = "keyword"
	ofPerson   = "person" // by the title: see mapped.ID
)

var (
	objectsOf = []string{ofGenre, ofCountry, ofLanguage, ofCompany, ofNetwork, ofKeyword, ofPerson}
	codesOf   = []string{ofCountry, ofLanguage} // of lists of texts: ISO codes
)
