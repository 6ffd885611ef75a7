package tmdb

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// Fields of rows about a removed resource.
const (
	deletedField = "_deleted"     // true; false restores the resource
	mergedField  = "_merged_into" // ID of the resource that replaces it
)

// RemovalOf reports whether a record marks a resource as removed, and returns the removal. Such a record has only its key.
func RemovalOf(t *catalog.Type, r record.Record) (catalog.Removed, bool) {
	extra := r.Object().Extra
	if !strings.Contains(extra, deletedField) && !strings.Contains(extra, mergedField) {
		return catalog.Removed{}, false // fast path
	}
	marks, err := record.Fields("{" + extra + "}")
	if err != nil {
		return catalog.Removed{}, false
	}
	key, err := t.Key(r)
	if err != nil {
		return catalog.Removed{}, false
	}
	out, removed, err := removal(t, marks, key)
	return out, removed && err == nil
}

// removal reads the removal fields.
func removal(t *catalog.Type, marks record.RawFields, key catalog.Key) (out catalog.Removed, removed bool, err error) {
	out = catalog.Removed{Kind: t.Kind, Key: key}
	if t.Kind == fragment.KindAccount && key.Lo != 0 {
		return out, false, &record.FieldError{Field: deletedField, What: "want the id of an account: guests are not removed one by one"}
	}
	if raw := marks.Value(deletedField); raw != "" {
		if json.Unmarshal([]byte(untext(raw)), &removed) != nil {
			return out, false, &record.FieldError{Field: deletedField, What: "want true or false, found " + record.Shown(raw)}
		}
	}
	raw := marks.Value(mergedField)
	if raw == "" || raw == "null" {
		return out, removed, nil
	}
	out.Into, err = replacement(t, raw, key)
	out.Merged = err == nil
	return out, true, err
}

// untext returns the text of a JSON string in lower case, for tables of texts. Other values are unchanged.
func untext(raw string) string {
	if text := textOf(raw); text != "" {
		return strings.ToLower(text)
	}
	return raw
}

// replacement reads the ID of the resource that replaces a merged one.
func replacement(t *catalog.Type, raw string, key catalog.Key) (catalog.Key, error) {
	invalid := func(want string) (catalog.Key, error) {
		return catalog.Key{}, &record.FieldError{Field: mergedField, What: "want " + want + ", found " + record.Shown(raw)}
	}
	var into catalog.Key
	switch t.Kind {
	case fragment.KindSeason, fragment.KindEpisode:
		return catalog.Key{}, &record.FieldError{Field: mergedField, What: fmt.Sprintf("a %s is not merged into another: delete it", t.Name())}
	case fragment.KindReview, fragment.KindCredit, fragment.KindEpisodeGroup:
		var ok bool
		if into, ok = catalog.TextKey(textOf(raw)); !ok {
			return invalid("24 hex digits")
		}
	default:
		var id int64
		if json.Unmarshal([]byte(untext(raw)), &id) != nil || id < 1 {
			return invalid("the id of another " + t.Name())
		}
		into = catalog.NumberKey(id)
	}
	if into == key {
		return invalid("the id of another " + t.Name())
	}
	return into, nil
}

// removed takes the removal fields from the unknown fields of a row. It returns the record of a removed resource, or false for other
// rows.
func (t *Reader) removed(r Row, rec record.Record, extra *record.RawFields) (out Record, removed bool, err error) {
	var marks record.RawFields
	for _, name := range []string{deletedField, mergedField} {
		if raw, ok := extra.Take(name); ok {
			marks = append(marks, record.RawField{Name: name, Raw: raw})
		}
	}
	if marks == nil {
		return out, false, nil
	}
	if err := address(rec, r); err != nil {
		return out, false, err
	}
	if out, err = checked(r.Type, rec); err != nil {
		return out, false, err
	}
	if _, removed, err = removal(r.Type, marks, out.Key); err != nil {
		return out, false, err
	}
	for _, m := range marks {
		t.Forget(m.Name)
	}
	if removed {
		out.Record, out.Removed = catalog.KeyOnly(r.Type, rec), true
		out.Record.Object().Extra = marks.Extra()
	}
	return out, removed, nil
}
