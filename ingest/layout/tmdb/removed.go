package tmdb

import (
	"encoding/json"
	"fmt"
	"strings"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// Fields of rows about a resource that is no more.
const (
	deletedField = "_deleted"     // true; false if it is there again
	mergedField  = "_merged_into" // the id of the resource that has taken its place
)

// RemovalOf reports whether a record is of a resource that is no more, and what it was
// merged into. Such a record has its key and nothing else.
func RemovalOf(t *catalog.Type, r record.Record) (catalog.Removed, bool) {
	extra := r.Object().Extra
	if !strings.Contains(extra, deletedField) && !strings.Contains(extra, mergedField) {
		return catalog.Removed{}, false
	}
	key, err := t.Key(r)
	if err != nil {
		return catalog.Removed{}, false
	}
	out, removed, err := removal(t, r, key)
	return out, removed && err == nil
}

// removal reads those fields of r.
func removal(t *catalog.Type, r record.Record, key catalog.Key) (out catalog.Removed, removed bool, err error) {
	extra, err := record.Fields("{" + r.Object().Extra + "}")
	if err != nil {
		return out, false, err
	}
	out = catalog.Removed{Kind: t.Kind, Key: key}
	if t.Kind == fragment.KindAccount && key.Lo != 0 && (extra.Has(deletedField) || extra.Has(mergedField)) {
		return out, false, &record.FieldError{Field: deletedField, What: "want the id of an account: guests are not removed one by one"}
	}
	if raw, ok := extra.Take(deletedField); ok {
		if json.Unmarshal([]byte(untext(raw)), &removed) != nil {
			return out, false, &record.FieldError{Field: deletedField, What: "want true or false, found " + record.Shown(raw)}
		}
	}
	raw, ok := extra.Take(mergedField)
	if !ok || raw == "null" {
		return out, removed, nil
	}
	out.Into, err = mergedInto(t, raw, key)
	out.Merged = err == nil
	return out, true, err
}

// untext returns what a text holds, for tables of texts; other values as they are.
func untext(raw string) string {
	if text := textOf(raw); text != "" {
		return strings.ToLower(text)
	}
	return raw
}

// mergedInto reads the id of what a resource was merged into.
func mergedInto(t *catalog.Type, raw string, key catalog.Key) (catalog.Key, error) {
	bad := func(want string) (catalog.Key, error) {
		return catalog.Key{}, &record.FieldError{Field: mergedField, What: "want " + want + ", found " + record.Shown(raw)}
	}
	var into catalog.Key
	switch t.Kind {
	case fragment.KindSeason, fragment.KindEpisode:
		return catalog.Key{}, &record.FieldError{Field: mergedField, What: fmt.Sprintf("a %s is not merged into another: delete it", t.Name())}
	case fragment.KindReview, fragment.KindCredit, fragment.KindEpisodeGroup:
		var ok bool
		if into, ok = catalog.TextKey(textOf(raw)); !ok {
			return bad("24 hex digits")
		}
	default:
		var id int64
		if json.Unmarshal([]byte(untext(raw)), &id) != nil || id < 1 {
			return bad("the id of another " + t.Name())
		}
		into = catalog.NumberKey(id)
	}
	if into == key {
		return bad("another " + t.Name() + " than itself")
	}
	return into, nil
}

// removed returns the record of a row about a resource that is no more; false for
// other rows.
func (t *Reader) removed(r Row, rec record.Record) (one Record, is bool, err error) {
	extra := rec.Object().Extra
	if !strings.Contains(extra, deletedField) && !strings.Contains(extra, mergedField) {
		return one, false, nil
	}
	if err := address(rec, r); err != nil {
		return one, false, err
	}
	if one, err = Checked(r.Type, rec); err != nil {
		return one, false, err
	}
	_, is, err = removal(r.Type, rec, one.Key)
	if err != nil {
		return one, false, err
	}
	all, err := record.Fields("{" + extra + "}")
	if err != nil {
		return one, false, err
	}
	var kept record.RawFields
	for _, name := range []string{deletedField, mergedField} {
		if raw, ok := all.Take(name); ok {
			t.Forget(name)
			kept = append(kept, record.RawField{Name: name, Raw: raw})
		}
	}
	if !is {
		rec.Object().Extra = all.Extra()
		return one, false, nil
	}
	one.Record, one.Removed = catalog.KeyOnly(r.Type, rec), true
	one.Record.Object().Extra = kept.Extra()
	return one, true, nil
}
