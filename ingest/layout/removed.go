package layout

import (
	"encoding/json"
	"fmt"
	"strings"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// Members of rows that say that a resource is no more.
const (
	deletedMember = "_deleted"     // true; false says that it is there again
	mergedMember  = "_merged_into" // the id of the resource that has taken its place
)

// RemovalOf reports whether a record says that its resource is no more, and what it was
// merged into. Such a record has its key and nothing else.
func RemovalOf(t *catalog.Type, r record.Record) (catalog.Removed, bool) {
	extra := r.Object().Extra
	if !strings.Contains(extra, deletedMember) && !strings.Contains(extra, mergedMember) {
		return catalog.Removed{}, false
	}
	key, err := t.Key(r)
	if err != nil {
		return catalog.Removed{}, false
	}
	out, removed, err := removal(t, r, key)
	return out, removed && err == nil
}

// removal reads those members of r.
func removal(t *catalog.Type, r record.Record, key catalog.Key) (out catalog.Removed, removed bool, err error) {
	extra, err := membersOf(r.Object().Extra)
	if err != nil {
		return out, false, err
	}
	out = catalog.Removed{Kind: t.Kind, Key: key}
	if t.Kind == fragment.KindAccount && key.Lo != 0 && (extra.has(deletedMember) || extra.has(mergedMember)) {
		return out, false, &record.FieldError{Field: deletedMember, What: "want the id of an account: guests are not removed one by one"}
	}
	if raw, ok := extra.take(deletedMember); ok {
		if json.Unmarshal(untext(raw), &removed) != nil {
			return out, false, &record.FieldError{Field: deletedMember, What: "want true or false, found " + found(raw)}
		}
	}
	raw, ok := extra.take(mergedMember)
	if !ok || string(raw) == "null" {
		return out, removed, nil
	}
	out.Into, err = mergedInto(t, raw, key)
	out.Merged = err == nil
	return out, true, err
}

// untext returns what a text holds, for tables of texts; other values as they are.
func untext(raw json.RawMessage) []byte {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []byte(strings.ToLower(text))
	}
	return raw
}

// mergedInto reads the id of what a resource was merged into.
func mergedInto(t *catalog.Type, raw json.RawMessage, key catalog.Key) (catalog.Key, error) {
	bad := func(want string) (catalog.Key, error) {
		return catalog.Key{}, &record.FieldError{Field: mergedMember, What: "want " + want + ", found " + found(raw)}
	}
	var into catalog.Key
	switch t.Kind {
	case fragment.KindSeason, fragment.KindEpisode:
		return catalog.Key{}, &record.FieldError{Field: mergedMember, What: fmt.Sprintf("a %s is not merged into another: delete it", t.Name())}
	case fragment.KindReview, fragment.KindCredit, fragment.KindEpisodeGroup:
		var text string
		_ = json.Unmarshal(raw, &text) // what is no text has no digits either
		var ok bool
		if into, ok = catalog.TextKey(text); !ok {
			return bad("24 hex digits")
		}
	default:
		var id int64
		if json.Unmarshal(untext(raw), &id) != nil || id < 1 {
			return bad("the id of another " + t.Name())
		}
		into = catalog.NumberKey(id)
	}
	if into == key {
		return bad("another " + t.Name() + " than itself")
	}
	return into, nil
}

// removed returns the record of a row that says that its resource is no more; false for
// other rows.
func (t *tmdb) removed(r Row, rec record.Record) (one Record, is bool, err error) {
	extra := rec.Object().Extra
	if !strings.Contains(extra, deletedMember) && !strings.Contains(extra, mergedMember) {
		return one, false, nil
	}
	if err := address(rec, r); err != nil {
		return one, false, err
	}
	if one, err = checked(r.Type, rec); err != nil {
		return one, false, err
	}
	_, is, err = removal(r.Type, rec, one.Key)
	if err != nil {
		return one, false, err
	}
	all, err := membersOf(extra)
	if err != nil {
		return one, false, err
	}
	var kept members
	for _, name := range []string{deletedMember, mergedMember} {
		if raw, ok := all.take(name); ok {
			t.forget(name)
			kept = append(kept, member{name, raw})
		}
	}
	if !is {
		rec.Object().Extra = all.text()
		return one, false, nil
	}
	one.Record, one.Removed = catalog.KeyOnly(r.Type, rec), true
	one.Record.Object().Extra = kept.text()
	return one, true, nil
}
