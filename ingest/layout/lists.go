package layout

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"reelsplice/schemas/catalog"
	"reelsplice/schemas/fragment"
	"reelsplice/schemas/record"
)

// A rawMember is a member of a row as it stands there.
type rawMember struct{ name, raw string }

// rawMembers are the members of an object, in their order.
type rawMembers []rawMember

func rawMembersOf(text string) (rawMembers, error) {
	var all rawMembers
	err := eachMember(text, func(name, raw string) error {
		all = append(all, rawMember{name, raw})
		return nil
	})
	return all, err
}

// take removes a member and returns its value, "" for null and for one that is not
// there. Of a name that occurs twice, the last counts.
func (m *rawMembers) take(name string) string {
	raw, kept := "", (*m)[:0]
	for _, one := range *m {
		if one.name == name {
			raw = one.raw
		} else {
			kept = append(kept, one)
		}
	}
	*m = kept
	if raw == "null" {
		return ""
	}
	return raw
}

// text writes the members as an object.
func (m rawMembers) text() string {
	out := []byte{'{'}
	for _, one := range m {
		out = appendRaw(out, one.name, one.raw)
	}
	return string(append(out, '}'))
}

// appendRaw appends a member to an object that is being written; nothing for no value.
func appendRaw(dst []byte, name, raw string) []byte {
	if raw == "" {
		return dst
	}
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(append(record.AppendString(dst, name), ':'), raw...)
}

// nested returns what a JSON text holds that stands in a text, as in tables; other
// values as they are.
func nested(raw string) string {
	if !strings.HasPrefix(raw, `"`) {
		return raw
	}
	if inner := strings.TrimSpace(unquote(raw)); inner != "" && (inner[0] == '[' || inner[0] == '{') {
		return inner
	}
	return raw
}

// listRow brings a row about a list, an answer of version 3 or 4 of the API or a row that
// has all items, to the form of the catalogue.
func (t *tmdb) listRow(row string) (string, error) {
	all, err := rawMembersOf(row)
	if err != nil {
		return "", err
	}
	l := listReader{tmdb: t}
	if l.comments, err = commentsOf(all.take("comments")); err != nil {
		return "", err
	}
	if raw := all.take("object_ids"); raw != "" && raw != "{}" {
		record.Count(t.dropped, "object_ids", 1)
	}
	page := rawMembers{{"page", all.take("page")}, {"total_pages", all.take("total_pages")}, {"total_results", all.take("total_results")}}
	field := "items"
	items := nested(all.take("items"))
	if results := nested(all.take("results")); items == "" && results != "" {
		field, items = "results", results
	}
	if items != "" {
		if items, err = l.pages(field, items, page); err != nil {
			return "", err
		}
	}
	for i := range all {
		m := &all[i]
		switch {
		case m.name == "created_by" && strings.HasPrefix(m.raw, `"`) && nested(m.raw) == m.raw:
			m.raw = `{"username":` + m.raw + `}` // as version 3 has it
		case m.name == "public" && (m.raw == "0" || m.raw == "1"):
			m.raw = strconv.FormatBool(m.raw == "1")
		case m.name == "id" && strings.HasPrefix(m.raw, `"`) && isNumber(unquote(m.raw)):
			m.raw = unquote(m.raw) // as the published example of version 3 has it
		}
	}
	out := []byte(all.text())
	return string(append(appendRaw(out[:len(out)-1], "items", items), '}')), nil
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// commentsOf returns the comments of an answer of version 4 by what they are about, which
// is written movie:550.
func commentsOf(raw string) (map[string]string, error) {
	if raw = nested(raw); raw == "" {
		return nil, nil
	}
	out := map[string]string{}
	err := eachMember(raw, func(name, raw string) error {
		switch {
		case raw == "null":
		case !strings.HasPrefix(raw, `"`):
			return &record.FieldError{Field: "comments." + name, What: "want a string or null, found " + found([]byte(raw))}
		default:
			out[name] = raw
		}
		return nil
	})
	return out, inField(err, "comments")
}

// inField says of an error that has no field where it is.
func inField(err error, field string) error {
	if _, ok := err.(*record.FieldError); ok || err == nil {
		return err
	}
	return &record.FieldError{Field: field, What: err.Error()}
}

// A listReader reads what is on one list.
type listReader struct {
	*tmdb
	comments map[string]string
}

// pages writes the items of a row as pages: as the one that the row is, or, of a row of
// the catalogue, as those that it has.
func (l *listReader) pages(field, items string, page rawMembers) (string, error) {
	if isPage(items) {
		items = "[" + items + "]"
	}
	many := false
	_ = eachElement(items, func(i int, raw string) error { // the next walk tells what is wrong
		many = i == 0 && isPage(raw) || i > 0 && many
		return nil
	})
	if !many {
		if page[0].raw == "" { // a list that is given whole
			page = rawMembers{{"page", "1"}, {"total_pages", "1"}}
		}
		return l.page(field, items, page)
	}
	out := []byte{'['}
	err := eachElement(items, func(i int, raw string) error {
		all, err := rawMembersOf(raw)
		if err != nil {
			return err
		}
		results := all.take("results")
		one, err := l.page(fmt.Sprintf("%s[%d].results", field, i), cmp.Or(results, "[]"), all)
		if err != nil {
			return err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, one...)
		return nil
	})
	return string(append(out, ']')), inField(err, field)
}

// isPage reports whether a value is a page: an object with results.
func isPage(raw string) bool {
	page := false
	if strings.HasPrefix(raw, "{") {
		_ = eachMember(raw, func(name, _ string) error { // an object
			page = page || name == "results"
			return nil
		})
	}
	return page
}

// page writes a page of items.
func (l *listReader) page(field, items string, rest rawMembers) (string, error) {
	out := []byte(`{"results":[`)
	err := eachElement(items, func(i int, raw string) error {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		out, err = l.item(out, fmt.Sprintf("%s[%d]", field, i), i, raw)
		return err
	})
	out = append(out, ']')
	for _, m := range rest {
		out = appendRaw(out, m.name, m.raw)
	}
	return string(append(out, '}')), inField(err, field)
}

// item appends one item of a list: an object, or a text such as movie:550. What rows of
// answers say of the title is left to its own record.
func (l *listReader) item(dst []byte, field string, i int, raw string) ([]byte, error) {
	if strings.HasPrefix(raw, `"`) {
		media, id, _ := strings.Cut(unquote(raw), ":")
		return l.append(dst, field, i, string(record.AppendString(nil, media)), id, "")
	}
	all, err := rawMembersOf(raw)
	if err != nil {
		return dst, &record.FieldError{Field: field, What: err.Error()}
	}
	media, id, comment := all.take("media_type"), all.take("id"), all.take("comment")
	all.take("order")
	if media == "" {
		media = guessMedia(all)
	}
	for _, m := range all {
		record.Count(l.dropped, "items[]."+m.name, 1)
	}
	return l.append(dst, field, i, media, id, comment)
}

// guessMedia tells the type of a title in an old answer, which had no media_type, by its
// members; "" where nothing does.
func guessMedia(all rawMembers) string {
	for _, m := range all {
		switch m.name {
		case "title", "original_title", "release_date":
			return `"movie"`
		case "name", "original_name", "first_air_date":
			return `"tv"`
		}
	}
	return ""
}

// append appends an item, whose parts are JSON texts.
func (l *listReader) append(dst []byte, field string, i int, media, id, comment string) ([]byte, error) {
	if media != `"movie"` && media != `"tv"` {
		return dst, &record.FieldError{Field: field + ".media_type", What: `want "movie" or "tv", found ` + cmp.Or(found([]byte(media)), "nothing")}
	}
	if _, err := parseID(id); err != nil {
		return dst, &record.FieldError{Field: field + ".id", What: err.Error()}
	}
	if comment == "" {
		comment = l.comments[unquote(media)+":"+id]
	}
	out := appendRaw(append(dst, '{'), "media_type", media)
	out = appendRaw(out, "id", id)
	out = appendRaw(out, "comment", comment)
	return append(appendRaw(out, "order", strconv.Itoa(i)), '}'), nil
}

// parseID reads the JSON text of an id.
func parseID(raw string) (int64, error) {
	n, err := strconv.ParseInt(raw, 10, 64)
	switch {
	case raw == "":
		return 0, errors.New("want an integer, found nothing")
	case err != nil || n < 1:
		return 0, fmt.Errorf("want an integer from 1 to %d, found %s", int64(math.MaxInt64), found([]byte(raw)))
	}
	return n, nil
}

// isPart reports whether the record of a list is one page of several.
func isPart(rec record.Record) bool {
	l := record.As[catalog.List](rec)
	for i := range l.Items {
		if l.Items[i].TotalPages.V > 1 {
			return true
		}
	}
	return false
}

// ofUser reports whether records of a kind are what users made: they are of no language.
func ofUser(k fragment.Kind) bool { return k == fragment.KindList || k == fragment.KindAccount }
